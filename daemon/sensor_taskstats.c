/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run time, waiting and switches of the workload's processes: all of its cgroup, or the one that is
 * followed. What a process did before it was first seen, or after it was last, is not counted. */
#include <errno.h>
#include <string.h>

#include "cgroup.h"
#include "kept.h"
#include "nl_taskstats.h"
#include "sensor_impl.h"

#define PROCESSES_MAX 1024
#define SLOTS         2048 /* a power of two; half of them stay empty */

struct process {
    pid_t pid; /* 0: empty */
    uint32_t pass;
    struct task_usage usage;
};

struct taskstats_sensor {
    struct nl_taskstats *nl; /* owned */
    struct process *slot;    /* owned while something is followed; hashed by pid */
    int32_t pid;
    char procs[560];
    struct kept file;
    bool has_file, started, full;
    uint32_t pass, n;
    int error; /* of the last question that failed otherwise than by the end of the process */
};

struct sums {
    uint64_t run_ns, delay_ns, slices, voluntary, involuntary;
    uint32_t counted;
};

static int taskstats_trouble(struct sensor *s, int error)
{
    switch (error) {
    case -EPERM:
        return sensor_say(s, SENSOR_DENIED, error, "taskstats needs CAP_NET_ADMIN");
    case -ENOENT:
        return sensor_say(s, SENSOR_ABSENT, error, "this kernel is built without CONFIG_TASKSTATS");
    case -EPROTONOSUPPORT:
        return sensor_say(s, SENSOR_FORMAT, error,
                          "this kernel's version of taskstats is not known");
    case -EBADMSG:
        return sensor_say(s, SENSOR_FORMAT, error, "an answer of taskstats was not understood");
    default:
        return sensor_say(s, SENSOR_FAILED, error, "taskstats: %s", strerrordesc_np(-error));
    }
}

static void unfollow(struct taskstats_sensor *t)
{
    if (t->has_file)
        kept_close(&t->file);
    t->has_file = t->started = t->full = false;
    free(t->slot);
    t->slot = NULL;
}

static void taskstats_close(struct sensor *s)
{
    struct taskstats_sensor *t = s->private;

    unfollow(t);
    t->nl = nl_taskstats_free(t->nl);
}

static int taskstats_open(struct sensor *s, const struct sysio *io)
{
    struct taskstats_sensor *t = s->private;
    struct task_usage self;
    int r;

    if (!io->real)
        return sensor_say(s, SENSOR_ABSENT, -ENOENT, "simulated host");
    r = nl_taskstats_open(&t->nl);
    /* Permission shows at a question. */
    if (r >= 0)
        r = nl_taskstats_process(t->nl, getpid(), &self);
    if (r < 0) {
        taskstats_close(s);
        return taskstats_trouble(s, r);
    }
    return 0;
}

static void taskstats_follow(struct sensor *s, const struct sysio *io, int32_t pid)
{
    struct taskstats_sensor *t = s->private;
    char dir[512];

    unfollow(t);
    t->pid = pid;
    if (pid <= 0)
        return;
    t->slot = calloc(SLOTS, sizeof *t->slot);
    if (cgroup_of(io, pid, dir, sizeof dir) < 0)
        return;
    (void)snprintf(t->procs, sizeof t->procs, "%s/cgroup.procs", dir);
    t->has_file = kept_open(&t->file, io, t->procs) >= 0;
}

/* The slot of pid, or the empty one where it belongs. Entries of processes that have gone are
 * emptied by sweep(). */
static struct process *find_slot(struct taskstats_sensor *t, pid_t pid)
{
    uint32_t i = (uint32_t)pid * UINT32_C(2654435769) >> 21;

    while (t->slot[i].pid != 0 && t->slot[i].pid != pid)
        i = (i + 1) % SLOTS;
    return &t->slot[i];
}

static void add(uint64_t *sum, uint64_t before, uint64_t after)
{
    uint64_t d;

    /* A number that was given to a new process between two windows. */
    if (counter_delta(before, after, 64, 0, &d) == 0)
        *sum += d;
}

static void take_process(struct taskstats_sensor *t, pid_t pid, struct sums *s)
{
    struct process *p = find_slot(t, pid);
    struct task_usage now;
    int r;

    if (p->pid == 0 && t->n >= PROCESSES_MAX) {
        t->full = true;
        return;
    }
    if (p->pid == pid && p->pass == t->pass)
        return; /* the kernel's list may say a process twice */
    r = nl_taskstats_process(t->nl, pid, &now);
    if (r < 0) {
        t->error = r == -ESRCH ? t->error : r;
        return;
    }
    if (p->pid == pid) {
        add(&s->run_ns, p->usage.run_ns_total, now.run_ns_total);
        add(&s->delay_ns, p->usage.delay_ns_total, now.delay_ns_total);
        add(&s->slices, p->usage.slices_total, now.slices_total);
        add(&s->voluntary, p->usage.voluntary_total, now.voluntary_total);
        add(&s->involuntary, p->usage.involuntary_total, now.involuntary_total);
        s->counted++;
    } else {
        t->n++;
    }
    *p = (struct process){ .pid = pid, .pass = t->pass, .usage = now };
}

/* Empties slot i and puts what follows it where it now belongs. */
static void remove_slot(struct taskstats_sensor *t, uint32_t i)
{
    t->slot[i].pid = 0;
    t->n--;
    for (uint32_t k = (i + 1) % SLOTS; t->slot[k].pid != 0; k = (k + 1) % SLOTS) {
        struct process moved = t->slot[k];

        t->slot[k].pid = 0;
        *find_slot(t, moved.pid) = moved;
    }
}

/* Forgets the processes that this pass did not see. */
static void sweep(struct taskstats_sensor *t)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        while (t->slot[i].pid != 0 && t->slot[i].pass != t->pass)
            remove_slot(t, i);
}

/* The numbers of cgroup.procs, one a line, in pieces. */
static int take_cgroup(struct taskstats_sensor *t, const struct sysio *io, struct sums *s)
{
    char buf[4096];
    size_t len = 0;
    int r = kept_rewind(&t->file, io);

    if (r < 0)
        return r;
    for (;;) {
        ssize_t n = read(t->file.fd, buf + len, sizeof buf - len);
        char *at = buf, *newline;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        len += (size_t)n;
        while ((newline = memchr(at, '\n', len - (size_t)(at - buf)))) {
            uint64_t pid;

            /* 0 is a process of another PID namespace. */
            if (number_parse(at, (size_t)(newline - at), &pid) < 0 || pid > INT32_MAX)
                return -EBADMSG;
            if (pid > 0)
                take_process(t, (pid_t)pid, s);
            at = newline + 1;
        }
        len -= (size_t)(at - buf);
        memmove(buf, at, len);
        if (len == sizeof buf)
            return -EBADMSG;
    }
}

static int taskstats_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct taskstats_sensor *t = s->private;
    struct sums sums = { 0 };
    double seconds = window_seconds(w);
    bool first = !t->started;
    int r = 0;

    if (t->pid <= 0 || !t->slot) {
        (void)sensor_say(s, SENSOR_ABSENT, 0, "no workload is followed");
        return 0;
    }
    t->pass++;
    t->error = 0;
    t->full = false;
    if (t->has_file)
        r = take_cgroup(t, io, &sums);
    else
        take_process(t, (pid_t)t->pid, &sums);
    sweep(t);
    if (r >= 0)
        r = t->error;
    if (r < 0 && t->n == 0)
        return taskstats_trouble(s, r);
    t->started = true;
    if (t->n == 0) {
        (void)sensor_say(s, SENSOR_ABSENT, 0, "the workload's processes are gone");
        return 0;
    }
    if (first || sums.counted == 0) {
        (void)sensor_say(s, SENSOR_STARTING, 0, "%s", "");
        return 0;
    }
    window_set(w, METRIC_WORKLOAD_RUNNING, (double)sums.run_ns / 1e9 / seconds);
    window_set(w, METRIC_WORKLOAD_WAITING, (double)sums.delay_ns / 1e9 / seconds);
    if (sums.slices > 0)
        window_set(w, METRIC_WORKLOAD_WAIT_NS, (double)sums.delay_ns / (double)sums.slices);
    window_set(w, METRIC_WORKLOAD_VOLUNTARY_PER_S, (double)sums.voluntary / seconds);
    window_set(w, METRIC_WORKLOAD_INVOLUNTARY_PER_S, (double)sums.involuntary / seconds);
    if (t->full)
        (void)sensor_say(s, SENSOR_PARTIAL, 0, "more than %d processes: the others are not counted",
                         PROCESSES_MAX);
    else
        (void)sensor_say(s, SENSOR_OK, 0, "%s", "");
    return 0;
}

const struct sensor_def sensor_taskstats = {
    .name = "taskstats",
    .what = "run time, waiting and switches of the workload's processes",
    .size = sizeof(struct taskstats_sensor),
    .open = taskstats_open,
    .read = taskstats_read,
    .close = taskstats_close,
    .follow = taskstats_follow,
};
