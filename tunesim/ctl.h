/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Controllers to compare, behind one small table; ours is one of them.
 * They see what a daemon sees; only the oracle and the static value are told more. */
#pragma once

#include "metrics.h"

struct ctl_setup {
    const struct plant *plant; /* the oracle reads it; the others only its knob */
    struct tuner_knob knob;
    uint64_t seed;
    const char *arg;        /* after the colon of its name, or NULL */
    const char *const *set; /* NAME=VALUE of constants of ours, NULL-terminated, or NULL */
};

struct ctl {
    const char *name;
    void *(*new)(const struct ctl_setup *setup);             /* NULL: cannot be set up */
    double (*step)(void *ctl, const struct tuner_window *w); /* the value for the next window */
    uint64_t (*moves)(const void *ctl);                      /* NULL: every write is one */
    void (*free)(void *ctl);
};

extern const struct ctl ctl_hillclimb, ctl_fixed, ctl_static, ctl_oracle, ctl_naive, ctl_welch,
    ctl_bandit;

/* By name, "static:VALUE" too; *ret_arg is what follows the colon.  NULL: unknown. */
const struct ctl *ctl_find(const char *name, const char **ret_arg);
const char *ctl_words(void); /* the names, for a usage text */

/* Arms that the simple controllers search: the grid of ours.  Returns their number, *ret_base the
 * default. */
size_t ctl_arms(const struct tuner_knob *knob, double *ret, size_t *ret_base);

/* One run from the start; the arrays of *ret are allocated on its first use and reused. */
int ctl_run(struct plant *p, const struct ctl *c, const struct ctl_setup *setup, struct run *ret);
void run_done(struct run *r);

struct tuner *ctl_tuner(void *ctl); /* of hillclimb and fixed */
int ctl_set(struct tuner *t, const char *assignment);
