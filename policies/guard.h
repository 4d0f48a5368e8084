/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guards: does the objective, or a metric that must not get worse, say that the value on trial does
 * harm? Answers questions about windows; what follows from an answer is the trial's business. */
#pragma once

#include "policy.h"

struct guard_loss { /* the objective inside one quad, ln */
    const double *a,
        *b; /* windows at the incumbent and at the candidate so far, borrowed for the call */
    size_t na, nb;
    bool check;       /* the candidate is the baseline: an early bad window of it must not decide */
    bool level_known; /* level is a recent level of the incumbent, good until it has windows of its
                         own */
    double level;
    double limit_min; /* never fire below this difference */
    double limit_sd;  /* z sd of a quad difference: the limit is this * sqrt(1.5 m (1/na + 1/nb)) */
    double block;     /* m, windows of a block */
    size_t nb_min;    /* candidate's windows before a trial may be stopped: 2, more where dips are
                         frequent */
};

/* True when the two arms differ by more than the noise allows: candidate lower in a trial,
 * incumbent lower in a check.  *ret_diff = candidate - incumbent. */
bool guard_loss_broken(const struct guard_loss *g, double *ret_diff);

struct guard_sums { /* one guard metric, windows of one arm */
    uint32_t n;
    double sum, sum2;
};

struct guard_noise { /* variance of the metric between windows at one value; relative for a ratio */
    double weight, sum;
};

void guard_sums_add(struct guard_sums *s, double v);

/* Is `now` worse than `ref`, two windows or more each, by more than the bound and the noise? */
bool guard_worse(const struct tuner_guard *g, const struct guard_noise *noise,
                 const struct guard_sums *ref, const struct guard_sums *now);

/* Is one window at the incumbent worse than its level at the last comparison? */
bool guard_window_worse(const struct tuner_guard *g, const struct guard_noise *noise, double ref,
                        double now);

/* Learns the metric's noise from the two arms of a finished quad. */
void guard_learn(const struct tuner_guard *g, struct guard_noise *noise, const struct guard_sums *a,
                 const struct guard_sums *b);
