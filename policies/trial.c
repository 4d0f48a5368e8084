/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One quad after the other: which vector is in force in which window, what was measured, what stops
 * it early. Must not decide what a finished comparison means; verdict.c does. */
#include "tuner_state.h"

#include "stat.h"

#include <math.h>
#include <string.h>

static const double LOSS_BELIEVED = -0.2; /* one early look is not believed further than this */
static const size_t WINDOWS_DIPS =
    3; /* candidate's windows before the guard may act where dips are frequent */
static const uint32_t MISSING_MAX =
    6; /* windows: after a longer gap the two halves are not comparable */
static const uint64_t LEVEL_FRESH =
    20; /* windows for which a level stands in for incumbent's blocks */

bool trial_is_b(const struct quad *q)
{
    bool middle = q->block == 1 || q->block == 2;

    return q->b_first != middle;
}

static void begin_block(struct tuner *t)
{
    struct quad *q = &t->quad;
    const uint8_t *want = trial_is_b(q) ? q->b : q->a;

    q->n_early = 0;
    q->settle_left =
        arms_equal(t, want, t->k.settle_sent ? t->sent : t->force) ? 0 : t->params.settle;
    q->measure_left = t->params.block;
    memcpy(t->force, want, sizeof t->force);
}

void trial_quad(struct tuner *t, bool baseline_first)
{
    struct quad *q = &t->quad;
    bool a_first = stat_uniform(&t->rng) < 0.5;

    if (!plan_has_room(t, q->a, q->b)) {
        if (q->kind != TUNER_TRIAL_TEST)
            t->active->check_at = t->now; /* the check is made as soon as there is room */
        plan_wait(t, t->now + TUNER_HOUR / 12, TUNER_WHY_WRITE_CAP);
        return;
    }
    /* long blocks: a value of which nothing good is known is not shown before there is something to
     * guard it by */
    if (t->settle.level > 0 && q->kind == TUNER_TRIAL_TEST && q->sums->sum <= 0.0)
        a_first = true;
    q->b_first = baseline_first || !a_first;
    q->block = 0;
    q->missing = 0;
    q->na = q->nb = q->nl = 0;
    q->load_a = q->load_b = 0.0;
    memset(q->ga, 0, sizeof q->ga);
    memset(q->gb, 0, sizeof q->gb);
    t->state = TUNER_QUAD;
    begin_block(t);
    t->view = (struct tuner_trial){
        .kind = q->kind,
        .knob = q->knob,
        .incumbent = tuner_value(t, q->knob, q->a[q->knob]),
        .candidate = tuner_value(t, q->knob, q->b[q->knob]),
        .length = 4 * t->params.block + (q->settle_left > 0 ? 3 : 2) * t->params.settle,
    };
    seqtest_evidence(q->sums, noise_var(&t->noise), t->k.tau, t->params.alpha, &t->view.evidence);
}

void trial_charge(struct tuner *t, double d, double windows)
{
    const struct class_memory *c = t->active;
    double gain = arms_is_baseline(t, c) ? 0.0 : stat_max(0.0, c->gain);

    t->debt += 100.0 * stat_max(0.0, -(d + gain)) * windows;
}

void trial_void(struct tuner *t, enum tuner_reason why)
{
    (void)tuner_emit(t, TUNER_EVENT_VOID, why);
    if (t->quad.kind == TUNER_TRIAL_TEST)
        plan_next(t);
    else
        trial_quad(t, false);
}

/* A guard fires on the worst of many looks: of its difference so much is believed as the test's own
 * prior allows. */
static double believed_loss(const struct tuner *t, double diff, size_t nb)
{
    double na = stat_max(2.0, (double)t->quad.na), t2 = t->k.debt_tau * t->k.debt_tau;
    double var = noise_var(&t->noise) * 1.5 * t->params.block * (1.0 / na + 1.0 / (double)nb);

    return t2 > 0.0 ? diff * t2 / (t2 + var) : diff;
}

/* The objective: true when the quad is over because of it. */
static bool loss_guard(struct tuner *t, const double *yb, size_t nb, bool b)
{
    struct quad *q = &t->quad;
    bool test = q->kind == TUNER_TRIAL_TEST, dips = t->level.dips > t->k.guard_dips;
    struct guard_loss g = {
        .a = q->ya,
        .b = yb,
        .na = q->na,
        .nb = nb,
        .check = !test,
        .level_known = t->level.known && t->now - t->level.at <= LEVEL_FRESH,
        .level = t->level.base,
        .limit_min = t->k.guard_min,
        .limit_sd = t->k.guard_z * sqrt(noise_var(&t->noise)),
        .block = t->params.block,
        .nb_min = dips ? WINDOWS_DIPS : 2,
    };
    double diff;

    if (!guard_loss_broken(&g, &diff) || (test && !b))
        return false;
    if (test) {
        trial_charge(t, believed_loss(t, dips ? stat_max(LOSS_BELIEVED, diff) : diff, nb),
                     (double)nb);
        seqtest_add(q->sums, stat_max(LOSS_BELIEVED, diff));
        verdict_abort(t);
    } else {
        seqtest_add(q->sums, diff);
        verdict_rollback(t, TUNER_WHY_LOSS_GUARD);
    }
    return true;
}

/* The metrics that must not get worse: true when the quad is over because of one. */
static bool metric_guard(struct tuner *t)
{
    struct quad *q = &t->quad;
    bool test = q->kind == TUNER_TRIAL_TEST;

    for (uint8_t i = 0; i < t->n_guards; i++) {
        const struct guard_sums *ref = test ? &q->ga[i] : &q->gb[i],
                                *now = test ? &q->gb[i] : &q->ga[i];

        if (!guard_worse(&t->guards[i], &t->guard_noise[i], ref, now))
            continue;
        t->decision.guard = i;
        if (test)
            verdict_reject(t, TUNER_WHY_GUARD, NAN);
        else
            verdict_rollback(t, TUNER_WHY_GUARD);
        return true;
    }
    return false;
}

static bool has_load_moved(const struct tuner *t)
{
    const struct quad *q = &t->quad;
    size_t m = t->params.block;
    double first = 0.0, last = 0.0, noise;

    for (size_t i = 0; i < m; i++) {
        first += q->load[i];
        last += q->load[q->nl - m + i];
    }
    noise = t->k.load_tolerance_z * load_noise(&t->load) * sqrt(2.0 / (double)m);
    return fabs(first - last) / (double)m >
           stat_max(t->k.load_tolerance, noise); /* false when a load is missing */
}

/* One more quad difference; the pooled noise learns from its distance to the mean before. */
static void add_quad(struct tuner *t, double d)
{
    struct seqtest *s = t->quad.sums;
    double n = s->n;

    d = stat_clip(d, -0.5, 0.7);
    if (s->n >= 1)
        noise_add(&t->noise, d - s->sum / n, n / (n + 1.0), t->k.noise_forget);
    seqtest_add(s, d);
}

static void end_quad(struct tuner *t)
{
    struct quad *q = &t->quad;
    double d, shift;

    if (has_load_moved(t)) {
        trial_void(t, TUNER_WHY_LOAD_MOVED);
        return;
    }
    d = stat_quad_diff(q->ya, q->na, q->yb, q->nb);
    if (settle_learn(t, d)) {
        (void)tuner_emit(t, TUNER_EVENT_VOID, TUNER_WHY_SETTLING);
        if (q->kind != TUNER_TRIAL_TEST)
            t->active->check_at = t->now;
        plan_next(t);
        return;
    }
    add_quad(t, d);
    shift = (q->load_b - q->load_a) / (2.0 * t->params.block);
    if (!isnan(shift)) {
        *q->load_shift += shift;
        elastic_learn(&t->elastic, d, shift);
    }
    for (uint8_t i = 0; i < t->n_guards; i++)
        guard_learn(&t->guards[i], &t->guard_noise[i], &q->ga[i], &q->gb[i]);
    if (q->kind == TUNER_TRIAL_TEST)
        verdict_test(t);
    else
        verdict_check(t);
}

/* True when a guard ended the quad. */
static bool record(struct tuner *t, const struct tuner_window *w, double log_y, double log_load)
{
    struct quad *q = &t->quad;
    bool b = trial_is_b(q);

    if (b) {
        q->yb[q->nb++] = log_y;
        q->load_b += log_load;
    } else {
        q->ya[q->na++] = log_y;
        q->load_a += log_load;
    }
    q->load[q->nl++] = log_load;
    for (uint8_t i = 0; i < t->n_guards; i++)
        guard_sums_add(b ? &q->gb[i] : &q->ga[i], w->guard[i]);
    return loss_guard(t, q->yb, q->nb, b) || (t->n_guards > 0 && metric_guard(t));
}

static uint32_t base_settle(const struct tuner *t)
{
    return t->settle.level > 0 ? t->settle.settle : t->params.settle;
}

/* Long settling must not mean long harm: a candidate that already loses is stopped before it is
 * measured. */
static bool watch_settling(struct tuner *t, double log_y)
{
    struct quad *q = &t->quad;

    if (q->kind != TUNER_TRIAL_TEST || !trial_is_b(q) || q->n_early == TUNER_BLOCK_MAX)
        return false;
    q->early[q->n_early++] = log_y;
    return loss_guard(t, q->early, q->n_early, true);
}

void trial_window(struct tuner *t, const struct tuner_window *w, double log_y, double log_load)
{
    struct quad *q = &t->quad;

    if (q->missing > MISSING_MAX) {
        trial_void(t, TUNER_WHY_MISSING);
        return;
    }
    q->missing = 0;
    t->view.position++;
    if (q->settle_left > 0) {
        if (--q->settle_left < t->params.settle - base_settle(t))
            (void)watch_settling(t, log_y);
        return;
    }
    if (record(t, w, log_y, log_load))
        return;
    if (--q->measure_left > 0)
        return;
    if (++q->block < 4)
        begin_block(t);
    else
        end_quad(t);
}
