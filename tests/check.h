/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the pure core share: a seed that is printed and can be repeated, normals,
 * closeness. Must not hide a test's own arithmetic. */
#pragma once

#include "stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* SEED=N repeats a run; without it the clock decides. */
static inline uint64_t check_seed(const char *name)
{
    const char *env = getenv("SEED");
    uint64_t seed = env ? strtoull(env, NULL, 10) : (uint64_t)time(NULL);

    printf("%s: SEED=%llu\n", name, (unsigned long long)seed);
    return seed * 2654435761u + 1;
}

static inline double check_normal(uint64_t *s)
{
    double u = 1.0 - stat_uniform(s), v = stat_uniform(s);

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
