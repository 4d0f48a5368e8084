/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state machine, event by event, on small plants without surprises. */
#include "tuner_state.h"

#include "check.h"

#include <errno.h>
#include <string.h>

struct bench { /* a knob, what it does, and the windows that follow from it */
    struct tuner *t;
    struct tuner_config c;
    uint64_t rng;
    double noise, load;
    double effect[TUNER_KNOBS_MAX]; /* ln per halving of knob i, until 1/8 */
    double guard_effect;            /* relative rise of guard 0 off the baseline */
    uint32_t workload;
    uint64_t count[TUNER_EVENT_VOID + 1];
    struct tuner_decision last[TUNER_EVENT_VOID + 1];
};

static void bench_init(struct bench *b, uint8_t n_knobs)
{
    memset(b, 0, sizeof *b);
    b->rng = 99;
    b->noise = .01;
    b->load = 100;
    tuner_params_default(&b->c.params);
    b->c.n_knobs = n_knobs;
    for (uint8_t i = 0; i < n_knobs; i++)
        b->c.knobs[i] = (struct tuner_knob){ .scale = TUNER_SCALE_LOG, .baseline = 5e5, .min = 1e4, .max = 5e6 };
    b->t = malloc(tuner_size());
    assert_non_null(b->t);
}

static void bench_start(struct bench *b)
{
    assert_int_equal(tuner_init(b->t, policy_find("hillclimb"), &b->c), 0);
}

static const struct tuner_decision *see(struct bench *b, const struct tuner_decision *d)
{
    b->count[d->event]++;
    b->last[d->event] = *d;
    return d;
}

static struct tuner_window window(struct bench *b)
{
    const struct tuner_decision *d = tuner_last(b->t);
    struct tuner_window w = { .load = b->load, .workload = b->workload };
    double y = b->noise * check_normal(&b->rng);
    bool off = false;

    for (uint8_t i = 0; i < b->c.n_knobs; i++) {
        if (isnan(d->value[i]))
            continue;
        y += b->effect[i] * fmax(-3.0, fmin(3.0, log2(5e5 / d->value[i])));
        off = off || d->value[i] < 5e5 || d->value[i] > 5e5;
    }
    w.objective = 1000 * exp(y);
    w.guard[0] = 10 * (1 + (off ? b->guard_effect : 0));
    return w;
}

static void play(struct bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        struct tuner_window w = window(b);

        (void)see(b, tuner_step(b->t, &w));
    }
}

/* Until `event` happens, at most n windows. */
static bool play_until(struct bench *b, enum tuner_event event, int n)
{
    uint64_t before = b->count[event];

    for (int i = 0; i < n && b->count[event] == before; i++)
        play(b, 1);
    return b->count[event] > before;
}

static bool candidate_in_force(const struct bench *b)
{
    return tuner_state(b->t) == TUNER_QUAD && tuner_trial(b->t)->arm == TUNER_ARM_CANDIDATE;
}

static void play_to_candidate(struct bench *b)
{
    for (int i = 0; i < 3000 && !candidate_in_force(b); i++)
        play(b, 1);
    assert_true(candidate_in_force(b));
}

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
    assert_true(a.value[a.base] == 5e5 && a.base == a.n - 1 && a.value[a.n - 2] <= 1e4 && a.value[0] == 1e3);
    k = (struct tuner_knob){ .scale = TUNER_SCALE_CHOICE, .baseline = 0, .n_choices = 3, .choices = { 0, 1, 1 } };
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
    struct tuner_memory m = { .bucket = 21, .value = { 62500 }, .gain = .1 }, bad = { .value = { 77777 } };
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

/* Two knobs that both help: both are found, one after the other, and the combination is compared with the baseline. */
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
        joint = joint || tuner_trial(b.t)->kind == TUNER_TRIAL_JOINT || b.count[TUNER_EVENT_KEEP] > 0;
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
    b.c.knobs[0] = (struct tuner_knob){ .scale = TUNER_SCALE_CHOICE, .baseline = 5e5, .n_choices = 1,
                                        .choices = { 62500 } };
    b.effect[0] = .02;
    bench_start(&b);
    assert_true(play_until(&b, TUNER_EVENT_ACCEPT, 400));
    assert_true(tuner_last(b.t)->value[0] == 62500);
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
        cmocka_unit_test(test_bad_config), cmocka_unit_test(test_grid),
        cmocka_unit_test(test_accept_check_rollback), cmocka_unit_test(test_harmful),
        cmocka_unit_test(test_fixed),      cmocka_unit_test(test_missing),
        cmocka_unit_test(test_classes),    cmocka_unit_test(test_blind),
        cmocka_unit_test(test_modes),      cmocka_unit_test(test_emergency),
        cmocka_unit_test(test_guards),     cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_remember),   cmocka_unit_test(test_take_give),
        cmocka_unit_test(test_two_knobs),  cmocka_unit_test(test_toggle),
        cmocka_unit_test(test_repeatable), cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
