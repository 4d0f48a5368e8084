/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/schedstat as rates: waiting and running time always, wake-ups and balancing while
 * kernel.sched_schedstats makes them count. All of it summed over CPUs; switches nothing on. */
#include <errno.h>
#include <string.h>

#include "schedstat_table.h"
#include "sensor_impl.h"

/* One CPU's 32-bit counters cannot do more than this: each step takes more than 100 ns. */
#define STEPS_PER_S_MAX 10e6
/* From that many timeslices on, a window shows whether the other counters count. A line is not read
 * in one moment: a switch or two may be in one of its numbers and not yet in another. */
#define SLICES_TO_TELL 4
#define SLICES_BETWEEN 2

enum counting { COUNTING_UNKNOWN, COUNTING_NOT, COUNTING_PARTLY, COUNTING };

struct schedstat {
    struct schedstat_table table;
    bool started;
    enum counting counting;
    struct sensor_domain domain[SCHEDSTAT_LEVELS_MAX]; /* of the last window */
    size_t n_domains;                                  /* 0: not known */
};

/* Each timeslice begins in schedule(), which counts while sched_schedstats is 1. */
static enum counting is_counting(enum counting before, const struct schedstat_sums *s)
{
    if (s->slices < SLICES_TO_TELL)
        return before == COUNTING_PARTLY ? COUNTING_UNKNOWN : before;
    if (s->sched == 0)
        return COUNTING_NOT;
    if (s->sched + SLICES_BETWEEN < s->slices - s->slices / 10)
        return COUNTING_PARTLY;
    /* The first window after switching on holds times and sums of before. */
    return before == COUNTING_NOT || before == COUNTING_PARTLY ? COUNTING_UNKNOWN : COUNTING;
}

static struct sensor_balance balance_of(const struct schedstat_level *l, enum schedstat_idle i,
                                        double seconds)
{
    return (struct sensor_balance){
        .attempts_per_s = (double)l->count[i] / seconds,
        .balanced_per_s = (double)l->balanced[i] / seconds,
        .failed_per_s = (double)l->failed[i] / seconds,
        .gained_per_s = (double)l->gained[i] / seconds,
        .hot_gained_per_s = (double)l->hot_gained[i] / seconds,
    };
}

/* By level for those who ask, and all levels together as metrics. */
static void put_balance(struct schedstat *st, struct window *w, const struct schedstat_sums *s)
{
    uint64_t newidle = 0, failed = 0, newidle_gained = 0, gained = 0, hot = 0, affine = 0;
    double t = window_seconds(w);

    for (size_t n = 0; n < st->table.n_levels; n++) {
        const struct schedstat_level *l = &s->level[n];
        struct sensor_domain *d = &st->domain[n];

        *d = (struct sensor_domain){
            .domains = l->domains,
            .busy = balance_of(l, SCHEDSTAT_BUSY, t),
            .idle = balance_of(l, SCHEDSTAT_IDLE, t),
            .newidle = balance_of(l, SCHEDSTAT_NEWIDLE, t),
            .affine_per_s = (double)l->move_affine / t,
            .wake_remote_per_s = (double)l->wake_remote / t,
        };
        (void)copy_string(d->name, sizeof d->name, st->table.level[n]);
        newidle += l->count[SCHEDSTAT_NEWIDLE];
        failed += l->failed[SCHEDSTAT_NEWIDLE];
        newidle_gained += l->gained[SCHEDSTAT_NEWIDLE];
        affine += l->move_affine;
        for (unsigned i = 0; i < SCHEDSTAT_IDLE_TYPES; i++) {
            gained += l->gained[i];
            hot += l->hot_gained[i];
        }
    }
    st->n_domains = st->table.n_levels;
    window_set(w, METRIC_NEWIDLE_PER_S, (double)newidle / t);
    window_set(w, METRIC_NEWIDLE_GAIN_PER_S, (double)newidle_gained / t);
    window_set(w, METRIC_AFFINE_PER_S, (double)affine / t);
    if (newidle > 0)
        window_set(w, METRIC_NEWIDLE_FAIL_RATIO, (double)failed / (double)newidle);
    if (s->goidle + newidle_gained > 0)
        window_set(w, METRIC_NEWIDLE_PER_IDLE,
                   (double)newidle / (double)(s->goidle + newidle_gained));
    if (gained > 0)
        window_set(w, METRIC_HOT_GAIN_RATIO, (double)hot / (double)gained);
}

size_t sensors_domains(const struct sensors *ss, const struct sensor_domain **ret)
{
    for (size_t i = 0; i < ss->n; i++) {
        const struct schedstat *st = ss->s[i].private;

        if (ss->s[i].def != &sensor_schedstat || !ss->s[i].is_open)
            continue;
        *ret = st->domain;
        return st->n_domains;
    }
    return 0;
}

static void put(struct sensor *sensor, struct schedstat *st, const struct schedstat_sums *s,
                struct window *w)
{
    double t = window_seconds(w);
    bool domains_ok = !s->cpus_changed && !s->domains_changed && !s->domain_reset;

    if (s->slices == 0 && s->run_ns == 0) {
        (void)sensor_say(sensor, SENSOR_PARTIAL, 0, "the counters of %s stand still",
                         SCHEDSTAT_PATH);
        return;
    }
    window_set(w, METRIC_RUNNING, (double)s->run_ns / 1e9 / t);
    window_set(w, METRIC_WAITING, (double)s->delay_ns / 1e9 / t);
    window_set(w, METRIC_TIMESLICES_PER_S, (double)s->slices / t);
    if (s->slices > 0)
        window_set(w, METRIC_RUNQ_WAIT_NS, (double)s->delay_ns / (double)s->slices);

    if (!st->table.reader.parser.layout) {
        (void)sensor_say(
            sensor, SENSOR_PARTIAL, 0,
            "version %lu is not known: only run time, run-queue wait and timeslices are used",
            st->table.reader.parser.version);
        return;
    }
    switch (st->counting) {
    case COUNTING_NOT:
        (void)sensor_say(sensor, SENSOR_PARTIAL, 0,
                         "kernel.sched_schedstats is 0: domain counters do not count");
        return;
    case COUNTING_PARTLY:
        (void)sensor_say(sensor, SENSOR_PARTIAL, 0,
                         "kernel.sched_schedstats was switched in this window");
        return;
    case COUNTING_UNKNOWN:
        (void)sensor_say(
            sensor, SENSOR_PARTIAL, 0,
            "not known yet whether the domain counters count (kernel.sched_schedstats)");
        return;
    case COUNTING:
        break;
    }
    window_set(w, METRIC_WAKEUPS_PER_S, (double)s->ttwu / t);
    if (s->ttwu > 0)
        window_set(w, METRIC_WAKE_LOCAL_RATIO, (double)s->ttwu_local / (double)s->ttwu);
    if (s->domains == 0) {
        (void)sensor_say(sensor, SENSOR_PARTIAL, 0,
                         "no scheduling domains here: nothing is balanced");
        return;
    }
    if (domains_ok)
        put_balance(st, w, s);
    (void)sensor_say(sensor, SENSOR_OK, 0, "%s", "");
}

static int schedstat_trouble(struct sensor *sensor, int r)
{
    if (r == -ENOENT)
        return sensor_say(sensor, SENSOR_ABSENT, r,
                          "no %s: this kernel is built without CONFIG_SCHEDSTATS", SCHEDSTAT_PATH);
    if (r == -EPROTONOSUPPORT)
        return sensor_say(sensor, SENSOR_FORMAT, r, "%s is older than version 15", SCHEDSTAT_PATH);
    if (r == -ESTALE)
        return sensor_say(sensor, SENSOR_STARTING, r, "more CPUs or domains than before");
    return sensor_say_errno(sensor, r, SCHEDSTAT_PATH);
}

static int schedstat_sensor_read(struct sensor *sensor, const struct sysio *io, struct window *w)
{
    struct schedstat *st = sensor->private;
    double steps = STEPS_PER_S_MAX * window_seconds(w);
    struct schedstat_sums s;
    int r;

    steps = steps < 1e6 ? 1e6 : steps > 2e9 ? 2e9 : steps;
    st->n_domains = 0;
    r = schedstat_table_read(&st->table, io, (uint64_t)steps, &s);
    if (r < 0) {
        /* The next good reading is a first one again: the table holds a mixture. */
        if (r == -ESTALE)
            window_disturb(w, "CPUs or scheduling domains were added");
        st->started = false;
        st->counting = COUNTING_UNKNOWN;
        return schedstat_trouble(sensor, r);
    }
    if (!st->started) {
        st->started = true;
        (void)sensor_say(sensor, SENSOR_STARTING, 0, "%s", "");
        return 0;
    }
    if (s.cpus_changed)
        window_disturb(w, "a CPU went online or offline");
    if (s.domains_changed || s.domain_reset)
        window_disturb(w, "the scheduling domains were rebuilt");
    if (s.cpu_reset) {
        window_disturb(w, "the counters of /proc/schedstat were reset");
        (void)sensor_say(sensor, SENSOR_PARTIAL, 0, "the counters of %s went back in this window",
                         SCHEDSTAT_PATH);
        return 0;
    }
    st->counting = is_counting(st->counting, &s);
    put(sensor, st, &s, w);
    return 0;
}

static void schedstat_sensor_close(struct sensor *sensor)
{
    struct schedstat *st = sensor->private;

    schedstat_table_close(&st->table);
}

static int schedstat_sensor_open(struct sensor *sensor, const struct sysio *io)
{
    struct schedstat *st = sensor->private;
    int r = schedstat_table_open(&st->table, io);

    return r < 0 ? schedstat_trouble(sensor, r) : 0;
}

const struct sensor_def sensor_schedstat = {
    .name = "schedstat",
    .what = "waiting, running and balancing from /proc/schedstat",
    .size = sizeof(struct schedstat),
    .open = schedstat_sensor_open,
    .read = schedstat_sensor_read,
    .close = schedstat_sensor_close,
};
