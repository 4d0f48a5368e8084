/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ours and the null policy: the very tuner_step() that the daemon runs.
 * Constants can be set by name, for studies; a daemon cannot. */
#include "ctl.h"

#include "tuner_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_REAL, KIND_COUNT, KIND_BOOL };

static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} settings[] = {
#define REAL(name, member)                                                                         \
    {                                                                                              \
        name, KIND_REAL, offsetof(struct tuner, member)                                            \
    }
#define COUNT(name, member)                                                                        \
    {                                                                                              \
        name, KIND_COUNT, offsetof(struct tuner, member)                                           \
    }
#define FLAG(name, member)                                                                         \
    {                                                                                              \
        name, KIND_BOOL, offsetof(struct tuner, member)                                            \
    }
    REAL("alpha", params.alpha),
    REAL("delta", params.delta),
    REAL("debt_max", params.debt_max),
    REAL("debt_pay", params.debt_pay),
    COUNT("block", params.block),
    COUNT("settle", params.settle),
    COUNT("calibration", params.calibration),
    REAL("width", load.config.width),
    REAL("margin", load.config.margin),
    COUNT("class_dwell", load.config.dwell),
    COUNT("dwell", k.dwell),
    REAL("tau", k.tau),
    REAL("tests_min", k.tests_min),
    REAL("tests_ref", k.tests_ref),
    REAL("tests_lo", k.tests_lo),
    REAL("tests_hi", k.tests_hi),
    REAL("tests_sd", k.tests_sd),
    REAL("futile_z", k.futile_z),
    REAL("guard_min", k.guard_min),
    REAL("guard_z", k.guard_z),
    REAL("guard_dips", k.guard_dips),
    COUNT("coarse", k.coarse),
    COUNT("check_first", k.check_first),
    COUNT("check_max", k.check_max),
    COUNT("check_quads", k.check_quads),
    REAL("load_moved", k.load_moved),
    COUNT("load_gap", k.load_gap),
    COUNT("alarm_gap", k.alarm_gap),
    REAL("level_slack", k.level.slack),
    REAL("level_bar", k.level.bar),
    COUNT("retest_first", k.retest_first),
    COUNT("retest_max", k.retest_max),
    COUNT("retest_rollback", k.retest_rollback),
    COUNT("rollback_quads", k.rollback_quads),
    COUNT("patience", k.patience),
    REAL("rest_first", k.rest_first),
    REAL("rest_grow", k.rest_grow),
    REAL("rest_max", k.rest_max),
    COUNT("ban_count", k.ban_count),
    REAL("load_tolerance", k.load_tolerance),
    FLAG("track_always", k.track_always),
    REAL("shift_z", k.shift_z),
    REAL("debt_tau", k.debt_tau),
    REAL("load_moved_z", k.load_moved_z),
    REAL("load_tolerance_z", k.load_tolerance_z),
    REAL("load_noise_z", load.config.noise_z),
    REAL("settle_slope", k.settle_slope),
    REAL("settle_z", k.settle_z),
    COUNT("settle_quads", k.settle_quads),
    COUNT("settle_levels", k.settle_levels),
    COUNT("settle_try", k.settle_try),
    FLAG("level_known", k.level_known),
    FLAG("settle_sent", k.settle_sent),
#undef REAL
#undef COUNT
#undef FLAG
};

int ctl_set(struct tuner *t, const char *assignment)
{
    size_t n = strcspn(assignment, "=");
    char *end;
    double v = assignment[n] ? strtod(assignment + n + 1, &end) : NAN;

    if (!isfinite(v) || *end)
        return -EINVAL;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char *p = (char *)t + settings[i].offset;

        if (strlen(settings[i].name) != n || strncmp(settings[i].name, assignment, n) != 0)
            continue;
        switch (settings[i].kind) {
        case KIND_REAL:
            *(double *)(void *)p = v;
            break;
        case KIND_COUNT:
            *(uint32_t *)(void *)p = (uint32_t)v;
            break;
        case KIND_BOOL:
            *(bool *)(void *)p = v != 0.0;
            break;
        }
        return 0;
    }
    return -ENOENT;
}

static void *new_tuner(const struct ctl_setup *setup, const char *policy)
{
    struct tuner_config c = { .n_knobs = 1 };
    struct tuner *t = malloc(tuner_size());

    if (!t)
        return NULL;
    tuner_params_default(&c.params);
    c.params.seed = setup->seed;
    c.knobs[0] = setup->knob;
    if (tuner_init(t, policy_find(policy), &c) < 0) {
        free(t);
        return NULL;
    }
    for (const char *const *s = setup->set; s && *s; s++)
        if (ctl_set(t, *s) < 0) {
            fprintf(stderr, "tunesim: --set %s: unknown constant or not a number\n", *s);
            free(t);
            return NULL;
        }
    return t;
}

static void *hillclimb_new(const struct ctl_setup *setup)
{
    return new_tuner(setup, "hillclimb");
}

static void *fixed_new(const struct ctl_setup *setup)
{
    return new_tuner(setup, "fixed");
}

static double tuner_ctl_step(void *ctl, const struct tuner_window *w)
{
    return tuner_step(ctl, w)->value[0];
}

static uint64_t tuner_ctl_moves(const void *ctl)
{
    return tuner_moves(ctl);
}

struct tuner *ctl_tuner(void *ctl)
{
    return ctl;
}

const struct ctl ctl_hillclimb = {
    .name = "hillclimb",
    .new = hillclimb_new,
    .step = tuner_ctl_step,
    .moves = tuner_ctl_moves,
    .free = free,
};

const struct ctl ctl_fixed = {
    .name = "fixed",
    .new = fixed_new,
    .step = tuner_ctl_step,
    .moves = tuner_ctl_moves,
    .free = free,
};
