/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state machine, event by event, on small plants without surprises. */
#include "bench.h"

#include <errno.h>

static void test_bad_config(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.c.knobs[0].min = 9e6;
    assert_int_equal(tuner_init(b.t, policy_find("hillclimb"), &b.c), -EINVAL);
    b.c.knobs[0].min = NAN;
    assert_int_equal(tuner_init(b.t, policy_find("hillclimb"), &b.c), -EINVAL);
    b.c.knobs[0].min = 1e4;
    b.c.knobs[0].baseline = 0;
    assert_int_equal(tuner_init(b.t, policy_find("hillclimb"), &b.c), -EINVAL);
    b.c.n_knobs = TUNER_KNOBS_MAX + 1;
    assert_int_equal(tuner_init(b.t, policy_find("hillclimb"), &b.c), -EINVAL);
    assert_null(policy_find("no such policy"));
    free(b.t);
}

static void test_grid(void **state)
{
    struct tuner_knob k = { .scale = TUNER_SCALE_LOG, .baseline = 5e5, .min = 1e4, .max = 5e6 };
    struct knob_arms a;

    (void)state;
    assert_int_equal(arms_init(&a, &k), 0);
    assert_int_equal(a.n, 10);
    assert_int_equal(a.base, 6);
    assert_true(a.value[0] == 1e4 && a.value[1] == 15625 && a.value[9] == 4e6);
    k.min = 1e3;
    k.max = 1e4; /* the baseline is an arm even outside the range */
    assert_int_equal(arms_init(&a, &k), 0);
    assert_true(a.value[a.base] == 5e5 && a.base == a.n - 1 && a.value[a.n - 2] <= 1e4 &&
                a.value[0] == 1e3);
    k = (struct tuner_knob){
        .scale = TUNER_SCALE_CHOICE, .baseline = 0, .n_choices = 3, .choices = { 0, 1, 1 }
    };
    assert_int_equal(arms_init(&a, &k), 0);
    assert_int_equal(a.n, 2);
}

/* A gain is found and kept; the check re-shows it; when it goes away it is rolled back. */
static void test_accept_check_rollback(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    assert_true(b.last[TUNER_EVENT_ACCEPT].evidence.n >= 2);
    assert_true(b.last[TUNER_EVENT_ACCEPT].evidence.lo > 0);
    assert_true(b.last[TUNER_EVENT_ACCEPT].evidence.e >= b.last[TUNER_EVENT_ACCEPT].evidence.bar);
    assert_true(b.last[TUNER_EVENT_ACCEPT].new_value < b.last[TUNER_EVENT_ACCEPT].old_value);
    assert_true(play_until(&b, TUNER_EVENT_KEEP, 1000));
    assert_true(b.last[TUNER_EVENT_KEEP].evidence.mean > 0);
    play(&b, 60); /* the level is known again */
    b.effect[0] = -.05;
    assert_true(play_until(&b, TUNER_EVENT_ROLLBACK, 100));
    assert_true(tuner_moves(b.t) >= 2);
    free(b.t);
}

static void test_harmful(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .06;
    b.c.knobs[0].min = 5e5; /* only the harmful side */
    bench_start(&b);
    play(&b, 2000);
    assert_int_equal(b.count[TUNER_EVENT_ACCEPT], 0);
    assert_true(b.count[TUNER_EVENT_ABORT] > 0);
    assert_int_equal(b.last[TUNER_EVENT_ABORT].reason, TUNER_WHY_LOSS_GUARD);
    free(b.t);
}

static void test_fixed(void **state)
{
    struct bench b;
    double adopted[TUNER_KNOBS_MAX] = { 62500 };

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    assert_int_equal(tuner_init(b.t, policy_find("fixed"), &b.c), 0);
    assert_int_equal(tuner_adopt(b.t, adopted), 0);
    for (int i = 0; i < 3000; i++) {
        play(&b, 1);
        assert_true(tuner_last(b.t)->value[0] == 5e5);
    }
    free(b.t);
}

/* No measurement: nothing moves, whatever the state, and time passes. */
static void test_missing(void **state)
{
    struct tuner_window w = { .objective = NAN, .load = 100 };
    struct bench b;
    double value;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    play_to_candidate(&b);
    value = tuner_last(b.t)->value[0];
    for (int i = 0; i < 500; i++) {
        const struct tuner_decision *d = tuner_step(b.t, &w);

        assert_true(d->value[0] == value && !d->moved);
        assert_int_equal(d->reason, TUNER_WHY_MISSING);
    }
    play(&b, 1);
    assert_int_equal(b.last[TUNER_EVENT_VOID].reason, TUNER_WHY_MISSING);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    free(b.t);
}

static void test_classes(void **state)
{
    struct tuner_memory m;
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    play(&b, 50);
    b.load = 300; /* another class: the baseline, and what was learned stays with the old one */
    assert_true(play_until(&b, TUNER_EVENT_CLASS, 40));
    assert_int_equal(b.last[TUNER_EVENT_CLASS].reason, TUNER_WHY_CLASS_NEW);
    assert_true(tuner_last(b.t)->value[0] == 5e5);
    b.load = 100;
    assert_true(play_until(&b, TUNER_EVENT_CLASS, 40));
    assert_int_equal(b.last[TUNER_EVENT_CLASS].reason, TUNER_WHY_CLASS_KNOWN);
    assert_true(tuner_last(b.t)->value[0] < 5e5);
    b.workload = 7;
    play(&b, 1);
    assert_int_equal(b.last[TUNER_EVENT_CLASS].reason, TUNER_WHY_CLASS_NEW);
    assert_true(tuner_class(b.t, &m) && m.workload == 7);
    assert_int_equal(tuner_classes(b.t), 3);
    free(b.t);
}

static void test_blind(void **state)
{
    struct tuner_memory m;
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    b.load = NAN;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 600));
    assert_true(tuner_class(b.t, &m) && m.bucket == INT32_MIN);
    free(b.t);
}

/* Two knobs that both help: both are found, one after the other, and the combination is compared
 * with the baseline. */
static void test_two_knobs(void **state)
{
    struct tuner_memory m;
    struct bench b;
    bool joint = false;

    (void)state;
    bench_init(&b, 2);
    b.effect[0] = .02;
    b.effect[1] = -.02;
    bench_start(&b);
    for (int i = 0; i < 6000; i++) {
        play(&b, 1);
        joint =
            joint || tuner_trial(b.t)->kind == TUNER_TRIAL_JOINT || b.count[TUNER_EVENT_KEEP] > 0;
    }
    assert_true(tuner_class(b.t, &m));
    assert_true(m.value[0] < 5e5 && m.value[1] > 5e5);
    assert_true(m.gain > .06);
    assert_true(joint);
    free(b.t);
}

static void test_toggle(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.c.knobs[0] = (struct tuner_knob){
        .scale = TUNER_SCALE_CHOICE, .baseline = 5e5, .n_choices = 1, .choices = { 62500 }
    };
    b.effect[0] = .02;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    assert_true(tuner_last(b.t)->value[0] == 62500);
    free(b.t);
}

/* An objective that needs three minutes: short blocks see nothing of +18 %, long ones do. */
static void test_settling(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .06;
    b.kappa = .06;
    bench_start(&b);
    play(&b, 5000);
    assert_true(b.count[TUNER_EVENT_ACCEPT] > 0);
    assert_true(b.t->params.block > b.c.params.block && b.t->params.settle > b.c.params.settle);
    assert_true(tuner_last(b.t)->value[0] < 5e5);
    free(b.t);
    bench_init(&b, 1); /* one that follows at once keeps the blocks that it was given */
    b.effect[0] = .06;
    bench_start(&b);
    play(&b, 5000);
    assert_int_equal(b.t->params.block, b.c.params.block);
    free(b.t);
}

/* A load that falls as much as the objective rises: no class of its own, and what the value does is
 * known. */
static void test_endogenous(void **state)
{
    struct tuner_memory m;
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .1;
    b.endogenous = 1.0;
    bench_start(&b);
    play(&b, 3000);
    assert_true(tuner_class(b.t, &m));
    assert_int_equal(tuner_classes(b.t), 1);
    assert_true(m.accepts > 0);
    assert_near(m.load_shift, -.3, .05);
    free(b.t);
}

/* The same seed gives the same decisions. */
static void test_repeatable(void **state)
{
    struct bench a, b;

    (void)state;
    bench_init(&a, 2);
    bench_init(&b, 2);
    a.effect[0] = b.effect[0] = .01;
    bench_start(&a);
    bench_start(&b);
    for (int i = 0; i < 5000; i++) {
        play(&a, 1);
        play(&b, 1);
        assert_true(tuner_last(a.t)->value[0] == tuner_last(b.t)->value[0]);
        assert_true(tuner_last(a.t)->value[1] == tuner_last(b.t)->value[1]);
    }
    free(a.t);
    free(b.t);
}

static void test_words(void **state)
{
    (void)state;
    for (int i = 0; i < TUNER_WHY_COUNT; i++)
        assert_true(strlen(tuner_reason_name((enum tuner_reason)i)) > 0);
    for (int i = 0; i <= TUNER_EVENT_VOID; i++)
        assert_string_not_equal(tuner_event_name((enum tuner_event)i), "unknown");
    assert_string_equal(tuner_reason_name((enum tuner_reason)999), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_config),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_accept_check_rollback),
        cmocka_unit_test(test_harmful),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_blind),
        cmocka_unit_test(test_two_knobs),
        cmocka_unit_test(test_toggle),
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_settling),
        cmocka_unit_test(test_endogenous),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
