/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of perf events on every CPU. Does not log and does not explain errors. */
#include "perf_set.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct perf_cpu {
    bool is_open, has_before;
    int fd[PERF_EVENTS_MAX]; /* owned while is_open; [0] leads the group */
    struct perf_reading before;
};

static int encode(const char *name, struct perf_event_attr *ret)
{
    struct perf_event_attr attr = { .size = sizeof attr };
    char *text = NULL;
    pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &text, .size = sizeof arg };
    int r = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);

    free(text);
    if (r != PFM_SUCCESS)
        return r == PFM_ERR_NOMEM ? -ENOMEM : -EOPNOTSUPP;
    attr.size = sizeof attr;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    *ret = attr;
    return 0;
}

int perf_set_init(struct perf_set *p, const char *const *names, size_t n, uint32_t cpus_max,
                  int cgroup_fd)
{
    struct perf_set s = { .n = n, .cpus_max = cpus_max, .cgroup_fd = cgroup_fd };
    int r = 0;

    if (n == 0 || n > PERF_EVENTS_MAX)
        return -EINVAL;
    if (pfm_initialize() != PFM_SUCCESS)
        return -EOPNOTSUPP;
    for (size_t i = 0; i < n && r == 0; i++)
        r = encode(names[i], &s.attr[i]);
    pfm_terminate();
    if (r < 0)
        return r;
    s.cpu = calloc(cpus_max, sizeof *s.cpu);
    if (!s.cpu)
        return -ENOMEM;
    *p = s;
    return 0;
}

static int event_open(const struct perf_set *p, size_t i, uint32_t cpu, int leader)
{
    struct perf_event_attr attr = p->attr[i];
    unsigned long flags = PERF_FLAG_FD_CLOEXEC | (p->cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0UL);
    long fd = syscall(SYS_perf_event_open, &attr, p->cgroup_fd, (int)cpu, leader, flags);

    return fd < 0 ? -errno : (int)fd;
}

static void cpu_close(struct perf_cpu *c, size_t n)
{
    if (!c->is_open)
        return;
    /* The leader last: members that lose it would count on by themselves. */
    for (size_t i = n; i > 0; i--)
        (void)close(c->fd[i - 1]);
    c->is_open = c->has_before = false;
}

static int cpu_open(const struct perf_set *p, uint32_t cpu)
{
    struct perf_cpu *c = &p->cpu[cpu];

    for (size_t i = 0; i < p->n; i++) {
        int fd = event_open(p, i, cpu, i == 0 ? -1 : c->fd[0]);

        if (fd < 0) {
            while (i > 0)
                (void)close(c->fd[--i]);
            return fd;
        }
        c->fd[i] = fd;
    }
    c->is_open = true;
    c->has_before = false;
    return 0;
}

int perf_set_open(struct perf_set *p, const struct cpuset *online)
{
    int r = -ENODEV;

    for (uint32_t cpu = 0; cpu < p->cpus_max; cpu++) {
        if (!cpuset_has(online, cpu))
            continue;
        r = cpu_open(p, cpu);
        /* ENODEV: it went offline since the list was read. */
        if (r < 0 && r != -ENODEV) {
            perf_set_done(p);
            return r;
        }
    }
    return r;
}

void perf_set_done(struct perf_set *p)
{
    for (uint32_t cpu = 0; p->cpu && cpu < p->cpus_max; cpu++)
        cpu_close(&p->cpu[cpu], p->n);
    free(p->cpu);
    p->cpu = NULL;
}

int perf_delta(const struct perf_reading *before, const struct perf_reading *now, size_t n,
               double *ret_value)
{
    uint64_t enabled, running, d[PERF_EVENTS_MAX];

    if (counter_delta(before->enabled_ns, now->enabled_ns, 64, 0, &enabled) < 0 || enabled == 0 ||
        counter_delta(before->running_ns, now->running_ns, 64, 0, &running) < 0)
        return -EIO;
    if (running == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (counter_delta(before->value[i], now->value[i], 64, 0, &d[i]) < 0)
            return -EIO;
    for (size_t i = 0; i < n; i++)
        ret_value[i] = (double)d[i] * ((double)enabled / (double)running);
    return 1;
}

static int cpu_read(const struct perf_set *p, const struct perf_cpu *c, struct perf_reading *ret)
{
    size_t want = (3 + p->n) * sizeof(uint64_t);
    ssize_t n;

    do
        n = read(c->fd[0], ret, sizeof *ret);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    /* Nothing: the group is in error. */
    return (size_t)n == want && ret->n == p->n ? 0 : -EIO;
}

/* Sums of one pass, besides those that the caller sees. */
struct times {
    uint64_t enabled_ns, running_ns;
};

/* Adds one CPU's increase. 1: added; 0: first reading, or nothing to say; -EIO: the events stand
 * still. */
static int cpu_add(const struct perf_set *p, struct perf_cpu *c, struct perf_sums *s,
                   struct times *t)
{
    struct perf_reading now = { 0 }, before = c->before;
    double value[PERF_EVENTS_MAX];
    bool had = c->has_before;
    int r;

    if (cpu_read(p, c, &now) < 0)
        return -EIO;
    c->has_before = true;
    c->before = now;
    if (!had)
        return 0;
    /* A cgroup's clock runs while the cgroup does: on this CPU it did not. */
    if (p->cgroup_fd >= 0 && now.enabled_ns == before.enabled_ns)
        return 1;
    r = perf_delta(&before, &now, p->n, value);
    if (r < 0)
        return r;
    t->enabled_ns += now.enabled_ns - before.enabled_ns;
    t->running_ns += now.running_ns - before.running_ns;
    for (size_t i = 0; r > 0 && i < p->n; i++)
        s->value[i] += value[i];
    return r;
}

int perf_set_read(struct perf_set *p, const struct cpuset *online, struct perf_sums *ret)
{
    struct perf_sums s = { .complete = true };
    struct times t = { 0 };
    uint32_t n_read = 0;
    int r = 0, last = -ENODEV;

    for (uint32_t cpu = 0; cpu < p->cpus_max; cpu++) {
        struct perf_cpu *c = &p->cpu[cpu];

        if (!cpuset_has(online, cpu)) {
            s.complete = s.complete && !c->is_open;
            cpu_close(c, p->n);
            continue;
        }
        r = c->is_open ? cpu_add(p, c, &s, &t) : -EIO;
        if (r == -EIO) {
            s.reopened = true;
            cpu_close(c, p->n);
            r = cpu_open(p, cpu);
            if (r >= 0)
                r = cpu_add(p, c, &s, &t); /* where it starts from */
        }
        s.complete = s.complete && r > 0;
        if (r < 0)
            last = r;
        else
            n_read++;
    }
    if (n_read == 0)
        return last;
    s.running_part = t.enabled_ns > 0 ? (double)t.running_ns / (double)t.enabled_ns : 0;
    *ret = s;
    return 0;
}

int perf_raise_nofile(uint64_t needed)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_NOFILE, &l) < 0)
        return -errno;
    if (l.rlim_cur >= needed)
        return 0;
    l.rlim_cur = l.rlim_max < needed ? l.rlim_max : needed;
    if (setrlimit(RLIMIT_NOFILE, &l) < 0)
        return -errno;
    return l.rlim_cur >= needed ? 0 : -EMFILE;
}
