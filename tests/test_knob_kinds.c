/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs that are more than a number in a file: tokens, words, Y and N, and the domains of all CPUs. */
#include "knobtest.h"

#define DOMAINS  DBG "domains"
#define FEATURES DBG "features"

static void test_feature(void **state)
{
    struct knob *k;
    char before[1024];

    (void)state;
    begin(FIXTURE_6_12);
    (void)snprintf(before, sizeof before, "%s", fixture_read(&fx, FEATURES));
    k = knob("feature_WA_IDLE");
    assert_string_equal(k->id, FEATURES "#WA_IDLE");
    assert_int_equal(k->original, 1);
    assert_int_equal(knob_write(&ks, k, 0, "test"), 1);
    assert_true(wrote(FEATURES "=NO_WA_IDLE\n")); /* one token a write */
    assert_string_equal(undo_find(&u, k->id)->original, "WA_IDLE");
    assert_string_equal(undo_find(&u, k->id)->confirmed, "NO_WA_IDLE");
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    start();
    assert_true(k->adopted);
    assert_int_equal(knob_write(&ks, knob("feature_NEXT_BUDDY"), 1, "test"), 1);
    assert_int_equal(knob_write(&ks, k, 2, "test"), -ERANGE);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
    assert_string_equal(fixture_read(&fx, FEATURES), before);
}

/* Names that are parts of others, in a list that somebody else changes. */
static void test_feature_names_are_whole(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    fixture_write(&fx, FEATURES, "WA_IDLE_2 X_WA_IDLE NO_WA_WEIGHT NO_NO_WA_BIAS wa_bias TTWU_QUEUE\n");
    start();
    assert_int_equal(knob("feature_WA_IDLE")->state, KNOB_ABSENT);
    assert_int_equal(knob("feature_WA_BIAS")->state, KNOB_ABSENT);
    assert_int_equal(knob("feature_WA_WEIGHT")->original, 0);
    assert_int_equal(knob_write(&ks, knob("feature_TTWU_QUEUE"), 0, "test"), 1);
    fixture_write(&fx, FEATURES, "WA_WEIGHT TTWU_QUEUE\n");
    assert_int_equal(__builtin_popcountl(knobs_verify(&ks, NULL)), 2);
    assert_int_equal(knob("feature_TTWU_QUEUE")->state, KNOB_FOREIGN);
    assert_int_equal(knob("feature_WA_WEIGHT")->state, KNOB_FOREIGN);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, FEATURES), "WA_WEIGHT TTWU_QUEUE");
}

static void test_features_of_5_10(void **state)
{
    (void)state;
    begin(FIXTURE_5_10);
    assert_string_equal(knob("feature_WA_IDLE")->path, "/sys/kernel/debug/sched_features");
    assert_int_equal(knob("feature_RUN_TO_PARITY")->state, KNOB_ABSENT);
    assert_string_equal(knob("feature_RUN_TO_PARITY")->reason, "this kernel has no such knob");
}

static void test_word(void **state)
{
    struct knob *k;

    begin(FIXTURE_6_12);
    k = knob("preempt");
    assert_int_equal(k->original, 1); /* voluntary */
    assert_int_equal(knob_write(&ks, k, 2, "test"), 1);
    assert_true(wrote(DBG "preempt=full\n"));
    assert_string_equal(fixture_read(&fx, DBG "preempt"), "none voluntary (full) ");
    assert_string_equal(undo_find(&u, k->id)->original, "voluntary");
    assert_int_equal(knob_write(&ks, k, 3, "test"), -EINVAL); /* lazy: not on this kernel */
    assert_int_equal(k->state, KNOB_OK);
    assert_int_equal(knob_write(&ks, k, 4, "test"), -ERANGE);
    start();
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, DBG "preempt"), "none (voluntary) full ");
    (void)teardown(state);
    begin(FIXTURE_6_12);
    fixture_write(&fx, DBG "preempt", "none (eager) full\n");
    start();
    assert_int_equal(k->state, KNOB_BROKEN);
}

static void test_yes_and_no(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_7_3);
    k = knob("llc_enabled");
    assert_int_equal(k->original, 1);
    assert_int_equal(knob_write(&ks, k, 0, "test"), 1);
    assert_string_equal(fixture_read(&fx, DBG "llc_balancing/enabled"), "N");
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, DBG "llc_balancing/enabled"), "Y");
}

/* 0 divides in the kernel's tick. */
static void test_scan_size_is_never_0(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_7_3);
    k = knob("numa_scan_size_mb");
    k->limit_min = 0;
    assert_int_equal(knob_write(&ks, k, 0, "test"), -ERANGE);
    assert_int_equal(knob_write(&ks, k, 64, "test"), 1);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    fixture_write(&fx, DBG "numa_balancing/scan_size_mb", "0\n");
    start();
    assert_int_equal(k->state, KNOB_READONLY);
    assert_int_equal(knob_write(&ks, k, 0, "test"), -ERANGE);
}

/* The scaling goes back first, so that the slices are made the norm under it. */
static void test_scaling_is_restored_before_slices(void **state)
{
    size_t scaling = 0, slice = 0;

    (void)state;
    begin(FIXTURE_6_1);
    assert_int_equal(knob_write(&ks, knob("tunable_scaling"), 0, "test"), 1);
    assert_int_equal(knob_write(&ks, knob("latency_ns"), 12000000, "test"), 1);
    assert_true(wrote(SCALING "=0\n"));
    assert_string_equal(undo_find(&u, SCALING)->original, "1");
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    fault.n_writes = 0;
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    for (size_t i = 0; i < fault.n_writes; i++) {
        if (strcmp(fault.writes[i], SCALING "=1\n") == 0 && scaling == 0)
            scaling = i + 1;
        if (strcmp(fault.writes[i], DBG "latency_ns=18000000\n") == 0)
            slice = i + 1;
    }
    assert_true(scaling > 0 && scaling < slice);
    assert_int_equal(u.n, 0);
    assert_string_equal(fixture_read(&fx, SCALING), "1");
}

/* ---- domains ---- */

static const char *copy(unsigned int cpu, unsigned int domain)
{
    char path[200];

    (void)snprintf(path, sizeof path, DOMAINS "/cpu%u/domain%u/imbalance_pct", cpu, domain);
    return fixture_read(&fx, path);
}

static void test_domain_is_written_for_every_cpu(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_1);
    fixture_domains(&fx, DOMAINS, 4, true);
    start();
    k = knob("domain_MC_imbalance_pct");
    assert_int_equal(k->original, 117);
    assert_int_equal(knob("domain_PKG_imbalance_pct")->state, KNOB_ABSENT);
    assert_string_equal(knob("domain_PKG_imbalance_pct")->reason, "this host has no such scheduling domain");
    assert_int_equal(knob_write(&ks, k, 130, "test"), 1);
    /* By name: it is domain 0 of CPU 0 here, and 1 of the others. */
    assert_string_equal(copy(0, 0), "130");
    assert_string_equal(copy(1, 1), "130");
    assert_string_equal(copy(3, 1), "130");
    assert_string_equal(copy(1, 0), "110");
    assert_string_equal(copy(1, 2), "117");
    assert_int_equal(u.n, 1);
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
    assert_string_equal(copy(0, 0), "117");
    assert_string_equal(copy(3, 1), "117");
}

static void test_domain_after_a_rebuild(void **state)
{
    struct knob *k;
    uint64_t rescaled;

    (void)state;
    begin(FIXTURE_6_1);
    k = knob("domain_MC_imbalance_pct");
    assert_int_equal(knob_write(&ks, k, 130, "test"), 1);
    fixture_domains(&fx, DOMAINS, 4, true); /* the kernel's doing: new files, its defaults */
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(rescaled, UINT64_C(1) << (k - ks.k));
    assert_int_equal(k->state, KNOB_OK);
    assert_int_equal(knob_write(&ks, k, 130, "again"), 1);
    assert_string_equal(copy(0, 0), "130");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(rescaled, 0);
    /* The same value in the same files is an administrator's. */
    for (unsigned int c = 0; c < 4; c++) {
        char path[200];
        (void)snprintf(path, sizeof path, DOMAINS "/cpu%u/domain%u/imbalance_pct", c, c > 0);
        fixture_write(&fx, path, "117\n");
    }
    assert_true(knobs_verify(&ks, &rescaled) != 0);
    assert_int_equal(k->state, KNOB_FOREIGN);
}

static void test_domain_of_one_cpu_written_by_others(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_1);
    k = knob("domain_MC_imbalance_pct");
    assert_int_equal(knob_write(&ks, k, 130, "test"), 1);
    fixture_write(&fx, DOMAINS "/cpu2/domain1/imbalance_pct", "140\n");
    assert_true(knobs_verify(&ks, NULL) != 0);
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_int_equal(k->foreign_value, 140);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(copy(2, 1), "140");
    assert_string_equal(copy(1, 1), "117"); /* ours is taken back */
}

static void test_domain_copies_that_differ(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_1);
    fixture_write(&fx, DOMAINS "/cpu2/domain1/imbalance_pct", "140\n");
    start();
    k = knob("domain_MC_imbalance_pct");
    assert_int_equal(k->state, KNOB_READONLY);
    assert_int_equal(knob_write(&ks, k, 130, "test"), -EXDEV);
    /* Made different after the start: seen at the first write. */
    k = knob("domain_SMT_imbalance_pct");
    fixture_write(&fx, DOMAINS "/cpu2/domain0/imbalance_pct", "140\n");
    assert_int_equal(knob_write(&ks, k, 130, "test"), -ESTALE);
    assert_int_equal(fault.n_writes, 0);
}

/* Some CPUs have the new value, the others do not, and then the process dies or the rest is tried again. */
static void test_domain_half_written(void **state)
{
    for (int dies = 0; dies < 2; dies++) {
        begin(FIXTURE_6_1);
        struct knob *k = knob("domain_MC_imbalance_pct");
        fault_add(FAULT_WRITE, "imbalance_pct", ENOMEM, 2, 1);
        assert_int_equal(knob_write(&ks, k, 130, "test"), -ENOMEM);
        if (dies)
            start();
        assert_int_equal(k->state, KNOB_OK);
        assert_true(k->has_ours);
        assert_int_equal(knobs_verify(&ks, NULL), 0);
        assert_int_equal(knobs_restore(&ks, "test"), 0);
        for (unsigned int c = 0; c < 4; c++)
            assert_string_equal(copy(c, 1), "117");
        assert_int_equal(u.n, 0);
        (void)teardown(state);
    }
}

/* The second value of ours, half written: the first, the second and no other. */
static void test_domain_half_changed(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_1);
    k = knob("domain_MC_imbalance_pct");
    assert_int_equal(knob_write(&ks, k, 130, "test"), 1);
    fault_add(FAULT_WRITE, "imbalance_pct", EBUSY, 2, 1);
    assert_int_equal(knob_write(&ks, k, 120, "test"), -EBUSY);
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    start();
    assert_true(k->has_ours);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    for (unsigned int c = 0; c < 4; c++)
        assert_string_equal(copy(c, 1), "117");
}

static void test_domain_that_is_gone(void **state)
{
    (void)state;
    begin(FIXTURE_6_1);
    assert_int_equal(knob_write(&ks, knob("domain_NUMA_busy_factor"), 32, "test"), 1);
    for (unsigned int c = 0; c < 4; c++) {
        char path[200];
        (void)snprintf(path, sizeof path, DOMAINS "/cpu%u/domain2/name", c);
        fixture_write(&fx, path, "PKG\n");
    }
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(u.n, 0);
}

static void test_domains_are_shown_on_demand(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob("domain_MC_imbalance_pct")->state, KNOB_ABSENT);
    assert_non_null(strstr(knob("domain_MC_imbalance_pct")->reason, "verbose"));
    assert_int_equal(knobs_show_domains(&ks, "test"), 1);
    assert_string_equal(undo_find(&u, DBG "verbose")->original, "N");
    assert_int_equal(knobs_show_domains(&ks, "test"), 0);
    assert_int_equal(knob_write(&ks, knob("domain_MC_imbalance_pct"), 130, "test"), 1);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
    assert_string_equal(copy(0, 1), "117");
    assert_string_equal(fixture_read(&fx, DBG "verbose"), "N");
    /* The domains go last: with verbose they would be out of reach. */
    assert_string_equal(fault.writes[fault.n_writes - 1], DBG "verbose=N\n");
    /* And again, after the kernel has hidden them. */
    fixture_hide_domains(&fx, DOMAINS);
    start();
    assert_int_equal(knob("domain_MC_imbalance_pct")->state, KNOB_ABSENT);
    assert_int_equal(knobs_show_domains(&ks, "test"), 1);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    fixture_hide_domains(&fx, DOMAINS);
    assert_int_equal(knob_write(&ks, knob("domain_MC_imbalance_pct"), 130, "test"), -ENOENT);
    assert_int_equal(knobs_show_domains(&ks, "test"), 1);
    assert_int_equal(knob_write(&ks, knob("domain_MC_imbalance_pct"), 130, "test"), 1);
}

static void test_domain_home_of_5_10(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_5_10);
    k = knob("domain_SMT_busy_factor");
    assert_int_equal(knob_write(&ks, k, 32, "test"), 1);
    assert_string_equal(fixture_read(&fx, "/proc/sys/kernel/sched_domain/cpu3/domain0/busy_factor"), "32");
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, "/proc/sys/kernel/sched_domain/cpu3/domain0/busy_factor"), "16");
}

/* Knobs that every kernel has do not make a host one that can be tuned. */
static void test_host_without_knobs_of_its_own(void **state)
{
    char why[256];

    (void)state;
    begin_bare();
    fixture_sysctl(&fx, "sched_autogroup_enabled", "1\n");
    fixture_sysctl(&fx, "numa_balancing", "0\n");
    start();
    assert_int_equal(knob("autogroup_enabled")->state, KNOB_OK);
    assert_int_equal(knob("numa_balancing")->state, KNOB_OK);
    assert_int_equal(knobs_why_not(&ks, &io, why, sizeof why), -ENOENT);
}

int main(void)
{
    log_init(-1); /* errors are expected here */
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_teardown(f, teardown)
        T(test_feature),
        T(test_feature_names_are_whole),
        T(test_features_of_5_10),
        T(test_word),
        T(test_yes_and_no),
        T(test_scan_size_is_never_0),
        T(test_scaling_is_restored_before_slices),
        T(test_domain_is_written_for_every_cpu),
        T(test_domain_after_a_rebuild),
        T(test_domain_of_one_cpu_written_by_others),
        T(test_domain_copies_that_differ),
        T(test_domain_half_written),
        T(test_domain_half_changed),
        T(test_domain_that_is_gone),
        T(test_domains_are_shown_on_demand),
        T(test_domain_home_of_5_10),
        T(test_host_without_knobs_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
