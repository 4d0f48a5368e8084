/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Yardsticks that need no thought: one static value, and the oracle that knows the best value of
 * every window. Must not look at a measurement. */
#include "ctl.h"

#include <math.h>
#include <stdlib.h>

struct simple {
    const struct plant *plant;
    double value;
};

static void *static_new(const struct ctl_setup *setup)
{
    struct simple *s = malloc(sizeof *s);
    char *end = NULL;
    double v = setup->arg ? strtod(setup->arg, &end) : NAN;

    if (!s)
        return NULL;
    if (!isfinite(v) || !end || *end) {
        free(s);
        return NULL;
    }
    *s = (struct simple){ .value = v };
    return s;
}

static double static_step(void *ctl, const struct tuner_window *w)
{
    (void)w;
    return ((struct simple *)ctl)->value;
}

static uint64_t no_moves(const void *ctl)
{
    (void)ctl;
    return 0;
}

static void *oracle_new(const struct ctl_setup *setup)
{
    struct simple *s = malloc(sizeof *s);

    if (s)
        *s = (struct simple){ .plant = setup->plant };
    return s;
}

static double oracle_step(void *ctl, const struct tuner_window *w)
{
    const struct plant *p = ((struct simple *)ctl)->plant;
    uint32_t t = p->t < p->n ? p->t : p->n - 1;

    (void)w;
    if (p->best[t] < 1.001)
        return p->table.knob_default; /* an optimum that gains nothing */
    return table_grid_value(&p->table, p->best_at[t]);
}

const struct ctl ctl_static = {
    .name = "static",
    .new = static_new,
    .step = static_step,
    .moves = no_moves,
    .free = free,
};

const struct ctl ctl_oracle = {
    .name = "oracle", .new = oracle_new, .step = oracle_step, .free = free
};
