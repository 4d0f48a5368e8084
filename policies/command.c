/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the caller can do to a controller between windows: warm start, mode, emergency, taking a
 * knob away. Must not judge measurements; an open trial ends as missing. */
#include "tuner_state.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int to_arms(const struct tuner *t, const double *value, uint8_t *ret)
{
    uint8_t arms[TUNER_KNOBS_MAX] = { 0 };

    for (uint8_t i = 0; i < t->n_knobs; i++) {
        arms[i] = arms_find(&t->arms[i], value[i]);
        if (arms[i] == TUNER_NO_ARM)
            return -EINVAL;
    }
    memcpy(ret, arms, sizeof arms);
    return 0;
}

int tuner_remember(struct tuner *t, const struct tuner_memory *memory)
{
    uint8_t arms[TUNER_KNOBS_MAX];
    struct class_memory *c;
    int r = to_arms(t, memory->value, arms);

    if (r < 0)
        return r;
    if (!t->policy->moves)
        return 0;
    c = memory_find(t, memory->workload, memory->bucket);
    if (!c)
        c = memory_new(t, memory->workload, memory->bucket);
    for (uint8_t i = 0; i < t->n_knobs; i++)
        c->knob[i].incumbent = arms[i];
    c->gain = isfinite(memory->gain) && !arms_is_baseline(t, c) ? memory->gain : 0.0;
    c->load_shift = isfinite(memory->load_shift) ? memory->load_shift : 0.0;
    c->check_at = t->now;
    c->windows = memory->windows;
    c->tests = memory->tests;
    c->accepts = memory->accepts;
    c->rollbacks = memory->rollbacks;
    return 0;
}

void tuner_set_noise(struct tuner *t, const struct tuner_noise *noise)
{
    if (!isfinite(noise->weight) || !isfinite(noise->sum) || noise->weight <= 0.0 ||
        noise->sum < 0.0)
        return;
    t->noise = *noise;
}

static void show_values(struct tuner *t)
{
    for (uint8_t i = 0; i < t->n_knobs; i++) {
        double old = t->decision.value[i], new = tuner_value(t, i, t->sent[i]);

        if (isnan(old) != isnan(new) || (!isnan(new) && (new < old || new > old)))
            t->decision.moved = true;
        t->decision.value[i] = new;
    }
}

int tuner_adopt(struct tuner *t, const double *value)
{
    uint8_t arms[TUNER_KNOBS_MAX];
    int r = to_arms(t, value, arms);

    if (r < 0)
        return r;
    if (!t->policy->moves)
        return 0;
    memcpy(t->adopt, arms, sizeof t->adopt);
    memcpy(t->home, arms, sizeof t->home);
    memcpy(t->force, arms, sizeof t->force);
    memcpy(t->sent, arms, sizeof t->sent);
    memcpy(t->last, arms, sizeof t->last);
    t->adopted = true;
    show_values(t);
    return 0;
}

/* An open trial is dropped; what was summed of a test stays for later. */
static void interrupt(struct tuner *t, uint32_t rest)
{
    t->quad.kind = TUNER_TRIAL_NONE;
    t->state = TUNER_REST;
    t->rest = rest;
    plan_go_home(t);
}

const struct tuner_decision *tuner_emergency(struct tuner *t)
{
    struct quad *q = &t->quad;
    bool trial = t->state == TUNER_QUAD, b = trial && !arms_equal(t, t->sent, t->home);
    uint8_t base[TUNER_KNOBS_MAX];

    tuner_begin(t);
    t->skip_window = true;
    arms_baseline(t, base);
    if (trial && q->kind == TUNER_TRIAL_TEST && b) {
        verdict_reject(t, TUNER_WHY_EMERGENCY, NAN);
    } else if (t->active && !arms_equal(t, t->sent, base)) {
        if (!trial || q->kind == TUNER_TRIAL_TEST) {
            q->own = (struct seqtest){ 0 };
            q->sums = &q->own;
            q->load_shift = &q->own_shift;
            q->knob = 0;
            arms_incumbent(t, t->active, q->a);
        }
        verdict_rollback(t, TUNER_WHY_EMERGENCY);
    } else if (trial) { /* the baseline is in force: not our doing, but nothing can be measured now
                         */
        (void)tuner_emit(t, TUNER_EVENT_VOID, TUNER_WHY_EMERGENCY);
    } else {
        t->decision.reason = TUNER_WHY_EMERGENCY;
    }
    if (!t->active) { /* taken over and not yet seen: not worth the risk */
        memcpy(t->home, base, sizeof t->home);
        t->adopted = false;
    }
    interrupt(t, t->k.dwell); /* whatever was planned: not now */
    return tuner_finish(t);
}

const struct tuner_decision *tuner_set_mode(struct tuner *t, enum tuner_mode mode)
{
    tuner_begin(t);
    if (mode != t->mode) {
        t->mode = mode;
        t->decision.reason = TUNER_WHY_MODE;
        if (t->state == TUNER_QUAD)
            (void)tuner_emit(t, TUNER_EVENT_VOID, TUNER_WHY_MODE);
        interrupt(t, 1);
    }
    return tuner_finish(t);
}

/* The knob is at its baseline everywhere, and nothing is known about it. */
static void reset_knob(struct tuner *t, uint8_t knob)
{
    uint8_t base = t->arms[knob].base;

    t->adopt[knob] = t->home[knob] = t->force[knob] = t->sent[knob] = t->last[knob] = base;
    for (size_t i = 0; i < TUNER_CLASSES_MAX; i++)
        if (t->class[i].used)
            memory_forget_knob(t, &t->class[i], knob);
    if (t->state == TUNER_QUAD)
        (void)tuner_emit(t, TUNER_EVENT_VOID, TUNER_WHY_FOREIGN);
    interrupt(t, 1);
    t->force[knob] = base;
}

const struct tuner_decision *tuner_take_knob(struct tuner *t, uint8_t knob)
{
    tuner_begin(t);
    t->decision.reason = TUNER_WHY_FOREIGN;
    t->decision.knob = knob;
    if (knob < t->n_knobs && !t->arms[knob].taken) {
        t->arms[knob].taken = true;
        reset_knob(t, knob);
    }
    (void)tuner_finish(t);
    show_values(t);
    return &t->decision;
}

const struct tuner_decision *tuner_give_knob(struct tuner *t, uint8_t knob, double baseline)
{
    struct tuner_knob k;
    struct knob_arms arms;

    tuner_begin(t);
    t->decision.knob = knob;
    if (knob >= t->n_knobs || !t->arms[knob].taken)
        return tuner_finish(t);
    k = t->knobs[knob];
    if (isfinite(baseline))
        k.baseline = baseline;
    if (arms_init(&arms, &k) == 0) {
        t->knobs[knob] = k;
        t->arms[knob] = arms;
        reset_knob(t, knob);
    }
    (void)tuner_finish(t);
    show_values(t);
    return &t->decision;
}
