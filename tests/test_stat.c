/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics: vectors of an independent implementation, and properties on random input. */
#include "stat.h"

#include "check.h"

#include <math.h>
#include <string.h>

static void test_median(void **state)
{
    const double v[] = { 5, 1, 4, 2 }, one[] = { 7 };

    (void)state;
    assert_true(stat_median(v, 4) == 4.0); /* the upper one */
    assert_true(stat_median(one, 1) == 7.0);
    assert_true(stat_median(v, 0) == 0.0);
}

static void test_quad_diff(void **state)
{
    double a[] = { 0.00, .01, -.01, .02, -.02, .00 }, b[] = { .05, .06, .04, .05, .07, .03 }, c[6];

    (void)state;
    assert_near(stat_quad_diff(a, 6, b, 6), 0.05, 1e-12);
    memcpy(c, b, sizeof c);
    c[2] = -.5;
    assert_near(stat_quad_diff(a, 6, c, 6), 0.024166666667, 1e-9);
    for (int i = 0; i < 6; i++)
        c[i] = a[i] + .336;
    assert_near(stat_quad_diff(a, 6, c, 6), 0.336, 1e-9);
    assert_true(stat_quad_diff(a, 0, b, 6) == 0.0);
}

static void test_uniform(void **state)
{
    const double want[] = { 0.975773093673, 0.691009955135, 0.367017006123, 0.805778080191 };
    uint64_t s = 1234567 + 7919 * 42;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_near(stat_uniform(&s), want[i], 1e-12);
}

/* Whatever the windows: antisymmetric, shift-invariant, inside the range of the data, one outlier
 * bounded. */
static void test_quad_diff_properties(void **state)
{
    uint64_t s = check_seed("test_stat");

    (void)state;
    for (int run = 0; run < 20000; run++) {
        double a[12], b[12], d, sh;
        size_t na = 1 + (size_t)(stat_uniform(&s) * 12), nb = 1 + (size_t)(stat_uniform(&s) * 12);

        for (size_t i = 0; i < na; i++)
            a[i] = check_normal(&s) * .03;
        for (size_t i = 0; i < nb; i++)
            b[i] = check_normal(&s) * .03;
        d = stat_quad_diff(a, na, b, nb);
        assert_near(stat_quad_diff(b, nb, a, na), -d, 1e-12);
        for (size_t i = 0; i < na; i++)
            a[i] += 10.0;
        for (size_t i = 0; i < nb; i++)
            b[i] += 10.0;
        sh = stat_quad_diff(a, na, b, nb);
        assert_near(sh, d, 1e-9);
        if (nb >= 6 && na >= 6) {
            b[0] -= 5.0;
            assert_true(fabs(stat_quad_diff(a, na, b, nb) - d) < 0.25);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_quad_diff),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_quad_diff_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
