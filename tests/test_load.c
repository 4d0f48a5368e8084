/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load classes and the level alarm: vectors, hysteresis, loads that cannot be observed. */
#include "load.h"

#include "check.h"

#include <math.h>

static const struct load_config config = {
    .width = 0.22314355131420976, .margin = .15, .dwell = 2, .lost = 12
};

static void test_vector(void **state)
{
    static const struct {
        int n;
        double load;
    } in[] = { { 3, 100 }, { 6, 112 }, { 6, 118 }, { 5, 200 }, { 5, 101 } };
    static const int want[] = { 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
                                21, 21, 21, 21, 21, 21, 24, 24, 24, 24, 24, 21 };
    struct load_config c = config;
    struct load_track l;
    size_t k = 0;

    (void)state;
    c.dwell = 3;
    load_init(&l, &c);
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
        for (int j = 0; j < in[i].n; j++) {
            (void)load_update(&l, load_log(in[i].load));
            assert_int_equal(l.bucket, want[k++]);
        }
}

static void test_unobservable(void **state)
{
    struct load_track l;

    (void)state;
    load_init(&l, &config);
    assert_true(load_update(&l, load_log(NAN)));
    assert_int_equal(l.bucket, LOAD_UNKNOWN);
    assert_true(isnan(load_smooth(&l)));
    assert_false(load_update(&l, load_log(0.0)));
    assert_true(load_update(&l, load_log(50.0)));
    assert_int_not_equal(l.bucket, LOAD_UNKNOWN);
    for (int i = 0; i < 11; i++)
        assert_false(load_update(&l, load_log(-1.0))); /* a short gap changes nothing */
    assert_false(load_update(&l, load_log(50.0)));
    for (int i = 0; i < 11; i++)
        assert_false(load_update(&l, load_log(NAN)));
    assert_true(load_update(&l, load_log(NAN)));
    assert_int_equal(l.bucket, LOAD_UNKNOWN);
}

/* Finite whatever comes; steady noise of 3 % never changes the class of a load in its middle. */
static void test_properties(void **state)
{
    uint64_t s = check_seed("test_load");
    struct load_track l;
    double middle = exp(21 * config.width);

    (void)state;
    load_init(&l, &config);
    (void)load_update(&l, load_log(middle));
    for (int i = 0; i < 100000; i++)
        assert_false(load_update(&l, load_log(middle * exp(.03 * check_normal(&s)))));
    for (int i = 0; i < 100000; i++) {
        double v = stat_uniform(&s) < .1 ? INFINITY : exp(1000.0 * (stat_uniform(&s) - .5));

        (void)load_update(&l, load_log(v));
        assert_true(isfinite(l.smooth));
    }
}

static void test_level(void **state)
{
    const struct level_config c = { .slack = 1.0, .bar = 10.0 };
    uint64_t s = check_seed("test_load"), t = 0;
    int alarms = 0, delay = 0;

    (void)state;
    for (int r = 0; r < 200; r++) {
        struct level v;

        level_init(&v);
        for (int i = 0; i < 500; i++)
            alarms += level_update(&v, &c, .03 * check_normal(&s), t++);
        for (int i = 0; i < 100; i++) {
            delay++;
            if (level_update(&v, &c, -.15 + .03 * check_normal(&s), t++))
                break;
        }
    }
    assert_true(alarms <= 20); /* in 100,000 windows */
    assert_true(delay <= 200 * 8);
}

/* The noise of the signal is learned, a noisy one does not flap, the slope of load on objective is
 * found. */
static int flaps(uint64_t *s, double noise_z)
{
    struct load_config c = config;
    struct load_track l;
    int changes = 0;

    c.noise_z = noise_z;
    load_init(&l, &c);
    for (int i = 0; i < 20000; i++)
        changes += load_update(&l, load_log(100 * exp(.15 * check_normal(s))));
    assert_near(load_noise(&l), .15, .05);
    return changes;
}

static void test_noise(void **state)
{
    uint64_t s = check_seed("test_load");
    int fixed = flaps(&s, 0.0), wide = flaps(&s, 2.0);

    (void)state;
    printf("classes in 20000 windows at 15 %% noise: %d, with hysteresis by noise %d\n", fixed,
           wide);
    assert_true(wide < fixed / 4);
}

static void test_elastic(void **state)
{
    uint64_t s = check_seed("test_load");

    (void)state;
    for (int k = 0; k <= 2; k++) {
        struct elastic e = { 0 };
        double slope = 0;

        assert_false(elastic_slope(&e, &slope));
        for (int i = 0; i < 50; i++) {
            double d = .1 * check_normal(&s);

            elastic_learn(&e, d + .02 * check_normal(&s), -.5 * k * d + .02 * check_normal(&s));
        }
        assert_true(elastic_slope(&e, &slope));
        assert_near(slope, -.5 * k, .2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector),     cmocka_unit_test(test_unobservable),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_level),
        cmocka_unit_test(test_noise),      cmocka_unit_test(test_elastic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
