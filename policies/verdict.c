/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a comparison leads to: accept, reject, keep, rollback, or one more quad.
 * Must not touch windows; it sees the sums of quads only. */
#include "tuner_state.h"

#include "stat.h"

#include <math.h>
#include <string.h>

static const double EFFECT_GUARD =
    -0.05; /* remembered effect of an arm that broke a metric's guard: harmful */

struct sums { /* of the comparison, as the rules need them */
    double n, mean, se, var;
};

static struct sums get_sums(const struct tuner *t)
{
    const struct seqtest *s = t->quad.sums;
    struct sums r = { .n = s->n };

    r.var = seqtest_variance(s, noise_var(&t->noise));
    r.mean = s->sum / r.n;
    r.se = sqrt(r.var / r.n);
    return r;
}

static void fill(struct tuner *t, struct tuner_decision *d, uint8_t knob, uint8_t from, uint8_t to)
{
    d->knob = knob;
    d->old_value = tuner_value(t, knob, from);
    d->new_value = tuner_value(t, knob, to);
    seqtest_evidence(t->quad.sums, noise_var(&t->noise), t->k.tau, t->params.alpha, &d->evidence);
}

/* A check measures baseline minus incumbent; people read it the other way round. */
static void turn_round(struct tuner_evidence *e)
{
    double lo = e->lo;

    e->mean = e->n > 0 ? -e->mean : 0.0;
    e->lo = e->n > 0 ? -e->hi : 0.0;
    e->hi = e->n > 0 ? -lo : 0.0;
}

static void keep_guard_levels(struct tuner *t, const struct guard_sums *g)
{
    for (uint8_t i = 0; i < t->n_guards; i++)
        if (g[i].n >= 2)
            t->active->guard_ref[i] = g[i].sum / (double)g[i].n;
    memset(t->guard_run, 0, sizeof t->guard_run);
}

/* What candidate minus incumbent does to the observed load, 0 while that cannot be told from noise.
 */
static double load_shift(const struct tuner *t)
{
    double n = t->quad.sums->n, mean = *t->quad.load_shift / n;
    double se = load_noise(&t->load) / sqrt(n * t->params.block);

    return t->k.shift_z > 0.0 && fabs(mean) > t->k.shift_z * se ? mean : 0.0;
}

/* The quad has just measured what is in force from now on: a change right after it must not go
 * unseen. */
static void set_level(struct tuner *t, const double *y, size_t n)
{
    if (t->k.level_known && n > 0)
        level_set(&t->level, stat_median(y, n));
    else
        level_reset(&t->level);
}

static void accept(struct tuner *t, double mean)
{
    struct class_memory *c = t->active;
    struct quad *q = &t->quad;
    struct knob_memory *k = &c->knob[q->knob];
    uint8_t old = k->incumbent, new = q->candidate;
    double load = load_smooth(&t->load);
    struct tuner_decision *d = tuner_emit(t, TUNER_EVENT_ACCEPT, TUNER_WHY_EVIDENCE);

    if (d)
        fill(t, d, q->knob, old, new);
    if (arms_is_baseline(t, c)) {
        c->gain = mean;
        c->load_ref = isnan(load) ? 0.0 : load;
        c->load_ref_at = t->now;
    } else {
        c->gain += mean;
        c->joint_due = true;
    }
    c->load_shift += load_shift(t);
    t->moves++;
    c->accepts++;
    c->tests++;
    memory_close(c, q->knob, new, old);
    k->incumbent = new;
    k->dir = new > old ? 1 : -1;
    k->arm[old].backoff = t->k.retest_first;
    k->arm[old].ok_at = t->now + t->k.retest_first;
    c->check_interval = t->k.check_first;
    c->check_at = t->now + c->check_interval;
    if (t->n_knobs > 1)
        for (size_t i = 0; i < TUNER_OPEN_TESTS; i++)
            if (c->test[i].knob != q->knob)
                c->test[i].used = false; /* they were measured beside the old value */
    keep_guard_levels(t, q->gb);
    t->dry = 0;
    set_level(t, q->yb, q->nb);
    plan_go_home(t);
    plan_next(t);
}

void verdict_reject(struct tuner *t, enum tuner_reason why, double effect)
{
    struct class_memory *c = t->active;
    struct quad *q = &t->quad;
    struct knob_memory *k = &c->knob[q->knob];
    uint8_t old = k->incumbent, arm = q->candidate;
    bool guard = isnan(effect);
    struct tuner_decision *d = tuner_emit(t, guard ? TUNER_EVENT_ABORT : TUNER_EVENT_REJECT, why);
    int outer;

    if (d)
        fill(t, d, q->knob, arm, old);
    c->tests++;
    if (++t->dry > t->k.patience) {
        double rest = t->k.rest_first * pow(t->k.rest_grow, (double)(t->dry - t->k.patience - 1));

        t->quiet = t->now + (uint64_t)stat_min(t->k.rest_max, rest);
    }
    k->arm[arm].effect = guard ? EFFECT_GUARD : effect;
    k->arm[arm].against = old;
    memory_close(c, q->knob, arm, old);
    memory_backoff(t, c, q->knob, arm);
    outer = old + (int)t->k.coarse * k->dir;
    outer = outer < 0 ? 0 : outer;
    outer = outer > t->arms[q->knob].n - 1 ? t->arms[q->knob].n - 1 : outer;
    if (k->dir != 0 && arm == outer)
        k->dir = 0;
    plan_go_home(t);
    plan_next(t);
}

void verdict_abort(struct tuner *t)
{
    const struct quad *q = &t->quad;
    const struct seqtest *s = q->sums;
    struct tuner_decision *d = tuner_emit(t, TUNER_EVENT_ABORT, TUNER_WHY_LOSS_GUARD);

    if (d)
        fill(t, d, q->knob, q->candidate, q->a[q->knob]);
    if (s->sum < 0.0)
        verdict_reject(t, TUNER_WHY_LOSS_GUARD, s->sum / (double)s->n);
    else
        plan_next(t);
}

void verdict_test(struct tuner *t)
{
    const struct tuner_const *k = &t->k;
    struct sums s = get_sums(t);
    double bar = 1.0 / t->params.alpha, sd = sqrt(noise_var(&t->noise)) / k->tests_sd, most;
    enum tuner_reason why;

    trial_charge(t, stat_min(0.0, s.mean), 2.0 * t->params.block);
    if (s.n >= k->tests_min && s.mean >= t->params.delta &&
        seqtest_evalue(s.n, t->quad.sums->sum, s.var, k->tau) >= bar) {
        accept(t, s.mean);
        return;
    }
    if (s.mean + k->futile_z * s.se < t->params.delta &&
        (s.n >= 2.0 || s.mean + 2.0 * s.se < 0.0)) {
        verdict_reject(t, TUNER_WHY_FUTILE, s.mean);
        return;
    }
    most = stat_max(k->tests_lo, stat_min(k->tests_hi, k->tests_ref * (sd * sd)));
    if (s.n >= most || (s.n >= most / 2.0 &&
                        seqtest_evalue(most, most * (s.mean + 0.5 * s.se), s.var, k->tau) < bar)) {
        verdict_reject(t, TUNER_WHY_TOO_LONG, s.mean);
        return;
    }
    if (plan_check_due(t, &why))
        plan_next(t);
    else
        trial_quad(t, false);
}

static void keep(struct tuner *t, double gain)
{
    struct class_memory *c = t->active;
    struct quad *q = &t->quad;
    struct tuner_decision *d = tuner_emit(t, TUNER_EVENT_KEEP, TUNER_WHY_RESHOWN);
    uint32_t longer = c->check_interval * 3 / 2;

    if (d) {
        fill(t, d, q->knob, q->a[q->knob], q->a[q->knob]);
        turn_round(&d->evidence);
    }
    c->gain = gain;
    c->load_shift = -load_shift(t);
    if (q->kind == TUNER_TRIAL_JOINT)
        c->joint_due = false;
    longer = longer < t->k.check_first ? t->k.check_first : longer;
    c->check_interval = longer > t->k.check_max ? t->k.check_max : longer;
    c->check_at = t->now + c->check_interval;
    t->alarm_ok = t->now + t->k.alarm_gap;
    keep_guard_levels(t, q->ga);
    set_level(t, q->ya, q->na);
    plan_next(t);
}

void verdict_check(struct tuner *t)
{
    struct sums s = get_sums(t);
    double gain = -s.mean;

    if (gain > 0.5 * s.se && (s.n >= 2.0 || gain > 1.5 * s.se))
        keep(t, gain);
    else if ((gain < -s.se && s.n >= t->k.rollback_quads) || s.n >= t->k.check_quads)
        verdict_rollback(t, TUNER_WHY_NOT_RESHOWN);
    else
        trial_quad(t, false);
}

static void note_rollback(struct tuner *t, struct class_memory *c)
{
    uint8_t n = 0;

    for (uint8_t i = 0; i < c->n_rollbacks; i++)
        if (t->now < c->rollback_at[i] + t->k.ban_window)
            c->rollback_at[n++] = c->rollback_at[i];
    if (n == TUNER_ROLLBACKS) {
        memmove(c->rollback_at, c->rollback_at + 1,
                (TUNER_ROLLBACKS - 1) * sizeof c->rollback_at[0]);
        n--;
    }
    c->rollback_at[n++] = t->now;
    c->n_rollbacks = n;
    if (n >= t->k.ban_count)
        c->ban_until = t->now + t->k.ban_length;
}

void verdict_rollback(struct tuner *t, enum tuner_reason why)
{
    struct class_memory *c = t->active;
    struct quad *q = &t->quad;
    struct tuner_decision *d = tuner_emit(t, TUNER_EVENT_ROLLBACK, why);

    if (d) {
        fill(t, d, q->knob, q->a[q->knob], t->arms[q->knob].base);
        turn_round(&d->evidence);
    }
    t->moves++;
    c->rollbacks++;
    note_rollback(t, c);
    for (uint8_t i = 0; i < t->n_knobs; i++) {
        struct knob_memory *k = &c->knob[i];
        uint8_t old = k->incumbent;

        k->incumbent = t->arms[i].base;
        k->dir = 0;
        if (old != t->arms[i].base)
            memory_return(t, c, i, old);
    }
    c->gain = 0.0;
    c->load_shift = 0.0;
    c->joint_due = false;
    memset(c->test, 0, sizeof c->test);
    q->kind = TUNER_TRIAL_NONE;
    level_reset(&t->level);
    arms_baseline(t, t->home);
    plan_go_home(t);
    plan_next(t);
}
