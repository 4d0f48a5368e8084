/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settling time, from the data: the middle block of a quad (BB or AA) is one value for twice as
 * long as the others. If its second half still moves towards the effect, blocks and settling are
 * too short; they are lengthened. Must not judge a candidate. */
#include "tuner_state.h"

#include "stat.h"

#include <math.h>
#include <string.h>

static const double KNOWN_WEIGHT =
    8.0; /* pooled noise of another length is a first guess, no more */
static const uint32_t KNOWN_QUADS = 4; /* checks before blocks are shortened again */
static const double SETTLED_SLOPE =
    0.2; /* below: what is left after settling is not worth longer blocks */
static const uint32_t TRY_LEVEL = 2; /* length tried once where short blocks found nothing */

/* Second half minus first half of the middle block, positive when it moves towards the candidate's
 * side. */
static double middle_drift(const struct tuner *t)
{
    const struct quad *q = &t->quad;
    const double *y = q->b_first ? q->ya : q->yb;
    size_t m = t->params.block;
    double d = stat_quad_diff(y, m, y + m, m);

    return q->b_first ? -d : d;
}

/* 3/1, 6/3, 9/7, 12/13 windows of block/settling at levels 0..3 */
static void set_level(struct tuner *t, uint32_t level)
{
    struct settle *s = &t->settle;
    uint32_t block, settle, old = t->params.block;

    if (s->level == 0) {
        s->block = t->params.block;
        s->settle = t->params.settle;
    }
    block = s->block * (level + 1);
    settle = s->settle + level * (level + 1);
    *s = (struct settle){ .level = level,
                          .block = s->block,
                          .settle = s->settle,
                          .try_next = s->try_next,
                          .try_until = s->try_until };
    t->params.block = block > TUNER_BLOCK_MAX ? TUNER_BLOCK_MAX : block;
    t->params.settle = settle > TUNER_SETTLE_MAX ? TUNER_SETTLE_MAX : settle;
    t->n_aa = 0;
    t->noise.sum *= (double)old / t->params.block; /* means of more windows vary less */
    if (t->noise.weight > KNOWN_WEIGHT) {
        t->noise.sum *= KNOWN_WEIGHT / t->noise.weight;
        t->noise.weight = KNOWN_WEIGHT;
    }
    for (size_t i = 0; i < t->n_classes; i++)
        memset(t->class[i].test, 0, sizeof t->class[i].test);
}

/* What short blocks saw was a part of each effect: what was not below `least` may be tested again.
 */
static bool is_forgivable(const struct arm_record *a, double least)
{
    return a->backoff > 0 && a->against != TUNER_NO_ARM && a->effect >= least;
}

static void forgive(struct tuner *t, double least)
{
    for (size_t i = 0; i < t->n_classes; i++) {
        struct class_memory *c = &t->class[i];

        for (uint8_t k = 0; k < t->n_knobs; k++)
            for (size_t j = 0; j < TUNER_ARMS_MAX; j++) {
                struct arm_record *a = &c->knob[k].arm[j];

                if (is_forgivable(a, least))
                    *a = (struct arm_record){ .against = TUNER_NO_ARM };
            }
    }
}

static bool has_gained(const struct tuner *t)
{
    for (size_t i = 0; i < t->n_classes; i++)
        if (t->class[i].accepts > 0)
            return true;
    return false;
}

bool settle_learn(struct tuner *t, double diff)
{
    struct settle *s = &t->settle;
    bool known = t->quad.kind != TUNER_TRIAL_TEST;
    double drift = middle_drift(t), effect = known ? -t->active->gain : diff, p = drift * effect;

    s->n++;
    s->sum += p;
    s->square += p * p;
    s->weight += effect * effect - (known ? 0.0 : noise_var(&t->noise));
    s->var += drift * drift;
    if (known) {
        s->n_known++;
        s->known_sum += p;
        s->known_weight += effect * effect;
    }
    if (s->level < t->k.settle_levels && s->n >= t->k.settle_quads &&
        s->sum > t->k.settle_z * sqrt(s->square) && s->sum > t->k.settle_slope * s->weight) {
        set_level(t, s->level + 1);
        forgive(t, -t->params.delta);
        return true;
    }
    if (s->level > 0 && s->n_known >= KNOWN_QUADS && s->known_weight > 0.0 &&
        s->known_sum / s->known_weight + 2.0 * sqrt(s->var / s->n / s->known_weight) <
            SETTLED_SLOPE) {
        set_level(t, 0);
        return true;
    }
    return false;
}

/* Is there anything in this class that long blocks could see better? */
static bool is_worth_a_try(const struct tuner *t)
{
    for (uint8_t k = 0; k < t->n_knobs; k++)
        for (size_t j = 0; j < TUNER_ARMS_MAX; j++)
            if (is_forgivable(&t->active->knob[k].arm[j], 0.0))
                return true;
    return false;
}

bool settle_exhausted(struct tuner *t)
{
    struct settle *s = &t->settle;

    if (t->k.settle_levels < TRY_LEVEL || t->now < s->try_next || s->level > 0 ||
        !t->policy->moves || has_gained(t) || !is_worth_a_try(t))
        return false;
    s->try_until = t->now + t->k.settle_try;
    s->try_next = t->now + 4 * (uint64_t)t->k.retest_first; /* a day */
    set_level(t, TRY_LEVEL);
    forgive(t, 0.0);
    return true;
}

void settle_expire(struct tuner *t)
{
    const struct settle *s = &t->settle;

    if (s->level == TRY_LEVEL && s->try_until > 0 && t->now >= s->try_until) {
        t->settle.try_until = 0;
        if (!has_gained(t))
            set_level(t, 0);
    }
}
