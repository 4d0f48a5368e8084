/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates from /proc/schedstat: known increases, counters that stand still, wrap or restart, hotplug.
 */
#include "sensor_host.h"

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
    const struct sensor_domain *d;
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
        NEAR(NEWIDLE_PER_IDLE, 200 / 80.0); /* no CPU went idle, but tasks were pulled */
        assert_int_equal(sensor(h, "schedstat")->state, SENSOR_OK);
        assert_int_equal(sensors_domains(&h->ss, &d), h->version == 17 ? 1 : 2);
        assert_string_equal(d[0].name, h->version == 17 ? "MC" : "domain0");
        assert_int_equal(d[0].domains, h->version == 17 ? 4 : 2);
        assert_true(fabs(d[0].newidle.attempts_per_s - (h->version == 17 ? 100 : 50)) < 1e-9);
        assert_true(fabs(d[0].newidle.failed_per_s - (h->version == 17 ? 20 : 10)) < 1e-9);
        /* The first kind is idle in version 15, busy since. */
        const struct sensor_balance *other = h->version == 15 ? &d[0].idle : &d[0].busy;
        assert_true(fabs(other->gained_per_s - (h->version == 17 ? 40 : 20)) < 1e-9);
        assert_true(fabs(other->hot_gained_per_s - (h->version == 17 ? 10 : 5)) < 1e-9);
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
    const struct sensor_domain *d;
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
    assert_int_equal(sensors_domains(&h->ss, &d), 0);
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

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_schedstat_always),          T(test_schedstat_domains), T(test_schedstat_wrap),
        T(test_schedstat_switched),        T(test_schedstat_hotplug), T(test_schedstat_rebuild),
        T(test_schedstat_unknown_version), T(test_schedstat_still),   T(test_schedstat_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
