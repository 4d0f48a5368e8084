/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hill climbing as one would first write it: one window before, one after, go on while better, else
 * turn round. A yardstick; must stay naive. */
#include "ctl.h"

#include "tuner_state.h"

#include <stdlib.h>

struct naive {
    double arm[TUNER_ARMS_MAX], last;
    size_t n, at;
    int side, settle;
};

static void *naive_new(const struct ctl_setup *setup)
{
    struct naive *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->n = ctl_arms(&setup->knob, s->arm, &s->at);
    s->side = 1;
    return s;
}

static double naive_step(void *ctl, const struct tuner_window *w)
{
    struct naive *s = ctl;

    if (s->settle-- > 0)
        return s->arm[s->at];
    if (w->objective < s->last)
        s->side = -s->side;
    s->last = w->objective;
    if ((s->side < 0 && s->at == 0) || (s->side > 0 && s->at + 1 >= s->n))
        s->side = -s->side;
    if (s->n > 1)
        s->at = s->side > 0 ? s->at + 1 : s->at - 1;
    s->settle = 1;
    return s->arm[s->at];
}

const struct ctl ctl_naive = {
    .name = "naive", .new = naive_new, .step = naive_step, .free = free
};
