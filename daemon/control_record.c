/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was decided, in words and numbers, into the ring of status, the log and the store. Decides nothing. */
#include "control.h"

#include "log.h"

#include <string.h>

const char *control_value_text(const struct knob *k, double v, char *buf, size_t size)
{
    if (!isfinite(v))
        (void)snprintf(buf, size, "-");
    else if (k && strcmp(k->def->unit, "ns") == 0 && v >= 0)
        (void)format_duration_ns(buf, size, (uint64_t)llround(v));
    else
        (void)snprintf(buf, size, "%.17g", v);
    return buf;
}

void control_class_name(const struct control *c, char *buf, size_t size)
{
    struct tuner_memory m;

    if (!c->profile || !c->tuner || !tuner_class(c->tuner, &m))
        (void)snprintf(buf, size, "%s", c->profile ? c->profile->name : "none");
    else if (m.bucket == INT32_MIN)
        (void)snprintf(buf, size, "%s/unknown-load", c->profile->name);
    else
        (void)snprintf(buf, size, "%s/%d", c->profile->name, m.bucket);
}

static struct control_record *next_record(struct control *c, const char *what, const struct knob *k)
{
    struct control_record *r = &c->record[c->next_record];
    struct tuner_memory m;

    c->next_record = (c->next_record + 1) % CONTROL_DECISIONS_MAX;
    if (c->n_records < CONTROL_DECISIONS_MAX)
        c->n_records++;
    *r = (struct control_record){ .d = { .real_ns = now_real_ns(), .window = c->windows, .bucket = INT32_MIN,
                                         .old_value = NAN, .new_value = NAN } };
    (void)copy_string(r->d.profile, sizeof r->d.profile, c->profile ? c->profile->name : "");
    (void)copy_string(r->d.event, sizeof r->d.event, what);
    (void)copy_string(r->d.knob, sizeof r->d.knob, k ? k->def->name : "");
    if (c->tuner && tuner_class(c->tuner, &m))
        r->d.bucket = m.bucket;
    return r;
}

static void keep(struct control *c, const struct control_record *r)
{
    int e = store_add_decision(c->store, &r->d);

    if (e < 0)
        (void)log_errno(LOG_WARNING, e, "cannot store a decision: %m");
}

void control_record_event(struct control *c, const char *what, const struct knob *k, double old_value, double new_value,
                          const char *reason, const char *text)
{
    struct control_record *r = next_record(c, what, k);

    r->d.old_value = old_value;
    r->d.new_value = new_value;
    (void)copy_string(r->d.reason, sizeof r->d.reason, reason);
    (void)copy_string(r->text, sizeof r->text, text);
    keep(c, r);
}

/* "migration_cost_ns 500us -> 62.5us: +4.3 % (2.1 .. 6.5), E 81 of 50 after 6 quads" */
static void evidence_text(const struct tuner_evidence *e, char *buf, size_t size)
{
    if (e->n == 0)
        buf[0] = '\0';
    else
        (void)snprintf(buf, size, ": %+.1f %% (%.1f .. %.1f), E %.3g of %.3g after %u quad%s", percent_of_ln(e->mean), percent_of_ln(e->lo),
                       percent_of_ln(e->hi), e->e, e->bar, e->n, e->n == 1 ? "" : "s");
}

static const char *guard_name(const struct control *c, const struct tuner_decision *d)
{
    if (d->reason != TUNER_WHY_GUARD || d->guard >= c->n_guards)
        return "";
    return metric_info[c->guard[d->guard]->metric].name;
}

void control_record_decision(struct control *c, const struct tuner_decision *d)
{
    const struct knob *k = d->knob < c->n_tuned ? c->tuned[d->knob] : NULL;
    const char *what = tuner_event_name(d->event), *why = tuner_reason_name(d->reason);
    char from[40], to[40], evidence[160], class_[96];
    bool about_knob = d->event != TUNER_EVENT_CLASS && k && isfinite(d->old_value);
    struct control_record *r = next_record(c, what, about_knob ? k : NULL);

    r->d.evidence = d->evidence;
    control_class_name(c, class_, sizeof class_);
    evidence_text(&d->evidence, evidence, sizeof evidence);
    if (d->event == TUNER_EVENT_TRIAL && d->reason == TUNER_WHY_NONE)
        why = "search";
    (void)copy_string(r->d.reason, sizeof r->d.reason, why);
    if (about_knob) {
        r->d.old_value = d->old_value;
        r->d.new_value = d->new_value;
        (void)control_value_text(k, d->old_value, from, sizeof from);
        (void)control_value_text(k, d->new_value, to, sizeof to);
        (void)snprintf(r->text, sizeof r->text, "%s %s %s -> %s (%s%s%s)%s", what, k->def->name, from, to, why,
                       *guard_name(c, d) ? " " : "", guard_name(c, d), evidence);
    } else {
        (void)snprintf(r->text, sizeof r->text, "%s %s (%s)", what, d->event == TUNER_EVENT_CLASS ? class_ : "comparison", why);
    }
    keep(c, r);

    struct log_event e = { .id = LOG_ID_DECISION, .reason = why, .trial = *evidence ? evidence + 2 : NULL, .class_ = class_ };
    if (about_knob) {
        e.knob = k->def->name;
        e.old_value = from;
        e.new_value = to;
    }
    bool loud = d->event == TUNER_EVENT_ACCEPT || d->event == TUNER_EVENT_ROLLBACK || d->event == TUNER_EVENT_ABORT ||
                d->event == TUNER_EVENT_REJECT || d->event == TUNER_EVENT_KEEP;
    log_event(loud ? LOG_NOTICE : LOG_INFO, &e, "[%s] %s", class_, r->text);
}
