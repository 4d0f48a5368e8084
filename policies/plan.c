/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done next: rest, wait, test a candidate, or check the incumbent.
 * Must not judge measurements; verdict.c does. */
#include "tuner_state.h"

#include <math.h>
#include <string.h>

static const uint32_t WAIT_MIN = 6;  /* windows: nothing is planned more often than this */
static const uint32_t WAIT_CAP = 30; /* windows until the write cap is looked at again */
static const uint32_t MOVED_MAX =
    10; /* knobs off the baseline: a check of more would need the cap of an hour */

/* May `n` more writes be made, and the baseline still be reached afterwards from `arms`? */
static bool is_within_cap(const struct tuner *t, uint32_t n, const uint8_t *arms)
{
    uint8_t base[TUNER_KNOBS_MAX];

    arms_baseline(t, base);
    return tuner_writes(t) + n + arms_distance(t, arms, base) <= TUNER_WRITE_CAP;
}

bool plan_has_room(const struct tuner *t, const uint8_t *a, const uint8_t *b)
{
    uint32_t n = arms_distance(t, t->sent, a) + 5 * arms_distance(t, a, b);

    return is_within_cap(t, n, a);
}

void plan_go_home(struct tuner *t)
{
    uint8_t want[TUNER_KNOBS_MAX];

    switch (t->mode) {
    case TUNER_MODE_TUNE:
        if (!t->active)
            break;
        arms_incumbent(t, t->active, want);
        if (is_within_cap(t, arms_distance(t, t->sent, want), want))
            memcpy(t->home, want, sizeof t->home);
        else
            arms_baseline(t, t->home);
        break;
    case TUNER_MODE_BASELINE:
        arms_baseline(t, t->home);
        break;
    case TUNER_MODE_HOLD: /* what is in force stays */
        break;
    }
    memcpy(t->force, t->home, sizeof t->force);
}

void plan_wait(struct tuner *t, uint64_t until, enum tuner_reason why)
{
    if (t->state != TUNER_WAIT)
        t->n_aa = 0;
    t->state = TUNER_WAIT;
    t->wait_reason = why;
    t->until = until > t->now + WAIT_MIN ? until : t->now + WAIT_MIN;
    t->quad.kind = TUNER_TRIAL_NONE;
    plan_go_home(t);
}

bool plan_check_due(const struct tuner *t, enum tuner_reason *ret_why)
{
    const struct class_memory *c = t->active;
    double load, moved;

    if (t->mode != TUNER_MODE_TUNE || arms_is_baseline(t, c))
        return false;
    if (t->now >= c->check_at) {
        *ret_why = TUNER_WHY_SCHEDULE;
        return true;
    }
    load = load_smooth(&t->load);
    moved = fmax(t->k.load_moved, t->k.load_moved_z * sqrt(2.0) * load_smooth_noise(&t->load));
    if (!isnan(load) && fabs(load - c->load_ref) > moved &&
        t->now >= c->load_ref_at + t->k.load_gap) {
        *ret_why = TUNER_WHY_LOAD_MOVED;
        return true;
    }
    return false;
}

static void start_check(struct tuner *t, enum tuner_trial_kind kind, enum tuner_reason why)
{
    struct class_memory *c = t->active;
    struct quad *q = &t->quad;
    double load = load_smooth(&t->load);
    struct tuner_decision *d;

    q->kind = kind;
    q->own = (struct seqtest){ 0 };
    q->sums = &q->own;
    q->own_shift = 0.0;
    q->load_shift = &q->own_shift;
    q->knob = 0;
    arms_incumbent(t, c, q->a);
    arms_baseline(t, q->b);
    if (!plan_has_room(t, q->a, q->b)) {
        plan_wait(t, t->now + WAIT_CAP, TUNER_WHY_WRITE_CAP);
        return;
    }
    while (q->knob + 1 < t->n_knobs && q->a[q->knob] == q->b[q->knob])
        q->knob++; /* the first knob that differs stands for the vector */
    q->candidate = q->b[q->knob];
    c->load_ref = isnan(load) ? 0.0 : load;
    c->load_ref_at = t->now;
    d = tuner_emit(t, TUNER_EVENT_CHECK, why);
    if (d) {
        d->knob = q->knob;
        d->old_value = tuner_value(t, q->knob, q->a[q->knob]);
        d->new_value = tuner_value(t, q->knob, q->b[q->knob]);
        d->guard = t->alarm_guard;
    }
    trial_quad(t, true);
}

void plan_check(struct tuner *t, enum tuner_reason why)
{
    start_check(t, TUNER_TRIAL_CHECK, why);
}

static uint8_t find_candidate(const struct tuner *t, uint8_t *ret_knob)
{
    const struct class_memory *c = t->active;

    uint32_t moved = 0;

    if (t->now < c->ban_until)
        return TUNER_NO_ARM;
    for (uint8_t i = 0; i < t->n_knobs; i++)
        moved += c->knob[i].incumbent != t->arms[i].base;
    for (uint8_t i = 0; i < t->n_knobs; i++) {
        uint8_t arm;

        if (t->arms[i].taken || (moved >= MOVED_MAX && c->knob[i].incumbent == t->arms[i].base))
            continue;
        arm = t->policy->candidate(t, c, i);
        if (arm != TUNER_NO_ARM) {
            *ret_knob = i;
            return arm;
        }
    }
    return TUNER_NO_ARM;
}

/* Nothing to try: until the first back-off or the ban ends. */
static void wait_for_candidate(struct tuner *t)
{
    const struct class_memory *c = t->active;
    uint64_t first = UINT64_MAX;
    bool usable = false;

    for (uint8_t i = 0; i < t->n_knobs; i++) {
        if (t->arms[i].taken || t->arms[i].n < 2)
            continue;
        usable = true;
        for (uint8_t j = 0; j < t->arms[i].n; j++) {
            const struct arm_record *a = &c->knob[i].arm[j];

            if (a->backoff > 0 && a->ok_at > t->now && a->ok_at < first)
                first = a->ok_at;
        }
    }
    if (!usable || !t->policy->moves)
        plan_wait(t, t->now + TUNER_HOUR, TUNER_WHY_NO_KNOB);
    else if (t->now < c->ban_until)
        plan_wait(t, c->ban_until, TUNER_WHY_BANNED);
    else
        plan_wait(t, first == UINT64_MAX ? t->now + TUNER_HOUR : first, TUNER_WHY_BACKOFF);
}

static bool is_joint_due(const struct tuner *t)
{
    uint8_t a[TUNER_KNOBS_MAX], b[TUNER_KNOBS_MAX];

    if (!t->active->joint_due)
        return false;
    arms_incumbent(t, t->active, a);
    arms_baseline(t, b);
    return arms_distance(t, a, b) >= 2;
}

static void start_test(struct tuner *t, uint8_t knob, uint8_t arm)
{
    struct class_memory *c = t->active;
    struct quad *q = &t->quad;
    struct tuner_decision *d;
    struct open_test *o;

    arms_incumbent(t, c, q->a);
    arms_incumbent(t, c, q->b);
    q->b[knob] = arm;
    if (!plan_has_room(t, q->a, q->b)) {
        plan_wait(t, t->now + WAIT_CAP, TUNER_WHY_WRITE_CAP);
        return;
    }
    q->kind = TUNER_TRIAL_TEST;
    q->knob = knob;
    q->candidate = arm;
    o = memory_test(t, c, knob, arm);
    q->sums = &o->sums;
    q->load_shift = &o->load_shift;
    d = tuner_emit(t, TUNER_EVENT_TRIAL, TUNER_WHY_NONE);
    if (d) {
        d->knob = knob;
        d->old_value = tuner_value(t, knob, q->a[knob]);
        d->new_value = tuner_value(t, knob, arm);
    }
    trial_quad(t, false);
}

void plan_next(struct tuner *t)
{
    enum tuner_reason why;
    uint8_t knob = 0, arm;
    double over = t->debt - t->params.debt_max;

    if (t->mode != TUNER_MODE_TUNE) {
        plan_wait(t, t->now + TUNER_HOUR, TUNER_WHY_MODE);
        return;
    }
    if (plan_check_due(t, &why)) {
        plan_check(t, why);
        return;
    }
    settle_expire(t);
    arm = find_candidate(t, &knob);
    if (arm == TUNER_NO_ARM) {
        if (is_joint_due(t))
            start_check(t, TUNER_TRIAL_JOINT, TUNER_WHY_SCHEDULE);
        else if (t->now >= t->active->ban_until && settle_exhausted(t))
            plan_next(t);
        else
            wait_for_candidate(t);
    } else if (t->noise.quads < t->params.calibration) {
        plan_wait(t, t->now + 4 * (uint64_t)t->params.block, TUNER_WHY_CALIBRATING);
    } else if (t->now < t->quiet) {
        plan_wait(t, t->quiet, TUNER_WHY_QUIET);
    } else if (over > 0.0) {
        plan_wait(t, t->now + (uint64_t)(over / t->params.debt_pay) + 1, TUNER_WHY_BUDGET);
    } else {
        start_test(t, knob, arm);
    }
}

void plan_enter(struct tuner *t)
{
    struct class_memory *c = memory_find(t, t->workload, t->load.bucket);
    bool known = c != NULL;

    if (!c)
        c = memory_new(t, t->workload, t->load.bucket);
    if (t->adopted) {
        for (uint8_t i = 0; i < t->n_knobs; i++)
            c->knob[i].incumbent = t->arms[i].taken ? t->arms[i].base : t->adopt[i];
        c->check_at = t->now;
        t->adopted = false;
    }
    c->seen_at = t->now;
    t->active = c;
    t->state = TUNER_REST;
    t->rest = t->k.dwell;
    t->quad.kind = TUNER_TRIAL_NONE;
    level_reset(&t->level);
    t->alarm = false;
    memset(t->guard_run, 0, sizeof t->guard_run);
    plan_go_home(t);
    (void)tuner_emit(t, TUNER_EVENT_CLASS, known ? TUNER_WHY_CLASS_KNOWN : TUNER_WHY_CLASS_NEW);
}
