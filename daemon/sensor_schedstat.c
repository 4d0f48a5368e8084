/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/schedstat as rates: waiting and running time always, wake-ups and balancing while
 * kernel.sched_schedstats makes them count. All of it summed over CPUs; switches nothing on. */
#include "schedstat.h"
#include "sensor_impl.h"

#include <errno.h>
#include <string.h>

/* One CPU's 32-bit counters cannot do more than this: each step takes more than 100 ns. */
#define STEPS_PER_S_MAX 10e6
/* From that many timeslices on, a window shows whether the other counters count. */
#define SLICES_TO_TELL 16

struct cpu_before {
    uint32_t pass; /* of the reading that saw it; 0: none */
    uint32_t sched_count, ttwu_count, ttwu_local;
    uint64_t rq_cpu_ns_total, run_delay_ns_total, pcount_total;
};
struct domain_before {
    uint64_t identity;
    uint32_t count[SCHEDSTAT_IDLE_TYPES], failed[SCHEDSTAT_IDLE_TYPES];
    uint32_t gained[SCHEDSTAT_IDLE_TYPES], hot_gained[SCHEDSTAT_IDLE_TYPES];
    uint32_t move_affine;
};

enum counting { COUNTING_UNKNOWN, COUNTING_NOT, COUNTING_PARTLY, COUNTING };

struct schedstat {
    struct schedstat_reader reader;
    struct cpu_before *cpu;       /* owned; by CPU number */
    struct domain_before *domain; /* owned; in the order of the file */
    uint32_t cpu_room, domain_room;
    uint32_t cpus, domains; /* of the last reading */
    uint32_t pass;          /* counts readings */
    bool started;
    enum counting counting;
};

/* What one reading adds up. */
struct sums {
    uint64_t max_step;
    uint32_t cpus, domains;
    bool cpus_changed, domains_changed, cpu_reset, domain_reset;
    uint64_t run_ns, delay_ns, slices;
    uint64_t sched, ttwu, ttwu_local;
    uint64_t newidle, newidle_failed, newidle_gained;
    uint64_t gained, hot_gained, affine;
};

static void add64(uint64_t *sum, uint64_t before, uint64_t after, bool *reset)
{
    uint64_t d;

    if (counter_delta(before, after, 64, 0, &d) < 0)
        *reset = true;
    else
        *sum += d;
}

static void add32(uint64_t *sum, uint32_t before, uint32_t after, uint64_t max_step, bool *reset)
{
    uint64_t d;

    if (counter_delta(before, after, 32, max_step, &d) < 0)
        *reset = true;
    else
        *sum += d;
}

static int take_cpu(struct schedstat *st, const struct schedstat_row *row, struct sums *s)
{
    struct cpu_before *b;

    if (row->cpu >= st->cpu_room)
        return -ESTALE;
    b = &st->cpu[row->cpu];
    if (b->pass != 0 && b->pass == st->pass - 1) {
        add64(&s->run_ns, b->rq_cpu_ns_total, row->rq_cpu_ns_total, &s->cpu_reset);
        add64(&s->delay_ns, b->run_delay_ns_total, row->run_delay_ns_total, &s->cpu_reset);
        add64(&s->slices, b->pcount_total, row->pcount_total, &s->cpu_reset);
        add32(&s->sched, b->sched_count, row->sched_count, s->max_step, &s->cpu_reset);
        add32(&s->ttwu, b->ttwu_count, row->ttwu_count, s->max_step, &s->cpu_reset);
        add32(&s->ttwu_local, b->ttwu_local, row->ttwu_local, s->max_step, &s->cpu_reset);
    } else {
        s->cpus_changed = true;
    }
    *b = (struct cpu_before){
        .pass = st->pass,
        .sched_count = row->sched_count,
        .ttwu_count = row->ttwu_count,
        .ttwu_local = row->ttwu_local,
        .rq_cpu_ns_total = row->rq_cpu_ns_total,
        .run_delay_ns_total = row->run_delay_ns_total,
        .pcount_total = row->pcount_total,
    };
    s->cpus++;
    return 0;
}

static int take_domain(struct schedstat *st, const struct schedstat_row *row, struct sums *s)
{
    struct domain_before *b;

    if (s->domains >= st->domain_room)
        return -ESTALE;
    b = &st->domain[s->domains++];
    if (b->identity != row->identity)
        s->domains_changed = true;
    for (unsigned t = 0; t < SCHEDSTAT_IDLE_TYPES; t++) {
        const uint32_t *lb = row->lb[t];
        uint64_t count = 0, failed = 0, gained = 0;
        bool *reset = &s->domain_reset;

        add32(&count, b->count[t], lb[SCHEDSTAT_LB_COUNT], s->max_step, reset);
        add32(&failed, b->failed[t], lb[SCHEDSTAT_LB_FAILED], s->max_step, reset);
        add32(&gained, b->gained[t], lb[SCHEDSTAT_LB_GAINED], s->max_step, reset);
        add32(&s->hot_gained, b->hot_gained[t], lb[SCHEDSTAT_LB_HOT_GAINED], s->max_step, reset);
        s->gained += gained;
        if (t == SCHEDSTAT_NEWIDLE) {
            s->newidle += count;
            s->newidle_failed += failed;
            s->newidle_gained += gained;
        }
        b->count[t] = lb[SCHEDSTAT_LB_COUNT];
        b->failed[t] = lb[SCHEDSTAT_LB_FAILED];
        b->gained[t] = lb[SCHEDSTAT_LB_GAINED];
        b->hot_gained[t] = lb[SCHEDSTAT_LB_HOT_GAINED];
    }
    add32(&s->affine, b->move_affine, row->tail[SCHEDSTAT_TTWU_MOVE_AFFINE], s->max_step,
          &s->domain_reset);
    b->move_affine = row->tail[SCHEDSTAT_TTWU_MOVE_AFFINE];
    b->identity = row->identity;
    return 0;
}

/* One pass over the file. 0 or -errno. */
static int read_all(struct schedstat *st, const struct sysio *io, struct sums *s)
{
    struct schedstat_row row;
    int r = schedstat_rewind(&st->reader, io);

    if (r < 0)
        return r;
    st->pass++;
    while ((r = schedstat_read_row(&st->reader, &row)) > 0) {
        r = row.kind == SCHEDSTAT_CPU ? take_cpu(st, &row, s) : take_domain(st, &row, s);
        if (r < 0)
            return r;
    }
    if (s->cpus != st->cpus)
        s->cpus_changed = true;
    if (s->domains != st->domains)
        s->domains_changed = true;
    st->cpus = s->cpus;
    st->domains = s->domains;
    return r;
}

/* Each timeslice begins in schedule(), which counts while sched_schedstats is 1. */
static enum counting is_counting(enum counting before, const struct sums *s)
{
    if (s->slices < SLICES_TO_TELL)
        return before == COUNTING_PARTLY ? COUNTING_UNKNOWN : before;
    if (s->sched == 0)
        return COUNTING_NOT;
    if (s->sched < s->slices - s->slices / 10)
        return COUNTING_PARTLY;
    /* The first window after switching on holds times and sums of before. */
    return before == COUNTING_NOT || before == COUNTING_PARTLY ? COUNTING_UNKNOWN : COUNTING;
}

static void put_balance(struct window *w, const struct sums *s)
{
    double t = window_seconds(w);

    window_set(w, METRIC_NEWIDLE_PER_S, (double)s->newidle / t);
    window_set(w, METRIC_NEWIDLE_GAIN_PER_S, (double)s->newidle_gained / t);
    window_set(w, METRIC_AFFINE_PER_S, (double)s->affine / t);
    if (s->newidle > 0)
        window_set(w, METRIC_NEWIDLE_FAIL_RATIO, (double)s->newidle_failed / (double)s->newidle);
    if (s->gained > 0)
        window_set(w, METRIC_HOT_GAIN_RATIO, (double)s->hot_gained / (double)s->gained);
}

static void put(struct sensor *sensor, const struct schedstat *st, const struct sums *s,
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

    if (!st->reader.parser.layout) {
        (void)sensor_say(
            sensor, SENSOR_PARTIAL, 0,
            "version %lu is not known: only run time, run-queue wait and timeslices are used",
            st->reader.parser.version);
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
        put_balance(w, s);
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
    struct sums s = { .max_step = steps < 1e6   ? 1000000
                                  : steps < 2e9 ? (uint64_t)steps
                                                : 2000000000 };
    int r = read_all(st, io, &s);

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

    schedstat_close(&st->reader);
    free(st->cpu);
    free(st->domain);
    st->cpu = NULL;
    st->domain = NULL;
}

/* Room for every CPU that can come, with as many domains as the richest has now. */
static int make_room(struct schedstat *st, const struct sysio *io)
{
    struct schedstat_row row;
    struct cpuset possible;
    char text[4096];
    uint32_t domains_max = 1, rows = 0;
    int r;

    while ((r = schedstat_read_row(&st->reader, &row)) > 0) {
        if (row.cpu >= st->cpu_room)
            st->cpu_room = row.cpu + 1;
        if (row.kind != SCHEDSTAT_DOMAIN)
            continue;
        rows++;
        if (row.domain >= domains_max)
            domains_max = row.domain + 1;
    }
    if (r < 0)
        return r;
    ssize_t n = sysio_read(io, "/sys/devices/system/cpu/possible", text, sizeof text);
    if (n > 0 && cpulist_parse(text, (size_t)n, &possible) == 0 &&
        cpuset_end(&possible) > st->cpu_room)
        st->cpu_room = cpuset_end(&possible);
    st->domain_room = st->cpu_room * domains_max;
    if (st->domain_room < rows)
        st->domain_room = rows;
    st->cpu = calloc(st->cpu_room, sizeof *st->cpu);
    st->domain = calloc(st->domain_room, sizeof *st->domain);
    return st->cpu && st->domain ? 0 : -ENOMEM;
}

static int schedstat_sensor_open(struct sensor *sensor, const struct sysio *io)
{
    struct schedstat *st = sensor->private;
    int r;

    st->reader.file.fd = -1;
    r = schedstat_open(&st->reader, io);
    if (r >= 0)
        r = make_room(st, io);
    if (r < 0) {
        schedstat_sensor_close(sensor);
        return schedstat_trouble(sensor, r);
    }
    return 0;
}

const struct sensor_def sensor_schedstat = {
    .name = "schedstat",
    .what = "waiting, running and balancing from /proc/schedstat",
    .size = sizeof(struct schedstat),
    .open = schedstat_sensor_open,
    .read = schedstat_sensor_read,
    .close = schedstat_sensor_close,
};
