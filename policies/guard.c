/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guards on the objective inside a quad and on the metrics that a profile names.
 * Must not keep state of its own or know about arms, classes and time. */
#include "guard.h"

#include "stat.h"

#include <math.h>

static const double NOISE_Z = 2.0; /* a difference below 2 se is noise whatever the bound says */
static const double NOISE_CORR =
    1.5; /* neighbouring windows are correlated: variance of a mean x1.5 */
static const double NOISE_FORGET = 0.98; /* per quad */

bool guard_loss_broken(const struct guard_loss *g, double *ret_diff)
{
    size_t na = g->na;
    double a, b, lim;

    if (g->nb < 2 || (!g->check && g->nb < g->nb_min))
        return false;
    if (na >= 2) {
        a = stat_median(g->a, na);
        if (na <= 3 && g->check)
            for (size_t i = 0; i < na; i++)
                a = stat_max(a, g->a[i]);
    } else if (!g->check && g->level_known) {
        a = g->level;
        na = 3;
    } else {
        return false;
    }
    b = stat_median(g->b, g->nb);
    if (g->nb <= 3 && !g->check)
        for (size_t i = 0; i < g->nb; i++)
            b = stat_max(b, g->b[i]);
    lim = stat_max(g->limit_min,
                   g->limit_sd * sqrt(1.5 * g->block * (1.0 / (double)na + 1.0 / (double)g->nb)));
    *ret_diff = b - a;
    if (g->check)
        return g->na >= 3 && b - a > lim;
    return b - a < -lim;
}

void guard_sums_add(struct guard_sums *s, double v)
{
    if (!isfinite(v))
        return;
    s->n++;
    s->sum += v;
    s->sum2 += v * v;
}

/* How much worse b is than a, in the unit of the bound; 0 when that cannot be said. */
static double worse_by(const struct tuner_guard *g, double a, double b)
{
    double d = g->lower_is_worse ? a - b : b - a;

    switch (g->kind) {
    case TUNER_GUARD_RATIO:
        return a > 0.0 ? d / a : 0.0;
    case TUNER_GUARD_POINTS:
        return d;
    }
    return 0.0;
}

static double noise_sd(const struct guard_noise *n)
{
    return n->weight > 0.0 ? sqrt(n->sum / n->weight) : 0.0;
}

bool guard_worse(const struct tuner_guard *g, const struct guard_noise *noise,
                 const struct guard_sums *ref, const struct guard_sums *now)
{
    double na = ref->n, nb = now->n, lim;

    if (ref->n < 2 || now->n < 2)
        return false;
    lim = NOISE_Z * noise_sd(noise) * sqrt(NOISE_CORR * (1.0 / na + 1.0 / nb));
    return worse_by(g, ref->sum / na, now->sum / nb) > stat_max(g->bound, lim);
}

bool guard_window_worse(const struct tuner_guard *g, const struct guard_noise *noise, double ref,
                        double now)
{
    if (!isfinite(ref) || !isfinite(now))
        return false;
    return worse_by(g, ref, now) > stat_max(g->bound, NOISE_Z * noise_sd(noise));
}

static double squares(const struct guard_sums *s)
{
    return s->n > 0 ? stat_max(0.0, s->sum2 - s->sum * s->sum / (double)s->n) : 0.0;
}

void guard_learn(const struct tuner_guard *g, struct guard_noise *noise, const struct guard_sums *a,
                 const struct guard_sums *b)
{
    double v, mean;

    if (a->n < 2 || b->n < 2)
        return;
    v = (squares(a) + squares(b)) / (double)(a->n + b->n - 2);
    if (g->kind == TUNER_GUARD_RATIO) {
        mean = a->sum / (double)a->n;
        if (!(mean > 0.0))
            return;
        v /= mean * mean;
    }
    noise->weight = noise->weight * NOISE_FORGET + 1.0;
    noise->sum = noise->sum * NOISE_FORGET + v;
}
