/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers for property tests: seeded by SEED, which is printed, so that a failure can be
 * repeated. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct rnd {
    uint64_t state;
};

static inline struct rnd rnd_init(const char *test)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)getpid();

    printf("# %s: SEED=%llu\n", test, (unsigned long long)seed);
    return (struct rnd){ .state = seed };
}
/* splitmix64 */
static inline uint64_t rnd_next(struct rnd *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static inline uint64_t rnd_below(struct rnd *r, uint64_t n)
{
    return rnd_next(r) % n;
}
