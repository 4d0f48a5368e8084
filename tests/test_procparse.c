/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters, numbers, sets of CPUs and pressure: known texts, malformed ones, properties over random
 * ones. */
#include "procparse.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

static void test_delta_known(void **state)
{
    static const struct {
        uint64_t before, after;
        unsigned bits;
        uint64_t max_step;
        int r;
        uint64_t delta;
    } t[] = {
        { 5, 9, 32, 0, 0, 4 },
        { 5, 5, 32, 100, 0, 0 },
        { 4294967290, 4, 32, 100, 0, 10 }, /* wrapped */
        { 4294967290, 4, 32, 0, 0, 10 },
        { 4294967290, 4, 32, 9, -ERANGE, 0 }, /* it cannot do that much: reset */
        { 1000, 3, 32, 0, -ERANGE, 0 },       /* reset */
        { 3000000000, 10, 32, 1000000, -ERANGE, 0 },
        { 0, 4294967295, 32, 0, 0, 4294967295 },
        { 5, UINT64_MAX, 64, 0, 0, UINT64_MAX - 5 },
        { 5, 4, 64, 0, -ERANGE, 0 },
        { UINT64_MAX, 0, 64, 0, -ERANGE, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(t); i++) {
        uint64_t d = 77;

        assert_int_equal(counter_delta(t[i].before, t[i].after, t[i].bits, t[i].max_step, &d),
                         t[i].r);
        assert_int_equal(d, t[i].r == 0 ? t[i].delta : 77);
    }
}

/* Any increase up to max_step comes back exactly, wherever the counter stands; small steps add up.
 */
static void test_delta_property(void **state)
{
    struct rnd rnd = rnd_init("counter_delta");

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t max = 1 + rnd_below(&rnd, UINT32_MAX), step = rnd_below(&rnd, max + 1), d;
        uint64_t before = rnd_next(&rnd) & UINT32_MAX;

        assert_int_equal(counter_delta(before, (before + step) & UINT32_MAX, 32, max, &d), 0);
        assert_int_equal(d, step);
        before = rnd_next(&rnd) >> 1;
        assert_int_equal(counter_delta(before, before + step, 64, 0, &d), 0);
        assert_int_equal(d, step);
    }
    /* A rebuild starts counters at 0: seen unless the counter stood within max_step of its end. */
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t max = 1000000, after = rnd_below(&rnd, 1000), d;
        uint64_t before = after + 1 + rnd_below(&rnd, UINT32_MAX - max - after - 1);

        assert_int_equal(counter_delta(before, after, 32, max, &d), -ERANGE);
    }
}

static void test_number(void **state)
{
    static const char *const bad[] = { "",    "\n",    " 1",   "1 ", "-1", "+1",
                                       "0x1", "1\n\n", "1\n2", "1a", "1.0" };
    uint64_t v = 7;

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(bad); i++)
        assert_int_equal(number_parse(bad[i], strlen(bad[i]), &v), -EBADMSG);
    assert_int_equal(number_parse("1\0", 2, &v), -EBADMSG);
    assert_int_equal(number_parse("18446744073709551616", 20, &v), -ERANGE);
    assert_int_equal(v, 7);
    assert_int_equal(number_parse("18446744073709551615\n", 21, &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(number_parse("12345", 3, &v), 0);
    assert_int_equal(v, 123);
}

static void test_keyvalue(void **state)
{
    static const char text[] = "usage_usec 123\nuser_usec 100\nnr_throttled 4\nthrottled_usec 99";
    uint64_t v = 7;
    size_t n = sizeof text - 1;

    (void)state;
    assert_int_equal(keyvalue_parse(text, n, "user_usec", &v), 0);
    assert_int_equal(v, 100);
    assert_int_equal(keyvalue_parse(text, n, "user", &v), -ENOENT);
    assert_int_equal(keyvalue_parse(text, n, "usec", &v), -ENOENT);
    assert_int_equal(keyvalue_parse(text, n, "throttled_usec", &v),
                     -EBADMSG); /* no newline: cut short */
    assert_int_equal(keyvalue_parse("a b\n", 4, "a", &v), -EBADMSG);
    assert_int_equal(keyvalue_parse("", 0, "a", &v), -ENOENT);
    assert_int_equal(v, 100);
}

static void test_cpulist(void **state)
{
    static const struct {
        const char *text;
        uint32_t count, end;
    } good[] = {
        { "", 0, 0 },
        { "\n", 0, 0 },
        { "0\n", 1, 1 },
        { "0-3,8\n", 5, 9 },
        { "0-511", 512, 512 },
        { "8191\n", 1, 8192 },
        { "0-8191\n", 8192, 8192 },
        { "1,3,5-6", 4, 7 },
    };
    static const struct {
        const char *text;
        int r;
    } bad[] = {
        { "0-", -EBADMSG },    { "-3", -EBADMSG },
        { "3-1", -EBADMSG },   { "0,0", -EBADMSG },
        { "5,1", -EBADMSG },   { "0,\n", -EBADMSG },
        { ",0", -EBADMSG },    { "0-3:2/4", -EBADMSG },
        { " 0", -EBADMSG },    { "0 1", -EBADMSG },
        { "8192", -ERANGE },   { "0-99999999999", -ERANGE },
        { "0\n\n", -EBADMSG }, { "99999999999999999999999", -ERANGE },
    };
    struct cpuset s;
    char text[64];

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(good); i++) {
        assert_int_equal(cpulist_parse(good[i].text, strlen(good[i].text), &s), 0);
        assert_int_equal(cpuset_count(&s), good[i].count);
        assert_int_equal(cpuset_end(&s), good[i].end);
    }
    for (size_t i = 0; i < ELEMENTSOF(bad); i++)
        assert_int_equal(cpulist_parse(bad[i].text, strlen(bad[i].text), &s), bad[i].r);
    assert_int_equal(cpulist_parse("0-1,3,5-6,9", 11, &s), 0);
    assert_string_equal(cpulist_format(text, sizeof text, &s), "0-1,3,5-6,9");
    assert_string_equal(cpulist_format(text, 12, &s), "0-1,3,5-6,9");
    assert_string_equal(cpulist_format(text, 11, &s), "0-1,3...");
    assert_string_equal(cpulist_format(text, 4, &s), "...");
    assert_string_equal(cpulist_format(text, 1, &s), "");
}

static void test_cpumask(void **state)
{
    static const char *const bad[] = { "",    "\n",    ",",           "ff,",
                                       ",ff", "ff,ff", "fff,fffffff", "123456789",
                                       "0x3", "FF",    "3 ",          "3,00000000 " };
    struct cpuset a, b;
    char wide[2400] = "1";

    (void)state;
    assert_int_equal(cpumask_parse("00000000,00000003\n", 18, &a), 0);
    assert_int_equal(cpulist_parse("0-1", 3, &b), 0);
    assert_true(cpuset_equal(&a, &b));
    assert_int_equal(cpumask_parse("3,80000001", 10, &a), 0);
    assert_int_equal(cpulist_parse("0,31-33", 7, &b), 0);
    assert_true(cpuset_equal(&a, &b));
    for (size_t i = 0; i < ELEMENTSOF(bad); i++)
        assert_int_equal(cpumask_parse(bad[i], strlen(bad[i]), &a), -EBADMSG);
    /* 256 words hold CPUs up to 8191; a bit above is too much, zeros above are not. */
    for (unsigned i = 0; i < 256; i++)
        strcat(wide, ",00000000");
    assert_int_equal(cpumask_parse(wide, strlen(wide), &a), -ERANGE);
    wide[0] = '0';
    wide[2] = '8';
    assert_int_equal(cpumask_parse(wide, strlen(wide), &a), 0);
    assert_int_equal(cpuset_end(&a), 8192);
}

/* Any set comes back from its list and from its mask. */
static void test_cpuset_property(void **state)
{
    struct rnd rnd = rnd_init("cpuset");
    static char list[65536], mask[4096];

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        struct cpuset s = { 0 }, back;
        uint32_t n = 1 + (uint32_t)rnd_below(&rnd, i % 10 ? 200 : CPUSET_MAX);
        size_t used = 0;

        for (uint32_t cpu = 0; cpu < n; cpu++)
            if (rnd_below(&rnd, 3))
                cpuset_add(&s, cpu);
        (void)cpulist_format(list, sizeof list, &s);
        assert_int_equal(cpulist_parse(list, strlen(list), &back), 0);
        assert_true(cpuset_equal(&s, &back));
        for (uint32_t w = (n + 31) / 32; w > 0; w--)
            used += (size_t)sprintf(mask + used, "%08x%s",
                                    (unsigned)(s.word[(w - 1) / 2] >> ((w - 1) % 2 * 32)),
                                    w > 1 ? "," : "");
        assert_int_equal(cpumask_parse(mask, used, &back), 0);
        assert_true(cpuset_equal(&s, &back));
    }
}

static const char psi_io[] = "some avg10=12.85 avg60=9.44 avg300=0.02 total=46365640\n"
                             "full avg10=0.00 avg60=100.00 avg300=0.24 total=4670352\n";

static void test_psi(void **state)
{
    struct psi p;

    (void)state;
    assert_int_equal(psi_parse(psi_io, sizeof psi_io - 1, &p), 0);
    assert_true(p.some.present && p.full.present);
    assert_int_equal(p.some.us_total, 46365640);
    assert_int_equal(p.full.us_total, 4670352);
    assert_true(fabs(p.some.avg10_pct - 12.85) < 1e-9);
    assert_true(fabs(p.some.avg300_pct - 0.02) < 1e-9);
    assert_true(fabs(p.full.avg60_pct - 100) < 1e-9);
    /* 5.10 prints no `full` for cpu, and irq has nothing else. */
    assert_int_equal(psi_parse(psi_io, (size_t)(strchr(psi_io, '\n') - psi_io) + 1, &p), 0);
    assert_true(p.some.present && !p.full.present);
    assert_int_equal(psi_parse("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 47, &p), 0);
    assert_true(!p.some.present && p.full.present);
}

#define AVG "avg10=0.00 avg60=0.00 avg300=0.00 "

static void test_psi_malformed(void **state)
{
    static const char twice[] = "some " AVG "total=1\nsome " AVG "total=1\n";
    static const char *const bad[] = {
        "",
        "\n",
        "some\n",
        twice,
        "some avg10=1 avg60=0.00 avg300=0.00 total=1\n",
        "some avg10=1.5 avg60=0.00 avg300=0.00 total=1\n",
        "some avg10=nan avg60=0.00 avg300=0.00 total=1\n",
        "some " AVG "total=\n",
        "some " AVG "total=-1\n",
        "some " AVG "total=1",
        "some " AVG "total=1 \n",
        "idle " AVG "total=1\n",
    };
    struct psi p = { .some.us_total = 7 };

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(bad); i++)
        assert_int_equal(psi_parse(bad[i], strlen(bad[i]), &p), -EBADMSG);
    assert_int_equal(
        psi_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=99999999999999999999\n", 67, &p),
        -ERANGE);
    /* Cut anywhere but between the lines, it is refused. In a buffer of that size, so that a look
     * beyond shows. */
    for (size_t n = 0; n < sizeof psi_io - 1; n++) {
        char *cut = malloc(n ? n : 1);

        memcpy(cut, psi_io, n);
        int r = psi_parse(cut, n, &p);
        free(cut);
        assert_int_equal(r, n > 0 && psi_io[n - 1] == '\n' ? 0 : -EBADMSG);
        if (n > 0 && psi_io[n - 1] != '\n' && p.some.us_total != 46365640)
            assert_int_equal(p.some.us_total, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delta_known),     cmocka_unit_test(test_delta_property),
        cmocka_unit_test(test_number),          cmocka_unit_test(test_keyvalue),
        cmocka_unit_test(test_cpulist),         cmocka_unit_test(test_cpumask),
        cmocka_unit_test(test_cpuset_property), cmocka_unit_test(test_psi),
        cmocka_unit_test(test_psi_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
