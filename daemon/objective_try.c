/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tunectl objective test`: reads an objective for a while and tells how steady it is. Writes nothing but its report. */
#include "objective.h"

#include "sensor.h"
#include "util.h"

#include <errno.h>
#include <math.h>

/* An answer that takes longer than this is late, however long the window is. */
static const uint64_t DEADLINE_MAX_NS = 2 * NSEC_PER_SEC;

struct moments {
    unsigned n;
    double mean, m2;
};

static void moments_add(struct moments *m, double v)
{
    double d = v - m->mean;

    m->n++;
    m->mean += d / m->n;
    m->m2 += d * (v - m->mean);
}

static void on_done(struct objective *o, void *userdata)
{
    bool *done = userdata;

    (void)o;
    *done = true;
}

/* Runs the loop until the time has come, or *done where that is given. */
static int run_loop(sd_event *event, uint64_t until_ns, const bool *done)
{
    for (uint64_t now_ns; !(done && *done) && (now_ns = now_mono_ns()) < until_ns;) {
        int r = sd_event_run(event, (until_ns - now_ns) / NSEC_PER_USEC + 1);
        if (r < 0)
            return r;
    }
    return 0;
}

static void print_number(FILE *out, const struct window *w, enum metric m)
{
    if (window_has(w, m))
        fprintf(out, " %12.4g", w->value[m]);
    else
        fprintf(out, " %12s", "-");
}

static void print_window(const struct objective *o, const struct window *w, unsigned number, FILE *out)
{
    fprintf(out, "%6u", number);
    print_number(out, w, METRIC_OBJECTIVE);
    print_number(out, w, METRIC_TPS);
    print_number(out, w, METRIC_LOAD);
    fprintf(out, "  %s%s%s\n", objective_state_name(o->state), o->reason[0] ? ": " : "", o->reason);
    (void)fflush(out);
}

static int one_window(struct objective *o, struct sensors *ss, uint64_t deadline_ns, struct window *w)
{
    bool done = false;
    int r;

    sensors_read(ss, now_mono_ns(), now_real_ns(), w);
    objective_ask(o, deadline_ns, on_done, &done);
    r = run_loop(o->event, UINT64_MAX / 2, &done);
    if (r >= 0)
        objective_evaluate(o, w);
    return r;
}

static int summary(const struct objective *o, const struct moments *value, const struct moments *load, FILE *out)
{
    if (value->n == 0) {
        fprintf(out, "no window could be measured: %s%s%s\n", objective_state_name(o->state), o->reason[0] ? ": " : "",
                o->reason);
        return o->state == OBJECTIVE_LATE ? -ETIMEDOUT : -ENODATA;
    }
    fprintf(out, "mean %.4g %s over %u windows", value->mean, objective_unit(o), value->n);
    if (value->n > 1 && value->mean > 0)
        fprintf(out, ", noise %.1f %% from window to window", 100 * sqrt(value->m2 / (value->n - 1)) / value->mean);
    fputc('\n', out);
    if (load->n > 0)
        fprintf(out, "load %.4g, from %s\n", load->mean, objective_load_source(o));
    else
        fprintf(out, "load unknown: classes of load cannot be told apart\n");
    if (o->def->proxy)
        fprintf(out, "this is only a proxy for what the owner of the workload cares for\n");
    return 0;
}

static int read_windows(struct objective *o, struct sensors *ss, unsigned windows, uint64_t window_ns, FILE *out)
{
    struct moments value = { 0 }, load = { 0 };
    uint64_t start_ns = now_mono_ns(), deadline_ns = window_ns / 2 < DEADLINE_MAX_NS ? window_ns / 2 : DEADLINE_MAX_NS;

    fprintf(out, "%s: %s\n", o->def->name, objective_text(o));
    fprintf(out, "%6s %12s %12s %12s  %s\n", "window", "objective", "tps", "load", "state");
    for (unsigned i = 0; i <= windows; i++) { /* reading 0 only starts the totals; it may wait for the connection */
        struct window w = { 0 };
        int r = run_loop(o->event, start_ns + i * window_ns, NULL);

        if (r >= 0)
            r = one_window(o, ss, i == 0 ? DEADLINE_MAX_NS : deadline_ns, &w);
        if (r < 0)
            return r;
        if (o->state == OBJECTIVE_REFUSED) {
            fprintf(out, "refused: %s\n%s%s", o->reason, o->help[0] ? "To set it up:\n" : "", o->help);
            return -EACCES;
        }
        if (i == 0) {
            start_ns = now_mono_ns();
            continue;
        }
        print_window(o, &w, i, out);
        if (window_has(&w, METRIC_OBJECTIVE))
            moments_add(&value, w.value[METRIC_OBJECTIVE]);
        if (window_has(&w, METRIC_LOAD))
            moments_add(&load, w.value[METRIC_LOAD]);
    }
    return summary(o, &value, &load, out);
}

int objective_test(const struct profile *p, const struct sysio *io, unsigned windows, uint64_t window_ns, FILE *out)
{
    _cleanup_(sd_event_unrefp) sd_event *event = NULL;
    struct objective o;
    struct sensors ss;
    int r = sd_event_new(&event);

    if (r < 0)
        return r;
    r = objective_open(&o, p, io, event);
    if (r < 0) {
        fprintf(out, "objective %s: %s\n", p->objective, o.reason);
        return r;
    }
    r = sensors_init(&ss, io);
    if (r >= 0) {
        r = read_windows(&o, &ss, windows, window_ns, out);
        sensors_done(&ss);
    }
    objective_close(&o);
    return r;
}
