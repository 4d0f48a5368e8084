/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about a controller, and the words for its enums.
 * Must not change anything. */
#include "tuner_state.h"

#include <math.h>
#include <string.h>

static const struct policy *const policies[] = { &policy_hillclimb, &policy_fixed, NULL };

const struct policy *policy_find(const char *name)
{
    for (size_t i = 0; policies[i]; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}

enum tuner_state tuner_state(const struct tuner *t)
{
    return t->state;
}

const struct tuner_trial *tuner_trial(const struct tuner *t)
{
    return &t->view;
}

const struct tuner_decision *tuner_last(const struct tuner *t)
{
    return &t->decision;
}

static void describe(const struct tuner *t, const struct class_memory *c, struct tuner_memory *ret)
{
    *ret = (struct tuner_memory){
        .workload = c->workload,
        .bucket = c->bucket,
        .gain = c->gain,
        .load_shift = c->load_shift,
        .windows = c->windows,
        .tests = c->tests,
        .accepts = c->accepts,
        .rollbacks = c->rollbacks,
    };
    for (uint8_t i = 0; i < TUNER_KNOBS_MAX; i++)
        ret->value[i] = i < t->n_knobs ? tuner_value(t, i, c->knob[i].incumbent) : NAN;
}

bool tuner_class(const struct tuner *t, struct tuner_memory *ret)
{
    if (!t->active)
        return false;
    describe(t, t->active, ret);
    return true;
}

size_t tuner_classes(const struct tuner *t)
{
    size_t n = 0;

    for (size_t i = 0; i < TUNER_CLASSES_MAX; i++)
        n += t->class[i].used;
    return n;
}

void tuner_class_at(const struct tuner *t, size_t i, struct tuner_memory *ret)
{
    *ret = (struct tuner_memory){ 0 };
    for (size_t j = 0; j < TUNER_CLASSES_MAX; j++) {
        if (!t->class[j].used)
            continue;
        if (i-- == 0) {
            describe(t, &t->class[j], ret);
            return;
        }
    }
}

void tuner_get_noise(const struct tuner *t, struct tuner_noise *ret)
{
    *ret = t->noise;
}

uint64_t tuner_moves(const struct tuner *t)
{
    return t->moves;
}

uint64_t tuner_wait_windows(const struct tuner *t)
{
    switch (t->state) {
    case TUNER_REST:
        return t->rest;
    case TUNER_WAIT:
        return t->until > t->now ? t->until - t->now : 0;
    case TUNER_QUAD:
        return 0;
    }
    return 0;
}

double tuner_debt(const struct tuner *t)
{
    return t->debt;
}

const char *tuner_event_name(enum tuner_event e)
{
    switch (e) {
    case TUNER_EVENT_NONE:
        return "none";
    case TUNER_EVENT_CLASS:
        return "class";
    case TUNER_EVENT_TRIAL:
        return "trial";
    case TUNER_EVENT_ACCEPT:
        return "accept";
    case TUNER_EVENT_REJECT:
        return "reject";
    case TUNER_EVENT_ABORT:
        return "abort";
    case TUNER_EVENT_CHECK:
        return "check";
    case TUNER_EVENT_KEEP:
        return "keep";
    case TUNER_EVENT_ROLLBACK:
        return "rollback";
    case TUNER_EVENT_VOID:
        return "void";
    }
    return "unknown";
}

const char *tuner_reason_name(enum tuner_reason r)
{
    static const char *const words[TUNER_WHY_COUNT] = {
        [TUNER_WHY_NONE] = "none",
        [TUNER_WHY_MISSING] = "missing",
        [TUNER_WHY_CLASS_NEW] = "class-new",
        [TUNER_WHY_CLASS_KNOWN] = "class-known",
        [TUNER_WHY_CALIBRATING] = "calibrating",
        [TUNER_WHY_RESTING] = "resting",
        [TUNER_WHY_BACKOFF] = "backoff",
        [TUNER_WHY_QUIET] = "quiet",
        [TUNER_WHY_BUDGET] = "budget",
        [TUNER_WHY_BANNED] = "banned",
        [TUNER_WHY_WRITE_CAP] = "write-cap",
        [TUNER_WHY_MODE] = "mode",
        [TUNER_WHY_NO_KNOB] = "no-knob",
        [TUNER_WHY_MEASURING] = "measuring",
        [TUNER_WHY_EVIDENCE] = "evidence",
        [TUNER_WHY_FUTILE] = "futile",
        [TUNER_WHY_TOO_LONG] = "too-long",
        [TUNER_WHY_LOSS_GUARD] = "loss-guard",
        [TUNER_WHY_GUARD] = "guard",
        [TUNER_WHY_EMERGENCY] = "emergency",
        [TUNER_WHY_SCHEDULE] = "schedule",
        [TUNER_WHY_LOAD_MOVED] = "load-moved",
        [TUNER_WHY_LEVEL_ALARM] = "level-alarm",
        [TUNER_WHY_RESHOWN] = "reshown",
        [TUNER_WHY_NOT_RESHOWN] = "not-reshown",
        [TUNER_WHY_ADOPTED] = "adopted",
        [TUNER_WHY_FOREIGN] = "foreign",
        [TUNER_WHY_SETTLING] = "settling",
    };

    if ((unsigned)r >= TUNER_WHY_COUNT)
        return "unknown";
    return words[r];
}
