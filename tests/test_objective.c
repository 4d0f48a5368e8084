/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings, deadlines and rates with a source of the test's own; the run-queue wait. */
#include "objective_env.h"

#include <errno.h>
#include <math.h>

/* ---- a source that does as it is told ------------------------------------------------------ */

struct fake {
    struct objective_reading next;
    bool later; /* does not answer by itself */
    unsigned requests, cancels, closes;
};

static int fake_open(struct objective *o)
{
    return strcmp(o->profile->connection, "bad") == 0 ? -EINVAL : 0;
}
static void fake_request(struct objective *o)
{
    struct fake *f = o->private;

    f->requests++;
    if (f->later)
        return;
    o->now = f->next;
    if (!f->next.valid)
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "gone");
    objective_finish(o);
}
static void fake_cancel(struct objective *o)
{
    ((struct fake *)o->private)->cancels++;
}
static void fake_close(struct objective *o)
{
    ((struct fake *)o->private)->closes++;
}
static const struct objective_def fake_def = {
    .name = "fake", .size = sizeof(struct fake),
    .open = fake_open, .request = fake_request, .cancel = fake_cancel, .close = fake_close,
};

static struct fake *open_fake(struct env *e, enum measure measure)
{
    e->p.measure = measure;
    assert_int_equal(objective_open_def(&e->o, &fake_def, &e->p, &e->io, e->event), 0);
    return e->o.private;
}

/* One window of 1 s that ends at second `s`; 2 threads run, 3 wait. */
static struct window at(uint64_t s)
{
    struct window w = { .start_ns = (s - 1) * NSEC_PER_SEC, .end_ns = s * NSEC_PER_SEC };

    window_set(&w, METRIC_RUNNING, 2);
    window_set(&w, METRIC_WAITING, 3);
    return w;
}

static struct window ask(struct env *e, uint64_t s)
{
    struct window w = at(s);

    objective_ask(&e->o, NSEC_PER_SEC, on_done, &e->done);
    objective_evaluate(&e->o, &w);
    return w;
}

static struct objective_reading totals(uint64_t s, double work, double active)
{
    return (struct objective_reading){ .valid = true, .mono_ns = s * NSEC_PER_SEC, .has_work = true,
                                       .work_total = work, .has_active = true, .active_s_total = active };
}

static void measures(void **state)
{
    static const double want[] = { [MEASURE_SERVICE] = 100.0 / 5, [MEASURE_TPS] = 100, [MEASURE_LATENCY] = 100.0 / 4 };
    struct env *e = *state;

    for (int m = MEASURE_SERVICE; m <= MEASURE_LATENCY; m++) {
        struct fake *f = open_fake(e, (enum measure)m);
        f->next = totals(10, 1000, 7);
        struct window w = ask(e, 10);
        assert_int_equal(e->o.state, OBJECTIVE_STARTING);
        assert_false(window_has(&w, METRIC_OBJECTIVE));
        assert_false(window_has(&w, METRIC_TPS));
        assert_float_equal(window_get(&w, METRIC_LOAD), 5, 1e-9);
        f->next = totals(11, 1100, 11);
        w = ask(e, 11);
        assert_int_equal(e->o.state, OBJECTIVE_OK);
        assert_float_equal(window_get(&w, METRIC_OBJECTIVE), want[m], 1e-9);
        assert_float_equal(window_get(&w, METRIC_TPS), 100, 1e-9);
        assert_float_equal(window_get(&w, METRIC_ACTIVE), 4, 1e-9);
        objective_close(&e->o);
    }
    assert_int_equal(e->done, 6);
}

static void nothing_ran(void **state)
{
    struct env *e = *state;
    struct fake *f = open_fake(e, MEASURE_SERVICE);

    f->next = totals(10, 0, 0);
    (void)ask(e, 10);
    f->next = totals(11, 100, 0);
    objective_ask(&e->o, NSEC_PER_SEC, on_done, &e->done);
    struct window w = at(11);
    window_set(&w, METRIC_RUNNING, 0);
    window_set(&w, METRIC_WAITING, 0);
    objective_evaluate(&e->o, &w);
    assert_false(window_has(&w, METRIC_OBJECTIVE)); /* not infinite */
    w = at(11);
    w.valid = 0; /* no schedstat */
    objective_evaluate(&e->o, &w);
    assert_false(window_has(&w, METRIC_OBJECTIVE));
    assert_false(window_has(&w, METRIC_LOAD));
    assert_true(window_has(&w, METRIC_TPS));
    e->p.measure = MEASURE_LATENCY;
    objective_evaluate(&e->o, &w);
    assert_false(window_has(&w, METRIC_OBJECTIVE));
}

static void missing_is_missing(void **state)
{
    struct env *e = *state;
    struct fake *f = open_fake(e, MEASURE_TPS);

    f->next = totals(10, 1000, 1);
    (void)ask(e, 10);
    f->next = (struct objective_reading){ 0 };
    struct window w = ask(e, 11);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE);
    assert_string_equal(e->o.reason, "gone");
    assert_false(window_has(&w, METRIC_TPS));
    f->next = totals(12, 1200, 2); /* two windows long: nothing is claimed for the second */
    w = ask(e, 12);
    assert_false(window_has(&w, METRIC_TPS));
    f->next = totals(13, 1350, 3);
    w = ask(e, 13);
    assert_int_equal(e->o.state, OBJECTIVE_OK);
    assert_float_equal(window_get(&w, METRIC_TPS), 150, 1e-9);
}

static void totals_that_cannot_be(void **state)
{
    struct env *e = *state;
    struct fake *f = open_fake(e, MEASURE_TPS);

    f->next = totals(10, 1000, 1);
    (void)ask(e, 10);
    f->next = totals(11, 900, 1);
    struct window w = ask(e, 11);
    assert_int_equal(e->o.state, OBJECTIVE_NONSENSE);
    assert_false(window_has(&w, METRIC_TPS));
    f->next = totals(12, 1000, 1); /* and goes on from there */
    w = ask(e, 12);
    assert_float_equal(window_get(&w, METRIC_TPS), 100, 1e-9);
    f->next = totals(13, NAN, 1);
    w = ask(e, 13);
    assert_int_equal(e->o.state, OBJECTIVE_NONSENSE);
    assert_false(window_has(&w, METRIC_TPS));
    f->next = totals(13, -1, 1);
    w = ask(e, 13);
    assert_int_equal(e->o.state, OBJECTIVE_NONSENSE);
    f->next = totals(14, 2000, 1);
    f->next.epoch = 7; /* another series */
    (void)ask(e, 14);
    f->next = totals(15, 3000, 1);
    w = ask(e, 15);
    assert_int_equal(e->o.state, OBJECTIVE_STARTING);
    assert_false(window_has(&w, METRIC_TPS));
    f->next = totals(15, 4000, 1); /* no time between */
    w = ask(e, 15);
    assert_int_equal(e->o.state, OBJECTIVE_NONSENSE);
    assert_false(window_has(&w, METRIC_TPS));
}

static void run(struct env *e, uint64_t ns)
{
    for (uint64_t end = now_mono_ns() + ns, now; (now = now_mono_ns()) < end;)
        assert_true(sd_event_run(e->event, (end - now) / 1000 + 1) >= 0);
}

static void late(void **state)
{
    struct env *e = *state;
    struct fake *f = open_fake(e, MEASURE_TPS);

    f->later = true;
    objective_ask(&e->o, 20 * NSEC_PER_MSEC, on_done, &e->done);
    assert_true(e->o.pending);
    run(e, 80 * NSEC_PER_MSEC);
    assert_int_equal(e->done, 1);
    assert_int_equal(f->cancels, 1);
    assert_int_equal(e->o.state, OBJECTIVE_LATE);
    e->o.now = totals(10, 1, 1);
    objective_finish(&e->o); /* the answer comes after all */
    assert_int_equal(e->done, 1);
    assert_int_equal(e->o.state, OBJECTIVE_LATE);
    e->o.now.valid = false;

    /* in time, and the deadline then does nothing */
    objective_ask(&e->o, 20 * NSEC_PER_MSEC, on_done, &e->done);
    e->o.now = totals(11, 1, 1);
    objective_finish(&e->o);
    run(e, 60 * NSEC_PER_MSEC);
    assert_int_equal(e->done, 2);
    assert_int_equal(f->cancels, 1);

    /* asked again while one is out: each ask has its done */
    objective_ask(&e->o, NSEC_PER_SEC, on_done, &e->done);
    objective_ask(&e->o, NSEC_PER_SEC, on_done, &e->done);
    assert_int_equal(e->done, 3);
    assert_int_equal(f->cancels, 2);
    assert_true(e->o.pending);
}

static void cannot_open(void **state)
{
    struct env *e = *state;

    strcpy(e->p.connection, "bad");
    assert_int_equal(objective_open_def(&e->o, &fake_def, &e->p, &e->io, e->event), -EINVAL);
    strcpy(e->p.objective, "nosuch");
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), -ENOENT);
    strcpy(e->p.objective, "postgresql");
    strcpy(e->p.connection, "host=/run/postgresql s3cret pass");
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), -EINVAL);
    assert_null(strstr(e->o.reason, "s3cret"));
    assert_non_null(strstr(e->o.reason, "cluster 1"));
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, NULL), -EINVAL);
}

static void sched(void **state)
{
    struct env *e = *state;

    strcpy(e->p.objective, "sched");
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, NULL), 0);
    assert_true(e->o.def->proxy);
    struct window w = ask(e, 10);
    assert_int_equal(e->o.state, OBJECTIVE_UNREACHABLE);
    assert_false(window_has(&w, METRIC_OBJECTIVE));
    assert_float_equal(window_get(&w, METRIC_LOAD), 5, 1e-9);
    double before = 0;
    for (double wait = 1e7; wait >= 1; wait /= 10) { /* shorter is better */
        w = at(11);
        window_set(&w, METRIC_RUNQ_WAIT_NS, wait < 10 ? 0 : wait);
        objective_ask(&e->o, NSEC_PER_SEC, on_done, &e->done);
        objective_evaluate(&e->o, &w);
        assert_int_equal(e->o.state, OBJECTIVE_OK);
        assert_true(window_get(&w, METRIC_OBJECTIVE) > before);
        before = w.value[METRIC_OBJECTIVE];
    }
    assert_false(window_has(&w, METRIC_TPS));
    assert_non_null(strstr(objective_text(&e->o), "run-queue wait"));
    assert_non_null(objective_unit(&e->o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(measures), ROW(nothing_ran), ROW(missing_is_missing), ROW(totals_that_cannot_be),
        ROW(late),     ROW(cannot_open), ROW(sched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
