/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tunectl sensors: reads the sensors without the daemon, one line a window like vmstat. Writes
 * nothing and switches nothing on. */
#include "sensors.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "doc.h"
#include "sensor.h"
#include "tunectl.h"
#include "util.h"

#define LINES_PER_HEADER 20

static const struct column {
    enum metric metric;
    const char *head;
    int width;
    double scale;
    int decimals;
} columns[] = {
    { METRIC_RUNNING, "run", 6, 1, 2 },
    { METRIC_WAITING, "wait", 7, 1, 2 },
    { METRIC_RUNQ_WAIT_NS, "us/slice", 9, 1e-3, 1 },
    { METRIC_TIMESLICES_PER_S, "slices/s", 9, 1, 0 },
    { METRIC_SWITCHES_PER_S, "cs/s", 8, 1, 0 },
    { METRIC_MIGRATIONS_PER_S, "migr/s", 7, 1, 0 },
    { METRIC_WAKEUPS_PER_S, "wake/s", 8, 1, 0 },
    { METRIC_WAKE_LOCAL_RATIO, "local%", 7, 100, 1 },
    { METRIC_AFFINE_PER_S, "affine/s", 9, 1, 0 },
    { METRIC_NEWIDLE_PER_S, "newidle/s", 10, 1, 0 },
    { METRIC_NEWIDLE_FAIL_RATIO, "fail%", 6, 100, 1 },
    { METRIC_NEWIDLE_GAIN_PER_S, "gain/s", 7, 1, 0 },
    { METRIC_HOT_GAIN_RATIO, "hot%", 6, 100, 1 },
    { METRIC_INSTRUCTIONS_PER_S, "Minst/s", 8, 1e-6, 0 },
    { METRIC_IPC, "ipc", 5, 1, 2 },
    { METRIC_CACHE_MISSES_PER_S, "kmiss/s", 8, 1e-3, 0 },
    { METRIC_PSI_CPU_SOME, "cpu%", 6, 1, 1 },
    { METRIC_PSI_IO_SOME, "io%", 6, 1, 1 },
    { METRIC_PSI_IO_FULL, "iofull%", 8, 1, 1 },
    { METRIC_PSI_MEMORY_SOME, "mem%", 6, 1, 1 },
    { METRIC_PSI_MEMORY_FULL, "memfull%", 9, 1, 1 },
    { METRIC_STEAL, "steal%", 7, 1, 1 },
    { METRIC_CPUS_ONLINE, "cpus", 5, 1, 0 },
};

/* Only what has been seen: a column of dashes says less than the reason that say_states() has
 * printed. */
static void print_header(uint64_t seen)
{
    for (size_t i = 0; i < ELEMENTSOF(columns); i++)
        if (seen >> columns[i].metric & 1)
            (void)printf("%*s", columns[i].width, columns[i].head);
    (void)printf("\n");
}

static void print_window(const struct window *w, uint64_t seen)
{
    for (size_t i = 0; i < ELEMENTSOF(columns); i++) {
        const struct column *c = &columns[i];

        if (!(seen >> c->metric & 1))
            continue;
        if (window_has(w, c->metric))
            (void)printf("%*.*f", c->width, c->decimals, window_get(w, c->metric) * c->scale);
        else
            (void)printf("%*s", c->width, "-");
    }
    (void)printf(w->disturbed ? "  %s\n" : "\n", w->disturbance);
}

/* States that are not plainly good, once each, to stderr: the table stays a table. */
static void say_states(const struct sensors *ss, enum sensor_state *said)
{
    for (size_t i = 0; i < ss->n; i++) {
        const struct sensor *s = &ss->s[i];

        /* Sensors of a workload have nothing to follow here. */
        if (s->state == said[i] || s->def->follow)
            continue;
        said[i] = s->state;
        if (s->state != SENSOR_OK && s->state != SENSOR_STARTING)
            (void)fprintf(stderr, "%s: %s: %s\n", s->def->name, sensor_state_name(s->state),
                          s->reason);
    }
}

static struct json_object *describe_balance(const struct sensor_balance *b)
{
    struct json_object *o = json_object_new_object();

    doc_add_number(o, "attempts_per_s", b->attempts_per_s);
    doc_add_number(o, "balanced_per_s", b->balanced_per_s);
    doc_add_number(o, "failed_per_s", b->failed_per_s);
    doc_add_number(o, "gained_per_s", b->gained_per_s);
    doc_add_number(o, "hot_gained_per_s", b->hot_gained_per_s);
    return o;
}

/* NULL, null in the document, when they are not known. */
static struct json_object *describe_domains(const struct sensors *ss)
{
    const struct sensor_domain *d = NULL;
    size_t n = sensors_domains(ss, &d);
    struct json_object *all = n > 0 ? json_object_new_array() : NULL;

    for (size_t i = 0; i < n; i++) {
        struct json_object *o = json_object_new_object();

        doc_add_text(o, "name", d[i].name);
        doc_add_number(o, "domains", d[i].domains);
        (void)json_object_object_add(o, "busy", describe_balance(&d[i].busy));
        (void)json_object_object_add(o, "idle", describe_balance(&d[i].idle));
        (void)json_object_object_add(o, "newidle", describe_balance(&d[i].newidle));
        doc_add_number(o, "affine_per_s", d[i].affine_per_s);
        doc_add_number(o, "wake_remote_per_s", d[i].wake_remote_per_s);
        (void)json_object_array_add(all, o);
    }
    return all;
}

static void print_json(const struct sensors *ss, const struct window *w)
{
    _cleanup_doc_ struct json_object *doc = json_object_new_object();
    struct json_object *metrics = json_object_new_object(), *sensors = json_object_new_array();

    doc_add_number(doc, "time", (double)w->real_ns / 1e9);
    doc_add_number(doc, "window", (double)w->index);
    doc_add_number(doc, "length_s", (double)(w->end_ns - w->start_ns) / 1e9);
    doc_add_text(doc, "disturbance", w->disturbed ? w->disturbance : NULL);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (m != METRIC_OBJECTIVE && m != METRIC_TPS && m != METRIC_ACTIVE && m != METRIC_LOAD)
            doc_add_number(metrics, metric_info[m].name, window_get(w, (enum metric)m));
    (void)json_object_object_add(doc, "metrics", metrics);
    (void)json_object_object_add(doc, "domains", describe_domains(ss));
    for (size_t i = 0; i < ss->n; i++) {
        struct json_object *o = json_object_new_object();

        doc_add_text(o, "name", ss->s[i].def->name);
        doc_add_text(o, "state", sensor_state_name(ss->s[i].state));
        doc_add_text(o, "reason", ss->s[i].reason);
        (void)json_object_array_add(sensors, o);
    }
    (void)json_object_object_add(doc, "sensors", sensors);
    (void)printf("%s\n", json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PLAIN));
}

static void wait_until(uint64_t ns)
{
    struct timespec ts = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
                           .tv_nsec = (long)(ns % NSEC_PER_SEC) };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        ;
}

static int show_windows(const struct ctl *c, struct sensors *ss)
{
    enum sensor_state said[SENSORS_MAX] = { 0 };
    uint64_t interval_ns = c->interval_ns ? c->interval_ns : NSEC_PER_SEC, next = now_mono_ns(),
             seen = 0;
    struct window w;

    sensors_read(ss, next, now_real_ns(), &w);
    for (uint64_t n = 0; c->count == 0 || n < c->count; n++) {
        uint64_t before = seen;

        next += interval_ns;
        wait_until(next);
        sensors_read(ss, now_mono_ns(), now_real_ns(), &w);
        seen |= w.valid;
        if (c->json) {
            print_json(ss, &w);
        } else {
            say_states(ss, said);
            if (!seen)
                continue;
            if (n % LINES_PER_HEADER == 0 || seen != before)
                print_header(seen);
            print_window(&w, seen);
        }
        if (fflush(stdout) != 0)
            return CTL_ERROR;
    }
    return seen ? CTL_OK : CTL_ERROR;
}

int verb_sensors(const struct ctl *c)
{
    struct sensors ss;
    struct sysio io;
    int code, r = sysio_init(&io, c->root);

    if (r < 0) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", c->root, strerror(-r));
        return CTL_ERROR;
    }
    if (c->raw) {
        _cleanup_doc_ struct json_object *doc = sensors_raw(&io);

        doc_print(doc);
        code = CTL_OK;
    } else if ((r = sensors_init(&ss, &io)) < 0) {
        (void)fprintf(stderr, "tunectl: %s\n", strerror(-r));
        code = CTL_ERROR;
    } else {
        code = show_windows(c, &ss);
        sensors_done(&ss);
    }
    sysio_done(&io);
    return code;
}
