/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The originals journal: its life, its damage, and death at every one of its system calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "fixture.h"

#include "fault.h"

#include "../daemon/undo.c"

#define A "/sys/kernel/debug/sched/migration_cost_ns"
#define B "/sys/kernel/debug/sched/base_slice_ns"

static struct fixture fx;
static struct undo u, v;

static int setup(void **state)
{
    (void)state;
    fault_reset();
    fixture_bare(&fx);
    return undo_load(&u, fx.undo, "boot-1");
}

static int teardown(void **state)
{
    (void)state;
    fault_reset();
    fixture_free(&fx);
    return 0;
}

static void append(const char *text)
{
    FILE *f = fopen(fx.undo, "ae");

    assert_non_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static bool there(const char *suffix)
{
    char path[200];

    (void)snprintf(path, sizeof path, "%s%s", fx.undo, suffix);
    return access(path, F_OK) == 0;
}

/* The size of the journal and one byte of it. */
static size_t slurp(char *buf, size_t size)
{
    FILE *f = fopen(fx.undo, "re");
    size_t n;

    assert_non_null(f);
    n = fread(buf, 1, size, f);
    (void)fclose(f);
    return n;
}

static void spit(const char *buf, size_t n)
{
    FILE *f = fopen(fx.undo, "we");

    assert_non_null(f);
    assert_int_equal(fwrite(buf, 1, n, f), n);
    (void)fclose(f);
}

static void test_no_journal_is_an_empty_one(void **state)
{
    (void)state;
    assert_int_equal(u.n, 0);
    assert_false(there(""));
}

static void test_life_of_an_item(void **state)
{
    (void)state;
    assert_int_equal(undo_intend(&u, A, "500000", "250000"), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_int_equal(v.n, 1);
    assert_string_equal(v.item[0].id, A);
    assert_string_equal(v.item[0].original, "500000");
    assert_string_equal(v.item[0].confirmed, "");
    assert_string_equal(v.item[0].intended, "250000");
    assert_true(v.item[0].real_ns > 0);
    assert_true(undo_is_ours(&v.item[0], "250000"));
    assert_false(undo_is_ours(&v.item[0], "500000"));
    assert_false(undo_is_ours(&v.item[0], ""));

    assert_int_equal(undo_confirm(&u, A, "250001"), 0);
    assert_int_equal(undo_intend(&u, A, "250001", "125000"), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_string_equal(v.item[0].original, "500000");
    assert_string_equal(v.item[0].confirmed, "250001");
    assert_string_equal(v.item[0].intended, "125000");
    assert_true(undo_is_ours(&v.item[0], "250001"));
    assert_true(undo_is_ours(&v.item[0], "125000"));

    assert_int_equal(undo_forget(&u, A), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_int_equal(v.n, 0);
    assert_true(there(""));
    assert_false(there(".tmp"));
}

static void test_forget_keeps_the_others(void **state)
{
    (void)state;
    assert_int_equal(undo_intend(&u, A, "1", "2"), 0);
    assert_int_equal(undo_intend_scaled(&u, B, "3", "4", "1/4", "1/3"), 0);
    assert_int_equal(undo_intend(&u, A "#X", "Y", "N"), 0);
    assert_int_equal(undo_forget(&u, A), 0);
    assert_int_equal(undo_forget(&u, A), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_int_equal(v.n, 2);
    assert_null(undo_find(&v, A));
    assert_string_equal(undo_find(&v, B)->original_scale, "1/4");
    assert_string_equal(undo_find(&v, B)->scale, "1/3");
    assert_string_equal(undo_find(&v, A "#X")->original, "Y");
}

static void test_foreign_is_remembered(void **state)
{
    (void)state;
    assert_int_equal(undo_set_foreign(&u, A, true), -ENOENT);
    assert_int_equal(undo_confirm(&u, A, "1"), -ENOENT);
    assert_int_equal(undo_add_foreign(&u, A, "500000", ""), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_true(v.item[0].foreign);
    assert_int_equal(undo_set_foreign(&u, A, false), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_false(v.item[0].foreign);
}

static void test_another_boot_is_moved_aside(void **state)
{
    (void)state;
    assert_int_equal(undo_intend(&u, A, "1", "2"), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-2"), 0);
    assert_int_equal(v.n, 0);
    assert_true(there(".old"));
    assert_false(there(""));
    assert_int_equal(undo_intend(&v, A, "1", "2"), 0);
    assert_int_equal(undo_load(&u, fx.undo, ""), 0); /* not known: taken */
    assert_int_equal(u.n, 1);
}

static void test_texts_that_would_break_the_format(void **state)
{
    char longer[UNDO_ID_MAX + 8];

    (void)state;
    memset(longer, '/', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(undo_intend(&u, A, "1\t2", "2"), -EINVAL);
    assert_int_equal(undo_intend(&u, A, "1", "2\nid=/x"), -EINVAL);
    assert_int_equal(undo_intend(&u, A "\n", "1", "2"), -EINVAL);
    assert_int_equal(undo_intend(&u, longer, "1", "2"), -EINVAL);
    assert_int_equal(undo_intend(&u, "relative", "1", "2"), -EINVAL);
    assert_int_equal(undo_intend(&u, A, "1", ""), -EINVAL);
    assert_int_equal(undo_intend(&u, A, "", "2"), -EINVAL);
    assert_int_equal(u.n, 0);
    assert_false(there(""));
}

static void test_full(void **state)
{
    char id[64];

    (void)state;
    for (int i = 0; i < UNDO_ITEMS_MAX; i++) {
        (void)snprintf(id, sizeof id, "/sys/%d", i);
        assert_int_equal(undo_intend(&u, id, "1", "2"), 0);
    }
    assert_int_equal(undo_intend(&u, "/sys/more", "1", "2"), -ENOSPC);
    assert_int_equal(undo_intend(&u, "/sys/7", "1", "3"), 0);
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
    assert_int_equal(v.n, UNDO_ITEMS_MAX);
}

static void test_no_directory_no_write(void **state)
{
    (void)state;
    assert_int_equal(undo_load(&u, "/nonexistent/tunerd/undo", "boot-1"), 0);
    assert_int_equal(undo_intend(&u, A, "1", "2"), -ENOENT);
    assert_int_equal(u.n, 0);
}

static void test_errors_of_the_file_system(void **state)
{
    static const struct {
        enum fault_op op;
        const char *path;
        int error;
    } all[] = {
        { FAULT_OPEN, "undo.tmp", EACCES }, { FAULT_WRITE, "undo.tmp", ENOSPC }, { FAULT_FSYNC, "undo.tmp", EIO },
        { FAULT_RENAME, "undo", EROFS },
    };

    (void)state;
    assert_int_equal(undo_intend(&u, A, "1", "2"), 0);
    for (size_t i = 0; i < ELEMENTSOF(all); i++) {
        fault_reset();
        fault_add(all[i].op, all[i].path, all[i].error, 0, 0);
        assert_int_equal(undo_intend(&u, A, "1", "7"), -all[i].error);
        assert_string_equal(u.item[0].intended, "2");
        assert_int_equal(undo_intend(&u, B, "3", "4"), -all[i].error);
        assert_int_equal(u.n, 1);
        fault_reset();
        assert_false(there(".tmp"));
        assert_int_equal(undo_load(&v, fx.undo, "boot-1"), 0);
        assert_int_equal(v.n, 1);
        assert_string_equal(v.item[0].intended, "2");
    }
    /* EINTR is no error. */
    fault_add(FAULT_WRITE, "undo.tmp", EINTR, 0, 1);
    assert_int_equal(undo_intend(&u, A, "1", "7"), 0);
    /* A leftover of a process that died is no obstacle, a link is not followed. */
    char tmp[200];
    (void)snprintf(tmp, sizeof tmp, "%s.tmp", fx.undo);
    assert_int_equal(symlink("/nonexistent/x", tmp), 0);
    assert_int_equal(undo_intend(&u, A, "1", "8"), 0);
}

static void test_damage_any_byte(void **state)
{
    char good[2048], bad[2048];
    size_t n;

    (void)state;
    assert_int_equal(undo_intend(&u, A, "500000", "250000"), 0);
    assert_int_equal(undo_confirm(&u, A, "250000"), 0);
    assert_int_equal(undo_intend(&u, B, "2100000", "3000000"), 0);
    n = slurp(good, sizeof good);
    for (size_t i = 0; i < n; i++) {
        memcpy(bad, good, n);
        bad[i] ^= 0x15;
        spit(bad, n);
        int r = undo_load(&v, fx.undo, "boot-1");
        assert_int_equal(r, -EBADMSG);
        /* Nothing wrong is ever taken for an original that may be written. */
        for (size_t k = 0; k < v.n; k++) {
            const struct undo_item *it = &v.item[k], *was = undo_find(&u, it->id);
            if (!it->foreign) {
                assert_non_null(was);
                assert_string_equal(it->original, was->original);
                assert_string_equal(it->confirmed, was->confirmed);
                assert_string_equal(it->intended, was->intended);
            }
        }
    }
    assert_true(there(".damaged"));
}

static void test_truncated_anywhere(void **state)
{
    char good[2048];
    size_t n, header = strlen(HEADER) + 1;

    (void)state;
    assert_int_equal(undo_intend(&u, A, "500000", "250000"), 0);
    assert_int_equal(undo_intend(&u, B, "2100000", "3000000"), 0);
    n = slurp(good, sizeof good);
    for (size_t i = 0; i < n; i++) {
        size_t first = (size_t)((char *)memchr(good + header, '\n', n - header) - good) + 1;
        spit(good, i);
        int r = undo_load(&v, fx.undo, "boot-1");
        assert_int_equal(r, i == header || i == first ? 0 : -EBADMSG);
        if (i >= first)
            assert_string_equal(undo_find(&v, A)->original, "500000");
        for (size_t k = 0; k < v.n; k++)
            assert_true(v.item[k].foreign || strcmp(v.item[k].original, undo_find(&u, v.item[k].id)->original) == 0);
    }
}

static void test_other_damage(void **state)
{
    (void)state;
    assert_int_equal(undo_intend(&u, A, "500000", "250000"), 0);
    append("\n\nrubbish\nid=/sys/x\toriginal=5\tsum=00000000\n\tsum=\n");
    assert_int_equal(undo_load(&v, fx.undo, "boot-1"), -EBADMSG);
    assert_string_equal(undo_find(&v, A)->original, "500000");
    /* What the damaged line was about is left alone. */
    assert_true(undo_find(&v, "/sys/x")->foreign);
    assert_string_equal(undo_find(&v, "/sys/x")->original, "");
    /* The next write repairs the file; the lost item stays marked. */
    assert_int_equal(undo_confirm(&v, A, "250000"), 0);
    assert_int_equal(undo_load(&u, fx.undo, "boot-1"), 0);
    assert_true(undo_find(&u, "/sys/x")->foreign);
}

/* What a life of the journal does, with the state of the knob that it protects in a file of one letter. */
static void live(const char *knob)
{
    struct undo *w = calloc(1, sizeof *w);
    static const char *const values[] = { "2", "3", "4", "3" };
    int fd;

    assert(undo_load(w, fx.undo, "boot-1") == 0);
    for (size_t i = 0; i < ELEMENTSOF(values); i++) {
        assert(undo_intend(w, A, "1", values[i]) == 0);
        fd = open(knob, O_WRONLY | O_CLOEXEC);
        assert(write(fd, values[i], 1) == 1);
        (void)close(fd);
        assert(undo_confirm(w, A, values[i]) == 0);
    }
    assert(undo_intend(w, A, "1", "1") == 0);
    fd = open(knob, O_WRONLY | O_CLOEXEC);
    assert(write(fd, "1", 1) == 1);
    (void)close(fd);
    assert(undo_forget(w, A) == 0);
    free(w);
}

static void test_death_at_every_system_call(void **state)
{
    char knob[200];
    long at;

    (void)state;
    (void)snprintf(knob, sizeof knob, "%s/root/sys/knob", fx.dir);
    for (at = 1; at < 10000; at++) {
        int status;
        fixture_write(&fx, "/sys/knob", "1");
        (void)unlink(fx.undo);
        pid_t pid = fork();
        if (pid == 0) {
            fault_reset();
            fault.at = at;
            live(knob);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        const char *now = fixture_read(&fx, "/sys/knob");
        int r = undo_load(&v, fx.undo, "boot-1");
        assert_int_equal(r, 0);
        struct undo_item *i = undo_find(&v, A);
        if (i)
            assert_string_equal(i->original, "1");
        assert_true(strcmp(now, "1") == 0 || (i && undo_is_ours(i, now)));
        if (WEXITSTATUS(status) == 0)
            break;
        assert_int_equal(WEXITSTATUS(status), FAULT_KILLED);
    }
    assert_true(at > 60 && at < 10000);
    print_message("# died at each of %ld system calls\n", at - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(test_no_journal_is_an_empty_one),
        T(test_life_of_an_item),
        T(test_forget_keeps_the_others),
        T(test_foreign_is_remembered),
        T(test_another_boot_is_moved_aside),
        T(test_texts_that_would_break_the_format),
        T(test_full),
        T(test_no_directory_no_write),
        T(test_errors_of_the_file_system),
        T(test_damage_any_byte),
        T(test_truncated_anywhere),
        T(test_other_damage),
        T(test_death_at_every_system_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
