/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tick: at the end of a window ask the objective, then read, decide, apply, record. What a decision is, is the
 * tuner's; how a knob is written, is knobs.c's. */
#include "control.h"

#include "bus.h"
#include "log.h"

#include <errno.h>
#include <string.h>

static void keep_level(struct control_level *l, double v)
{
    if (!isfinite(v))
        return;
    l->n++;
    l->mean += (v - l->mean) / (l->n < 10 ? l->n : 10);
}

/* Means at the incumbent and at the baseline, for people: what the tuner decides does not rest on them. */
static void keep_levels(struct control *c)
{
    const struct tuner_trial *t = tuner_trial(c->tuner);
    struct tuner_memory m;
    bool at_baseline = true;

    if (!tuner_class(c->tuner, &m))
        return;
    if (m.bucket != c->level_bucket) {
        c->level_incumbent = c->level_baseline = (struct control_level){ 0 };
        memset(c->guard_level, 0, sizeof c->guard_level);
        memset(c->pressure_level, 0, sizeof c->pressure_level);
        c->level_bucket = m.bucket;
    }
    if (t->kind != TUNER_TRIAL_NONE && t->arm == TUNER_ARM_SETTLING)
        return;
    for (uint8_t i = 0; i < c->n_tuned; i++)
        at_baseline = at_baseline && (!c->tuned[i]->has_ours || c->tuned[i]->current == c->tuned[i]->original);
    if (at_baseline)
        keep_level(&c->level_baseline, window_get(&c->window, METRIC_OBJECTIVE));
    if (t->kind != TUNER_TRIAL_NONE && t->arm == TUNER_ARM_CANDIDATE)
        return;
    keep_level(&c->level_incumbent, window_get(&c->window, METRIC_OBJECTIVE));
    for (uint8_t i = 0; i < c->n_guards; i++)
        keep_level(&c->guard_level[i], window_get(&c->window, c->guard[i]->metric));
    keep_level(&c->pressure_level[EMERGENCY_IO], window_get(&c->window, METRIC_PSI_IO_FULL));
    keep_level(&c->pressure_level[EMERGENCY_MEMORY], window_get(&c->window, METRIC_PSI_MEMORY_FULL));
}

/* What is in force in the window that has just ended. */
static void values_in_force(const struct control *c, double *ret)
{
    for (uint8_t i = 0; i < c->n_tuned; i++)
        ret[i] = c->tuned[i]->state == KNOB_OK ? (double)c->tuned[i]->current : NAN;
}

static void store_window(struct control *c, const struct tuner_decision *d, const char *arm, const double *values)
{
    const char *names[TUNER_KNOBS_MAX];
    struct tuner_memory m;

    for (uint8_t i = 0; i < c->n_tuned; i++)
        names[i] = c->tuned[i]->def->name;
    struct store_window sw = {
        .window = &c->window,
        .profile = c->profile ? c->profile->name : "",
        .bucket = c->tuner && tuner_class(c->tuner, &m) ? m.bucket : INT32_MIN,
        .n_knobs = c->n_tuned,
        .knob_names = names,
        .values = values,
        .event = d ? tuner_event_name(d->event) : "none",
        .reason = d ? tuner_reason_name(d->reason) : "none",
        .arm = arm,
    };
    int r = store_add_window(c->store, &sw);
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "cannot store a window: %m");
    if (c->store && c->window.end_ns - c->last_retain_ns > 3600 * NSEC_PER_SEC) {
        c->last_retain_ns = c->window.end_ns;
        control_save_classes(c);
        (void)store_retain(c->store, c->window.real_ns, c->config->store_keep_ns, c->config->store_max_bytes);
    }
}

static const char *arm_word(const struct control *c)
{
    const struct tuner_trial *t = tuner_trial(c->tuner);

    if (t->kind == TUNER_TRIAL_NONE || t->arm == TUNER_ARM_INCUMBENT)
        return "incumbent";
    return t->arm == TUNER_ARM_CANDIDATE ? "candidate" : "settling";
}

/* What the tuner gets to see of the window. */
static void tuner_view(struct control *c, struct tuner_window *ret)
{
    const struct window *w = &c->window;

    *ret = (struct tuner_window){ .objective = window_get(w, METRIC_OBJECTIVE), .load = window_get(w, METRIC_LOAD),
                                  .disturbed = w->disturbed };
    for (uint8_t i = 0; i < TUNER_GUARDS_MAX; i++)
        ret->guard[i] = i < c->n_guards ? window_get(w, c->guard[i]->metric) : NAN;
    c->window_why = w->disturbed ? (w->disturbance ? w->disturbance : "disturbed")
                    : !(ret->objective > 0) ? "the objective was not measured" : NULL;
    c->missing += c->window_why != NULL;
}

/* A window that took much longer than planned: the process was stopped, or the machine slept. */
static void judge_length(struct control *c)
{
    uint64_t length = c->window.end_ns - c->window.start_ns, planned = c->config->window_ns;

    if (c->window.start_ns != 0 && length > planned + planned / 2 + NSEC_PER_SEC / 2) {
        c->window.disturbed = true;
        c->window.disturbance = "the window was much longer than planned";
    }
}

static void tick(struct control *c)
{
    struct tuner_window view;
    const struct tuner_decision *d = NULL;
    const char *arm = "-";
    double values[TUNER_KNOBS_MAX];

    sensors_read(&c->sensors, now_mono_ns(), now_real_ns(), &c->window);
    judge_length(c);
    if (c->has_objective)
        objective_evaluate(&c->objective, &c->window);
    c->windows++;
    control_verify(c);
    values_in_force(c, values);
    if (c->unrestored > 0)
        c->unrestored = (uint32_t)knobs_restore(&c->knobs, "again");
    if (c->tuner) {
        arm = arm_word(c);
        keep_levels(c);
        tuner_view(c, &view);
        d = tuner_step(c->tuner, &view);
        if (d->event != TUNER_EVENT_NONE)
            control_record_decision(c, d); /* the reason first, then the writes that follow from it */
        control_apply(c, d);
        if (d->event == TUNER_EVENT_ACCEPT || d->event == TUNER_EVENT_ROLLBACK || d->event == TUNER_EVENT_KEEP)
            control_save_classes(c);
    }
    store_window(c, d, arm, values);
    emergency_mark(c->emergency);
    bus_changed(c->bus);
}

/* Between two windows: what we changed is taken back at once when the host suffers more than it did before. */
static void on_emergency(enum emergency_kind kind, double pct, void *userdata)
{
    struct control *c = userdata;
    double before = c->pressure_level[kind].n ? c->pressure_level[kind].mean : 0;
    double floor = kind == EMERGENCY_IO ? c->config->emergency_psi_io_full : c->config->emergency_psi_memory_full;

    if (!c->tuner || control_mode(c) != MODE_TUNE || pct < floor || pct < 1.2 * before)
        return;
    const struct tuner_decision *d = tuner_emergency(c->tuner);
    if (d->event == TUNER_EVENT_NONE)
        return; /* nothing of ours is in force */
    log_msg(LOG_WARNING, "pressure: all tasks wait for %s in %.0f %% of the time (%.0f %% before): taking back what is tried",
            emergency_name(kind), pct, before);
    control_record_decision(c, d);
    control_apply(c, d);
    bus_changed(c->bus);
}

int control_arm_emergency(struct control *c)
{
    const double floors[EMERGENCY_COUNT] = { [EMERGENCY_IO] = c->config->emergency_psi_io_full,
                                             [EMERGENCY_MEMORY] = c->config->emergency_psi_memory_full };

    c->emergency = emergency_free(c->emergency);
    return emergency_new(&c->emergency, c->event, &c->io, floors, on_emergency, c);
}

static int arm_window(struct control *c, uint64_t now_ns)
{
    c->window_due_ns += c->config->window_ns;
    if (c->window_due_ns <= now_ns)
        c->window_due_ns = now_ns + c->config->window_ns;
    int r = sd_event_source_set_time(c->window_timer, c->window_due_ns / NSEC_PER_USEC);
    return r < 0 ? r : sd_event_source_set_enabled(c->window_timer, SD_EVENT_ONESHOT);
}

static void on_objective(struct objective *o, void *userdata)
{
    struct control *c = userdata;

    (void)o;
    c->ticking = false;
    tick(c);
}

static int on_window(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct control *c = userdata;
    uint64_t deadline = c->config->window_ns / 5 * 4; /* later, the next window would suffer too */

    (void)s;
    (void)usec;
    int r = arm_window(c, now_mono_ns());
    if (r < 0)
        return log_errno(LOG_ERR, r, "cannot time the next window: %m");
    if (!c->has_objective) {
        tick(c);
    } else if (!c->ticking) {
        c->ticking = true;
        objective_ask(&c->objective, deadline < 5 * NSEC_PER_SEC ? deadline : 5 * NSEC_PER_SEC, on_objective, c);
    }
    return 0;
}

static int on_match(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct control *c = userdata;

    control_match(c);
    int r = sd_event_source_set_time(s, usec + 30 * NSEC_PER_SEC / NSEC_PER_USEC);
    return r < 0 ? r : sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

int control_start(struct control *c)
{
    uint64_t now = now_mono_ns();

    control_match(c);
    sensors_read(&c->sensors, now, now_real_ns(), &c->window); /* starts the counters */
    if (c->has_objective) {
        c->ticking = true;
        objective_ask(&c->objective, NSEC_PER_SEC / 2, on_objective, c);
    }
    c->window_due_ns = now + c->config->window_ns;
    c->last_retain_ns = now;
    int r = sd_event_add_time(c->event, &c->window_timer, CLOCK_MONOTONIC, c->window_due_ns / NSEC_PER_USEC, 1000, on_window, c);
    if (r < 0)
        return r;
    return sd_event_add_time(c->event, &c->match_timer, CLOCK_MONOTONIC, now / NSEC_PER_USEC + 30000000, 0, on_match, c);
}
