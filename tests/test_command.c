/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modes, emergencies, guards, warm starts, knobs taken and given back. */
#include "bench.h"

#include <errno.h>

static void test_modes(void **state)
{
    struct bench b;
    double value;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    value = b.last[TUNER_EVENT_ACCEPT].new_value;
    play_to_candidate(&b);
    (void)see(&b, tuner_set_mode(b.t, TUNER_MODE_HOLD));
    assert_true(tuner_last(b.t)->value[0] == value);
    play(&b, 3000);
    assert_true(tuner_last(b.t)->value[0] == value);
    (void)see(&b, tuner_set_mode(b.t, TUNER_MODE_BASELINE));
    assert_true(tuner_last(b.t)->value[0] == 5e5);
    play(&b, 100);
    assert_true(tuner_last(b.t)->value[0] == 5e5);
    (void)see(&b, tuner_set_mode(b.t, TUNER_MODE_TUNE));
    assert_true(tuner_last(b.t)->value[0] == value);
    assert_true(play_until(&b, TUNER_EVENT_KEEP, 200)); /* long overdue */
    free(b.t);
}

static void test_emergency(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    play(&b, 10);
    (void)see(&b, tuner_emergency(b.t)); /* at the baseline: not our doing */
    assert_int_equal(b.count[TUNER_EVENT_ROLLBACK] + b.count[TUNER_EVENT_ABORT], 0);
    play_to_candidate(&b);
    (void)see(&b, tuner_emergency(b.t));
    assert_int_equal(b.last[TUNER_EVENT_ABORT].reason, TUNER_WHY_EMERGENCY);
    assert_true(tuner_last(b.t)->value[0] == 5e5);
    play(&b, 1);
    assert_int_equal(tuner_last(b.t)->reason, TUNER_WHY_MISSING); /* the spoilt window */
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 2000));
    for (int i = 0; i < 2000 && tuner_state(b.t) != TUNER_WAIT; i++)
        play(&b, 1);
    (void)see(&b, tuner_emergency(b.t));
    assert_int_equal(b.last[TUNER_EVENT_ROLLBACK].reason, TUNER_WHY_EMERGENCY);
    assert_true(tuner_last(b.t)->value[0] == 5e5);
    free(b.t);
}

static void test_guards(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    b.guard_effect = .2; /* the objective gains, but a guard metric does not like it */
    b.c.n_guards = 1;
    b.c.guards[0] = (struct tuner_guard){ .kind = TUNER_GUARD_RATIO, .bound = .1 };
    bench_start(&b);
    play(&b, 2000);
    assert_int_equal(b.count[TUNER_EVENT_ACCEPT], 0);
    assert_int_equal(b.last[TUNER_EVENT_ABORT].reason, TUNER_WHY_GUARD);
    b.guard_effect = 0;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    for (int i = 0; i < 2000 && tuner_state(b.t) != TUNER_WAIT; i++)
        play(&b, 1);
    b.guard_effect = .2; /* later it breaks at the incumbent: a check, which does not keep it */
    assert_true(play_until(&b, TUNER_EVENT_CHECK, 60));
    assert_int_equal(b.last[TUNER_EVENT_CHECK].reason, TUNER_WHY_GUARD);
    assert_true(play_until(&b, TUNER_EVENT_ROLLBACK, 60));
    assert_int_equal(b.last[TUNER_EVENT_ROLLBACK].reason, TUNER_WHY_GUARD);
    free(b.t);
}

static void test_adopt(void **state)
{
    double value[TUNER_KNOBS_MAX] = { 62500 }, odd[TUNER_KNOBS_MAX] = { 100000 };
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    assert_int_equal(tuner_adopt(b.t, odd), -EINVAL);
    assert_int_equal(tuner_adopt(b.t, value), 0);
    play(&b, 3);
    assert_true(tuner_last(b.t)->value[0] == 62500); /* no bounce */
    assert_true(play_until(&b, TUNER_EVENT_CHECK, 10));
    assert_true(play_until(&b, TUNER_EVENT_KEEP, 100));
    free(b.t);
}

static void test_remember(void **state)
{
    struct tuner_memory m = { .bucket = 21, .value = { 62500 }, .gain = .1 },
                        bad = { .value = { 77777 } };
    struct tuner_noise n = { .weight = 50, .sum = .02, .quads = 100 }, got;
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.effect[0] = .03;
    bench_start(&b);
    assert_int_equal(tuner_remember(b.t, &bad), -EINVAL);
    assert_int_equal(tuner_remember(b.t, &m), 0);
    tuner_set_noise(b.t, &n);
    tuner_get_noise(b.t, &got);
    assert_int_equal(got.quads, 100);
    play(&b, 1);
    assert_true(tuner_last(b.t)->value[0] == 62500);
    assert_true(play_until(&b, TUNER_EVENT_CHECK, 10));
    assert_true(play_until(&b, TUNER_EVENT_KEEP, 100));
    free(b.t);
}

static void test_take_give(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 2);
    b.effect[0] = .03;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    (void)see(&b, tuner_take_knob(b.t, 0));
    assert_true(isnan(tuner_last(b.t)->value[0]) && tuner_last(b.t)->moved);
    for (int i = 0; i < 1000; i++) {
        play(&b, 1);
        assert_true(isnan(tuner_last(b.t)->value[0]));
    }
    (void)see(&b, tuner_give_knob(b.t, 0, 250000));
    assert_true(tuner_last(b.t)->value[0] == 250000);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 3000));
    free(b.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),    cmocka_unit_test(test_emergency),
        cmocka_unit_test(test_guards),   cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_remember), cmocka_unit_test(test_take_give),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
