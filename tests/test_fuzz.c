/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random configurations, windows and commands: values stay in bounds, writes below the cap, nothing
 * moves without a measurement, NaN never leaves. */
#include "tuner_state.h"

#include "check.h"

#include <string.h>

enum { RUNS = 60, WINDOWS = 6000, WRITES = 40000 };

struct watch {
    struct tuner *t;
    struct tuner_config c;
    double value[TUNER_KNOBS_MAX], baseline[TUNER_KNOBS_MAX];
    uint64_t write[WRITES];
    size_t n_writes;
};

static double draw(uint64_t *s, double lo, double hi)
{
    return lo + (hi - lo) * stat_uniform(s);
}

static void draw_config(uint64_t *s, struct tuner_config *c)
{
    memset(c, 0, sizeof *c);
    tuner_params_default(&c->params);
    c->params.seed = (uint64_t)draw(s, 0, 1e6);
    c->n_knobs = (uint8_t)draw(s, 1, 7);
    c->n_guards = (uint8_t)draw(s, 0, 4);
    if (draw(s, 0, 1) < .3) {
        c->params.block = (uint32_t)draw(s, 1, 20);
        c->params.settle = (uint32_t)draw(s, 0, 8);
    }
    for (uint8_t i = 0; i < c->n_knobs; i++) {
        struct tuner_knob *k = &c->knobs[i];

        if (draw(s, 0, 1) < .5) {
            *k = (struct tuner_knob){ .scale = TUNER_SCALE_LOG,
                                      .baseline = exp(draw(s, 0, 14)),
                                      .min = exp(draw(s, 0, 5)),
                                      .max = exp(draw(s, 5, 17)) };
            continue;
        }
        k->scale = TUNER_SCALE_CHOICE;
        k->n_choices = (uint8_t)draw(s, 0, 6);
        for (uint8_t j = 0; j < k->n_choices; j++)
            k->choices[j] = floor(draw(s, 0, 5));
    }
    for (uint8_t i = 0; i < c->n_guards; i++)
        c->guards[i] = (struct tuner_guard){ .kind = draw(s, 0, 1) < .5 ? TUNER_GUARD_RATIO
                                                                        : TUNER_GUARD_POINTS,
                                             .lower_is_worse = draw(s, 0, 1) < .5,
                                             .bound = draw(s, .05, .3) };
}

static void draw_window(uint64_t *s, const struct watch *v, uint64_t at, struct tuner_window *w)
{
    double effect = 0, x = draw(s, 0, 1);

    for (uint8_t i = 0; i < v->c.n_knobs; i++)
        if (!isnan(v->value[i]))
            effect += .03 * sin(log(fabs(v->value[i]) + 1) + i + (double)(at / 2000));
    memset(w, 0, sizeof *w);
    w->objective = 1000 * exp(draw(s, -.08, .08) + effect);
    w->load = 30 * exp(draw(s, -.05, .05) + (double)(at / 900 % 3) * .5 - effect);
    w->workload = (uint32_t)(at / 2500);
    w->disturbed = draw(s, 0, 1) < .01;
    if (x < .03)
        w->objective =
            x < .01 ? NAN : (x < .015 ? INFINITY : (x < .02 ? -1 : (x < .025 ? 1e308 : 1e-308)));
    x = draw(s, 0, 1);
    if (x < .03)
        w->load = x < .02 ? NAN : (x < .025 ? INFINITY : 1e300);
    for (size_t i = 0; i < TUNER_GUARDS_MAX; i++)
        w->guard[i] = draw(s, 0, 1) < .1 ? NAN : 10 * exp(draw(s, -.05, .05) + effect);
}

static void look(struct watch *v, uint64_t at, const struct tuner_decision *d)
{
    bool changed = false;
    size_t hour = 0;

    for (uint8_t i = 0; i < v->c.n_knobs; i++) {
        double old = v->value[i], new = d->value[i];
        bool same = (isnan(old) && isnan(new)) || (old >= new &&old <= new);

        changed = changed || !same;
        if (!same && !isnan(old) && !isnan(new) && v->n_writes < WRITES)
            v->write[v->n_writes++] = at;
        v->value[i] = new;
        if (isnan(new))
            continue;
        assert_true(isfinite(new));
        if (v->c.knobs[i].scale == TUNER_SCALE_LOG && fabs(new - v->t->knobs[i].baseline) > 0)
            assert_true(new >= v->c.knobs[i].min &&new <= v->c.knobs[i].max);
    }
    assert_true(changed == d->moved);
    if (d->reason == TUNER_WHY_MISSING && d->event == TUNER_EVENT_NONE)
        assert_false(changed);
    if (d->evidence.n > 0)
        assert_true(isfinite(d->evidence.mean) && isfinite(d->evidence.se) &&
                    isfinite(d->evidence.e) && isfinite(d->evidence.lo) &&
                    isfinite(d->evidence.hi));
    for (size_t i = v->n_writes; i-- > 0 && v->write[i] + TUNER_HOUR > at;)
        hour++;
    assert_true(hour <= TUNER_WRITE_CAP);
    assert_true(isfinite(v->t->debt) && v->t->debt >= 0 && isfinite(v->t->noise.sum));
}

static void command(uint64_t *s, struct watch *v, uint64_t at)
{
    double x = draw(s, 0, 1);
    uint8_t knob = (uint8_t)draw(s, 0, v->c.n_knobs);

    if (x < .0005)
        look(v, at, tuner_emergency(v->t));
    else if (x < .001)
        look(v, at, tuner_set_mode(v->t, (enum tuner_mode)draw(s, 0, 3)));
    else if (x < .0012)
        look(v, at, tuner_take_knob(v->t, knob));
    else if (x < .0015)
        look(v, at,
             tuner_give_knob(v->t, knob, draw(s, 0, 1) < .5 ? NAN : floor(draw(s, 1, 1000))));
    else if (x < .01)
        look(v, at, tuner_set_mode(v->t, TUNER_MODE_TUNE));
}

static void test_fuzz(void **state)
{
    uint64_t s = check_seed("test_fuzz");
    struct watch *v = calloc(1, sizeof *v);
    uint64_t moves = 0;

    (void)state;
    assert_non_null(v);
    v->t = malloc(tuner_size());
    assert_non_null(v->t);
    for (int run = 0; run < RUNS; run++) {
        draw_config(&s, &v->c);
        assert_int_equal(tuner_init(v->t, policy_find("hillclimb"), &v->c), 0);
        memcpy(v->value, tuner_last(v->t)->value, sizeof v->value);
        v->n_writes = 0;
        for (uint64_t at = 0; at < WINDOWS; at++) {
            struct tuner_window w;

            draw_window(&s, v, at, &w);
            look(v, at, tuner_step(v->t, &w));
            command(&s, v, at);
        }
        moves += tuner_moves(v->t);
    }
    printf("%llu moves in %d windows\n", (unsigned long long)moves, RUNS * WINDOWS);
    assert_true(moves > 0);
    free(v->t);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fuzz),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
