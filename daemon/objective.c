/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One reading a window of whatever counts as better, with a deadline, turned into rates. This file knows neither
 * servers nor files, and never waits. */
#include "objective.h"

#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

extern const struct objective_def objective_postgresql, objective_sched, objective_file;

const struct objective_def *const objective_table[] = {
    &objective_postgresql,
    &objective_sched,
    &objective_file,
    NULL,
};

/* The kernel may add this much to the deadline to save a wake-up. */
enum { DEADLINE_SLACK_US = 1000 };

/* A difference of two readings belongs to a window when it covers about that window. */
static const double SPAN_MIN = 0.5, SPAN_MAX = 1.5;

const char *objective_state_name(enum objective_state s)
{
    static const char *const names[] = {
        [OBJECTIVE_STARTING] = "starting",       [OBJECTIVE_OK] = "ok",
        [OBJECTIVE_REFUSED] = "refused",         [OBJECTIVE_UNREACHABLE] = "unreachable",
        [OBJECTIVE_LATE] = "late",               [OBJECTIVE_NONSENSE] = "nonsense",
    };

    return names[s];
}

void objective_trouble(struct objective *o, enum objective_state state, const char *fmt, ...)
{
    va_list ap;

    o->state = state;
    va_start(ap, fmt);
    (void)vsnprintf(o->reason, sizeof o->reason, fmt, ap);
    va_end(ap);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct objective *o = userdata;

    (void)source;
    (void)usec;
    if (!o->pending)
        return 0;
    o->def->cancel(o);
    o->now = (struct objective_reading){ 0 };
    objective_trouble(o, OBJECTIVE_LATE, "no answer before the deadline");
    objective_finish(o);
    return 0;
}

int objective_open_def(struct objective *o, const struct objective_def *def, const struct profile *p,
                       const struct sysio *io, sd_event *event)
{
    int r = 0;

    *o = (struct objective){ .def = def, .profile = p, .io = io, .state = OBJECTIVE_STARTING };
    o->private = calloc(1, def->size ? def->size : 1);
    if (!o->private)
        return -ENOMEM;
    if (event) {
        o->event = sd_event_ref(event);
        r = sd_event_add_time(event, &o->deadline, CLOCK_MONOTONIC, 0, DEADLINE_SLACK_US, on_deadline, o);
        if (r >= 0)
            r = sd_event_source_set_enabled(o->deadline, SD_EVENT_OFF);
    }
    if (r >= 0)
        r = def->open(o);
    if (r >= 0)
        return 0;
    o->deadline = sd_event_source_disable_unref(o->deadline);
    o->event = sd_event_unref(o->event);
    free(TAKE_PTR(o->private));
    o->def = NULL;
    return r;
}

int objective_open(struct objective *o, const struct profile *p, const struct sysio *io, sd_event *event)
{
    for (const struct objective_def *const *d = objective_table; *d; d++)
        if (strcmp((*d)->name, p->objective) == 0)
            return objective_open_def(o, *d, p, io, event);
    *o = (struct objective){ 0 };
    (void)snprintf(o->reason, sizeof o->reason, "there is no objective named %s", p->objective);
    return -ENOENT;
}

void objective_close(struct objective *o)
{
    if (!o->def)
        return;
    o->pending = false;
    o->def->close(o);
    o->deadline = sd_event_source_disable_unref(o->deadline);
    o->event = sd_event_unref(o->event);
    free(o->private);
    *o = (struct objective){ 0 };
}

void objective_ask(struct objective *o, uint64_t deadline_ns, objective_done_t done, void *userdata)
{
    if (o->pending)
        (void)on_deadline(NULL, 0, o);
    if (o->now.valid)
        o->last = o->now;
    o->now = (struct objective_reading){ 0 };
    o->done = done;
    o->done_userdata = userdata;
    o->pending = true;
    if (o->deadline) {
        (void)sd_event_source_set_time(o->deadline, (now_mono_ns() + deadline_ns) / NSEC_PER_USEC);
        (void)sd_event_source_set_enabled(o->deadline, SD_EVENT_ONESHOT);
    }
    o->def->request(o);
}

static bool is_number(bool has, double v)
{
    return !has || (isfinite(v) && v >= 0);
}

/* State of the reading just made, from it and the one before. Leaves a remark of the implementation in place. */
static void judge(struct objective *o)
{
    const struct objective_reading *a = &o->last, *b = &o->now;
    double a_active = a->has_active ? a->active_s_total : 0;

    if (!is_number(b->has_work, b->work_total) || !is_number(b->has_rate, b->rate) ||
        !is_number(b->has_active, b->active_s_total) || !is_number(b->has_load, b->load)) {
        objective_trouble(o, OBJECTIVE_NONSENSE, "the source answered with a number that cannot be");
        o->now.valid = false;
    } else if (b->has_rate) {
        o->state = OBJECTIVE_OK;
    } else if (!a->valid) {
        objective_trouble(o, OBJECTIVE_STARTING, "one answer so far, a rate needs two");
    } else if (a->epoch != b->epoch) {
        objective_trouble(o, OBJECTIVE_STARTING, "totals started anew (statistics reset or restart)");
    } else if (a->has_work && b->has_work && b->work_total < a->work_total) {
        objective_trouble(o, OBJECTIVE_NONSENSE, "the total fell from %.0f to %.0f", a->work_total, b->work_total);
    } else if (b->has_active && b->active_s_total < a_active) {
        objective_trouble(o, OBJECTIVE_NONSENSE, "the active time fell");
    } else if (b->mono_ns <= a->mono_ns) {
        objective_trouble(o, OBJECTIVE_NONSENSE, "two readings of the same time");
    } else {
        o->state = OBJECTIVE_OK;
    }
}

void objective_finish(struct objective *o)
{
    objective_done_t done = o->done;

    if (!o->pending)
        return;
    o->pending = false;
    if (o->deadline)
        (void)sd_event_source_set_enabled(o->deadline, SD_EVENT_OFF);
    if (o->now.valid)
        judge(o);
    if (o->state == OBJECTIVE_OK)
        o->help[0] = '\0';
    if (done)
        done(o, o->done_userdata);
}

static void set_load(const struct objective *o, struct window *w)
{
    if (o->profile->file_load_metric[0]) {
        /* Asked for: another signal in its place would put the same load into another class. */
        if (o->now.valid && o->now.has_load)
            window_set(w, METRIC_LOAD, o->now.load);
    } else if (window_has(w, METRIC_RUNNING) && window_has(w, METRIC_WAITING)) {
        window_set(w, METRIC_LOAD, w->value[METRIC_RUNNING] + w->value[METRIC_WAITING]);
    }
}

/* work and active seconds per second of this window; false: not known. */
static bool rates(struct objective *o, const struct window *w, double *ret_tps, double *ret_active)
{
    const struct objective_reading *a = &o->last, *b = &o->now;
    double span, length = (double)(w->end_ns - w->start_ns);

    if (!b->valid || o->state != OBJECTIVE_OK)
        return false;
    *ret_active = NAN;
    if (b->has_rate) {
        *ret_tps = b->rate;
        return true;
    }
    span = (double)(b->mono_ns - a->mono_ns);
    if (!b->has_work || !a->has_work)
        return false;
    if (w->end_ns <= w->start_ns || span < SPAN_MIN * length || span > SPAN_MAX * length) {
        objective_trouble(o, OBJECTIVE_STARTING, "readings %.2f s apart do not cover this window alone", span / 1e9);
        return false;
    }
    *ret_tps = (b->work_total - a->work_total) / (span / 1e9);
    if (a->has_active && b->has_active)
        *ret_active = (b->active_s_total - a->active_s_total) / (span / 1e9);
    return true;
}

void objective_evaluate(struct objective *o, struct window *w)
{
    double tps, active, busy;

    set_load(o, w);
    if (o->def->evaluate) {
        o->def->evaluate(o, w);
        return;
    }
    if (!rates(o, w, &tps, &active))
        return;
    window_set(w, METRIC_TPS, tps);
    window_set(w, METRIC_ACTIVE, active);
    switch (o->profile->measure) {
    case MEASURE_SERVICE:
        busy = window_get(w, METRIC_RUNNING) + window_get(w, METRIC_WAITING);
        if (busy > 0)
            window_set(w, METRIC_OBJECTIVE, tps / busy);
        break;
    case MEASURE_TPS:
        window_set(w, METRIC_OBJECTIVE, tps);
        break;
    case MEASURE_LATENCY:
        if (active > 0)
            window_set(w, METRIC_OBJECTIVE, tps / active);
        break;
    }
}

const char *objective_unit(const struct objective *o)
{
    return o->def->unit[o->profile->measure];
}

const char *objective_text(const struct objective *o)
{
    return o->def->text[o->profile->measure];
}

const char *objective_load_source(const struct objective *o)
{
    return o->profile->file_load_metric[0] ? "the application's own number (file)" : "runnable threads (schedstat)";
}
