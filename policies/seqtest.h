/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The anytime-valid test of quad differences (normal mixture, mSPRT) and the pooled noise that
 * feeds it. May be looked at after every quad without inflating the error level. */
#pragma once

#include "policy.h"

struct seqtest { /* sums of the quad differences of one comparison */
    uint32_t n;
    double sum, sum2;
};

/* E value of H0 "mean 0" against mean ~ N(0, tau^2), for n values of sum `sum` and variance `var` >
 * 0. */
double seqtest_evalue(double n, double sum, double var, double tau);

/* Variance to use: the pooled one, from three quads on not below the sample's own. */
double seqtest_variance(const struct seqtest *s, double pooled);

/* Half width of the always-valid confidence interval of the mean at level alpha; 0 without a quad.
 */
double seqtest_halfwidth(const struct seqtest *s, double var, double tau, double alpha);

/* Adds one quad difference (limited to what can be believed of one quad). */
void seqtest_add(struct seqtest *s, double d);

/* Everything above as numbers to show. */
void seqtest_evidence(const struct seqtest *s, double pooled, double tau, double alpha,
                      struct tuner_evidence *ret);

/* Pooled variance of quad differences, forgetting old quads. */
void noise_init(struct tuner_noise *n, double sd, double weight);
double noise_var(const struct tuner_noise *n);
/* One more squared deviation with `share` degrees of freedom; `sd` limits an outlier to 4 sd. */
void noise_add(struct tuner_noise *n, double dev, double share, double forget);
