/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Yardsticks of one run from its true performance.
 * Must not know how the values were chosen. */
#include "metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const metric_names[METRIC_COUNT] = {
    "gain",     "captured", "captured2", "harm",     "worst10", "worst60",
    "writes_h", "moves",    "to2",       "recovery", "away",
};

int metric_find(const char *name)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(metric_names[i], name) == 0)
            return i;
    return -1;
}

static double mean(const double *v, uint32_t from, uint32_t to)
{
    double s = 0.0;

    for (uint32_t t = from; t < to; t++)
        s += v[t];
    return to > from ? s / (to - from) : 0.0;
}

/* Largest mean loss over any `w` windows, %. */
static double worst(const double *rel, uint32_t n, uint32_t w)
{
    double sum = 0.0, most = 0.0;

    for (uint32_t t = 0; t < n; t++) {
        sum += 1.0 - rel[t];
        if (t >= w)
            sum -= 1.0 - rel[t - w];
        if (t + 1 >= w && sum > most)
            most = sum;
    }
    return 100.0 * most / w;
}

/* First end of `w` windows within [from, to) that reach 98 % of the oracle; to when there is none.
 */
static uint32_t reached(const struct plant *p, const double *rel, uint32_t from, uint32_t to,
                        uint32_t w)
{
    double sum = 0.0;

    for (uint32_t t = from; t < to; t++) {
        sum += rel[t] / p->best[t];
        if (t >= from + w)
            sum -= rel[t - w] / p->best[t - w];
        if (t + 1 >= from + w && sum >= 0.98 * w)
            return t + 1;
    }
    return UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double recovery(const struct plant *p, const double *rel, double minutes)
{
    static const uint32_t w = 30;
    double v[PLANT_JUMPS];
    size_t n = 0;

    for (size_t i = 0; i < p->n_jumps; i++) {
        uint32_t a = p->jumps[i], b = i + 1 < p->n_jumps ? p->jumps[i + 1] : p->n, r;

        if (a < p->n / 2 || a + 60 >= p->n || b <= a)
            continue;
        r = reached(p, rel, a, b, w);
        v[n++] = minutes * (r == UINT32_MAX ? b - a : r - a);
    }
    return metric_percentile(v, n, 50);
}

void metrics_of(const struct plant *p, const struct run *r, double *ret)
{
    uint32_t n = r->n, half = n / 2, away = 0, harm = 0, to2;
    double oracle = p->best_mean - 1.0, oracle2 = mean(p->best, half, n) - 1.0;
    double minutes = p->s->window_s / 60.0, def = p->table.knob_default;

    for (uint32_t t = 0; t < n; t++) {
        away += fabs(r->value[t] - def) > 1e-9 * fabs(def);
        harm += r->relative[t] < 0.97;
    }
    ret[METRIC_GAIN] = 100.0 * (mean(r->relative, 0, n) - 1.0);
    ret[METRIC_CAPTURED] = oracle > 0.002 ? ret[METRIC_GAIN] / oracle : NAN;
    ret[METRIC_CAPTURED2] =
        oracle2 > 0.002 ? 100.0 * (mean(r->relative, half, n) - 1.0) / oracle2 : NAN;
    ret[METRIC_HARM] = 100.0 * harm / n;
    ret[METRIC_WORST10] = worst(r->relative, n, 60);
    ret[METRIC_WORST60] = worst(r->relative, n, 360);
    ret[METRIC_WRITES] = (double)r->writes * 360.0 / n;
    ret[METRIC_MOVES] = (double)r->moves * 8640.0 / n;
    to2 = reached(p, r->relative, 0, n, 180);
    ret[METRIC_TO2] = to2 == UINT32_MAX ? INFINITY : minutes * to2;
    ret[METRIC_RECOVERY] = recovery(p, r->relative, minutes);
    ret[METRIC_AWAY] = 100.0 * away / n;
}

double metric_percentile(double *v, size_t n, int percentile)
{
    size_t m = 0, i;
    double at, sum = 0.0;

    for (size_t k = 0; k < n; k++)
        if (!isnan(v[k]))
            v[m++] = v[k];
    if (m == 0)
        return NAN;
    if (percentile < 0) {
        for (size_t k = 0; k < m; k++)
            sum += v[k];
        return sum / (double)m;
    }
    qsort(v, m, sizeof *v, compare);
    at = percentile / 100.0 * (double)(m - 1);
    i = (size_t)at;
    if (i + 1 >= m || at <= (double)i)
        return v[i < m ? i : m - 1];
    if (isinf(v[i + 1]))
        return at - (double)i < 0.5 ? v[i] : v[i + 1];
    return v[i] + (at - (double)i) * (v[i + 1] - v[i]);
}
