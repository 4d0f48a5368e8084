/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs on trees of four kernels: probe, write, verify, restore, errors, and death at every system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "fixture.h"
#include "knob.h"
#include "log.h"

#include "fault.h"

#include "../daemon/sysio.c"
#include "../daemon/undo.c"

#define DBG  "/sys/kernel/debug/sched/"
#define COST DBG "migration_cost_ns"
#define BASE DBG "base_slice_ns"
#define SCALING DBG "tunable_scaling"

static struct fixture fx;
static struct sysio io;
static struct undo u;
static struct knobs ks;

static void start(void)
{
    (void)undo_load(&u, fx.undo, "boot-1");
    knobs_init(&ks, &io, &u, false);
}

static void begin(enum fixture_kernel kernel)
{
    fault_reset();
    fixture_new(&fx, kernel);
    assert_int_equal(sysio_init(&io, fx.root), 0);
    start();
}

static void begin_bare(void)
{
    fault_reset();
    fixture_bare(&fx);
    assert_int_equal(sysio_init(&io, fx.root), 0);
    start();
}

static int teardown(void **state)
{
    (void)state;
    fault_reset();
    sysio_done(&io);
    fixture_free(&fx);
    return 0;
}

static struct knob *knob(const char *name)
{
    struct knob *k = knobs_find(&ks, name);

    assert_non_null(k);
    return k;
}

static uint64_t number(const char *path)
{
    uint64_t v = 0;

    assert_int_equal(parse_u64(fixture_read(&fx, path), &v), 0);
    return v;
}

static bool wrote(const char *path_and_text)
{
    for (size_t i = 0; i < fault.n_writes; i++)
        if (strcmp(fault.writes[i], path_and_text) == 0)
            return true;
    return false;
}

/* A legal value that is not the original. */
static uint64_t other_value(const struct knob *k)
{
    return k->original == k->def->safe_max ? k->def->safe_min : k->def->safe_max;
}

/* ---- the table ---- */

static void test_rows_are_sane(void **state)
{
    (void)state;
    for (size_t i = 0; i < knob_table_size; i++) {
        const struct knob_def *d = &knob_table[i];
        assert_ptr_equal(knob_find(d->name), d);
        assert_true(*d->what && *d->mechanism && *d->unit);
        assert_non_null(d->paths[0]);
        assert_true(d->hard_min <= d->safe_min && d->safe_min < d->safe_max && d->safe_max <= d->hard_max);
        assert_true(d->hard_max < UINT32_MAX);
        if (d->step == KNOB_LOG)
            assert_true(d->hard_min > 0);
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

/* ---- every row, every kernel ---- */

static void test_every_row_applied_and_restored(void **state)
{
    static const unsigned int at_least[] = { 5, 5, 3, 3 };

    for (int kernel = 0; kernel < FIXTURE_KERNELS; kernel++) {
        unsigned int n = 0;
        begin((enum fixture_kernel)kernel);
        for (size_t i = 0; i < ks.n; i++) {
            struct knob *k = &ks.k[i];
            char before[64];
            if (k->state != KNOB_OK) {
                assert_int_equal(k->state, KNOB_ABSENT);
                continue;
            }
            n++;
            (void)snprintf(before, sizeof before, "%s", fixture_read(&fx, k->path));
            uint64_t v = other_value(k);
            assert_int_equal(knob_write(&ks, k, v, "test"), 1);
            assert_int_equal(number(k->path), v);
            assert_true(k->has_ours && k->ours == v && k->ours_asked == v && k->writes == 1);
            assert_string_equal(k->note, "");
            assert_int_equal(knobs_verify(&ks, NULL), 0);
            assert_int_equal(knob_write(&ks, k, v, "test"), 0);
            assert_int_equal(knobs_restore(&ks, "test"), 0);
            assert_string_equal(fixture_read(&fx, k->path), before);
            assert_int_equal(u.n, 0);
            assert_false(k->has_ours);
        }
        assert_true(n >= at_least[kernel]);
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

/* ---- rules of a write ---- */

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
            if (ks.k[i].state == KNOB_OK && never[v] != ks.k[i].def->hard_min)
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

static void foreign_700000(void)
{
    fixture_write(&fx, COST, "700000\n");
}

/* Calls f before the n-th system call of the following write, for every n: true if f ran. */
static bool write_with(long n, void (*f)(void), uint64_t value, int *ret)
{
    fault.calls = 0;
    fault.at = n;
    fault.hook = f;
    *ret = knob_write(&ks, knob("migration_cost_ns"), value, "test");
    fault.at = 0;
    return fault.calls >= n;
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

/* ---- somebody else ---- */

static void test_foreign_before_the_first_write(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), -ESTALE);
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_int_equal(k->foreign_value, 700000);
    assert_true(k->foreign_real_ns > 0);
    assert_int_equal(fault.n_writes, 0);
    assert_int_equal(knob_write(&ks, k, 500000, "test"), -ESTALE);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 700000);
    start(); /* remembered over a restart */
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_int_equal(k->original, 500000);
    assert_int_equal(k->foreign_value, 700000);
}

static void test_foreign_while_ours(void **state)
{
    struct knob *k;
    uint32_t rescaled = 7;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), UINT32_C(1) << (k - ks.k));
    assert_int_equal(rescaled, 0);
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_false(k->has_ours);
    assert_int_equal(knobs_verify(&ks, &rescaled), 0); /* once */
    fixture_write(&fx, COST, "800000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_int_equal(k->foreign_value, 800000);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 800000);
    start();
    assert_int_equal(k->state, KNOB_FOREIGN);
    /* Even back at the value that was ours, or at the original. */
    fixture_write(&fx, COST, "250000\n");
    start();
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
    assert_int_equal(number(COST), 250000);
}

static void test_foreign_at_restore(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), 1);
    assert_int_equal(knob_write(&ks, knob("nr_migrate"), 64, "test"), 1);
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 700000);
    assert_int_equal(number(DBG "nr_migrate"), 32);
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_FOREIGN);
    assert_int_equal(u.n, 1);
}

/* Somebody put the original there while our value was in force. */
static void test_foreign_write_of_the_original(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), 1);
    fixture_write(&fx, COST, "500000\n");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_FOREIGN);
}

/* A value equal to ours shows only where the kernel named the writer. */
static void test_foreign_write_of_our_value(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    fixture_write(&fx, COST, "250000\n");
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    k->foreign_pid = 4711;
    (void)snprintf(k->foreign_comm, sizeof k->foreign_comm, "tuned");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_non_null(strstr(k->reason, "4711"));
    assert_non_null(strstr(k->reason, "tuned"));
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 250000);
}

/* At every point of our write: it ends with their value in place and known as theirs, or with ours over it when it came
 * before the write itself and after the comparison, which no code can see. */
static void test_foreign_during_a_write(void **state)
{
    int lost = 0, unseen = 0, over = 0;

    for (long n = 1;; n++) {
        int r;
        begin(FIXTURE_6_12);
        struct knob *k = knob("migration_cost_ns");
        bool ran = write_with(n, foreign_700000, 250000, &r);
        uint64_t now = number(COST);
        if (r == -ESTALE) {
            lost++;
            assert_int_equal(now, 700000);
            assert_int_equal(k->state, KNOB_FOREIGN);
        } else {
            assert_int_equal(r, 1);
            if (now == 250000)
                over += ran;
            else {
                unseen++;
                assert_int_equal(knobs_verify(&ks, NULL), 1);
                assert_int_equal(k->state, KNOB_FOREIGN);
            }
        }
        assert_int_equal(knobs_restore(&ks, "test"), 0);
        assert_int_equal(number(COST), now == 250000 ? 500000 : 700000);
        (void)teardown(state);
        if (!ran)
            break;
    }
    assert_true(lost > 0 && unseen > 0 && over > 0);
}

static void test_release(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(knob_release(&ks, k), -EINVAL);
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_int_equal(knob_release(&ks, k), 0);
    assert_int_equal(k->state, KNOB_OK);
    assert_int_equal(k->original, 700000);
    assert_string_equal(k->reason, "");
    assert_int_equal(u.n, 0);
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 700000);
    fixture_write(&fx, COST, "800000\n");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    fixture_remove(&fx, COST);
    assert_int_equal(knob_release(&ks, k), -ENOENT);
}

/* ---- restart ---- */

static void test_restart_adopts(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    start();
    assert_true(k->adopted && k->has_ours);
    assert_int_equal(k->ours, 250000);
    assert_int_equal(k->original, 500000);
    assert_int_equal(k->state, KNOB_OK);
    assert_int_equal(knob_write(&ks, k, 125000, "test"), 1);
    start();
    assert_int_equal(k->original, 500000);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 500000);
    start();
    assert_false(k->adopted);
}

/* The states that death leaves: value before or after the write, `intended` not yet `confirmed`. */
static void test_restart_with_intended_only(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(undo_intend(&u, COST, "500000", "250000"), 0);
    start(); /* not written yet */
    assert_false(k->has_ours);
    assert_int_equal(k->state, KNOB_OK);
    fixture_write(&fx, COST, "250000\n");
    start();
    assert_true(k->adopted);
    assert_int_equal(k->original, 500000);
    assert_string_equal(undo_find(&u, COST)->confirmed, "250000");
    /* Written once more, died before the write: confirmed and intended are both possible. */
    assert_int_equal(undo_intend(&u, COST, "500000", "125000"), 0);
    start();
    assert_true(k->has_ours);
    assert_int_equal(k->ours, 250000);
    assert_int_equal(undo_intend(&u, COST, "500000", "125000"), 0);
    fixture_write(&fx, COST, "125000\n");
    start();
    assert_int_equal(k->ours, 125000);
    fixture_write(&fx, COST, "130000\n");
    start();
    assert_int_equal(k->state, KNOB_FOREIGN);
}

static void test_damaged_journal_hands_off(void **state)
{
    struct knob *k;

    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("nr_migrate"), 64, "test"), 1);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), 1);
    char text[2048];
    FILE *f = fopen(fx.undo, "r+e");
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    char *at = strstr(text, "original=500000");
    assert_non_null(at);
    (void)fseek(f, at - text + 9, SEEK_SET);
    (void)fputc('9', f);
    (void)fclose(f);
    start();
    k = knob("migration_cost_ns");
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_non_null(strstr(k->reason, "damaged"));
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0);
    assert_int_equal(number(COST), 250000);
    assert_int_equal(number(DBG "nr_migrate"), 32);
    start();
    assert_int_equal(knob_release(&ks, k), 0);
    assert_int_equal(k->original, 250000);
}

static void test_restore_from_journal(void **state)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    begin(FIXTURE_6_1);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", NULL), 0); /* there is none */
    for (size_t i = 0; i < ks.n; i++)
        if (ks.k[i].state == KNOB_OK)
            assert_int_equal(knob_write(&ks, &ks.k[i], other_value(&ks.k[i]), "test"), 1);
    assert_int_equal(undo_intend(&u, DBG "other", "7", "8"), 0); /* of another version */
    fixture_write(&fx, DBG "other", "8\n");
    assert_int_equal(undo_intend(&u, "/etc/passwd", "7", "8"), 0);
    assert_int_equal(undo_intend(&u, "/sys/../etc/passwd", "7", "8"), 0);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-1", f), 2);
    (void)fclose(f);
    assert_non_null(strstr(text, "migration_cost_ns: 5000000 restored to its original 500000"));
    assert_non_null(strstr(text, "passwd: could not be restored"));
    for (size_t i = 0; i < ks.n; i++)
        if (ks.k[i].state == KNOB_OK)
            assert_int_equal(number(ks.k[i].path), ks.k[i].original);
    assert_string_equal(fixture_read(&fx, DBG "other"), "7");
    assert_int_equal(undo_load(&u, fx.undo, "boot-1"), 0);
    assert_int_equal(u.n, 2);
    assert_int_equal(knobs_restore_from_journal(&io, fx.undo, "boot-2", NULL), 0);
}

static void test_restore_when_it_cannot(void **state)
{
    (void)state;
    begin(FIXTURE_6_12);
    assert_int_equal(knob_write(&ks, knob("migration_cost_ns"), 250000, "test"), 1);
    /* Not even readable at the start of the process, then it is. */
    fault_add(FAULT_OPEN, "migration_cost_ns", EPERM, 0, 2);
    start();
    assert_int_equal(knob("migration_cost_ns")->state, KNOB_DENIED);
    assert_int_equal(knobs_restore(&ks, "test"), 1);
    assert_string_equal(undo_find(&u, COST)->original, "500000");
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_int_equal(number(COST), 500000);
}

/* ---- slices ---- */

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
    assert_int_equal(number(BASE), 2100000);
    assert_int_equal(u.n, 0);
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
    uint32_t rescaled;
    fixture_cpus(&fx, 2);
    fixture_write(&fx, DBG "latency_ns", "12000000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), 0);
    assert_true(rescaled & (UINT32_C(1) << (k - ks.k)));
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
    uint32_t rescaled, bit;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("base_slice_ns");
    bit = UINT32_C(1) << (k - ks.k);
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
    uint32_t rescaled;

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

/* ---- values of others that we only keep ---- */

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

/* ---- the host ---- */

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
    fault_add(FAULT_OPEN, "_ns", EPERM, 0, 0);
    fault_add(FAULT_OPEN, "nr_migrate", EPERM, 0, 0);
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
    fault_add(FAULT_OPEN_WRITE, "_ns", EROFS, 0, 0);
    fault_add(FAULT_OPEN_WRITE, "nr_migrate", EROFS, 0, 0);
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

/* ---- death ---- */

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
        cmocka_unit_test(test_rows_are_sane),
        cmocka_unit_test(test_states_have_names),
        cmocka_unit_test(test_fates),
        cmocka_unit_test(test_write_paths),
#define T(f) cmocka_unit_test_teardown(f, teardown)
        T(test_every_row_applied_and_restored),
        T(test_homes),
        T(test_text_of_a_write),
        T(test_bounds),
        T(test_original_is_not_written_for_nothing),
        T(test_no_journal_no_write),
        T(test_dry_run_writes_nothing),
        T(test_errors_of_a_write),
        T(test_failed_way_back_is_open),
        T(test_write_without_effect),
        T(test_read_back_fails),
        T(test_foreign_before_the_first_write),
        T(test_foreign_while_ours),
        T(test_foreign_at_restore),
        T(test_foreign_write_of_the_original),
        T(test_foreign_write_of_our_value),
        T(test_foreign_during_a_write),
        T(test_release),
        T(test_restart_adopts),
        T(test_restart_with_intended_only),
        T(test_damaged_journal_hands_off),
        T(test_restore_from_journal),
        T(test_restore_when_it_cannot),
        T(test_commit),
        T(test_commit_refused),
        T(test_commit_of_something_odd),
        T(test_no_commit_that_would_oops),
        T(test_rescale_at_hotplug),
        T(test_restore_with_fewer_cpus),
        T(test_rescale_of_an_untouched_knob),
        T(test_ratio_without_hotplug_is_foreign),
        T(test_originals_beyond_the_bounds),
        T(test_files_that_are_no_numbers),
        T(test_why_not),
        T(test_lockdown),
        T(test_read_only_mount),
        T(test_permission),
        T(test_death_at_every_system_call),
        T(test_errors_at_every_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
