/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small statistics on windows: medians, the robust difference of one quad, random numbers.
 * Knows nothing of trials; never returns NaN for finite input. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { STAT_MAX = 256 }; /* values that one median may look at: 4 blocks of 64 windows */

/* Of finite numbers; inline where fmin() and fmax() would be calls. */
static inline double stat_min(double a, double b)
{
    return b < a ? b : a;
}

static inline double stat_max(double a, double b)
{
    return b > a ? b : a;
}

/* v limited to [lo, hi]. */
static inline double stat_clip(double v, double lo, double hi)
{
    return stat_min(stat_max(v, lo), hi);
}

/* Upper median of n values, 0 < n <= STAT_MAX; v is not changed. */
double stat_median(const double *v, size_t n);

/* Mean of n > 0 values, summed from the left. */
double stat_mean(const double *v, size_t n);

/* Robust mean(b) - mean(a) of one quad of logs: every window is clipped to the median of all +-
 * max(3 %, 4.5 MAD). */
double stat_quad_diff(const double *a, size_t na, const double *b, size_t nb);

/* splitmix64: the next number in [0, 1) of the stream whose state is *s. */
double stat_uniform(uint64_t *s);
