/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Context switches and migrations on every CPU, through perf's software events, which need no
 * counter hardware. */
#include "kept.h"
#include "perf_set.h"
#include "sensor_impl.h"

#include <errno.h>
#include <string.h>

#define ONLINE_PATH   "/sys/devices/system/cpu/online"
#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"
/* Descriptors for everything else that the process has open. */
#define FDS_OTHERS 256

static const char *const events[] = { "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS" };

struct perf_sensor {
    struct kept online;
    struct perf_set set;
};

static int perf_denied(struct sensor *s, const struct sysio *io, int error)
{
    char level[16];

    if (sysio_read_line(io, PARANOID_PATH, level, sizeof level) <= 0)
        return sensor_say(
            s, SENSOR_DENIED, error,
            "perf_event_open is not permitted: needs CAP_PERFMON, and the system call itself");
    /* Upstream knows levels up to 2; Debian's and Ubuntu's 3 and 4 ask for the larger capability.
     */
    if (level[0] >= '3' && level[0] <= '9')
        return sensor_say(
            s, SENSOR_DENIED, error,
            "kernel.perf_event_paranoid is %s: this kernel then asks for CAP_SYS_ADMIN", level);
    return sensor_say(s, SENSOR_DENIED, error,
                      "kernel.perf_event_paranoid is %s: needs CAP_PERFMON (or CAP_SYS_ADMIN)",
                      level);
}

static int perf_trouble(struct sensor *s, const struct sysio *io, int error)
{
    switch (error) {
    case -EACCES:
    case -EPERM:
        return perf_denied(s, io, error);
    case -ENOSYS:
        return sensor_say(s, SENSOR_ABSENT, error,
                          "this kernel is built without CONFIG_PERF_EVENTS");
    case -ENOENT:
        return sensor_say(s, SENSOR_ABSENT, error,
                          "this kernel or machine does not have these events");
    case -ENODEV:
        return sensor_say(s, SENSOR_ABSENT, error, "no CPU or no counter for these events");
    case -EOPNOTSUPP:
        return sensor_say(s, SENSOR_ABSENT, error,
                          "these events are not supported on this machine");
    case -EMFILE:
        return sensor_say(s, SENSOR_FAILED, error,
                          "too few descriptors for all CPUs: raise the hard limit (LimitNOFILE=)");
    default:
        return sensor_say(s, SENSOR_FAILED, error, "perf_event_open: %s", strerrordesc_np(-error));
    }
}

static void perf_close(struct sensor *s)
{
    struct perf_sensor *p = s->private;

    perf_set_done(&p->set);
    kept_close(&p->online);
}

static int read_online(struct perf_sensor *p, const struct sysio *io, struct cpuset *ret)
{
    char text[4096];
    ssize_t n = kept_read(&p->online, io, text, sizeof text);

    return n < 0 ? (int)n : cpulist_parse(text, (size_t)n, ret);
}

/* Highest CPU number that can come, + 1. */
static uint32_t cpus_possible(const struct sysio *io, const struct cpuset *online)
{
    char text[4096];
    struct cpuset possible;
    uint32_t end = cpuset_end(online);
    ssize_t n = sysio_read(io, "/sys/devices/system/cpu/possible", text, sizeof text);

    if (n > 0 && cpulist_parse(text, (size_t)n, &possible) == 0 && cpuset_end(&possible) > end)
        end = cpuset_end(&possible);
    return end;
}

static int perf_open(struct sensor *s, const struct sysio *io)
{
    struct perf_sensor *p = s->private;
    struct cpuset online;
    uint32_t cpus;
    int r;

    p->online.fd = -1;
    if (!io->real)
        return sensor_say(s, SENSOR_ABSENT, -ENOENT, "simulated host");
    r = kept_open(&p->online, io, ONLINE_PATH);
    if (r >= 0)
        r = read_online(p, io, &online);
    if (r < 0) {
        perf_close(s);
        return sensor_say_errno(s, r, ONLINE_PATH);
    }
    cpus = cpus_possible(io, &online);
    r = perf_set_init(&p->set, events, ELEMENTSOF(events), cpus, -1);
    if (r >= 0)
        r = perf_raise_nofile((uint64_t)cpus * ELEMENTSOF(events) + FDS_OTHERS);
    if (r >= 0)
        r = perf_set_open(&p->set, &online);
    if (r < 0) {
        perf_close(s);
        return perf_trouble(s, io, r);
    }
    return 0;
}

static int perf_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct perf_sensor *p = s->private;
    struct perf_sums sums;
    struct cpuset online;
    bool starting = s->state == SENSOR_STARTING;
    int r = read_online(p, io, &online);

    if (r < 0)
        return sensor_say_errno(s, r, ONLINE_PATH);
    /* Hardware that was added to the machine. */
    if (cpuset_end(&online) > p->set.cpus_max)
        return sensor_say(s, SENSOR_STARTING, -ESTALE, "more CPUs than before");
    r = perf_set_read(&p->set, &online, &sums);
    if (r < 0)
        return perf_trouble(s, io, r);
    if (sums.complete) {
        window_set(w, METRIC_SWITCHES_PER_S, sums.value[0] / window_seconds(w));
        window_set(w, METRIC_MIGRATIONS_PER_S, sums.value[1] / window_seconds(w));
        (void)sensor_say(s, SENSOR_OK, 0, "%s", "");
    } else if (!starting) {
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
