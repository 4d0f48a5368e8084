/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of one reading as JSON, exactly as the kernel printed them, so that any capture can
 * be checked by another program. Names of members are those of the kernel's documentation
 * (sched-stats.rst).
 *
 *  { "schedstat": { "version": 17, "known": true, "timestamp": 4294901543, "error": null,
 *      "cpus": [ { "cpu": 0, "yld_count": .., ..., "rq_cpu_time": .., "run_delay": .., "pcount":
 * .., "domains": [ { "domain": 0, "name": "SMT" | null, "mask": "03", "span": "0-1", "busy": {
 * "lb_count": .., ... }, "idle": {..}, "newidle": {..}, "alb_count": .., ..., "ttwu_move_balance":
 * .. } ] } ] }, "psi": { "cpu": { "some": { "avg10": .., "avg60": .., "avg300": .., "total": .. },
 * "full": null | {..}, "error": null }, "io": {..}, "memory": {..}, "irq": {..} } }
 *
 * "error" is the text of an errno; what was read up to there is shown. */
#include "sensors.h"

#include <string.h>

#include "doc.h"
#include "schedstat.h"

/* lb_imbalance_* are one number, lb_imbalance, before version 17. */
static const struct {
    const char *name;
    enum schedstat_lb counter;
    bool since_17;
} lb_names[] = {
    { "lb_count", SCHEDSTAT_LB_COUNT, false },
    { "lb_balanced", SCHEDSTAT_LB_BALANCED, false },
    { "lb_failed", SCHEDSTAT_LB_FAILED, false },
    { "lb_imbalance_util", SCHEDSTAT_LB_IMBALANCE_UTIL, true },
    { "lb_imbalance_task", SCHEDSTAT_LB_IMBALANCE_TASK, true },
    { "lb_imbalance_misfit", SCHEDSTAT_LB_IMBALANCE_MISFIT, true },
    { "lb_gained", SCHEDSTAT_LB_GAINED, false },
    { "lb_hot_gained", SCHEDSTAT_LB_HOT_GAINED, false },
    { "lb_nobusyq", SCHEDSTAT_LB_NOBUSYQ, false },
    { "lb_nobusyg", SCHEDSTAT_LB_NOBUSYG, false },
};
static const char *const idle_names[] = {
    [SCHEDSTAT_BUSY] = "busy",
    [SCHEDSTAT_IDLE] = "idle",
    [SCHEDSTAT_NEWIDLE] = "newidle",
};
static const char *const tail_names[] = {
    "alb_count",    "alb_failed",       "alb_pushed",       "sbe_count",
    "sbe_balanced", "sbe_pushed",       "sbf_count",        "sbf_balanced",
    "sbf_pushed",   "ttwu_wake_remote", "ttwu_move_affine", "ttwu_move_balance",
};
_Static_assert(ELEMENTSOF(tail_names) == SCHEDSTAT_TAIL_COUNTERS, "a name for each number");

static void add_u64(struct json_object *o, const char *key, uint64_t value)
{
    (void)json_object_object_add(o, key, json_object_new_uint64(value));
}

static void add_bytes(struct json_object *o, const char *key, const char *s, size_t len)
{
    (void)json_object_object_add(o, key, len > 0 ? json_object_new_string_len(s, (int)len) : NULL);
}

static struct json_object *describe_domain(const struct schedstat_row *row, bool is_17)
{
    struct json_object *o = json_object_new_object();
    struct cpuset span;
    char list[1024];

    add_u64(o, "domain", row->domain);
    add_bytes(o, "name", row->name, row->name_len);
    add_bytes(o, "mask", row->span, row->span_len);
    doc_add_text(o, "span",
                 cpumask_parse(row->span, row->span_len, &span) == 0
                     ? cpulist_format(list, sizeof list, &span)
                     : NULL);
    for (unsigned t = 0; t < SCHEDSTAT_IDLE_TYPES; t++) {
        struct json_object *lb = json_object_new_object();

        for (size_t i = 0; i < ELEMENTSOF(lb_names); i++) {
            if (lb_names[i].counter == SCHEDSTAT_LB_IMBALANCE_UTIL)
                add_u64(lb, is_17 ? "lb_imbalance_load" : "lb_imbalance",
                        row->lb[t][SCHEDSTAT_LB_IMBALANCE_LOAD]);
            if (is_17 || !lb_names[i].since_17)
                add_u64(lb, lb_names[i].name, row->lb[t][lb_names[i].counter]);
        }
        (void)json_object_object_add(o, idle_names[t], lb);
    }
    for (unsigned i = 0; i < SCHEDSTAT_TAIL_COUNTERS; i++)
        add_u64(o, tail_names[i], row->tail[i]);
    return o;
}

static struct json_object *describe_cpu(const struct schedstat_row *row, bool known,
                                        struct json_object **ret_domains)
{
    struct json_object *o = json_object_new_object();

    add_u64(o, "cpu", row->cpu);
    if (known) {
        add_u64(o, "yld_count", row->yld_count);
        add_u64(o, "sched_count", row->sched_count);
        add_u64(o, "sched_goidle", row->sched_goidle);
        add_u64(o, "ttwu_count", row->ttwu_count);
        add_u64(o, "ttwu_local", row->ttwu_local);
    }
    add_u64(o, "rq_cpu_time", row->rq_cpu_ns_total);
    add_u64(o, "run_delay", row->run_delay_ns_total);
    add_u64(o, "pcount", row->pcount_total);
    *ret_domains = json_object_new_array();
    (void)json_object_object_add(o, "domains", *ret_domains);
    return o;
}

static struct json_object *raw_schedstat(const struct sysio *io)
{
    struct json_object *o = json_object_new_object(), *cpus = json_object_new_array(),
                       *domains = NULL;
    struct schedstat_reader reader;
    struct schedstat_row row;
    int r = schedstat_open(&reader, io);

    if (r >= 0) {
        const struct schedstat_parser *p = &reader.parser;

        while ((r = schedstat_read_row(&reader, &row)) > 0) {
            if (row.kind == SCHEDSTAT_CPU)
                (void)json_object_array_add(cpus, describe_cpu(&row, p->layout != NULL, &domains));
            else
                (void)json_object_array_add(domains, describe_domain(&row, p->version == 17));
        }
        add_u64(o, "version", p->version);
        (void)json_object_object_add(o, "known", json_object_new_boolean(p->layout != NULL));
        add_u64(o, "timestamp", p->timestamp);
        schedstat_close(&reader);
    }
    doc_add_text(o, "error", r < 0 ? strerror(-r) : NULL);
    (void)json_object_object_add(o, "cpus", cpus);
    return o;
}

/* Two decimals, as they came. */
static void add_average(struct json_object *o, const char *key, double pct)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.2f", pct);
    (void)json_object_object_add(o, key, json_object_new_double_s(pct, text));
}

static struct json_object *describe_psi(const struct psi_line *l)
{
    struct json_object *o;

    if (!l->present)
        return NULL;
    o = json_object_new_object();
    add_average(o, "avg10", l->avg10_pct);
    add_average(o, "avg60", l->avg60_pct);
    add_average(o, "avg300", l->avg300_pct);
    add_u64(o, "total", l->us_total);
    return o;
}

static struct json_object *raw_psi(const struct sysio *io)
{
    static const char *const files[] = { "cpu", "io", "memory", "irq" };
    struct json_object *doc = json_object_new_object();

    for (size_t i = 0; i < ELEMENTSOF(files); i++) {
        struct json_object *o = json_object_new_object();
        char path[64], text[512];
        struct psi psi = { 0 };

        (void)snprintf(path, sizeof path, "/proc/pressure/%s", files[i]);
        ssize_t n = sysio_read(io, path, text, sizeof text);
        int r = n < 0 ? (int)n : psi_parse(text, (size_t)n, &psi);
        (void)json_object_object_add(o, "some", describe_psi(&psi.some));
        (void)json_object_object_add(o, "full", describe_psi(&psi.full));
        doc_add_text(o, "error", r < 0 ? strerror(-r) : NULL);
        (void)json_object_object_add(doc, files[i], o);
    }
    return doc;
}

struct json_object *sensors_raw(const struct sysio *io)
{
    struct json_object *doc = json_object_new_object();

    (void)json_object_object_add(doc, "schedstat", raw_schedstat(io));
    (void)json_object_object_add(doc, "psi", raw_psi(io));
    return doc;
}
