/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steal time and load average; and the two states of a host in which knobs do not act: a BPF
 * scheduler, lockdown. */
#include <errno.h>
#include <string.h>

#include "kept.h"
#include "sensor_impl.h"

#define STAT_PATH      "/proc/stat"
#define LOADAVG_PATH   "/proc/loadavg"
#define SCHED_EXT_PATH "/sys/kernel/sched_ext/state"
#define OPS_PATH       "/sys/kernel/sched_ext/root/ops"
#define LOCKDOWN_PATH  "/sys/kernel/security/lockdown"
/* Printing /proc/stat takes the kernel milliseconds on hundreds of CPUs: where nothing was ever
 * stolen, look rarely. */
#define STEAL_EVERY 60

struct host_sensor {
    struct kept loadavg, stat, sched_ext, lockdown; /* fd -1: not on this host */
    bool started;
    struct stat_cpu before;
    uint32_t skip;
    struct host_state state;
};

static void host_close(struct sensor *s)
{
    struct host_sensor *h = s->private;

    kept_close(&h->loadavg);
    kept_close(&h->stat);
    kept_close(&h->sched_ext);
    kept_close(&h->lockdown);
}

static int host_open(struct sensor *s, const struct sysio *io)
{
    struct host_sensor *h = s->private;
    int r;

    h->loadavg.fd = h->stat.fd = h->sched_ext.fd = h->lockdown.fd = -1;
    r = kept_open(&h->loadavg, io, LOADAVG_PATH);
    if (r < 0)
        return sensor_say_errno(s, r, LOADAVG_PATH);
    (void)kept_open(&h->stat, io, STAT_PATH);
    (void)kept_open(&h->sched_ext, io, SCHED_EXT_PATH);
    (void)kept_open(&h->lockdown, io, LOCKDOWN_PATH);
    return 0;
}

/* One word; a scheduler is loaded and unloaded while we run. */
static void read_sched_ext(struct kept *file, const struct sysio *io, struct host_state *st)
{
    char text[64];
    ssize_t n = file->fd >= 0 ? kept_read(file, io, text, sizeof text) : 0;

    st->sched_ext = n > 0 && (strcmp(text, "enabled\n") == 0 || strcmp(text, "enabling\n") == 0);
    st->sched_ext_ops[0] = '\0';
    if (st->sched_ext &&
        sysio_read_line(io, OPS_PATH, st->sched_ext_ops, sizeof st->sched_ext_ops) < 0)
        st->sched_ext_ops[0] = '\0';
}

/* securityfs may not be mounted, or not be readable: then it is not known. */
static void read_lockdown(struct kept *file, const struct sysio *io, struct host_state *st)
{
    static const char *const words[] = { "none", "integrity", "confidentiality" };
    static const enum lockdown levels[] = { LOCKDOWN_NONE, LOCKDOWN_INTEGRITY,
                                            LOCKDOWN_CONFIDENTIALITY };
    char text[128];
    size_t i;
    ssize_t n = file->fd >= 0 ? kept_read(file, io, text, sizeof text) : 0;

    st->lockdown = LOCKDOWN_UNKNOWN;
    if (n > 0 && choice_parse(text, (size_t)n, words, ELEMENTSOF(words), &i) == 0)
        st->lockdown = levels[i];
}

static void put_steal(struct host_sensor *h, const struct sysio *io, struct window *w)
{
    struct stat_cpu now;
    uint64_t sum, steal;
    char text[512];
    int r = kept_rewind(&h->stat, io);
    /* The line that counts is the first. */
    ssize_t n = r < 0 ? r : read(h->stat.fd, text, sizeof text);

    if (n <= 0 || stat_cpu_parse(text, (size_t)n, &now) < 0) {
        h->started = false;
        return;
    }
    h->skip = now.steal_total == 0 ? STEAL_EVERY : 0;
    if (h->started && now.steal_total > 0 &&
        counter_delta(h->before.sum_total, now.sum_total, 64, 0, &sum) == 0 &&
        counter_delta(h->before.steal_total, now.steal_total, 64, 0, &steal) == 0 && sum > 0)
        window_set(w, METRIC_STEAL, 100 * (double)steal / (double)sum);
    h->before = now;
    h->started = now.steal_total > 0;
}

static int host_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct host_sensor *h = s->private;
    char text[128];
    double load;
    int r;

    ssize_t n = kept_read(&h->loadavg, io, text, sizeof text);
    r = n < 0 ? (int)n : loadavg_parse(text, (size_t)n, &load);
    if (r < 0)
        return sensor_say_errno(s, r, LOADAVG_PATH);
    window_set(w, METRIC_LOADAVG, load);
    if (h->skip > 0)
        h->skip--;
    else if (h->stat.fd >= 0)
        put_steal(h, io, w);
    read_sched_ext(&h->sched_ext, io, &h->state);
    read_lockdown(&h->lockdown, io, &h->state);
    if (h->state.sched_ext)
        (void)sensor_say(s, SENSOR_PARTIAL, 0,
                         "the BPF scheduler %s runs: knobs of the fair class hardly act",
                         *h->state.sched_ext_ops ? h->state.sched_ext_ops : "of sched_ext");
    else
        (void)sensor_say(s, SENSOR_OK, 0, "%s", "");
    return 0;
}

void sensors_host(const struct sensors *ss, struct host_state *ret)
{
    struct host_state st = { 0 };

    for (size_t i = 0; i < ss->n; i++)
        if (ss->s[i].def == &sensor_host)
            st = ((const struct host_sensor *)ss->s[i].private)->state;
    *ret = st;
}

const struct sensor_def sensor_host = {
    .name = "host",
    .what = "steal time, load average, sched_ext, lockdown",
    .size = sizeof(struct host_sensor),
    .open = host_open,
    .read = host_read,
    .close = host_close,
};
