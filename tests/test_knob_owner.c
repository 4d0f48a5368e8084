/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose value is it: writes by others at every moment, release, restart, restore. */
#include "knobtest.h"

static void foreign_700000(void)
{
    fixture_write(&fx, COST, "700000\n");
}

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
    uint64_t rescaled = 7;

    (void)state;
    begin(FIXTURE_6_12);
    k = knob("migration_cost_ns");
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knobs_verify(&ks, &rescaled), UINT64_C(1) << (k - ks.k));
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
        if (ks.k[i].state == KNOB_OK) {
            uint64_t v;
            assert_int_equal(knob_read(&ks, &ks.k[i], &v), 0);
            assert_int_equal(v, ks.k[i].original);
        }
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

int main(void)
{
    log_init(-1); /* errors are expected here */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_foreign_before_the_first_write, teardown),
        cmocka_unit_test_teardown(test_foreign_while_ours, teardown),
        cmocka_unit_test_teardown(test_foreign_at_restore, teardown),
        cmocka_unit_test_teardown(test_foreign_write_of_the_original, teardown),
        cmocka_unit_test_teardown(test_foreign_write_of_our_value, teardown),
        cmocka_unit_test_teardown(test_foreign_during_a_write, teardown),
        cmocka_unit_test_teardown(test_release, teardown),
        cmocka_unit_test_teardown(test_restart_adopts, teardown),
        cmocka_unit_test_teardown(test_restart_with_intended_only, teardown),
        cmocka_unit_test_teardown(test_damaged_journal_hands_off, teardown),
        cmocka_unit_test_teardown(test_restore_from_journal, teardown),
        cmocka_unit_test_teardown(test_restore_when_it_cannot, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
