/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs and errors for the sensors that use perf. Opens no events. */
#include "perf_host.h"

#include <errno.h>
#include <string.h>

#include "perf_set.h"

#define ONLINE_PATH   "/sys/devices/system/cpu/online"
#define POSSIBLE_PATH "/sys/devices/system/cpu/possible"
#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"
/* Descriptors for everything else that the process has open, other sensors' events included. */
#define FDS_OTHERS 256

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

int perf_explain(struct sensor *s, const struct sysio *io, int error)
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

static int read_online(struct perf_host *h, const struct sysio *io, struct cpuset *ret)
{
    char text[4096];
    ssize_t n = kept_read(&h->online, io, text, sizeof text);

    return n < 0 ? (int)n : cpulist_parse(text, (size_t)n, ret);
}

static uint32_t cpus_possible(const struct sysio *io, const struct cpuset *online)
{
    char text[4096];
    struct cpuset possible;
    uint32_t end = cpuset_end(online);
    ssize_t n = sysio_read(io, POSSIBLE_PATH, text, sizeof text);

    if (n > 0 && cpulist_parse(text, (size_t)n, &possible) == 0 && cpuset_end(&possible) > end)
        end = cpuset_end(&possible);
    return end;
}

int perf_host_open(struct perf_host *h, struct sensor *s, const struct sysio *io, size_t events,
                   struct cpuset *ret_online)
{
    struct cpuset online;
    uint64_t open_fds = 0;
    int r;

    h->online.fd = -1;
    if (!io->real)
        return sensor_say(s, SENSOR_ABSENT, -ENOENT, "simulated host");
    r = kept_open(&h->online, io, ONLINE_PATH);
    if (r >= 0)
        r = read_online(h, io, &online);
    if (r < 0) {
        kept_close(&h->online);
        return sensor_say_errno(s, r, ONLINE_PATH);
    }
    h->cpus_max = cpus_possible(io, &online);
    /* Descriptors are given out from the lowest number: the newest tells how many there are. */
    open_fds = (uint64_t)h->online.fd;
    r = perf_raise_nofile(open_fds + (uint64_t)h->cpus_max * events + FDS_OTHERS);
    if (r < 0) {
        kept_close(&h->online);
        return perf_explain(s, io, r);
    }
    *ret_online = online;
    return 0;
}

void perf_host_close(struct perf_host *h)
{
    kept_close(&h->online);
}

int perf_host_online(struct perf_host *h, struct sensor *s, const struct sysio *io,
                     struct cpuset *ret)
{
    struct cpuset online;
    int r = read_online(h, io, &online);

    if (r < 0)
        return sensor_say_errno(s, r, ONLINE_PATH);
    /* Hardware that was added to the machine. */
    if (cpuset_end(&online) > h->cpus_max)
        return sensor_say(s, SENSOR_STARTING, -ESTALE, "more CPUs than before");
    *ret = online;
    return 0;
}
