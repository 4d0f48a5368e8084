/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Medians, the robust difference of one quad, random numbers.
 * Must not know about trials, knobs or time. */
#include "stat.h"

#include <math.h>
#include <string.h>

static const double CLIP_MIN = 0.03; /* windows within 3 % of the median are never clipped */
static const double CLIP_MAD = 4.5; /* about 3 sd of a normal: dips of 20 to 50 % go, noise stays */

/* Insertion sort: a quad has 12 values, where it beats anything clever. */
static void sort_values(double *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double x = v[i];
        size_t j = i;

        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

double stat_median(const double *v, size_t n)
{
    double s[STAT_MAX];

    if (n == 0)
        return 0.0;
    if (n > STAT_MAX)
        n = STAT_MAX;
    memcpy(s, v, n * sizeof s[0]);
    sort_values(s, n);
    return s[n / 2];
}

double stat_mean(const double *v, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n > 0 ? sum / (double)n : 0.0;
}

static double clipped_mean(const double *v, size_t n, double lo, double hi)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += stat_clip(v[i], lo, hi);
    return sum / (double)n;
}

double stat_quad_diff(const double *a, size_t na, const double *b, size_t nb)
{
    double all[STAT_MAX], med, lim;

    if (na == 0 || nb == 0 || na + nb > STAT_MAX)
        return 0.0;
    memcpy(all, a, na * sizeof all[0]);
    memcpy(all + na, b, nb * sizeof all[0]);
    sort_values(all, na + nb);
    med = all[(na + nb) / 2];
    for (size_t i = 0; i < na + nb; i++)
        all[i] = fabs(all[i] - med);
    lim = stat_max(CLIP_MIN, CLIP_MAD * stat_median(all, na + nb));
    return clipped_mean(b, nb, med - lim, med + lim) - clipped_mean(a, na, med - lim, med + lim);
}

double stat_uniform(uint64_t *s)
{
    uint64_t z;

    *s += 0x9E3779B97F4A7C15u;
    z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}
