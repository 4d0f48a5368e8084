/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentence at the top of `tunectl status`. */
#include "status_doing.h"

#include "control.h"
#include "util.h"

#include <string.h>

static const char *const why_waiting[TUNER_WHY_COUNT] = {
    [TUNER_WHY_CALIBRATING] = "measuring the noise before the first trial",
    [TUNER_WHY_RESTING] = "resting after a change of class",
    [TUNER_WHY_BACKOFF] = "every candidate was tried here; the next retest comes later",
    [TUNER_WHY_QUIET] = "many rejections in a row on this host: a longer rest",
    [TUNER_WHY_BUDGET] = "the loss budget is used up: waiting until it is paid back",
    [TUNER_WHY_BANNED] = "rolled back repeatedly in this class: left at the baseline for a day",
    [TUNER_WHY_WRITE_CAP] = "the cap on writes is reached",
    [TUNER_WHY_MISSING] = "no measurement: nothing moves",
    [TUNER_WHY_NO_KNOB] = "no knob can be tuned",
};

static void waiting(const struct control *c, char *buf, size_t size)
{
    enum tuner_reason r = tuner_last(c->tuner)->reason;
    const char *why = r < TUNER_WHY_COUNT ? why_waiting[r] : NULL;
    char t[32];
    uint64_t wait = tuner_wait_windows(c->tuner) * c->config->window_ns;

    wait -= wait % NSEC_PER_SEC;
    (void)snprintf(buf, size, "waiting: %s%s%s", why ? why : "watching the incumbent", wait ? "; next step in about " : "",
                   wait ? format_duration_ns(t, sizeof t, wait) : "");
}

static void trial(const struct control *c, const struct tuner_trial *t, char *buf, size_t size)
{
    const struct knob *k = t->knob < c->n_tuned ? c->tuned[t->knob] : NULL;
    char a[40], b[40];

    (void)control_value_text(k, t->incumbent, a, sizeof a);
    (void)control_value_text(k, t->candidate, b, sizeof b);
    (void)snprintf(buf, size, "%s %s: %s against %s, window %u of %u, %u quads so far",
                   t->kind == TUNER_TRIAL_CHECK ? "checking" : "trying", k ? k->def->name : "?",
                   t->kind == TUNER_TRIAL_CHECK ? a : b, t->kind == TUNER_TRIAL_CHECK ? b : a, t->position, t->length,
                   t->evidence.n);
}

void status_doing(const struct control *c, char *buf, size_t size)
{
    const struct tuner_trial *t = c->tuner ? tuner_trial(c->tuner) : NULL;

    uint32_t away = c->unrestored + c->stuck;

    if (away > 0)
        (void)snprintf(buf, size, "%u original value%s could not be put back: trying again every window", away,
                       away == 1 ? "" : "s");
    else if (!c->profile)
        (void)snprintf(buf, size, "idle: %s", c->profile_why);
    else if (!c->tuner || !c->has_objective)
        (void)snprintf(buf, size, "profile %s cannot be used, see the log", c->profile->name);
    else if (c->n_tuned == 0)
        (void)snprintf(buf, size, "observing: no knob of profile %s can be tuned on this host", c->profile->name);
    else if (control_mode(c) == MODE_OBSERVE)
        (void)snprintf(buf, size, "observing: nothing is written; `tunectl tune` allows it");
    else if (control_mode(c) == MODE_PAUSE)
        (void)snprintf(buf, size, "paused: the values in force stay; `tunectl resume` goes on");
    else if (control_mode(c) == MODE_PAUSE_BASELINE)
        (void)snprintf(buf, size, "paused at the baseline; `tunectl resume` goes on");
    else if (c->window_why)
        (void)snprintf(buf, size, "the last window is missing: %s", c->window_why);
    else if (t->kind != TUNER_TRIAL_NONE)
        trial(c, t, buf, size);
    else
        waiting(c, buf, size);
}
