/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coarse-to-fine compass search: x8 on both sides of the incumbent and of the baseline, then x2
 * around the incumbent. Names the next arm to test and nothing else: it never sees a measurement,
 * only what tests remembered. */
#include "tuner_state.h"

static bool is_usable(const struct tuner *t, const struct class_memory *c, uint8_t knob, int arm)
{
    const struct knob_memory *k = &c->knob[knob];
    const struct knob_arms *a = &t->arms[knob];

    if (arm < 0 || arm >= a->n || arm == k->incumbent || arm == a->base)
        return false;
    return k->arm[arm].backoff == 0 || t->now >= k->arm[arm].ok_at;
}

/* Outward from `origin` on one side: further where the last arm was neutral, not where it was
 * harmful. */
static uint8_t search_side(const struct tuner *t, const struct class_memory *c, uint8_t knob,
                           int origin, int side)
{
    const struct knob_memory *k = &c->knob[knob];
    int last = t->arms[knob].n - 1, step = (int)t->k.coarse;

    for (int far = step;; far += step) {
        int arm = origin + side * far;
        const struct arm_record *r;

        arm = arm < 0 ? 0 : arm;
        arm = arm > last ? last : arm;
        if (arm == origin)
            return TUNER_NO_ARM;
        if (is_usable(t, c, knob, arm))
            return (uint8_t)arm;
        r = &k->arm[arm];
        if (r->against != k->incumbent || r->effect < -t->params.delta || arm == 0 || arm == last)
            return TUNER_NO_ARM;
    }
}

static uint8_t search_ordered(const struct tuner *t, const struct class_memory *c, uint8_t knob)
{
    const struct knob_memory *k = &c->knob[knob];
    int origins[2] = { k->incumbent, t->arms[knob].base };
    int first = k->dir != 0 ? k->dir : (k->down_first ? -1 : 1);

    for (int o = 0; o < (origins[0] == origins[1] ? 1 : 2); o++) {
        for (int s = 0; s < 2; s++) {
            uint8_t arm = search_side(t, c, knob, origins[o], s == 0 ? first : -first);

            if (arm != TUNER_NO_ARM)
                return arm;
        }
    }
    for (int s = -1; s <= 1; s += 2)
        if (is_usable(t, c, knob, k->incumbent + s))
            return (uint8_t)(k->incumbent + s);
    return TUNER_NO_ARM;
}

static uint8_t hillclimb_candidate(const struct tuner *t, const struct class_memory *c,
                                   uint8_t knob)
{
    const struct knob_memory *k = &c->knob[knob];

    for (uint8_t i = 0; i < k->n_hints; i++)
        if (is_usable(t, c, knob, k->hint[i]))
            return k->hint[i];
    if (t->arms[knob].ordered)
        return search_ordered(t, c, knob);
    for (uint8_t i = 0; i < t->arms[knob].n; i++)
        if (is_usable(t, c, knob, i))
            return i;
    return TUNER_NO_ARM;
}

const struct policy policy_hillclimb = {
    .name = "hillclimb",
    .moves = true,
    .candidate = hillclimb_candidate,
};
