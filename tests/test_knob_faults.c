/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Death at every system call of a life, and every error at every call. */
#include "knobtest.h"

static void live(void)
{
    start();
    (void)knob_write(&ks, knob("migration_cost_ns"), 250000, "test");
    (void)knob_write(&ks, knob("base_slice_ns"), 5000000, "test");
    (void)knob_write(&ks, knob("migration_cost_ns"), 125000, "test");
    (void)knobs_verify(&ks, NULL);
    (void)knob_write(&ks, knob("migration_cost_ns"), 500000, "test");
    (void)knob_write(&ks, knob("base_slice_ns"), 3000000, "test");
    start(); /* a restart */
    (void)knob_write(&ks, knob("base_slice_ns"), 4000000, "test");
    (void)knobs_restore(&ks, "test");
}

static void assert_as_found(void)
{
    assert_string_equal(fixture_read(&fx, COST), "500000");
    assert_string_equal(fixture_read(&fx, BASE), "2100000");
    assert_string_equal(fixture_read(&fx, SCALING), "1");
}

static void test_death_at_every_system_call(void **state)
{
    long at;
    int adopted = 0;

    (void)state;
    begin(FIXTURE_6_12);
    for (at = 1; at < 10000; at++) {
        int status;
        (void)unlink(fx.undo);
        pid_t pid = fork();
        if (pid == 0) {
            fault_reset();
            fault.at = at;
            live();
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        /* The next start knows whose the values are ... */
        start();
        for (size_t i = 0; i < ks.n; i++) {
            assert_true(ks.k[i].state == KNOB_OK || ks.k[i].state == KNOB_ABSENT);
            adopted += ks.k[i].adopted;
        }
        assert_int_equal(knob("migration_cost_ns")->original, 500000);
        assert_int_equal(knob("base_slice_ns")->original, 2100000);
        /* ... and the journal alone is enough to put them back. */
        assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
        assert_as_found();
        if (WEXITSTATUS(status) == 0)
            break;
        assert_int_equal(WEXITSTATUS(status), FAULT_KILLED);
    }
    assert_true(at > 200 && at < 10000);
    assert_true(adopted > 100);
    print_message("# died at each of %ld system calls\n", at - 1);
}

/* Every error at every call of the life of the journal and of knobs: never another value than one that the journal knows,
 * and put back when the fault is over. */
static void test_errors_at_every_call(void **state)
{
    static const struct {
        enum fault_op op;
        const char *path;
    } where[] = {
        { FAULT_OPEN, "_ns" },  { FAULT_OPEN_WRITE, "_ns" },        { FAULT_READ, "_ns" },    { FAULT_WRITE, "_ns" },
        { FAULT_OPEN, "undo.tmp" }, { FAULT_WRITE, "undo.tmp" },    { FAULT_FSYNC, "undo.tmp" }, { FAULT_RENAME, "/undo" },
        { FAULT_FSYNC, "" },    { FAULT_WRITE, "tunable_scaling" }, { FAULT_OPEN, "tunable_scaling" },
    };
    static const int errors[] = { EIO, EPERM, ENOSPC, EINVAL, ENOENT, EBUSY };
    int pairs = 0;

    (void)state;
    begin(FIXTURE_6_12);
    for (size_t w = 0; w < ELEMENTSOF(where); w++)
        for (size_t e = 0; e < ELEMENTSOF(errors); e++)
            for (int skip = 0; skip < 60; skip++) {
                (void)unlink(fx.undo);
                fault_reset();
                fault_add(where[w].op, where[w].path, errors[e], skip, 1);
                live();
                bool hit = fault.fault[0].times < 0;
                for (size_t i = 0; i < fault.n_writes; i++)
                    assert_true(strstr(fault.writes[i], COST "=") || strstr(fault.writes[i], BASE "=") ||
                                strstr(fault.writes[i], SCALING "=1"));
                fault_reset();
                (void)knobs_restore(&ks, "test");
                assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
                assert_as_found();
                if (!hit)
                    break;
                pairs++;
            }
    assert_true(pairs > 300);
    print_message("# %d pairs of fault and position\n", pairs);
}

int main(void)
{
    log_init(-1); /* errors are expected here */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_death_at_every_system_call, teardown),
        cmocka_unit_test_teardown(test_errors_at_every_call, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
