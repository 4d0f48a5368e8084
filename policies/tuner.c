/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The top of the controller: start, one window in and one decision out.
 * Must not know about files, clocks or names; planning, trials and verdicts have files of their
 * own. */
#include "tuner_state.h"

#include "stat.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const uint64_t SEED_BASE = 1234567, SEED_STEP = 7919; /* spread neighbouring seeds */
static const uint64_t LEVEL_FRESH =
    20; /* windows for which the level of the incumbent is a yardstick */
static const double EFFECT_MAX = 0.5;
static const uint32_t GUARD_RUN =
    2; /* windows in a row that are worse than at the last comparison */

size_t tuner_size(void)
{
    return sizeof(struct tuner);
}

static bool is_ratio(double v, double lo, double hi)
{
    return isfinite(v) && v > lo && v < hi;
}

static bool is_usable(const struct tuner_config *c)
{
    const struct tuner_params *p = &c->params;

    if (c->n_knobs > TUNER_KNOBS_MAX || c->n_guards > TUNER_GUARDS_MAX)
        return false;
    if (!is_ratio(p->alpha, 0.0, 1.0) || !is_ratio(p->class_ratio, 1.0, 1e6) ||
        !isfinite(p->delta) || p->delta < 0.0 || !isfinite(p->debt_max) || p->debt_max < 0.0 ||
        !is_ratio(p->debt_pay, 0.0, 1e9))
        return false;
    if (p->block < 1 || p->block > TUNER_BLOCK_MAX || p->settle > TUNER_SETTLE_MAX)
        return false;
    for (uint8_t i = 0; i < c->n_guards; i++)
        if (!isfinite(c->guards[i].bound) || c->guards[i].bound <= 0.0)
            return false;
    return true;
}

int tuner_init(struct tuner *t, const struct policy *policy, const struct tuner_config *config)
{
    struct knob_arms arms[TUNER_KNOBS_MAX];
    int r;

    if (!policy || !is_usable(config))
        return -EINVAL;
    for (uint8_t i = 0; i < config->n_knobs; i++) {
        r = arms_init(&arms[i], &config->knobs[i]);
        if (r < 0)
            return r;
    }
    memset(t, 0, offsetof(struct tuner, class));
    for (size_t i = 0; i < TUNER_CLASSES_MAX; i++)
        t->class[i].used = false;
    t->policy = policy;
    t->params = config->params;
    t->k = tuner_const_default;
    t->k.load.width = log(config->params.class_ratio);
    t->n_knobs = config->n_knobs;
    t->n_guards = config->n_guards;
    memcpy(t->knobs, config->knobs, sizeof t->knobs);
    memcpy(t->arms, arms, config->n_knobs * sizeof arms[0]);
    memcpy(t->guards, config->guards, sizeof t->guards);
    t->rng = SEED_BASE + SEED_STEP * config->params.seed;
    t->mode = TUNER_MODE_TUNE;
    t->rest = t->k.dwell;
    load_init(&t->load, &t->k.load);
    level_init(&t->level);
    noise_init(&t->noise, t->k.noise_sd, t->k.noise_weight);
    arms_baseline(t, t->home);
    memcpy(t->force, t->home, sizeof t->force);
    memcpy(t->sent, t->home, sizeof t->sent);
    memcpy(t->last, t->home, sizeof t->last);
    for (uint8_t i = 0; i < TUNER_KNOBS_MAX; i++)
        t->decision.value[i] = i < t->n_knobs ? tuner_value(t, i, t->sent[i]) : NAN;
    return 0;
}

double tuner_value(const struct tuner *t, uint8_t knob, uint8_t arm)
{
    return knob < t->n_knobs && !t->arms[knob].taken ? t->arms[knob].value[arm] : NAN;
}

uint32_t tuner_writes(const struct tuner *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_writes; i++)
        n += t->now - t->write_at[i] < TUNER_HOUR;
    return n;
}

static void count_write(struct tuner *t)
{
    t->write_at[t->write_next] = t->now;
    t->write_next = (t->write_next + 1) % TUNER_WRITE_CAP;
    if (t->n_writes < TUNER_WRITE_CAP)
        t->n_writes++;
}

struct tuner_decision *tuner_emit(struct tuner *t, enum tuner_event event, enum tuner_reason why)
{
    if (t->decision.event != TUNER_EVENT_NONE)
        return NULL;
    t->decision.event = event;
    t->decision.reason = why;
    return &t->decision;
}

void tuner_begin(struct tuner *t)
{
    struct tuner_decision *d = &t->decision;

    d->event = TUNER_EVENT_NONE;
    d->reason = TUNER_WHY_NONE;
    d->knob = d->guard = 0;
    d->old_value = d->new_value = NAN;
    d->evidence = (struct tuner_evidence){ 0 };
    d->moved = false;
}

static enum tuner_reason state_reason(const struct tuner *t)
{
    switch (t->state) {
    case TUNER_REST:
        return TUNER_WHY_RESTING;
    case TUNER_WAIT:
        return t->wait_reason;
    case TUNER_QUAD:
        return TUNER_WHY_MEASURING;
    }
    return TUNER_WHY_NONE;
}

const struct tuner_decision *tuner_finish(struct tuner *t)
{
    struct tuner_decision *d = &t->decision;

    for (uint8_t i = 0; i < t->n_knobs; i++) {
        if (t->force[i] == t->sent[i])
            continue;
        d->moved = true;
        t->sent[i] = t->force[i];
        d->value[i] = tuner_value(t, i, t->sent[i]);
        count_write(t);
    }
    if (d->event == TUNER_EVENT_NONE && d->reason == TUNER_WHY_NONE)
        d->reason = state_reason(t);
    if (t->state != TUNER_QUAD)
        t->view.kind = TUNER_TRIAL_NONE;
    else if (t->quad.settle_left > 0)
        t->view.arm = TUNER_ARM_SETTLING;
    else
        t->view.arm = trial_is_b(&t->quad) ? TUNER_ARM_CANDIDATE : TUNER_ARM_INCUMBENT;
    return d;
}

/* A quad without any write: pure noise. */
static void collect_aa(struct tuner *t, double log_y)
{
    size_t m = t->params.block;
    double a[2 * TUNER_BLOCK_MAX], d;

    if (t->since <= t->params.settle)
        t->n_aa = 0;
    t->aa[t->n_aa++] = log_y;
    if (t->n_aa < 4 * m)
        return;
    memcpy(a, t->aa, m * sizeof a[0]);
    memcpy(a + m, t->aa + 3 * m, m * sizeof a[0]);
    d = stat_quad_diff(a, 2 * m, t->aa + m, 2 * m);
    noise_add(&t->noise, d, 1.0, t->k.noise_forget);
    t->noise.quads++;
    t->n_aa = 0;
}

/* Metrics at an incumbent that is not the baseline: worse than at its last comparison asks for a
 * check. */
static void watch_guards(struct tuner *t, const struct tuner_window *w)
{
    for (uint8_t i = 0; i < t->n_guards; i++) {
        if (!isfinite(w->guard[i]))
            continue;
        if (!guard_window_worse(&t->guards[i], &t->guard_noise[i], t->active->guard_ref[i],
                                w->guard[i])) {
            t->guard_run[i] = 0;
            continue;
        }
        if (++t->guard_run[i] < GUARD_RUN)
            continue;
        t->guard_run[i] = 0;
        t->alarm = true;
        t->alarm_reason = TUNER_WHY_GUARD;
        t->alarm_guard = i;
    }
}

/* True when the alarm starts a check. */
static bool watch_incumbent(struct tuner *t, const struct tuner_window *w, double log_y)
{
    bool checking = t->quad.kind == TUNER_TRIAL_CHECK || t->quad.kind == TUNER_TRIAL_JOINT;

    if (t->since > t->params.settle && arms_equal(t, t->sent, t->home)) {
        if (level_update(&t->level, &t->k.level, log_y, t->now)) {
            t->alarm = true;
            t->alarm_reason = TUNER_WHY_LEVEL_ALARM;
        }
        watch_guards(t, w);
    }
    if (t->mode != TUNER_MODE_TUNE || arms_is_baseline(t, t->active))
        t->alarm = false;
    if (!t->alarm || checking || t->now < t->alarm_ok)
        return false;
    t->alarm = false;
    level_reset(&t->level);
    plan_check(t, t->alarm_reason);
    return true;
}

/* What the value in force does to the observed load: classes are told by the load at the baseline.
 */
static double own_shift(const struct tuner *t)
{
    const struct class_memory *c = t->active;

    if (!c || c->load_shift == 0.0)
        return 0.0;
    for (uint8_t i = 0; i < t->n_knobs; i++)
        if (t->sent[i] != c->knob[i].incumbent)
            return 0.0;
    return c->load_shift;
}

/* What the candidate in force does to the observed load.  False: not known, the window says nothing
 * of the class. */
static bool candidate_shift(const struct tuner *t, double log_y, double *ret)
{
    const struct quad *q = &t->quad;
    double slope, effect;

    if (!elastic_slope(&t->elastic, &slope))
        return false;
    if (t->level.known && t->now - t->level.at <= LEVEL_FRESH)
        effect = log_y - t->level.base;
    else if (q->kind == TUNER_TRIAL_TEST)
        effect = q->sums->n > 0 ? q->sums->sum / q->sums->n : 0.0;
    else
        effect = -t->active->gain;
    *ret = slope * stat_clip(effect, -EFFECT_MAX, EFFECT_MAX) + t->active->load_shift;
    return true;
}

/* True when another class begins with this window. */
static bool track_class(struct tuner *t, const struct tuner_window *w, double log_load)
{
    double shift = own_shift(t);

    if (t->active && w->workload != t->workload)
        load_reset(&t->load);
    else if (t->active && !t->k.track_always && t->state == TUNER_QUAD &&
             !arms_equal(t, t->sent, t->home) && !candidate_shift(t, log(w->objective), &shift))
        return false; /* the value on trial may move the load: not evidence of another class */
    t->workload = w->workload;
    return load_update(&t->load, log_load - shift);
}

static void step(struct tuner *t, const struct tuner_window *w)
{
    double log_y = log(w->objective), log_load = load_log(w->load);

    if (track_class(t, w, log_load)) {
        plan_enter(t);
        return;
    }
    t->active->windows++;
    t->active->seen_at = t->now;
    t->debt = stat_max(0.0, t->debt - t->params.debt_pay);
    t->since = arms_equal(t, t->sent, t->last) ? t->since + 1 : 0;
    memcpy(t->last, t->sent, sizeof t->last);
    if (watch_incumbent(t, w, log_y))
        return;
    switch (t->state) {
    case TUNER_REST:
        if (t->rest > 1)
            t->rest--;
        else
            plan_next(t);
        break;
    case TUNER_WAIT: {
        enum tuner_reason why;

        collect_aa(t, log_y);
        if (t->now >= t->until || plan_check_due(t, &why))
            plan_next(t);
        break;
    }
    case TUNER_QUAD:
        trial_window(t, w, log_y, log_load);
        break;
    }
}

const struct tuner_decision *tuner_step(struct tuner *t, const struct tuner_window *w)
{
    const struct tuner_decision *d;
    bool usable = isfinite(w->objective) && w->objective > 0.0 && !w->disturbed && !t->skip_window;

    tuner_begin(t);
    t->skip_window = false;
    if (usable) {
        step(t, w);
    } else {
        t->quad.missing++;
        t->decision.reason = TUNER_WHY_MISSING;
    }
    d = tuner_finish(t);
    t->now++;
    return d;
}
