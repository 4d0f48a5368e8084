/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objective `file`: numbers and Prometheus text, caught empty, half written, stale, of the wrong kind. */
#include "objective_env.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static void put(struct env *e, const char *text)
{
    char path[96], tmp[96];
    FILE *f;

    snprintf(path, sizeof path, "%s/work", e->dir);
    snprintf(tmp, sizeof tmp, "%s/work.new", e->dir);
    f = fopen(tmp, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(rename(tmp, path), 0);
}

static struct window ask_file(struct env *e)
{
    uint64_t now_ns = now_mono_ns();
    struct window w = { .start_ns = now_ns - NSEC_PER_SEC, .end_ns = now_ns };

    window_set(&w, METRIC_RUNNING, 2);
    window_set(&w, METRIC_WAITING, 3);
    objective_ask(&e->o, NSEC_PER_SEC, on_done, &e->done);
    objective_evaluate(&e->o, &w);
    return w;
}

static void open_file(struct env *e, const char *metric, const char *load, bool counter)
{
    strcpy(e->p.objective, "file");
    strcpy(e->p.file, "/work");
    strcpy(e->p.file_metric, metric);
    strcpy(e->p.file_load_metric, load);
    e->p.file_counter = counter;
    e->p.measure = MEASURE_TPS;
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), 0);
}

static void file_number(void **state)
{
    static const struct {
        const char *text;
        enum objective_state state;
        double value;
    } rows[] = {
        { "42.5\n", OBJECTIVE_OK, 42.5 },       { "42.5", OBJECTIVE_OK, 42.5 },
        { "0\n", OBJECTIVE_OK, 0 },             { "", OBJECTIVE_UNREACHABLE, 0 },
        { "\n", OBJECTIVE_UNREACHABLE, 0 },     { "nan\n", OBJECTIVE_NONSENSE, 0 },
        { "-3\n", OBJECTIVE_NONSENSE, 0 },      { "1 2 3\n", OBJECTIVE_NONSENSE, 0 },
        { "1\n2\n", OBJECTIVE_NONSENSE, 0 },    { "lots\n", OBJECTIVE_NONSENSE, 0 },
        { "1e999\n", OBJECTIVE_NONSENSE, 0 },
    };
    struct env *e = *state;

    open_file(e, "", "", false);
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE); /* no file yet */
    for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
        put(e, rows[i].text);
        struct window w = ask_file(e);
        assert_int_equal(e->o.state, rows[i].state);
        assert_int_equal(window_has(&w, METRIC_OBJECTIVE), rows[i].state == OBJECTIVE_OK);
        if (rows[i].state == OBJECTIVE_OK)
            assert_float_equal(w.value[METRIC_OBJECTIVE], rows[i].value, 1e-9);
        else
            assert_true(e->o.reason[0] != '\0');
    }
    put(e, "7\n");
    struct window w = ask_file(e);
    assert_float_equal(window_get(&w, METRIC_OBJECTIVE), 7, 1e-9);
}

static void file_prometheus(void **state)
{
    static const char text[] = "# HELP work things done\n# TYPE work counter\n"
                               "work_created 5\nwork{db=\"a } b\",x=\"\\\"\"} 1000 1700000000000\nwork{db=\"c\"} 500\n"
                               "load 24\nworkers 9\n";
    struct env *e = *state;

    open_file(e, "work", "load", false);
    put(e, "load 24\n");
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE); /* no such metric */
    put(e, "work 10\n");
    struct window w = ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE); /* no load: another signal must not stand in */
    assert_false(window_has(&w, METRIC_LOAD));
    put(e, "work 10\nload 5");
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE); /* half written: 5 of 50 */
    put(e, "work{a=\"b 10\nload 5\n");
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE);
    put(e, text); /* the time stamp is years old */
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE);
    assert_non_null(strstr(e->o.reason, "stale"));
    put(e, "work{db=\"a } b\",x=\"\\\"\"} 1000\nwork{db=\"c\"}\t500\nload 24\nworkers 9\n");
    w = ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_OK);
    assert_float_equal(window_get(&w, METRIC_TPS), 1500, 1e-9);
    assert_float_equal(window_get(&w, METRIC_LOAD), 24, 1e-9);
    assert_non_null(strstr(objective_load_source(&e->o), "application"));
}

static void put_total(struct env *e, double total, uint64_t real_ns)
{
    char text[96];

    snprintf(text, sizeof text, "work %.17g %lu\n", total, real_ns / NSEC_PER_MSEC);
    put(e, text);
}

static void file_counter(void **state)
{
    struct env *e = *state;
    uint64_t now_ns = now_real_ns();

    open_file(e, "work", "", true);
    put_total(e, 1000, now_ns - 2 * NSEC_PER_SEC);
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_STARTING);
    put_total(e, 1250, now_ns - NSEC_PER_SEC);
    struct window w = ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_OK);
    assert_float_equal(window_get(&w, METRIC_TPS), 250, 1); /* by the file's time, not the reader's */
    w = ask_file(e);
    assert_false(window_has(&w, METRIC_TPS)); /* nobody wrote: missing, not zero */
    assert_non_null(strstr(e->o.reason, "not written"));
    put_total(e, 1400, now_ns);
    w = ask_file(e);
    assert_float_equal(window_get(&w, METRIC_TPS), 150, 1);
    put_total(e, 3, now_ns + NSEC_PER_SEC); /* the writer started anew */
    w = ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_NONSENSE);
    assert_false(window_has(&w, METRIC_TPS));
}

static void file_stale(void **state)
{
    struct env *e = *state;
    struct timespec old[2] = { { .tv_sec = time(NULL) - 40 }, { .tv_sec = time(NULL) - 40 } };
    char path[96];

    snprintf(path, sizeof path, "%s/work", e->dir);
    open_file(e, "", "", false);
    put(e, "5\n");
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE);
    assert_non_null(strstr(e->o.reason, "stale"));
    old[0].tv_sec = old[1].tv_sec += 3000; /* from the future: the clock was set back */
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_OK);
}

static void file_odd(void **state)
{
    struct env *e = *state;
    char path[96];

    snprintf(path, sizeof path, "%s/work", e->dir);
    open_file(e, "", "", false);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)ask_file(e); /* does not wait for a writer */
    assert_int_equal(e->o.state, OBJECTIVE_REFUSED);
    assert_int_equal(unlink(path), 0);
    put(e, "5\n");
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() != 0) {
        (void)ask_file(e);
        assert_int_equal(e->o.state, OBJECTIVE_REFUSED);
    }
    assert_int_equal(unlink(path), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 300000; i++)
        fputc('1', f);
    fclose(f);
    (void)ask_file(e);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE);
    objective_close(&e->o);
    e->p.measure = MEASURE_LATENCY;
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), -EINVAL);
    e->p.measure = MEASURE_TPS;
    strcpy(e->p.file, "work");
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(file_number), ROW(file_prometheus), ROW(file_counter), ROW(file_stale), ROW(file_odd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
