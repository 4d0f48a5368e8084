/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices: the commit, and the rescale of the kernel told from the writes of others. */
#include "knobtest.h"

static void test_commit(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    fixture_write(&fx, SCALING, "2\n");
    assert_int_equal(knob_write(&ks, knob("base_slice_ns"), 3000000, "test"), 1);
    assert_int_equal(fault.n_writes, 2);
    assert_string_equal(fault.writes[0], BASE "=3000000\n");
    assert_string_equal(fault.writes[1], SCALING "=2\n");
    assert_string_equal(undo_find(&u, SCALING)->original, "2");
    /* An administrator's change of it is theirs, and not undone. */
    fixture_write(&fx, SCALING, "0\n");
    assert_int_equal(knob_write(&ks, knob("base_slice_ns"), 4000000, "test"), 1);
    assert_string_equal(undo_find(&u, SCALING)->original, "0");
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, SCALING), "0");
    assert_int_equal(knob("tunable_scaling")->state, KNOB_FOREIGN);
    assert_int_equal(number(BASE), 2100000);
    assert_int_equal(u.n, 1); /* that mark */
}

static void test_commit_refused(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_1);
    k = knob("latency_ns");
    /* As 5.13 and 5.14 may do: once for the text alone, then with its end. */
    fault_add(FAULT_WRITE, "tunable_scaling", EINVAL, 0, 1);
    assert_int_equal(knob_write(&ks, k, 12000000, "test"), 1);
    assert_false(k->uncommitted);
    fault_reset();
    fault_add(FAULT_WRITE, "tunable_scaling", EINVAL, 0, 0);
    assert_int_equal(knob_write(&ks, k, 13000000, "test"), 1);
    assert_int_equal(k->state, KNOB_OK);
    assert_true(k->uncommitted);
    assert_non_null(strstr(k->note, "hotplug"));
    /* ... then the next hotplug brings the kernel's own value back. */
    uint64_t rescaled;
    fixture_cpus(&fx, 2);
    fixture_write(&fx, DBG "latency_ns", "12000000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_true(rescaled & (UINT64_C(1) << (k - ks.k)));
}

static void test_commit_of_something_odd(void **state)
{
    static const char *const odd[] = { "3\n", "\n", "-1\n", "10\n", "Y\n" };

    (void)state;
    begin(FIXTURE_6_12);
    for (size_t i = 0; i < ELEMENTSOF(odd); i++) {
        fixture_write(&fx, SCALING, odd[i]);
        fault.n_writes = 0;
        assert_int_equal(knob_write(&ks, knob("base_slice_ns"), 3000000 + 100 * i, "test"), 1);
        assert_int_equal(fault.n_writes, 1);
        assert_true(knob("base_slice_ns")->uncommitted);
    }
}

/* Up to 6.5 the commit divides by min_granularity_ns. */
static void test_no_commit_that_would_oops(void **state)
{
    (void)state;
    begin(FIXTURE_6_1);
    fixture_write(&fx, DBG "min_granularity_ns", "0\n");
    start();
    assert_int_equal(knob("min_granularity_ns")->state, KNOB_READONLY);
    assert_int_equal(knob_write(&ks, knob("latency_ns"), 12000000, "test"), 1);
    assert_false(wrote(SCALING "=1\n"));
    assert_true(knob("latency_ns")->uncommitted);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_false(wrote(SCALING "=1\n"));
    assert_int_equal(number(DBG "latency_ns"), 18000000);
}

/* The kernel's doing: 4 CPUs (factor 3) become 2 (factor 2) and 4 again. */
static void test_rescale_at_hotplug(void **state)
{
    struct knob *k;
    uint64_t rescaled, bit;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("base_slice_ns");
    bit = UINT64_C(1) << (k - ks.k);
    assert_int_equal(knob_write(&ks, k, 5000000, "test"), 1);
    /* Rounding alone is nothing to talk of. */
    fixture_write(&fx, BASE, "4999998\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(rescaled, 0);
    assert_int_equal(knob_write(&ks, k, 5000000, "test"), 0);

    fixture_cpus(&fx, 2);
    fixture_write(&fx, BASE, "3333332\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(rescaled, bit);
    assert_int_equal(k->state, KNOB_OK);
    assert_int_equal(k->original, 1400000); /* what these CPUs would have */
    start();                                /* also over a restart */
    assert_true(k->adopted);
    assert_int_equal(k->original, 1400000);
    assert_int_equal(knob_write(&ks, k, 5000000, "again"), 1);
    assert_int_equal(number(BASE), 5000000);

    fixture_cpus(&fx, 4);
    fixture_write(&fx, BASE, "7500000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(rescaled, bit);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(BASE), 2100000);
    assert_int_equal(u.n, 0);
}

static void test_restore_with_fewer_cpus(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("base_slice_ns"), 5000000, "test"), 1);
    fixture_cpus(&fx, 2);
    fixture_write(&fx, BASE, "3333332\n");
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
    assert_int_equal(number(BASE), 1400000);
}

static void test_rescale_of_an_untouched_knob(void **state)
{
    struct knob *k;
    uint64_t rescaled;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("base_slice_ns");
    fixture_cpus(&fx, 2);
    fixture_write(&fx, BASE, "1400000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(rescaled, 0); /* nothing to write again */
    assert_int_equal(k->original, 1400000);
    assert_int_equal(knob_write(&ks, k, 3000000, "test"), 1);
    assert_string_equal(undo_find(&u, BASE)->original, "1400000");
}

/* Without hotplug, twice or half of our value is an administrator's. */
static void test_ratio_without_hotplug_is_foreign(void **state)
{
    static const char *const theirs[] = { "3333332\n", "7500000\n", "1666666\n", "10000000\n", "2100000\n", "4999990\n" };

    for (size_t i = 0; i < ELEMENTSOF(theirs); i++) {
        begin(FIXTURE_6_12);
        assert_int_equal(knob_write(&ks, knob("base_slice_ns"), 5000000, "test"), 1);
        fixture_write(&fx, BASE, theirs[i]);
        assert_true(knobs_verify(&ks, NULL) != 0);
        assert_int_equal(knob("base_slice_ns")->state, KNOB_FOREIGN);
        (void)teardown(state);
    }
    /* With it, what the kernel cannot make. */
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("base_slice_ns"), 5000000, "test"), 1);
    fixture_cpus(&fx, 2);
    fixture_write(&fx, BASE, "3400000\n");
    assert_true(knobs_verify(&ks, NULL) != 0);
    assert_int_equal(knob("base_slice_ns")->state, KNOB_FOREIGN);
    (void)teardown(state);
    /* Other knobs are not rescaled. */
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 300000, "test"), 1);
    fixture_cpus(&fx, 2);
    fixture_write(&fx, COST, "200000\n");
    assert_true(knobs_verify(&ks, NULL) != 0);
}

int main(void)
{
    log_init(-1); /* errors are expected here */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_commit, teardown),
        cmocka_unit_test_teardown(test_commit_refused, teardown),
        cmocka_unit_test_teardown(test_commit_of_something_odd, teardown),
        cmocka_unit_test_teardown(test_no_commit_that_would_oops, teardown),
        cmocka_unit_test_teardown(test_rescale_at_hotplug, teardown),
        cmocka_unit_test_teardown(test_restore_with_fewer_cpus, teardown),
        cmocka_unit_test_teardown(test_rescale_of_an_untouched_knob, teardown),
        cmocka_unit_test_teardown(test_ratio_without_hotplug_is_foreign, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
