/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pressure as percent of time, and the states of hosts that have none. */
#include "sensor.h"
#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tree.h"

#define AVG "avg10=0.00 avg60=0.00 avg300=0.00 total="
#define NEAR(m, x)                                                                                 \
    assert_true(window_has(&w, METRIC_##m) && fabs(window_get(&w, METRIC_##m) - (x)) < 1e-6)
#define NONE(m) assert_false(window_has(&w, METRIC_##m))

struct host {
    struct fixture f;
    struct sensors ss;
    uint64_t now;
};

static struct window next(struct host *h)
{
    struct window w;

    h->now += 2 * NSEC_PER_SEC;
    sensors_read(&h->ss, h->now, 1, &w);
    return w;
}

static const struct sensor *psi(const struct host *h)
{
    for (size_t i = 0; i < h->ss.n; i++)
        if (strcmp(h->ss.s[i].def->name, "psi") == 0)
            return &h->ss.s[i];
    return NULL;
}

static void put(struct host *h, const char *what, uint64_t some, uint64_t full)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/pressure/%s", what);
    fixture_put(&h->f, path, "some " AVG "%lu\nfull " AVG "%lu\n", some, full);
}

static int setup(void **state)
{
    struct host *h = calloc(1, sizeof *h);

    h->now = 100 * NSEC_PER_SEC;
    fixture_init(&h->f);
    put(h, "cpu", 1000, 0);
    put(h, "io", 2000, 1000);
    put(h, "memory", 0, 0);
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

static void test_percent(void **state)
{
    struct host *h = *state;
    struct window w;

    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    assert_int_equal(psi(h)->state, SENSOR_STARTING);
    put(h, "cpu", 1000 + 500000, 0);
    put(h, "io", 2000 + 2000000, 1000 + 200000);
    w = next(h);
    assert_int_equal(psi(h)->state, SENSOR_OK);
    NEAR(PSI_CPU_SOME, 25);
    NEAR(PSI_IO_SOME, 100);
    NEAR(PSI_IO_FULL, 10);
    NEAR(PSI_MEMORY_SOME, 0);
    NEAR(PSI_MEMORY_FULL, 0);
    /* Not more than all the time, whatever the clocks say; a total that goes back is no rate. */
    put(h, "cpu", 501000 + 2000900, 0);
    put(h, "io", 100, 1000 + 200000);
    w = next(h);
    NEAR(PSI_CPU_SOME, 100);
    NONE(PSI_IO_SOME);
    NEAR(PSI_IO_FULL, 0);
}

/* 5.10 has no `full` for cpu; elsewhere its absence is a gap. */
static void test_no_full(void **state)
{
    struct host *h = *state;
    struct window w;

    fixture_put(&h->f, "/proc/pressure/cpu", "some " AVG "1000\n");
    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    w = next(h);
    assert_int_equal(psi(h)->state, SENSOR_OK);
    NEAR(PSI_CPU_SOME, 0);
    fixture_put(&h->f, "/proc/pressure/io", "some " AVG "2000\n");
    w = next(h);
    assert_int_equal(psi(h)->state, SENSOR_PARTIAL);
    assert_string_equal(psi(h)->reason, "/proc/pressure/io has no line `full`");
    NEAR(PSI_IO_SOME, 0);
    NONE(PSI_IO_FULL);
}

static void test_never_counts(void **state)
{
    struct host *h = *state;
    struct window w;

    put(h, "cpu", 0, 0);
    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    w = next(h);
    assert_int_equal(psi(h)->state, SENSOR_PARTIAL);
    assert_string_equal(psi(h)->reason,
                        "/proc/pressure/cpu has been 0 since the boot: it does not count here");
    NONE(PSI_CPU_SOME);
    NEAR(PSI_IO_SOME, 0);
}

static void test_missing(void **state)
{
    struct host *h = *state;
    struct window w;

    fixture_remove(&h->f, "/proc/pressure/memory");
    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    w = next(h);
    assert_int_equal(psi(h)->state, SENSOR_PARTIAL);
    NEAR(PSI_CPU_SOME, 0);
    NONE(PSI_MEMORY_SOME);
    sensors_done(&h->ss);

    fixture_remove(&h->f, "/proc/pressure/cpu");
    fixture_remove(&h->f, "/proc/pressure/io");
    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    assert_int_equal(psi(h)->state, SENSOR_ABSENT);
    assert_non_null(strstr(psi(h)->reason, "psi=1"));
    sensors_done(&h->ss);

    fixture_put(&h->f, "/proc/cmdline", "root=/dev/vda rw psi=0 quiet\n");
    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    assert_int_equal(psi(h)->state, SENSOR_DISABLED);
    assert_non_null(strstr(psi(h)->reason, "psi=0 is on the kernel command line"));
}

static void test_malformed(void **state)
{
    struct host *h = *state;
    struct window w;
    static const char *const bad[] = { "", "some", "some " AVG "5", "nonsense\n" };

    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
        fixture_put(&h->f, "/proc/pressure/cpu", "%s", bad[i]);
        w = next(h);
        NONE(PSI_CPU_SOME);
        NEAR(PSI_IO_SOME, 0);
        assert_int_equal(psi(h)->state, SENSOR_PARTIAL);
        assert_string_equal(psi(h)->reason, "/proc/pressure/cpu cannot be read");
    }
    put(h, "cpu", 5000, 0);
    w = next(h);
    NONE(PSI_CPU_SOME);
    w = next(h);
    NEAR(PSI_CPU_SOME, 0);
    assert_int_equal(psi(h)->state, SENSOR_OK);
}

/* The machine's own, where there is one. */
static void test_real(void **state)
{
    struct host *h = *state;
    struct sysio real;
    struct window w;

    assert_int_equal(sysio_init(&real, NULL), 0);
    if (!sysio_exists(&real, "/proc/pressure/cpu")) {
        sysio_done(&real);
        print_message("# skipped: this machine has no /proc/pressure\n");
        return;
    }
    assert_int_equal(sensors_init(&h->ss, &real), 0);
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    (void)usleep(50000);
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    if (psi(h)->state == SENSOR_OK) {
        assert_true(window_has(&w, METRIC_PSI_CPU_SOME) && window_has(&w, METRIC_PSI_IO_FULL));
        assert_in_range((long)w.value[METRIC_PSI_CPU_SOME], 0, 100);
    } else {
        assert_true(psi(h)->reason[0] != '\0');
    }
    sensors_done(&h->ss);
    sysio_done(&real);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_percent), T(test_no_full),   T(test_never_counts),
        T(test_missing), T(test_malformed), T(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
