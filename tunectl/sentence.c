/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words for decisions and their reasons. Words that it does not know are shown as they are. */
#include "sentence.h"

#include <stdio.h>
#include <string.h>

#include "history.h"
#include "text.h"
#include "util.h"

/* What the reasons of tuner_reason_name() mean. */
static const struct {
    const char *word, *meaning;
} reasons[] = {
    { "evidence", "the test passed" },
    { "futile", "a gain worth a move was out of reach" },
    { "too-long", "a decision would have taken too long" },
    { "loss-guard", "the objective fell too far" },
    { "guard", "a guard broke" },
    { "emergency", "the pressure on the host was too high" },
    { "reshown", "compared with the original again, it was better" },
    { "not-reshown", "compared with the original again, it was not better" },
    { "load-moved", "the load moved" },
    { "level-alarm", "the level of the objective shifted" },
    { "schedule", "a check was due" },
    { "adopted", "taken over from the process before" },
};

static const char *meaning(const char *reason)
{
    for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
        if (strcmp(reasons[i].word, reason) == 0)
            return reasons[i].meaning;
    return reason;
}

/* Old and new of a refusal are the candidate and the incumbent that stays. */
static void what(char *buf, size_t size, const struct store_decision *d)
{
    const char *unit = history_unit(d->knob);
    char old[TEXT_SHORT], new[TEXT_SHORT];

    (void)text_value(old, sizeof old, d->old_value, unit);
    (void)text_value(new, sizeof new, d->new_value, unit);
    if (strcmp(d->event, "accept") == 0)
        (void)snprintf(buf, size, "%s replaced %s", new, old);
    else if (strcmp(d->event, "reject") == 0)
        (void)snprintf(buf, size, "%s did not replace %s", old, new);
    else if (strcmp(d->event, "abort") == 0)
        (void)snprintf(buf, size, "%s was taken back for %s", old, new);
    else if (strcmp(d->event, "rollback") == 0)
        (void)snprintf(buf, size, "%s was rolled back to %s", old, new);
    else if (strcmp(d->event, "keep") == 0)
        (void)snprintf(buf, size, "%s was kept", isfinite(d->new_value) ? new : old);
    else if (strcmp(d->event, "foreign") == 0)
        (void)snprintf(buf, size, "somebody else wrote %s over %s", new, old);
    else if (strcmp(d->event, "release") == 0)
        (void)snprintf(buf, size, "released, with %s as its new original", new);
    else
        (void)snprintf(buf, size, "%s", d->event);
}

const char *sentence(char *buf, size_t size, const struct store_decision *d)
{
    char done[128], evidence[160], class[96];
    const char *why = meaning(d->reason);
    bool told = strcmp(d->event, d->reason) == 0;

    what(done, sizeof done, d);
    (void)history_evidence(evidence, sizeof evidence, &d->evidence);
    (void)history_class(class, sizeof class, d->profile, d->bucket);
    (void)snprintf(buf, size, "%s%s%s%s%s%s%s", done, *class ? " in " : "", class, told ? "" : ": ",
                   told ? "" : why, *evidence ? "; " : "", evidence);
    return buf;
}
