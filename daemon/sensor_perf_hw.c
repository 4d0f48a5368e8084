/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions, cycles, cache and branch misses on every CPU, where there is counter hardware. Each
 * group of events is optional: a virtual machine often has none or only some. */
#include <errno.h>
#include <string.h>

#include "perf_host.h"
#include "perf_set.h"
#include "sensor_impl.h"

/* A miss counter that says 0 while that many instructions ran counts nothing. */
#define INSTRUCTIONS_TO_TELL 1e7

/* Events of one group are counted at the same times, so that their ratio is right under
 * multiplexing too. */
static const struct hw_group {
    const char *what;
    const char *events[2];
    size_t n;
    enum metric metric[2];
} groups[] = {
    { "instructions and cycles",
      { "perf::INSTRUCTIONS", "perf::CYCLES" },
      2,
      { METRIC_INSTRUCTIONS_PER_S, METRIC_CYCLES_PER_S } },
    { "cache misses", { "perf::CACHE-MISSES" }, 1, { METRIC_CACHE_MISSES_PER_S } },
    { "branch misses", { "perf::BRANCH-MISSES" }, 1, { METRIC_BRANCH_MISSES_PER_S } },
};

struct hw {
    struct perf_host host;
    bool started;
    struct hw_set {
        bool is_open;
        int error; /* why not */
        struct perf_set set;
    } group[ELEMENTSOF(groups)];
};

static void hw_close(struct sensor *s)
{
    struct hw *hw = s->private;

    for (size_t i = 0; i < ELEMENTSOF(groups); i++) {
        if (hw->group[i].is_open)
            perf_set_done(&hw->group[i].set);
        hw->group[i].is_open = false;
    }
    perf_host_close(&hw->host);
}

static int hw_open(struct sensor *s, const struct sysio *io)
{
    struct hw *hw = s->private;
    struct cpuset online;
    size_t n_open = 0, n_events = 0;
    int r;

    for (size_t i = 0; i < ELEMENTSOF(groups); i++)
        n_events += groups[i].n;
    r = perf_host_open(&hw->host, s, io, n_events, &online);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ELEMENTSOF(groups); i++) {
        struct hw_set *g = &hw->group[i];

        r = perf_set_init(&g->set, groups[i].events, groups[i].n, hw->host.cpus_max, -1);
        if (r >= 0 && (r = perf_set_open(&g->set, &online)) < 0)
            perf_set_done(&g->set);
        g->error = r;
        g->is_open = r >= 0;
        n_open += g->is_open;
    }
    if (n_open > 0)
        return 0;
    r = hw->group[0].error;
    hw_close(s);
    if (r == -ENOENT || r == -EOPNOTSUPP)
        return sensor_say(
            s, SENSOR_ABSENT, r,
            "no counter hardware: usual in a virtual machine; the host can pass it on");
    return perf_explain(s, io, r);
}

/* NULL, or what is wrong with this group. Puts its metrics into w. */
static const char *put_group(const struct hw_group *g, const struct perf_sums *sums,
                             double *instructions, struct window *w)
{
    bool leader = g->metric[0] == METRIC_INSTRUCTIONS_PER_S;

    if (!sums->complete)
        return sums->running_part > 0 || sums->reopened
                   ? "not counted on every CPU over the whole window"
                   : "never on the hardware: others use the counters";
    if (leader)
        *instructions = sums->value[0];
    for (size_t i = 0; i < g->n; i++)
        if (sums->value[i] <= 0 && (leader || *instructions > INSTRUCTIONS_TO_TELL))
            return "open, but stay 0 on this machine";
    for (size_t i = 0; i < g->n; i++)
        window_set(w, g->metric[i], sums->value[i] / window_seconds(w));
    if (leader)
        window_set(w, METRIC_IPC, sums->value[0] / sums->value[1]);
    return NULL;
}

static int hw_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct hw *hw = s->private;
    bool first = !hw->started;
    const char *wrong = NULL, *what = NULL;
    double instructions = 0;
    struct cpuset online;
    size_t n_read = 0;
    int r = perf_host_online(&hw->host, s, io, &online), error = -EIO;

    if (r < 0)
        return r;
    for (size_t i = 0; i < ELEMENTSOF(groups); i++) {
        struct perf_sums sums;
        const char *trouble = "not on this machine";

        if (hw->group[i].is_open) {
            r = perf_set_read(&hw->group[i].set, &online, &sums);
            n_read += r >= 0;
            error = r < 0 ? r : error;
            trouble = r < 0 ? "cannot be read" : put_group(&groups[i], &sums, &instructions, w);
        }
        if (trouble && !wrong) {
            wrong = trouble;
            what = groups[i].what;
        }
    }
    hw->started = true;
    if (n_read == 0)
        return perf_explain(s, io, error);
    if (!wrong)
        (void)sensor_say(s, SENSOR_OK, 0, "%s", "");
    else if (!first)
        (void)sensor_say(s, SENSOR_PARTIAL, 0, "%s: %s", what, wrong);
    return 0;
}

const struct sensor_def sensor_perf_hw = {
    .name = "perf-hw",
    .what = "instructions, cycles, cache and branch misses, perf hardware events on every CPU",
    .size = sizeof(struct hw),
    .open = hw_open,
    .read = hw_read,
    .close = hw_close,
};
