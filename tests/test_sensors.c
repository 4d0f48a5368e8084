/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sensors on trees of files that change by known amounts, hotplug and rebuilds
 * included. */
#include "sensor.h"
#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

#define T0   (UINT64_C(100) * NSEC_PER_SEC)
#define STEP (UINT64_C(2) * NSEC_PER_SEC)
#define NEAR(m, x)                                                                                 \
    assert_true(window_has(&w, METRIC_##m) && fabs(window_get(&w, METRIC_##m) - (x)) < 1e-6)
#define NONE(m) assert_false(window_has(&w, METRIC_##m))

/* Counts allocations; the sanitizers bring an allocator of their own. */
#if defined(__SANITIZE_ADDRESS__)
#define COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#define COUNTS_ALLOCATIONS (!__has_feature(address_sanitizer))
#else
#define COUNTS_ALLOCATIONS 1
#endif
static unsigned long allocations;
#if COUNTS_ALLOCATIONS
extern void *__libc_malloc(size_t size);
void *malloc(size_t size);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
extern void *__libc_calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}
#endif

struct host {
    struct fixture f;
    struct sensors ss;
    uint64_t now;
    /* What the next schedstat says: two CPUs, two domains each. */
    unsigned version, cpus, domains;
    uint64_t run, delay, slices;
    uint32_t sched, ttwu, local, newidle, failed, gained, hot, affine;
};

/* Tasks are pulled in the first and in the third kind of balancing. */
#define LINE15                                                                                     \
    "domain%u 3 1 1 1 1 %u %u 1 1 0 0 0 0 0 0 0 0 %u 0 %u 9 %u %u 0 0 0 0 0 0 0 0 0 0 0 0 %u 0\n"
#define LINE17                                                                                     \
    "domain%u MC 3 1 1 1 1 2 3 4 %u %u 1 1 0 0 0 0 0 0 0 0 0 0 0 %u 0 %u 9 9 9 9 %u %u 0 0 "       \
    "0 0 0 0 0 0 0 0 0 0 %u 0\n"

static void put_schedstat(struct host *h)
{
    char text[8192];
    size_t n = (size_t)sprintf(text, "version %u\ntimestamp 1\n", h->version);

    for (unsigned cpu = 0; cpu < h->cpus; cpu++) {
        n += (size_t)sprintf(text + n, "cpu%u 0 0 %u 0 %u %u %lu %lu %lu\n", cpu, h->sched, h->ttwu,
                             h->local, h->run, h->delay, h->slices);
        for (unsigned d = 0; d < h->domains; d++)
            n += (size_t)sprintf(text + n, h->version == 17 ? LINE17 : LINE15, d, h->gained, h->hot,
                                 h->newidle, h->failed, h->gained, h->hot, h->affine);
    }
    fixture_put(&h->f, "/proc/schedstat", "%s", text);
}

static void put_psi(struct host *h, uint64_t cpu, uint64_t io, uint64_t memory)
{
#define LINE "avg10=0.00 avg60=0.00 avg300=0.00 total="
    fixture_put(&h->f, "/proc/pressure/cpu", "some " LINE "%lu\nfull " LINE "0\n", cpu);
    fixture_put(&h->f, "/proc/pressure/io", "some " LINE "%lu\nfull " LINE "%lu\n", io, io / 2);
    fixture_put(&h->f, "/proc/pressure/memory", "some " LINE "%lu\nfull " LINE "%lu\n", memory,
                memory / 4);
}

static struct window next(struct host *h)
{
    struct window w;

    h->now += STEP;
    sensors_read(&h->ss, h->now, 1, &w);
    return w;
}

static const struct sensor *sensor(const struct host *h, const char *name)
{
    for (size_t i = 0; i < h->ss.n; i++)
        if (strcmp(h->ss.s[i].def->name, name) == 0)
            return &h->ss.s[i];
    fail_msg("no sensor %s", name);
    return NULL;
}

static int setup(void **state)
{
    struct host *h = calloc(1, sizeof *h);

    *h = (struct host){
        .now = T0, .version = 15, .cpus = 2, .domains = 2, .run = 1000, .delay = 500, .slices = 10
    };
    fixture_init(&h->f);
    put_schedstat(h);
    put_psi(h, 1000000, 2000000, 4000000);
    fixture_put(&h->f, "/sys/devices/system/cpu/online", "0-1\n");
    fixture_put(&h->f, "/sys/devices/system/cpu/possible", "0-3\n");
    fixture_put(&h->f, "/sys/devices/system/node/online", "0-1\n");
    fixture_put(&h->f, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    fixture_put(&h->f, "/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
    *state = h;
    return 0;
}

static int teardown(void **state)
{
    struct host *h = *state;

    sensors_done(&h->ss);
    fixture_done(&h->f);
    free(h);
    return 0;
}

static void start(struct host *h)
{
    struct window w;

    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    assert_int_equal(w.valid, 0);
    assert_int_equal(w.index, 0);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_STARTING);
}

/* Two seconds: each CPU runs for half of it and waits 100 ms in 1000 timeslices. */
static void run_for_a_window(struct host *h)
{
    h->run += NSEC_PER_SEC;
    h->delay += 100 * NSEC_PER_MSEC;
    h->slices += 1000;
    put_schedstat(h);
}

static void count_for_a_window(struct host *h)
{
    h->sched += 1500;
    h->ttwu += 400;
    h->local += 100;
    h->newidle += 50;
    h->failed += 10;
    h->gained += 20;
    h->hot += 5;
    h->affine += 30;
    run_for_a_window(h);
}

static void test_schedstat_always(void **state)
{
    struct host *h = *state;
    struct window w;

    start(h);
    run_for_a_window(h);
    w = next(h);
    assert_int_equal(w.index, 1);
    assert_int_equal(w.end_ns - w.start_ns, STEP);
    assert_false(w.disturbed);
    NEAR(RUNQ_WAIT_NS, 100000);
    NEAR(RUNNING, 1);
    NEAR(WAITING, 0.1);
    NEAR(TIMESLICES_PER_S, 1000);
    /* Nothing else counts, and that is no zero. */
    NONE(WAKEUPS_PER_S);
    NONE(WAKE_LOCAL_RATIO);
    NONE(NEWIDLE_PER_S);
    NONE(NEWIDLE_FAIL_RATIO);
    NONE(HOT_GAIN_RATIO);
    NONE(AFFINE_PER_S);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_PARTIAL);
    assert_string_equal(sensor(h, "schedstat")->reason,
                        "kernel.sched_schedstats is 0: domain counters do not count");
}

static void test_schedstat_domains(void **state)
{
    struct host *h = *state;
    struct window w;

    for (h->version = 15; h->version <= 17; h->version++) {
        put_schedstat(h);
        start(h);
        count_for_a_window(h);
        w = next(h);
        NEAR(WAKEUPS_PER_S, 400); /* 2 CPUs x 400 in 2 s */
        NEAR(WAKE_LOCAL_RATIO, 0.25);
        NEAR(NEWIDLE_PER_S, 100); /* 4 domains x 50 in 2 s */
        NEAR(NEWIDLE_FAIL_RATIO, 0.2);
        NEAR(NEWIDLE_GAIN_PER_S, 40);
        NEAR(HOT_GAIN_RATIO, 0.25);
        NEAR(AFFINE_PER_S, 60);
        assert_int_equal(sensor(h, "schedstat")->state, SENSOR_OK);
        assert_string_equal(sensor(h, "schedstat")->reason, "");
        sensors_done(&h->ss);
    }
}

/* Counters of 32 bits go round. */
static void test_schedstat_wrap(void **state)
{
    struct host *h = *state;
    struct window w;

    h->newidle = h->gained = h->ttwu = UINT32_MAX - 5;
    h->affine = UINT32_MAX;
    put_schedstat(h);
    start(h);
    count_for_a_window(h);
    w = next(h);
    assert_false(w.disturbed);
    NEAR(WAKEUPS_PER_S, 400);
    NEAR(NEWIDLE_PER_S, 100);
    NEAR(AFFINE_PER_S, 60);
}

/* Switched on and off: the window of the switch and the first one after it say nothing about
 * domains. */
static void test_schedstat_switched(void **state)
{
    struct host *h = *state;
    struct window w;

    start(h);
    run_for_a_window(h);
    w = next(h);
    NONE(NEWIDLE_PER_S);
    count_for_a_window(h);
    w = next(h);
    NONE(NEWIDLE_PER_S); /* the first */
    count_for_a_window(h);
    w = next(h);
    NEAR(NEWIDLE_PER_S, 100);
    h->sched += 300; /* off after a part of the window */
    h->newidle += 7;
    run_for_a_window(h);
    w = next(h);
    NONE(NEWIDLE_PER_S);
    NEAR(RUNNING, 1);
    assert_non_null(strstr(sensor(h, "schedstat")->reason, "switched in this window"));
    run_for_a_window(h);
    w = next(h);
    NONE(WAKEUPS_PER_S);
    assert_non_null(strstr(sensor(h, "schedstat")->reason, "sched_schedstats is 0"));
}

static void test_schedstat_hotplug(void **state)
{
    struct host *h = *state;
    struct window w;

    start(h);
    count_for_a_window(h);
    w = next(h);
    NEAR(NEWIDLE_PER_S, 100);
    /* Offline: CPU 0 goes on, and is all that is summed. */
    h->cpus = 1;
    count_for_a_window(h);
    w = next(h);
    assert_true(w.disturbed);
    assert_string_equal(w.disturbance, "a CPU went online or offline");
    NEAR(RUNNING, 0.5);
    NONE(NEWIDLE_PER_S);
    count_for_a_window(h);
    w = next(h);
    assert_false(w.disturbed);
    NEAR(NEWIDLE_PER_S, 50);
    /* Back, and two more than there ever were: there is room for all possible ones. */
    h->cpus = 4;
    count_for_a_window(h);
    w = next(h);
    assert_true(w.disturbed);
    NEAR(RUNNING, 0.5);
    count_for_a_window(h);
    w = next(h);
    NEAR(RUNNING, 2);
    /* More than possible: the table is made anew. */
    h->cpus = 5;
    count_for_a_window(h);
    w = next(h);
    assert_true(w.disturbed);
    NONE(RUNNING);
    count_for_a_window(h);
    w = next(h);
    NONE(RUNNING);
    count_for_a_window(h);
    w = next(h);
    NEAR(RUNNING, 2.5);
}

static void test_schedstat_rebuild(void **state)
{
    struct host *h = *state;
    struct window w;

    h->newidle = 100000;
    h->gained = 50000;
    put_schedstat(h);
    start(h);
    count_for_a_window(h);
    w = next(h);
    assert_false(w.disturbed);
    /* The same lines, but domain counters begin at 0 again. */
    h->newidle = h->failed = h->gained = h->hot = h->affine = 0;
    h->sched += 1500;
    h->ttwu += 400;
    run_for_a_window(h);
    w = next(h);
    assert_true(w.disturbed);
    assert_string_equal(w.disturbance, "the scheduling domains were rebuilt");
    NEAR(RUNNING, 1);
    NEAR(WAKEUPS_PER_S, 400);
    NONE(NEWIDLE_PER_S);
    NONE(AFFINE_PER_S);
    NONE(HOT_GAIN_RATIO);
    /* One domain less on each CPU. */
    count_for_a_window(h);
    w = next(h);
    NEAR(NEWIDLE_PER_S, 100);
    h->domains = 1;
    count_for_a_window(h);
    w = next(h);
    assert_true(w.disturbed);
    NONE(NEWIDLE_PER_S);
    h->domains = 0;
    count_for_a_window(h);
    w = next(h);
    assert_true(w.disturbed);
    count_for_a_window(h);
    w = next(h);
    assert_false(w.disturbed);
    NEAR(WAKEUPS_PER_S, 400);
    NONE(NEWIDLE_PER_S);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_PARTIAL);
}

static void test_schedstat_unknown_version(void **state)
{
    struct host *h = *state;
    struct window w;

    h->version = 18;
    put_schedstat(h);
    start(h);
    count_for_a_window(h);
    w = next(h);
    NEAR(RUNQ_WAIT_NS, 100000);
    NEAR(RUNNING, 1);
    NONE(WAKEUPS_PER_S);
    NONE(NEWIDLE_PER_S);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_PARTIAL);
    assert_non_null(strstr(sensor(h, "schedstat")->reason, "version 18 is not known"));
}

static void test_schedstat_still(void **state)
{
    struct host *h = *state;
    struct window w;

    start(h);
    w = next(h);
    NONE(RUNNING);
    NONE(RUNQ_WAIT_NS);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_PARTIAL);
    /* A counter that goes back is no rate. */
    h->run -= 500;
    put_schedstat(h);
    w = next(h);
    assert_true(w.disturbed);
    NONE(RUNNING);
}

/* A bad text now and then does not lose the source; the reading after it starts anew. */
static void test_schedstat_damaged(void **state)
{
    struct host *h = *state;
    struct window w;

    start(h);
    fixture_put(&h->f, "/proc/schedstat", "version 15\ntimestamp 1\ncpu0 1 2");
    w = next(h);
    NONE(RUNNING);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_FORMAT);
    run_for_a_window(h);
    w = next(h);
    NONE(RUNNING);
    run_for_a_window(h);
    w = next(h);
    NEAR(RUNNING, 1);
    /* Three in a row: closed, and asked again after 60 windows. */
    fixture_put(&h->f, "/proc/schedstat", "nonsense\n");
    for (unsigned i = 0; i < 3; i++)
        w = next(h);
    assert_false(sensor(h, "schedstat")->is_open);
    run_for_a_window(h);
    for (unsigned i = 0; i < 59; i++)
        w = next(h);
    assert_false(sensor(h, "schedstat")->is_open);
    w = next(h);
    assert_true(sensor(h, "schedstat")->is_open);
    run_for_a_window(h);
    w = next(h);
    NEAR(RUNNING, 1);
}

static void test_absent(void **state)
{
    struct host *h = *state;
    struct window w;

    fixture_remove(&h->f, "/proc/schedstat");
    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    w = next(h);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_ABSENT);
    assert_non_null(strstr(sensor(h, "schedstat")->reason, "CONFIG_SCHEDSTATS"));
    NONE(RUNNING);
    NEAR(PSI_CPU_SOME, 0);
    assert_int_equal(sensor(h, "perf")->state, SENSOR_ABSENT);
    assert_string_equal(sensor(h, "perf")->reason, "simulated host");
}

static void test_topology(void **state)
{
    struct host *h = *state;
    struct topology t;
    struct window w;

    start(h);
    sensors_topology(&h->ss, &t);
    assert_int_equal(t.cpus_online, 2);
    assert_int_equal(t.packages, 2);
    assert_int_equal(t.nodes, 2);
    assert_string_equal(t.online, "0-1");
    w = next(h);
    NEAR(CPUS_ONLINE, 2);
    assert_false(w.disturbed);
    fixture_put(&h->f, "/sys/devices/system/cpu/online", "0\n");
    w = next(h);
    NEAR(CPUS_ONLINE, 1);
    assert_true(w.disturbed);
    sensors_topology(&h->ss, &t);
    assert_int_equal(t.packages, 1);
    assert_string_equal(t.online, "0");
    w = next(h);
    assert_false(w.disturbed);
    fixture_put(&h->f, "/sys/devices/system/cpu/online", "0-\n");
    w = next(h);
    NONE(CPUS_ONLINE);
    assert_int_equal(sensor(h, "topology")->state, SENSOR_FORMAT);
}

/* Two calls at once: nothing is valid, and the next window holds the whole time. */
static void test_short_window(void **state)
{
    struct host *h = *state;
    struct window w;

    start(h);
    run_for_a_window(h);
    sensors_read(&h->ss, h->now + NSEC_PER_MSEC - 1, 1, &w);
    assert_int_equal(w.valid, 0);
    sensors_read(&h->ss, h->now - 5, 1, &w);
    assert_int_equal(w.valid, 0);
    w = next(h);
    NEAR(RUNNING, 1);
    assert_int_equal(w.index, 1);
}

/* Neither on the tree nor on this machine, CPUs that come and go included. */
static void test_no_allocation(void **state)
{
    struct host *h = *state;
    unsigned long before;
    struct sysio real;
    struct window w;

    start(h);
    assert_true(!COUNTS_ALLOCATIONS || allocations > 0);
    for (unsigned i = 0; i < 4; i++) {
        fixture_put(&h->f, "/sys/devices/system/cpu/online", i % 2 ? "0-1\n" : "0\n");
        h->cpus = 1 + i % 2;
        count_for_a_window(h);
        before = allocations;
        w = next(h);
        assert_int_equal(allocations, before);
        assert_true(window_has(&w, METRIC_RUNNING));
    }
    sensors_done(&h->ss);
    assert_int_equal(sysio_init(&real, NULL), 0);
    assert_int_equal(sensors_init(&h->ss, &real), 0);
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    before = allocations;
    for (unsigned i = 0; i < 3; i++) {
        (void)usleep(2000);
        sensors_read(&h->ss, now_mono_ns(), 1, &w);
    }
    assert_int_equal(allocations, before);
    assert_true(window_has(&w, METRIC_CPUS_ONLINE));
    sensors_done(&h->ss);
    sysio_done(&real);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_schedstat_always),
        T(test_schedstat_domains),
        T(test_schedstat_wrap),
        T(test_schedstat_switched),
        T(test_schedstat_hotplug),
        T(test_schedstat_rebuild),
        T(test_schedstat_unknown_version),
        T(test_schedstat_still),
        T(test_schedstat_damaged),
        T(test_absent),
        T(test_topology),
        T(test_short_window),
        T(test_no_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
