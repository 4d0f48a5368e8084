/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host offers, and why not. */
#include "knobtest.h"

static const char *why_not(void)
{
    static char buf[256];

    (void)knobs_why_not(&ks, &io, buf, sizeof buf);
    return buf;
}

static void test_why_not(void **state)
{
    begin(FIXTURE_6_12);
    assert_string_equal(why_not(), "");
    (void)teardown(state);

    begin_bare();
    assert_non_null(strstr(why_not(), "CONFIG_SCHED_DEBUG"));
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_ABSENT);
    fixture_write(&fx, "/run/systemd/container", "lxc\n");
    assert_non_null(strstr(why_not(), "container"));
    fixture_remove(&fx, "/run/systemd/container");
    fixture_remove(&fx, "/sys/kernel/debug/gpio");
    start();
    assert_non_null(strstr(why_not(), "not mounted"));
    assert_non_null(strstr(knob("migration_cost_ns")->reason, "not mounted"));
    char dir[PATH_MAX];
    fixture_path(&fx, "/sys/kernel/debug", dir, sizeof dir);
    assert_int_equal(rmdir(dir), 0);
    start();
    assert_non_null(strstr(why_not(), "debugfs=off"));
    assert_non_null(strstr(knob("migration_cost_ns")->reason, "debugfs=off"));
    (void)teardown(state);
}

static void test_lockdown(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    fault_add(FAULT_OPEN, "*kernel/debug/sched/", EPERM, 0, 0);
    start();
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_DENIED);
    assert_non_null(strstr(why_not(), "lockdown or a security module"));
    fixture_write(&fx, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    start();
    assert_string_equal(knob("migration_cost_ns")->reason, "kernel lockdown (integrity) forbids it");
    assert_non_null(strstr(why_not(), "kernel lockdown (integrity)"));
    assert_int_equal(knobs_why_not(&ks, &io, (char[200]){ 0 }, 200), -EPERM);
}

static void test_read_only_mount(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    fault_add(FAULT_OPEN_WRITE, "*kernel/debug/sched/", EROFS, 0, 0);
    start();
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_READONLY);
    assert_int_equal(knob("migration_cost_ns")->current, 500000);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), -EROFS);
    assert_non_null(strstr(why_not(), "ReadWritePaths="));
    fixture_write(&fx, "/.dockerenv", "");
    assert_non_null(strstr(why_not(), "container"));
}

static void test_permission(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    if (geteuid() == 0) {
        print_message("# skipped: root has every permission\n");
        return;
    }
    fixture_chmod(&fx, COST, 0444);
    start();
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_DENIED);
    assert_int_equal(knob("migration_cost_ns")->current, 500000);
    assert_string_equal(knob("migration_cost_ns")->reason, "no permission: only root may");
    assert_int_equal(knob("nr_migrate")->state, KNOB_OK);
    assert_string_equal(why_not(), "");
    /* As the real one is to everybody but root. */
    fixture_chmod(&fx, "/sys/kernel/debug", 0);
    start();
    assert_int_equal(knob("base_slice_ns")->state, KNOB_DENIED);
    assert_null(knob("base_slice_ns")->path);
    assert_non_null(strstr(why_not(), "only root may"));
    fixture_chmod(&fx, "/sys/kernel/debug", 0755);
}

int main(void)
{
    log_init(-1); /* errors are expected here */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_why_not, teardown),
        cmocka_unit_test_teardown(test_lockdown, teardown),
        cmocka_unit_test_teardown(test_read_only_mount, teardown),
        cmocka_unit_test_teardown(test_permission, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
