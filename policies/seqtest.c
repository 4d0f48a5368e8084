/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mixture sequential test on quad differences and the pooled noise estimate.
 * Must not decide anything: deciding is the trial's business. */
#include "seqtest.h"

#include "stat.h"

#include <math.h>

static const double EXP_MAX = 50.0; /* E values beyond e^50 say nothing more */
static const double DIFF_MIN = -0.5,
                    DIFF_MAX = 0.7;  /* one quad is never believed further than x0.6 .. x2 */
static const double VAR_MIN = 1e-12; /* a silent plant: keeps every divisor above zero */

double seqtest_evalue(double n, double sum, double var, double tau)
{
    double t2 = tau * tau;
    double v;

    var = stat_max(var, VAR_MIN);
    v = var + n * t2;
    return sqrt(var / v) * exp(stat_min(EXP_MAX, t2 * sum * sum / (2.0 * var * v)));
}

double seqtest_variance(const struct seqtest *s, double pooled)
{
    double n = s->n;

    if (s->n < 3)
        return pooled;
    return stat_max(pooled, (s->sum2 - s->sum * s->sum / n) / (n - 1.0));
}

double seqtest_halfwidth(const struct seqtest *s, double var, double tau, double alpha)
{
    double n = s->n, t2 = tau * tau, v;

    if (s->n == 0)
        return 0.0;
    var = stat_max(var, VAR_MIN);
    v = var + n * t2;
    return sqrt(2.0 * var * v / t2 * (log(1.0 / alpha) + 0.5 * log(v / var))) / n;
}

void seqtest_add(struct seqtest *s, double d)
{
    d = stat_clip(d, DIFF_MIN, DIFF_MAX);
    s->n++;
    s->sum += d;
    s->sum2 += d * d;
}

void seqtest_evidence(const struct seqtest *s, double pooled, double tau, double alpha,
                      struct tuner_evidence *ret)
{
    double n = s->n, var = seqtest_variance(s, pooled), half;

    *ret = (struct tuner_evidence){ .n = s->n, .bar = 1.0 / alpha };
    if (s->n == 0)
        return;
    half = seqtest_halfwidth(s, var, tau, alpha);
    ret->mean = s->sum / n;
    ret->se = sqrt(var / n);
    ret->lo = ret->mean - half;
    ret->hi = ret->mean + half;
    ret->e = seqtest_evalue(n, s->sum, var, tau);
}

void noise_init(struct tuner_noise *n, double sd, double weight)
{
    *n = (struct tuner_noise){ .weight = weight, .sum = weight * sd * sd };
}

double noise_var(const struct tuner_noise *n)
{
    return stat_max(n->sum / n->weight, VAR_MIN);
}

void noise_add(struct tuner_noise *n, double dev, double share, double forget)
{
    double s = sqrt(noise_var(n));

    dev = stat_clip(dev, -4.0 * s, 4.0 * s);
    n->weight = n->weight * forget + 1.0;
    n->sum = n->sum * forget + dev * dev * share;
}
