/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guards: the objective inside a quad, metrics with a bound, noise that must not fire them. */
#include "guard.h"

#include "check.h"

#include <math.h>

static void test_loss(void **state)
{
    double a[] = { 0, .01, -.01 }, b[] = { -.15, -.14, -.16 }, one_good[] = { -.15, .02 }, diff = 0;
    struct guard_loss g = {
        .a = a, .b = b, .na = 3, .nb = 2, .limit_min = .03, .limit_sd = .06, .block = 3
    };

    (void)state;
    assert_true(guard_loss_broken(&g, &diff));
    assert_true(diff < -.1);
    g.nb = 1;
    assert_false(guard_loss_broken(&g, &diff)); /* one window is not evidence */
    g.nb = 2;
    g.b = one_good;
    assert_false(guard_loss_broken(&g, &diff)); /* the best of the first windows counts */
    g.b = b;
    g.na = 0;
    assert_false(guard_loss_broken(&g, &diff));
    g.level_known = true;
    assert_true(guard_loss_broken(&g, &diff)); /* a fresh level stands in */
}

static void test_check(void **state)
{
    double a[] = { -.15, -.14, -.16 }, b[] = { 0, .01, -.01 }, dip[] = { -.4, -.35, .01 }, diff = 0;
    struct guard_loss g = {
        .a = a,
        .b = b,
        .na = 3,
        .nb = 3,
        .check = true,
        .limit_min = .03,
        .limit_sd = .06,
        .block = 3,
    };

    (void)state;
    assert_true(guard_loss_broken(&g, &diff));
    g.a = dip;
    assert_false(guard_loss_broken(&g, &diff)); /* a double dip does not throw a value away */
}

static void add(struct guard_sums *s, int n, double v)
{
    for (int i = 0; i < n; i++)
        guard_sums_add(s, v);
}

static void test_metric(void **state)
{
    const struct tuner_guard tps = { .kind = TUNER_GUARD_RATIO,
                                     .lower_is_worse = true,
                                     .bound = .05 };
    const struct tuner_guard psi = { .kind = TUNER_GUARD_POINTS, .bound = 5.0 };
    struct guard_noise none = { 0 };
    struct guard_sums ref = { 0 }, now = { 0 };

    (void)state;
    add(&ref, 3, 100.0);
    add(&now, 1, 90.0);
    assert_false(guard_worse(&tps, &none, &ref, &now)); /* one window */
    add(&now, 1, 90.0);
    assert_true(guard_worse(&tps, &none, &ref, &now));
    assert_false(guard_worse(&psi, &none, &ref, &now)); /* lower is better there */
    assert_true(guard_worse(&psi, &none, &now, &ref));
    guard_sums_add(&now, NAN);
    assert_int_equal(now.n, 2);
    assert_true(guard_window_worse(&tps, &none, 100.0, 94.0));
    assert_false(guard_window_worse(&tps, &none, 100.0, 96.0));
    assert_false(guard_window_worse(&tps, &none, NAN, 1.0));
}

/* A noisy metric without an effect hardly ever fires, once its noise is known. */
static void test_noise(void **state)
{
    const struct tuner_guard g = { .kind = TUNER_GUARD_RATIO, .bound = .05 };
    uint64_t s = check_seed("test_guard");
    struct guard_noise n = { 0 };
    int fired = 0;

    (void)state;
    for (int r = 0; r < 5000; r++) {
        struct guard_sums a = { 0 }, b = { 0 };

        for (int i = 0; i < 6; i++)
            guard_sums_add(&a, 10.0 + check_normal(&s));
        for (int i = 0; i < 6; i++)
            guard_sums_add(&b, 10.0 + check_normal(&s));
        if (r > 50)
            fired += guard_worse(&g, &n, &a, &b);
        guard_learn(&g, &n, &a, &b);
    }
    assert_near(sqrt(n.sum / n.weight), .1, .03);
    assert_true(fired < 5000 * 3 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_metric),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
