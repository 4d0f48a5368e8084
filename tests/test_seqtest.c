/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mixture test: vectors, error level with peeking, power, interval and noise against two-pass
 * references. */
#include "seqtest.h"

#include "check.h"

#include <math.h>

static void test_vectors(void **state)
{
    static const struct {
        double n, sum, var, want;
    } v[] = {
        { 3, .15, .0004, 1650.34512 },    { 3, .09, .0009, 1.24918283 },
        { 5, .15, .0009, 2.66920838 },    { 8, .24, .000576, 72.7589845 },
        { 12, .24, .000625, 6.14551473 }, { 6, 0.0, .0009, 0.237915476 },
        { 4, -.2, .0016, 5.49294633 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        assert_near(seqtest_evalue(v[i].n, v[i].sum, v[i].var, .05) / v[i].want, 1.0, 2e-9);
}

static void test_finite(void **state)
{
    static const double n[] = { 0, 1, 3, 1e9 }, s[] = { 0, 1, -1e6, 1e300 },
                        v[] = { 0, 1e-300, 1, 1e300 };

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                assert_true(isfinite(seqtest_evalue(n[i], s[j], v[k], .05)));
}

/* Looked at after every quad up to 36: at most alpha of null trials ever pass, half of them as
 * gains. */
static void test_error_level(void **state)
{
    uint64_t s = check_seed("test_seqtest");
    const double alpha = .02, sd = .03;
    int any = 0, gain = 0, runs = 100000;

    (void)state;
    for (int r = 0; r < runs; r++) {
        double sum = 0;

        for (int n = 1; n <= 36; n++) {
            sum += sd * check_normal(&s);
            if (seqtest_evalue(n, sum, sd * sd, .05) >= 1.0 / alpha) {
                any++;
                gain += sum > 0;
                break;
            }
        }
    }
    printf("null trials that pass: %.3f %%, as gains %.3f %%\n", 100.0 * any / runs,
           100.0 * gain / runs);
    assert_true(any <= alpha * runs * 1.1);
    assert_true(gain <= alpha / 2.0 * runs * 1.2);
}

/* A larger effect passes no later on average. */
static void test_monotone(void **state)
{
    uint64_t s = check_seed("test_seqtest");
    double last = 1e9;

    (void)state;
    for (int e = 2; e <= 10; e += 2) {
        double total = 0;

        for (int r = 0; r < 2000; r++) {
            double sum = 0;
            int n = 1;

            for (; n < 200; n++) {
                sum += e * .01 + .03 * check_normal(&s);
                if (sum > 0 && seqtest_evalue(n, sum, .0009, .05) >= 50.0)
                    break;
            }
            total += n;
        }
        assert_true(total < last);
        last = total;
    }
}

/* The interval excludes zero exactly when the E value passes the bar. */
static void test_interval(void **state)
{
    uint64_t s = check_seed("test_seqtest");

    (void)state;
    for (int r = 0; r < 10000; r++) {
        struct seqtest q = { 0 };
        struct tuner_evidence e;
        int n = 1 + (int)(stat_uniform(&s) * 20);

        for (int i = 0; i < n; i++)
            seqtest_add(&q, .03 * check_normal(&s) + .05 * stat_uniform(&s));
        seqtest_evidence(&q, .0009, .05, .02, &e);
        assert_true(e.lo <= e.mean && e.mean <= e.hi && e.se > 0);
        if (fabs(e.e - e.bar) > 1e-6 * e.bar)
            assert_true((e.lo > 0 || e.hi < 0) == (e.e > e.bar));
    }
}

static void test_variance(void **state)
{
    uint64_t s = check_seed("test_seqtest");

    (void)state;
    for (int r = 0; r < 1000; r++) {
        struct seqtest q = { 0 };
        double v[12], mean = 0, var = 0;
        int n = 3 + (int)(stat_uniform(&s) * 9);

        for (int i = 0; i < n; i++) {
            v[i] = .1 * check_normal(&s);
            seqtest_add(&q, v[i]);
            mean += v[i] / n;
        }
        for (int i = 0; i < n; i++)
            var += (v[i] - mean) * (v[i] - mean) / (n - 1);
        assert_near(seqtest_variance(&q, 0.0), var, 1e-12);
        assert_true(seqtest_variance(&q, 1.0) == 1.0);
    }
}

static void test_noise(void **state)
{
    uint64_t s = check_seed("test_seqtest");
    struct tuner_noise n;

    (void)state;
    noise_init(&n, .03, 4.0);
    assert_near(noise_var(&n), .0009, 1e-15);
    for (int i = 0; i < 2000; i++)
        noise_add(&n, .08 * check_normal(&s), 1.0, .98);
    assert_near(sqrt(noise_var(&n)), .08, .03);
    for (int i = 0; i < 2000; i++)
        noise_add(&n, 0.0, 1.0, .98);
    assert_true(noise_var(&n) > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),     cmocka_unit_test(test_finite),
        cmocka_unit_test(test_error_level), cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_interval),    cmocka_unit_test(test_variance),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
