/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The null policy: the baseline, always.
 * For observing with the machinery of tuning in place but nothing that it could do. */
#include "tuner_state.h"

static uint8_t fixed_candidate(const struct tuner *t, const struct class_memory *c, uint8_t knob)
{
    (void)t;
    (void)c;
    (void)knob;
    return TUNER_NO_ARM;
}

const struct policy policy_fixed = {
    .name = "fixed",
    .moves = false,
    .candidate = fixed_candidate,
};
