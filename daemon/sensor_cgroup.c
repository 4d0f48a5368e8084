/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time, throttling and pressure of the cgroup that the workload runs in. */
#include <errno.h>

#include "cgroup.h"
#include "kept.h"
#include "sensor_impl.h"

enum { CPU_STAT, CPU_PRESSURE, IO_PRESSURE, MEMORY_PRESSURE, FILES };

static const struct {
    const char *name;
    enum metric some, full; /* of a pressure file */
} files[FILES] = {
    [CPU_STAT] = { "cpu.stat", METRIC_COUNT, METRIC_COUNT },
    [CPU_PRESSURE] = { "cpu.pressure", METRIC_CGROUP_PSI_CPU_SOME, METRIC_CGROUP_PSI_CPU_FULL },
    [IO_PRESSURE] = { "io.pressure", METRIC_CGROUP_PSI_IO_SOME, METRIC_COUNT },
    [MEMORY_PRESSURE] = { "memory.pressure", METRIC_CGROUP_PSI_MEMORY_SOME, METRIC_COUNT },
};

struct cpu_stat {
    uint64_t usage_us_total, periods_total, throttled_total;
    bool has_periods; /* the cpu controller is on in this cgroup */
};

struct cgroup_sensor {
    int32_t pid;
    int error; /* of looking for its cgroup */
    char dir[512], path[FILES][560];
    struct kept file[FILES];
    bool open[FILES], started[FILES];
    struct cpu_stat stat;
    struct psi psi[FILES];
};

static void close_files(struct cgroup_sensor *c)
{
    for (size_t i = 0; i < FILES; i++) {
        if (c->open[i])
            kept_close(&c->file[i]);
        c->open[i] = c->started[i] = false;
    }
}

static int cgroup_open(struct sensor *s, const struct sysio *io)
{
    (void)s;
    (void)io;
    return 0;
}

static void cgroup_close(struct sensor *s)
{
    close_files(s->private);
}

static void cgroup_follow(struct sensor *s, const struct sysio *io, int32_t pid)
{
    struct cgroup_sensor *c = s->private;

    close_files(c);
    c->pid = pid;
    c->error = pid > 0 ? cgroup_of(io, pid, c->dir, sizeof c->dir) : -ENOENT;
    for (size_t i = 0; c->error == 0 && i < FILES; i++) {
        (void)snprintf(c->path[i], sizeof c->path[i], "%s/%s", c->dir, files[i].name);
        c->open[i] = kept_open(&c->file[i], io, c->path[i]) >= 0;
    }
}

static int no_cgroup(struct sensor *s, const struct cgroup_sensor *c)
{
    if (c->pid == 0)
        (void)sensor_say(s, SENSOR_ABSENT, 0, "no workload is followed");
    else if (c->error == -EXDEV)
        (void)sensor_say(s, SENSOR_ABSENT, c->error,
                         "the workload runs in the root cgroup: it has none of its own");
    else if (c->error == -ENOENT)
        (void)sensor_say(s, SENSOR_ABSENT, c->error,
                         "process %d is gone, or this host has no cgroups of version 2", c->pid);
    else
        (void)sensor_say_errno(s, c->error, "the cgroup of the workload");
    return 0;
}

static int parse_stat(const char *text, size_t len, struct cpu_stat *ret)
{
    struct cpu_stat st = { 0 };
    int r = keyvalue_parse(text, len, "usage_usec", &st.usage_us_total);

    if (r < 0)
        return r;
    st.has_periods = keyvalue_parse(text, len, "nr_periods", &st.periods_total) == 0 &&
                     keyvalue_parse(text, len, "nr_throttled", &st.throttled_total) == 0;
    *ret = st;
    return 0;
}

/* True while cpu.max stops the cgroup. */
static bool put_stat(struct window *w, const struct cpu_stat *before, const struct cpu_stat *now)
{
    uint64_t usage, periods, throttled;

    if (counter_delta(before->usage_us_total, now->usage_us_total, 64, 0, &usage) == 0)
        window_set(w, METRIC_CGROUP_RUNNING, (double)usage / 1e6 / window_seconds(w));
    if (!before->has_periods || !now->has_periods ||
        counter_delta(before->periods_total, now->periods_total, 64, 0, &periods) < 0 ||
        counter_delta(before->throttled_total, now->throttled_total, 64, 0, &throttled) < 0)
        return false;
    /* No period has passed: there is no limit, and nothing was stopped. */
    window_set(w, METRIC_CGROUP_THROTTLED,
               periods > 0 ? 100 * (double)throttled / (double)periods : 0);
    return throttled > 0;
}

static int read_one(struct cgroup_sensor *c, size_t i, const struct sysio *io, struct window *w,
                    bool *throttled)
{
    char text[2048];
    struct cpu_stat stat;
    struct psi psi;
    int r;

    ssize_t n = kept_read(&c->file[i], io, text, sizeof text);
    if (n < 0)
        r = (int)n;
    else
        r = i == CPU_STAT ? parse_stat(text, (size_t)n, &stat) : psi_parse(text, (size_t)n, &psi);
    if (r < 0) {
        c->started[i] = false;
        return r;
    }
    if (i == CPU_STAT) {
        if (c->started[i])
            *throttled = put_stat(w, &c->stat, &stat);
        c->stat = stat;
    } else {
        if (c->started[i]) {
            window_set_psi(w, files[i].some, &c->psi[i].some, &psi.some);
            window_set_psi(w, files[i].full, &c->psi[i].full, &psi.full);
        }
        c->psi[i] = psi;
    }
    c->started[i] = true;
    return 0;
}

static int cgroup_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct cgroup_sensor *c = s->private;
    bool first = !c->started[CPU_STAT], throttled = false;
    size_t n_read = 0, missing = FILES;
    int error = -ENOENT;

    if (c->pid == 0 || c->error < 0)
        return no_cgroup(s, c);
    for (size_t i = 0; i < FILES; i++) {
        int r = c->open[i] ? read_one(c, i, io, w, &throttled) : -ENOENT;

        n_read += r >= 0;
        if (r < 0 && missing == FILES) {
            missing = i;
            error = r;
        }
    }
    /* ENODEV: the cgroup was removed. The workload will be looked for again. */
    if (n_read == 0)
        (void)sensor_say(s, SENSOR_ABSENT, error, "%.120s cannot be read", c->dir);
    else if (throttled)
        (void)sensor_say(
            s, SENSOR_PARTIAL, 0,
            "cpu.max stops this cgroup: a part of its waiting and pressure is that limit");
    else if (missing < FILES)
        (void)sensor_say(s, SENSOR_PARTIAL, error, "no %s in this cgroup%s", files[missing].name,
                         missing == CPU_STAT ? ""
                                             : ": boot with psi=1, and look at cgroup.pressure");
    else
        (void)sensor_say(s, first ? SENSOR_STARTING : SENSOR_OK, 0, "%s", "");
    return 0;
}

const struct sensor_def sensor_cgroup = {
    .name = "cgroup",
    .what = "CPU time, throttling and pressure of the workload's cgroup",
    .size = sizeof(struct cgroup_sensor),
    .open = cgroup_open,
    .read = cgroup_read,
    .close = cgroup_close,
    .follow = cgroup_follow,
};
