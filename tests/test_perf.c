/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's software events for real where this user may, and the named states where not. */
#include "perf_set.h"
#include "sensor.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"

static const char *const events[] = { "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS" };

static struct sysio io;
static struct sensors ss;

static int setup(void **state)
{
    (void)state;
    return sysio_init(&io, NULL) < 0 || sensors_init(&ss, &io) < 0;
}

static int teardown(void **state)
{
    (void)state;
    sensors_done(&ss);
    sysio_done(&io);
    return 0;
}

static const struct sensor *find(const char *name)
{
    for (size_t i = 0; i < ss.n; i++)
        if (strcmp(ss.s[i].def->name, name) == 0)
            return &ss.s[i];
    fail_msg("no sensor %s", name);
    return NULL;
}

static const struct sensor *perf(void)
{
    return find("perf");
}

/* cmocka's own skip() is a "not ok" in TAP. */
static bool is_permitted(void)
{
    if (!perf()->is_open)
        print_message("# skipped: %s\n", perf()->reason);
    return perf()->is_open;
}

/* Two threads on one CPU that wake each other up `n` times: 2 n switches there at least. */
static void *answer(void *pipes)
{
    const int *p = pipes;
    char c;

    while (read(p[0], &c, 1) == 1)
        if (write(p[3], &c, 1) != 1)
            break;
    return NULL;
}

static void ping_pong(unsigned n)
{
    int p[4]; /* 0,1: to the other thread; 2,3: back */
    pthread_t t;
    cpu_set_t all, one;
    char c = 0;

    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(pipe2(p + 2, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(&t, NULL, answer, p), 0);
    for (; n > 0; n--)
        assert_true(write(p[1], &c, 1) == 1 && read(p[2], &c, 1) == 1);
    (void)close(p[1]);
    (void)pthread_join(t, NULL);
    (void)close(p[0]);
    (void)close(p[2]);
    (void)close(p[3]);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void test_counts(void **state)
{
    struct window w;

    (void)state;
    if (!is_permitted())
        return;
    sensors_read(&ss, now_mono_ns(), 1, &w);
    assert_int_equal(w.valid, 0);
    ping_pong(5000);
    sensors_read(&ss, now_mono_ns(), 1, &w);
    assert_int_equal(perf()->state, SENSOR_OK);
    assert_true(window_has(&w, METRIC_SWITCHES_PER_S) && window_has(&w, METRIC_MIGRATIONS_PER_S));
    double switches = w.value[METRIC_SWITCHES_PER_S] * (double)(w.end_ns - w.start_ns) / 1e9;
    print_message("# %.0f switches seen for at least 10000\n", switches);
    assert_true(switches >= 10000);
}

/* No permission is a state with what to do, and never a zero. */
static void test_denied(void **state)
{
    struct window w;

    (void)state;
    if (perf()->is_open) {
        print_message("# skipped: this user may count on every CPU\n");
        return;
    }
    if (perf()->state == SENSOR_DENIED) {
        assert_non_null(strstr(perf()->reason, "CAP_"));
        assert_true(perf()->error == -EACCES || perf()->error == -EPERM);
    } else {
        assert_int_equal(perf()->state, SENSOR_ABSENT);
    }
    sensors_read(&ss, now_mono_ns(), 1, &w);
    (void)usleep(2000);
    sensors_read(&ss, now_mono_ns(), 1, &w);
    assert_false(window_has(&w, METRIC_SWITCHES_PER_S));
    assert_false(window_has(&w, METRIC_MIGRATIONS_PER_S));
}

/* Events that stand still are told from events that count nothing. A group that was never switched
 * on stands in for that of a CPU that was offline: both read well, and their times do not move. */
static void test_frozen(void **state)
{
    struct perf_set set;
    struct perf_sums sums;
    struct cpuset one = { 0 };

    (void)state;
    if (!is_permitted())
        return;
    cpuset_add(&one, 0);
    assert_int_equal(perf_set_init(&set, events, 2, 1, -1), 0);
    set.attr[0].disabled = 1; /* the leader stops its whole group */
    assert_int_equal(perf_set_open(&set, &one), 0);
    assert_int_equal(perf_set_read(&set, &one, &sums), 0);
    assert_false(sums.complete);
    set.attr[0].disabled = 0;
    (void)usleep(2000);
    assert_int_equal(perf_set_read(&set, &one, &sums), 0);
    assert_false(sums.complete);
    assert_true(sums.reopened);
    (void)usleep(2000);
    assert_int_equal(perf_set_read(&set, &one, &sums), 0);
    assert_true(sums.complete);
    assert_false(sums.reopened);
    assert_true(sums.running_part > 0.99 && sums.running_part < 1.01);
    perf_set_done(&set);
}

/* A CPU that goes and comes: not complete in these two windows, complete in the next. */
static void test_cpu_set_changes(void **state)
{
    struct perf_set set;
    struct perf_sums sums;
    struct cpuset both = { 0 }, one = { 0 };

    (void)state;
    if (!is_permitted())
        return;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        print_message("# skipped: one CPU\n");
        return;
    }
    cpuset_add(&one, 0);
    cpuset_add(&both, 0);
    cpuset_add(&both, 1);
    assert_int_equal(perf_set_init(&set, events, 2, 2, -1), 0);
    assert_int_equal(perf_set_open(&set, &both), 0);
    assert_int_equal(perf_set_read(&set, &both, &sums), 0);
    static const struct {
        bool two, complete;
    } steps[] = {
        { true, true }, { false, false }, { false, true }, { true, false }, { true, true }
    };
    for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
        (void)usleep(2000);
        assert_int_equal(perf_set_read(&set, steps[i].two ? &both : &one, &sums), 0);
        assert_int_equal(sums.complete, steps[i].complete);
    }
    perf_set_done(&set);
}

/* Whatever part of the time a group was on the hardware, a steady rate comes out whole. */
static void test_multiplex(void **state)
{
    struct rnd rnd = rnd_init("multiplex");

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct perf_reading a = { .n = 2 }, b;
        uint64_t enabled = 1000000 + rnd_below(&rnd, NSEC_PER_SEC),
                 running = 1 + rnd_below(&rnd, enabled);
        uint64_t per_us = 1 + rnd_below(&rnd, 5000);
        double value[2], want = (double)enabled * (double)per_us / 1e3;

        a.enabled_ns = rnd_next(&rnd) >> 2;
        a.running_ns = a.enabled_ns - rnd_below(&rnd, a.enabled_ns);
        a.value[0] = a.value[1] = rnd_next(&rnd) >> 2;
        b = a;
        b.enabled_ns += enabled;
        b.running_ns += running;
        b.value[0] += running * per_us / 1000;
        assert_int_equal(perf_delta(&a, &b, 2, value), 1);
        /* The counter is whole: one event more or less, scaled. */
        assert_true(fabs(value[0] - want) <= (double)enabled / (double)running + want * 1e-9);
        assert_true(value[1] == 0);
    }
}

static void test_no_data(void **state)
{
    struct perf_reading a = { .n = 1, .enabled_ns = 100, .running_ns = 50, .value = { 7 } }, b = a;
    double value[PERF_EVENTS_MAX] = { -1 };

    (void)state;
    assert_int_equal(perf_delta(&a, &b, 1, value), -EIO); /* stands still */
    b.enabled_ns = 200;
    assert_int_equal(perf_delta(&a, &b, 1, value), 0); /* never on the hardware: no data, not 0 */
    b.running_ns = 150;
    b.value[0] = 6;
    assert_int_equal(perf_delta(&a, &b, 1, value), -EIO); /* went back */
    b.value[0] = 7;
    b.running_ns = 49;
    assert_int_equal(perf_delta(&a, &b, 1, value), -EIO);
    assert_true(value[0] == -1);
}

/* Counted for real where there is hardware; elsewhere a named state, and no zeros. */
static void test_hardware(void **state)
{
    static const enum metric metrics[] = { METRIC_INSTRUCTIONS_PER_S, METRIC_CYCLES_PER_S,
                                           METRIC_IPC, METRIC_CACHE_MISSES_PER_S,
                                           METRIC_BRANCH_MISSES_PER_S };
    const struct sensor *hw = find("perf-hw");
    struct window w;

    (void)state;
    sensors_read(&ss, now_mono_ns(), 1, &w);
    uint64_t until = now_mono_ns() + 100 * NSEC_PER_MSEC;
    while (now_mono_ns() < until)
        ;
    sensors_read(&ss, now_mono_ns(), 1, &w);
    print_message("# perf-hw: %s: %s\n", sensor_state_name(hw->state), hw->reason);
    if (!hw->is_open) {
        assert_true(hw->state == SENSOR_ABSENT || hw->state == SENSOR_DENIED);
        assert_true(hw->reason[0] != '\0');
        for (size_t i = 0; i < ELEMENTSOF(metrics); i++)
            assert_false(window_has(&w, metrics[i]));
        return;
    }
    if (window_has(&w, METRIC_INSTRUCTIONS_PER_S)) {
        assert_true(w.value[METRIC_INSTRUCTIONS_PER_S] >
                    1e7); /* a tenth of a second of a busy loop */
        assert_true(w.value[METRIC_IPC] > 0.01 && w.value[METRIC_IPC] < 20);
    }
}

static void test_names(void **state)
{
    static const char *const bad[] = { "perf::NO-SUCH-EVENT" };
    static const char *const bad_modifier[] = { "perf::CONTEXT-SWITCHES:nonsense" };
    struct perf_set set;

    (void)state;
    assert_int_equal(perf_set_init(&set, bad, 1, 1, -1), -EOPNOTSUPP);
    assert_int_equal(perf_set_init(&set, bad_modifier, 1, 1, -1), -EOPNOTSUPP);
    assert_int_equal(perf_set_init(&set, events, 0, 1, -1), -EINVAL);
    assert_int_equal(perf_set_init(&set, events, 2, 1, -1), 0);
    /* A CPU that does not exist. */
    struct cpuset none = { 0 };
    assert_int_equal(perf_set_open(&set, &none), -ENODEV);
    perf_set_done(&set);
}

static void test_nofile(void **state)
{
    struct rlimit before, now;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    now.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(perf_raise_nofile(32), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(now.rlim_cur, 64);
    assert_int_equal(perf_raise_nofile(128), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(now.rlim_cur, 128);
    if (before.rlim_max != RLIM_INFINITY) {
        assert_int_equal(perf_raise_nofile(before.rlim_max + 1), -EMFILE);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
        assert_int_equal(now.rlim_cur, before.rlim_max);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_counts),          T(test_denied),    T(test_frozen),
        T(test_cpu_set_changes), T(test_multiplex), T(test_no_data),
        T(test_hardware),        T(test_names),     T(test_nofile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
