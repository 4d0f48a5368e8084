/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who wrote a knob, for real: fanotify on the files of a tree. Needs root; else only the silent fallback is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "fixture.h"
#include "knob.h"
#include "log.h"
#include "util.h"
#include "watch.h"

#define COST "/sys/kernel/debug/sched/migration_cost_ns"

static struct fixture fx;
static struct sysio io;
static struct undo u;
static struct knobs ks;
static sd_event *event;
static struct watch *watch;
static unsigned int called;
static struct knob *called_with;

static void on_write(struct knob *k, void *userdata)
{
    assert_ptr_equal(userdata, &ks);
    called++;
    called_with = k;
}

static int setup(void **state)
{
    (void)state;
    called = 0;
    called_with = NULL;
    fixture_new(&fx, FIXTURE_6_12);
    assert_int_equal(sysio_init(&io, fx.root), 0);
    assert_int_equal(undo_load(&u, fx.undo, ""), 0);
    knobs_init(&ks, &io, &u, false);
    assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(watch_new(&watch, event, &io, &ks, on_write, &ks), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    watch = watch_free(watch);
    event = sd_event_unref(event);
    sysio_done(&io);
    fixture_free(&fx);
    return 0;
}

static bool can_watch(void)
{
    const char *why;

    if (watch_is_active(watch, &why))
        return true;
    print_message("# skipped, no fanotify here: %s\n", why);
    return false;
}

static void run_loop(void)
{
    while (sd_event_run(event, 50000) > 0)
        ;
}

/* Another process writes, and stays until told to go when `stay`. */
static pid_t write_as_other(const char *path, const char *text, bool stay, int *ret_go)
{
    int ready[2], go[2];
    char c;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[1]);
        fixture_write(&fx, path, text);
        (void)!write(ready[1], "x", 1);
        if (stay)
            (void)!read(go[0], &c, 1);
        _exit(0);
    }
    (void)close(go[0]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    *ret_go = go[1];
    return pid;
}

static void reap(pid_t pid, int go)
{
    (void)close(go);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static pid_t other_writes(const char *path, const char *text)
{
    int go;
    pid_t pid = write_as_other(path, text, false, &go);

    reap(pid, go);
    return pid;
}

static void test_fallback_is_silent(void **state)
{
    const char *why = "";

    (void)state;
    assert_non_null(watch);
    if (geteuid() != 0) {
        assert_false(watch_is_active(watch, &why));
        assert_string_equal(why, "not permitted");
    }
    /* Comparing works either way. */
    fixture_write(&fx, COST, "700000\n");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    run_loop();
}

static void test_writer_is_named(void **state)
{
    struct knob *k = knobs_find(&ks, "migration_cost_ns");
    char path[64];
    int go;

    (void)state;
    if (!can_watch())
        return;
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    pid_t pid = write_as_other(COST, "700000\n", true, &go);
    (void)snprintf(path, sizeof path, "/proc/%d/comm", pid);
    fixture_write(&fx, path, "tuned\n");
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    fixture_write(&fx, path, "1:cpu:/x\n0::/system.slice/tuned.service\n");
    run_loop();
    reap(pid, go);
    assert_int_equal(called, 1);
    assert_ptr_equal(called_with, k);
    assert_int_equal(k->foreign_pid, pid);
    assert_string_equal(k->foreign_comm, "tuned");
    assert_string_equal(k->foreign_unit, "tuned.service");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_non_null(strstr(k->reason, "(tuned, tuned.service)"));
    assert_int_equal(k->foreign_value, 700000);
}

static void test_writer_that_has_exited(void **state)
{
    struct knob *k = knobs_find(&ks, "migration_cost_ns");

    (void)state;
    if (!can_watch())
        return;
    pid_t pid = other_writes(COST, "700000\n");
    run_loop();
    assert_int_equal(k->foreign_pid, pid);
    assert_string_equal(k->foreign_comm, "");
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_non_null(strstr(k->reason, "(exited)"));
}

static void test_our_own_writes_are_no_news(void **state)
{
    struct knob *k = knobs_find(&ks, "migration_cost_ns");

    (void)state;
    if (!can_watch())
        return;
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    assert_int_equal(knob_write(&ks, k, 125000, "test"), 1);
    run_loop();
    assert_int_equal(called, 0);
    assert_int_equal(knobs_verify(&ks, NULL), 0);
}

/* What comparing cannot see. */
static void test_foreign_write_of_our_value(void **state)
{
    struct knob *k = knobs_find(&ks, "migration_cost_ns");

    (void)state;
    if (!can_watch())
        return;
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    run_loop();
    (void)other_writes(COST, "250000\n");
    run_loop();
    assert_int_equal(knobs_verify(&ks, NULL), 1);
    assert_int_equal(k->state, KNOB_FOREIGN);
    assert_int_equal(knobs_restore(&ks, "test"), 0);
    assert_string_equal(fixture_read(&fx, COST), "250000");
}

/* A write that changes nothing before we wrote anything is forgotten. */
static void test_foreign_write_of_the_original(void **state)
{
    struct knob *k = knobs_find(&ks, "migration_cost_ns");

    (void)state;
    if (!can_watch())
        return;
    (void)other_writes(COST, "500000\n");
    run_loop();
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    assert_int_equal(knob_write(&ks, k, 250000, "test"), 1);
    run_loop();
    assert_int_equal(knobs_verify(&ks, NULL), 0);
    assert_int_equal(k->state, KNOB_OK);
}

static void test_a_flood_is_bounded(void **state)
{
    (void)state;
    if (!can_watch())
        return;
    for (int i = 0; i < 50; i++)
        (void)other_writes(COST, i % 2 ? "700000\n" : "800000\n");
    run_loop();
    assert_true(called >= 1 && called < 10); /* once per bufferful */
    assert_int_equal(knobs_verify(&ks, NULL), 1);
}

static void test_hostile_names(void **state)
{
    struct knob *k = knobs_find(&ks, "migration_cost_ns");
    char path[64], text[900];
    int go;

    (void)state;
    if (!can_watch())
        return;
    pid_t pid = write_as_other(COST, "700000\n", true, &go);
    (void)snprintf(path, sizeof path, "/proc/%d/comm", pid);
    fixture_write(&fx, path, "a\033[2Jb\nc%n\n");
    memset(text, 'x', sizeof text);
    memcpy(text, "0::/", 4);
    memcpy(text + 300, ".service\n", 10);
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    fixture_write(&fx, path, text);
    run_loop();
    reap(pid, go);
    assert_string_equal(k->foreign_comm, "a?[2Jb?c%n");
    assert_true(strlen(k->foreign_unit) < sizeof k->foreign_unit);
    assert_int_equal(knobs_verify(&ks, NULL), 1);
}

int main(void)
{
    log_init(-1);
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(test_fallback_is_silent),
        T(test_writer_is_named),
        T(test_writer_that_has_exited),
        T(test_our_own_writes_are_no_news),
        T(test_foreign_write_of_our_value),
        T(test_foreign_write_of_the_original),
        T(test_a_flood_is_bounded),
        T(test_hostile_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
