/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sensors: windows, sources that are not there, topology, no allocation in a reading.
 */
#include "sensor_host.h"

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
    sensors_follow(&h->ss, getpid());
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    before = allocations;
    for (unsigned i = 0; i < 3; i++) {
        (void)usleep(2000);
        sensors_read(&h->ss, now_mono_ns(), 1, &w);
    }
    assert_int_equal(allocations, before);
    /* A chroot may have no /sys: then the sensor says so, and there is no number. */
    assert_int_equal(window_has(&w, METRIC_CPUS_ONLINE), sysio_exists(&real, "/sys/devices/system/cpu/online"));
    sensors_done(&h->ss);
    sysio_done(&real);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_absent),
        T(test_topology),
        T(test_short_window),
        T(test_no_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
