/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Context switches and migrations on every CPU, through perf's software events, which need no
 * counter hardware. */
#include "perf_host.h"
#include "perf_set.h"
#include "sensor_impl.h"

static const char *const events[] = { "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS" };

struct perf_sensor {
    struct perf_host host;
    struct perf_set set;
    bool started;
};

static void perf_close(struct sensor *s)
{
    struct perf_sensor *p = s->private;

    perf_set_done(&p->set);
    perf_host_close(&p->host);
}

static int perf_open(struct sensor *s, const struct sysio *io)
{
    struct perf_sensor *p = s->private;
    struct cpuset online;
    int r = perf_host_open(&p->host, s, io, ELEMENTSOF(events), &online);

    if (r < 0)
        return r;
    r = perf_set_init(&p->set, events, ELEMENTSOF(events), p->host.cpus_max, -1);
    if (r >= 0)
        r = perf_set_open(&p->set, &online);
    if (r < 0) {
        perf_close(s);
        return perf_explain(s, io, r);
    }
    return 0;
}

static int perf_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct perf_sensor *p = s->private;
    struct perf_sums sums;
    struct cpuset online;
    bool first = !p->started;
    int r = perf_host_online(&p->host, s, io, &online);

    if (r < 0)
        return r;
    r = perf_set_read(&p->set, &online, &sums);
    if (r < 0)
        return perf_explain(s, io, r);
    p->started = true;
    if (sums.complete) {
        window_set(w, METRIC_SWITCHES_PER_S, sums.value[0] / window_seconds(w));
        window_set(w, METRIC_MIGRATIONS_PER_S, sums.value[1] / window_seconds(w));
        (void)sensor_say(s, SENSOR_OK, 0, "%s", "");
    } else if (!first) {
        (void)sensor_say(s, SENSOR_PARTIAL, 0, "not every CPU was counted over the whole window%s",
                         sums.reopened ? ": events that stood still were opened again" : "");
    }
    return 0;
}

const struct sensor_def sensor_perf = {
    .name = "perf",
    .what = "context switches and migrations, perf software events on every CPU",
    .size = sizeof(struct perf_sensor),
    .open = perf_open,
    .read = perf_read,
    .close = perf_close,
};
