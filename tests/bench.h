/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small plant without surprises, for tests of the state machine event by event.
 * Must not judge; the tests do. */
#pragma once

#include "tuner_state.h"

#include "check.h"

#include <string.h>

struct bench { /* a knob, what it does, and the windows that follow from it */
    struct tuner *t;
    struct tuner_config c;
    uint64_t rng;
    double noise, load;
    double effect[TUNER_KNOBS_MAX]; /* ln per halving of knob i, until 1/8 */
    double guard_effect;            /* relative rise of guard 0 off the baseline */
    double kappa;                   /* share of the way to the new level per window; 1: at once */
    double endogenous;              /* how much the observed load falls when the objective rises */
    double level;
    uint32_t workload;
    uint64_t count[TUNER_EVENT_VOID + 1];
    struct tuner_decision last[TUNER_EVENT_VOID + 1];
};

static inline void bench_init(struct bench *b, uint8_t n_knobs)
{
    memset(b, 0, sizeof *b);
    b->rng = 99;
    b->noise = .01;
    b->load = 100;
    b->kappa = 1.0;
    tuner_params_default(&b->c.params);
    b->c.n_knobs = n_knobs;
    for (uint8_t i = 0; i < n_knobs; i++)
        b->c.knobs[i] = (struct tuner_knob){
            .scale = TUNER_SCALE_LOG, .baseline = 5e5, .min = 1e4, .max = 5e6
        };
    b->t = malloc(tuner_size());
    assert_non_null(b->t);
}

static inline void bench_start(struct bench *b)
{
    assert_int_equal(tuner_init(b->t, policy_find("hillclimb"), &b->c), 0);
}

static inline const struct tuner_decision *see(struct bench *b, const struct tuner_decision *d)
{
    b->count[d->event]++;
    b->last[d->event] = *d;
    return d;
}

static inline struct tuner_window window(struct bench *b)
{
    const struct tuner_decision *d = tuner_last(b->t);
    struct tuner_window w = { .load = b->load, .workload = b->workload };
    double y = 0;
    bool off = false;

    for (uint8_t i = 0; i < b->c.n_knobs; i++) {
        if (isnan(d->value[i]))
            continue;
        y += b->effect[i] * fmax(-3.0, fmin(3.0, log2(5e5 / d->value[i])));
        off = off || d->value[i] < 5e5 || d->value[i] > 5e5;
    }
    b->level += b->kappa * (y - b->level);
    w.load *= exp(-b->endogenous * b->level + .01 * check_normal(&b->rng));
    w.objective = 1000 * exp(b->level + b->noise * check_normal(&b->rng));
    w.guard[0] = 10 * (1 + (off ? b->guard_effect : 0));
    return w;
}

static inline void play(struct bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        struct tuner_window w = window(b);

        (void)see(b, tuner_step(b->t, &w));
    }
}

/* Until `event` happens, at most n windows. */
static inline bool play_until(struct bench *b, enum tuner_event event, int n)
{
    uint64_t before = b->count[event];

    for (int i = 0; i < n && b->count[event] == before; i++)
        play(b, 1);
    return b->count[event] > before;
}

static inline bool candidate_in_force(const struct bench *b)
{
    return tuner_state(b->t) == TUNER_QUAD && tuner_trial(b->t)->arm == TUNER_ARM_CANDIDATE;
}

static inline void play_to_candidate(struct bench *b)
{
    for (int i = 0; i < 3000 && !candidate_in_force(b); i++)
        play(b, 1);
    assert_true(candidate_in_force(b));
}
