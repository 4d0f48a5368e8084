/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs on trees of four kernels: the table, every row applied and restored, the rules and the errors of a write. */
#include "knobtest.h"

static void test_rows_are_sane(void **state)
{
    (void)state;
    for (size_t i = 0; i < knob_table_size; i++) {
        const struct knob_def *d = &knob_table[i];
        assert_ptr_equal(knob_find(d->name), d);
        assert_true(*d->what && *d->mechanism && d->unit);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(d->name, knob_table[j].name);
        assert_non_null(d->paths[0]);
        assert_true(d->hard_min <= d->safe_min && d->safe_min < d->safe_max && d->safe_max <= d->hard_max);
        assert_true(d->hard_max < UINT32_MAX);
        if (d->step == KNOB_LOG)
            assert_true(d->hard_min > 0 && d->kind != KNOB_BOOL && d->kind != KNOB_WORD && d->kind != KNOB_FEATURE);
        if (d->kind == KNOB_DOMAIN || d->kind == KNOB_FEATURE)
            assert_non_null(d->token);
        if (d->kind == KNOB_DOMAIN || d->kind == KNOB_WORD)
            assert_non_null(d->words);
        assert_true(!d->scaled || d->commit_path[0]);
        for (size_t p = 0; d->paths[p]; p++)
            assert_true(strncmp(d->paths[p], "/sys/", 5) == 0 || strncmp(d->paths[p], "/proc/sys/", 10) == 0);
    }
    assert_null(knob_find("scan_size"));
    assert_null(knob_find(""));
}

static void test_states_have_names(void **state)
{
    (void)state;
    for (int s = KNOB_OK; s <= KNOB_BROKEN; s++)
        assert_true(*knob_state_name((enum knob_state)s));
}

static void test_fates(void **state)
{
    static const struct {
        int error;
        enum knob_fate fate;
    } rows[] = {
        { EBUSY, KNOB_FATE_RETRY },    { EAGAIN, KNOB_FATE_RETRY },   { EINTR, KNOB_FATE_RETRY },
        { ENOMEM, KNOB_FATE_RETRY },   { EINVAL, KNOB_FATE_REFUSED }, { ERANGE, KNOB_FATE_REFUSED },
        { ENOENT, KNOB_FATE_GONE },    { ENODEV, KNOB_FATE_GONE },    { ENXIO, KNOB_FATE_GONE },
        { ENOTDIR, KNOB_FATE_GONE },   { EPERM, KNOB_FATE_DENIED },   { EACCES, KNOB_FATE_DENIED },
        { EROFS, KNOB_FATE_DENIED },   { EIO, KNOB_FATE_BROKEN },     { ESTALE, KNOB_FATE_BROKEN },
        { 0, KNOB_FATE_BROKEN },
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
        assert_int_equal(knob_fate(rows[i].error), rows[i].fate);
        assert_int_equal(knob_fate(-rows[i].error), rows[i].fate);
    }
}

static void test_write_paths(void **state)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    knobs_print_write_paths(f);
    (void)fclose(f);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_memory_equal(line, "-/", 2);
    assert_non_null(strstr(text, "-/sys/kernel/debug/sched\n"));
    assert_null(strstr(text, "debug/sched/"));
    assert_non_null(strstr(text, "-/proc/sys/kernel/sched_migration_cost_ns\n"));
    assert_non_null(strstr(text, "-/proc/sys/kernel/sched_tunable_scaling\n"));
    assert_non_null(strstr(text, "-/proc/sys/kernel/sched_schedstats\n"));
}

static void test_every_row_applied_and_restored(void **state)
{
    static const unsigned int at_least[] = { 35, 39, 37, 41 };

    for (int generation = 0; generation < FIXTURE_KERNELS; generation++) {
        unsigned int n = 0;
        begin((enum fixture_kernel)generation);
        assert_int_equal(knobs_show_domains(&ks, "test"), generation == FIXTURE_5_10 ? -ENOENT : generation >= FIXTURE_6_12);
        for (size_t i = 0; i < ks.n; i++) {
            struct knob *k = &ks.k[i];
            if (k->state != KNOB_OK) {
                assert_int_equal(k->state, KNOB_ABSENT);
                continue;
            }
            n++;
            uint64_t v = other_value(k), found;
            assert_int_equal(knob_read(&ks, k, &found), 0);
            assert_int_equal(knob_write(&ks, k, v, "test"), 1);
            if (k->def->kind == KNOB_NUMBER)
                assert_int_equal(number(k->path), v);
            assert_true(k->has_ours && k->ours == v && k->ours_asked == v && k->writes == 1);
            assert_string_equal(k->note, "");
            assert_int_equal(knobs_verify(&ks, NULL), 0);
            assert_int_equal(knob_write(&ks, k, v, "test"), 0);
            assert_int_equal(knobs_restore(&ks, "test"), 0);
            assert_int_equal(knob_read(&ks, k, &v), 0);
            assert_int_equal(v, found);
            assert_int_equal(u.n, 0);
            assert_false(k->has_ours);
        }
        assert_string_equal(fixture_read(&fx, DBG "verbose"), generation == FIXTURE_5_10 ? "(none)" : "N");
        assert_true(n >= at_least[generation]);
        (void)teardown(state);
    }
}

static void test_homes(void **state)
{
    begin(FIXTURE_5_10);
    assert_string_equal(knob("migration_cost_ns")->path, "/proc/sys/kernel/sched_migration_cost_ns");
    assert_string_equal(knob("latency_ns")->commit_path, "/proc/sys/kernel/sched_tunable_scaling");
    assert_int_equal(knob("base_slice_ns")->state, KNOB_ABSENT);
    (void)teardown(state);
    begin(FIXTURE_6_12);
    assert_string_equal(knob("migration_cost_ns")->path, COST);
    assert_null(knob("migration_cost_ns")->commit_path);
    assert_int_equal(knob("latency_ns")->state, KNOB_ABSENT);
    assert_null(knob("latency_ns")->path);
    assert_string_equal(knob("latency_ns")->reason, "this kernel has no such knob");
}

static void test_text_of_a_write(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), 1);
    assert_int_equal(fault.n_writes, 1);
    assert_string_equal(fault.writes[0], COST "=250000\n");
}

static void test_bounds(void **state)
{
    struct knob *k;
    static const uint64_t never[] = { 0, 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_MAX };

    (void)state;
    begin(FIXTURE_6_1);
    for (size_t i = 0; i < ks.n; i++)
        for (size_t v = 0; v < ELEMENTSOF(never); v++) {
            ks.k[i].limit_min = 0;
            ks.k[i].limit_max = UINT64_MAX;
            if (ks.k[i].state == KNOB_OK && ks.k[i].def->step == KNOB_LOG && never[v] != ks.k[i].def->hard_min)
                assert_int_equal(knob_write(&ks, &ks.k[i], never[v], "test"), -ERANGE);
        }
    k = knob("migration_cost_ns");
    k->limit_min = 100000;
    k->limit_max = 400000;
    assert_int_equal(knob_write(&ks, k, 99999, "test"), -ERANGE);
    assert_int_equal(knob_write(&ks, k, 400001, "test"), -ERANGE);
    assert_int_equal(knob_write(&ks, k, 400000, "test"), 1);
    /* The original lies outside of these limits and is allowed. */
    assert_int_equal(knob_write(&ks, k, 500000, "test"), 1);
    assert_int_equal(knob_write(&ks, k, 400000, "test"), 1);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 500000);
}

static void test_original_is_not_written_for_nothing(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 500000, "test"), 0);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(fault.n_writes, 0);
    assert_int_equal(access(fx.undo, F_OK), -1);
}

static void test_no_journal_no_write(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    fault_add(FAULT_RENAME, "/undo", ENOSPC, 0, 0);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), -ENOSPC);
    assert_int_equal(fault.n_writes, 0);
    assert_int_equal(number(COST), 500000);
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_OK);
}

static void test_dry_run_writes_nothing(void **state)
{
    (void)state;
    begin(FIXTURE_6_1);
    knobs_init(&ks, &io, &u, true);
    for (size_t i = 0; i < ks.n; i++)
        if (ks.k[i].state == KNOB_OK)
            assert_int_equal(knob_write(&ks, &ks.k[i], other_value(&ks.k[i]), "test"), 0);
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(fault.n_writes, 0);
    assert_int_equal(access(fx.undo, F_OK), -1);
}

static void test_errors_of_a_write(void **state)
{
    static const struct {
        int error;
        enum knob_state then;
    } rows[] = {
        { EBUSY, KNOB_OK },       { EAGAIN, KNOB_OK },        { ENOMEM, KNOB_OK },     { EINVAL, KNOB_OK },
        { ERANGE, KNOB_OK },      { ENOENT, KNOB_ABSENT },    { ENODEV, KNOB_ABSENT }, { ENXIO, KNOB_ABSENT },
        { EPERM, KNOB_DENIED },   { EACCES, KNOB_DENIED },    { EROFS, KNOB_READONLY }, { EIO, KNOB_BROKEN },
    };

    for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
        begin(FIXTURE_6_12);
        struct knob *k = knob("migration_cost_ns");
        fault_add(FAULT_WRITE, "migration_cost_ns", rows[i].error, 0, 1);
        assert_int_equal(knob_write(&ks, k, 250000, "test"), -rows[i].error);
        assert_int_equal(k->state, rows[i].then);
        assert_int_equal(u.n, 0); /* nothing of ours is there */
        assert_int_equal(number(COST), 500000);
        assert_int_equal(knob_write(&ks, k, 250000, "test"), rows[i].then == KNOB_OK ? 1 : -rows[i].error);
        (void)teardown(state);
    }
}

static void test_failed_way_back_is_open(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    fault_add(FAULT_WRITE, "migration_cost_ns", EIO, 0, 2);
    assert_int_equal(knob_write(&ks, k, 500000, "rollback"), -EIO);
    assert_int_equal(k->state, KNOB_BROKEN);
    assert_int_equal(knob_write(&ks, k, 125000, "trial"), -EIO); /* nothing but the way back */
    assert_int_equal(knobs_restore(&ks, "test"), 1);
    assert_string_equal(undo_find(&u, COST)->original, "500000");
    assert_int_equal(knob_write(&ks, k, 500000, "rollback"), 1);
    assert_int_equal(k->state, KNOB_OK);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(u.n, 0);
}

static void no_effect(void)
{
    fixture_write(&fx, COST, "500000\n");
}

/* The kernel took the write and did not do it. */
static void test_write_without_effect(void **state)
{
    bool seen = false;

    for (long n = 1;; n++) {
        int r;
        begin(FIXTURE_6_12);
        bool ran = write_with(n, no_effect, 250000, &r);
        if (r < 0) {
            seen = true;
            assert_int_equal(r, -EIO);
            assert_int_equal(knob("migration_cost_ns")->state, KNOB_BROKEN);
            assert_int_equal(u.n, 0);
        }
        (void)teardown(state);
        if (!ran)
            break;
    }
    assert_true(seen);
}

static void test_read_back_fails(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    fault_add(FAULT_OPEN, "migration_cost_ns", EIO, 2, 1); /* after the compare and the write */
    assert_int_equal(knob_write(&ks, k, 250000, "test"), -EIO);
    assert_int_equal(k->state, KNOB_BROKEN);
    assert_string_equal(undo_find(&u, COST)->intended, "250000");
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 500000);
}

static void test_originals_beyond_the_bounds(void **state)
{
    struct knob *k;

    begin(FIXTURE_6_12);
    fixture_write(&fx, COST, "4294967295\n");
    start();
    k = knob("migration_cost_ns");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, COST), "4294967295");
    (void)teardown(state);
    /* Its sysctl shows and takes -1. */
    begin(FIXTURE_5_10);
    fixture_sysctl(&fx, "sched_migration_cost_ns", "-1\n");
    start();
    assert_int_equal(k->original, UINT32_MAX);
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    start();
    assert_int_equal(k->original, UINT32_MAX);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, "/proc/sys/kernel/sched_migration_cost_ns"), "-1");
}

static void test_files_that_are_no_numbers(void **state)
{
    static const char *const odd[] = { "", "\n", "abc\n", "1 2\n", "0x10\n", "-\n", "-0\n", "99999999999999999999999\n", " 5\n" };

    for (size_t i = 0; i < ELEMENTSOF(odd); i++) {
        begin(FIXTURE_6_12);
        fixture_write(&fx, COST, odd[i]);
        start();
        assert_int_equal(knob("migration_cost_ns")->state, KNOB_BROKEN);
        assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), -EBADMSG);
        assert_int_equal(fault.n_writes, 0);
        (void)teardown(state);
    }
}

int main(void)
{
    log_init(-1); /* errors are expected here */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_sane),
        cmocka_unit_test(test_states_have_names),
        cmocka_unit_test(test_fates),
        cmocka_unit_test(test_write_paths),
        cmocka_unit_test_teardown(test_every_row_applied_and_restored, teardown),
        cmocka_unit_test_teardown(test_homes, teardown),
        cmocka_unit_test_teardown(test_text_of_a_write, teardown),
        cmocka_unit_test_teardown(test_bounds, teardown),
        cmocka_unit_test_teardown(test_original_is_not_written_for_nothing, teardown),
        cmocka_unit_test_teardown(test_no_journal_no_write, teardown),
        cmocka_unit_test_teardown(test_dry_run_writes_nothing, teardown),
        cmocka_unit_test_teardown(test_errors_of_a_write, teardown),
        cmocka_unit_test_teardown(test_failed_way_back_is_open, teardown),
        cmocka_unit_test_teardown(test_write_without_effect, teardown),
        cmocka_unit_test_teardown(test_read_back_fails, teardown),
        cmocka_unit_test_teardown(test_originals_beyond_the_bounds, teardown),
        cmocka_unit_test_teardown(test_files_that_are_no_numbers, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
