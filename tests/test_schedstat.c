/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/schedstat: every capture against sums that another program made, and malformed text. */
#include "procparse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

struct sums {
    uint64_t version, cpus, domains, run_ns, delay_ns, slices, newidle_count, busy_gained, affine,
        identity;
};

/* Sums over all lines: run time, run delay, timeslices, newidle lb_count, busy lb_gained,
 * ttwu_move_affine. */
static const struct {
    const char *file;
    struct sums s;
} captures[] = {
    { "v15-1cpu-5.10.223-debian-qemu-on.txt",
      { 15, 1, 0, 8139954438, 97841903470, 74406, 0, 0, 0, 0 } },
    { "v15-1cpu-UP-nodomains.txt", { 15, 1, 0, 285455085423, 2545228545876, 790551, 0, 0, 0, 0 } },
    { "v15-1cpu-schedstats-off.txt", { 15, 1, 0, 85778645197, 139355221621, 282008, 0, 0, 0, 0 } },
    { "v15-2cpu-prometheus-procfs.txt",
      { 15, 2, 2, 3950622930755515, 707903591957602, 9913053251, 4453504039, 1553145, 47296657,
        0 } },
    { "v15-2cpu-schedstats-off.txt", { 15, 2, 2, 112243344505, 120877284162, 49619, 0, 0, 0, 0 } },
    { "v15-64cpu-6.1.176-debian-qemu-on.txt",
      { 15, 64, 192, 95482295524, 33506326560, 14541, 1577, 0, 1245, 0 } },
    { "v15-8cpu-5.10.223-debian-qemu-on.txt",
      { 15, 8, 24, 58079707087, 36970944561, 35980, 219, 48, 680, 0 } },
    { "v15-8cpu-6.1.176-debian-qemu-on.txt",
      { 15, 8, 24, 74346393808, 34935125938, 30963, 407, 53, 403, 0 } },
    { "v16-128cpu-6.12.117-debian-qemu-on.txt",
      { 16, 128, 384, 438487952765, 211926401893, 57459, 1722, 0, 888, 0 } },
    { "v16-64cpu-6.12.117-debian-qemu-on.txt",
      { 16, 64, 192, 154082100235, 58080470191, 17808, 1833, 0, 928, 0 } },
    { "v16-7of8cpu-6.12.117-debian-qemu-cpu2-offline.txt",
      { 16, 7, 20, 66120269794, 29188932466, 36329, 19, 0, 0, 0 } },
    { "v16-8cpu-6.12.117-debian-qemu-off-frozen.txt",
      { 16, 8, 24, 30494704474, 5024920133, 6912, 0, 0, 0, 0 } },
    { "v16-8cpu-6.12.117-debian-qemu-on.txt",
      { 16, 8, 24, 76900894830, 34256098947, 42098, 477, 39, 332, 0 } },
    { "v17-64cpu-7.3.4-debian-qemu-on.txt",
      { 17, 64, 192, 119802263598, 48263676307, 21898, 2000, 0, 1012, 0 } },
    { "v17-7of8cpu-7.3.4-debian-qemu-cpu2-offline.txt",
      { 17, 7, 20, 75258699409, 33320897395, 30479, 5, 0, 1, 0 } },
    { "v17-8cpu-6.16.12-debian-qemu-on.txt",
      { 17, 8, 24, 109561295361, 46215918826, 15618, 716, 57, 162, 0 } },
    { "v17-8cpu-6.18.15-debian-qemu-on.txt",
      { 17, 8, 24, 75528215957, 34687071180, 38589, 305, 33, 386, 0 } },
    { "v17-8cpu-7.0.13-debian-qemu-on.txt",
      { 17, 8, 24, 102214850748, 47007863870, 26398, 206, 61, 174, 0 } },
    { "v17-8cpu-7.3.4-debian-qemu-on.txt",
      { 17, 8, 24, 88197323966, 38970384209, 35808, 259, 54, 320, 0 } },
};

/* The text in pieces of at most `piece` bytes, as a reader with a small buffer gives it. */
static int sum_up(const char *text, size_t len, size_t piece, struct sums *ret)
{
    struct schedstat_parser p = { 0 };
    struct schedstat_row row;
    struct sums s = { 0 };
    size_t at = 0, have = 0;
    int r;

    for (;;) {
        size_t used = 0;
        char *copy = malloc(have - at + 1);

        /* A copy of just that size: the sanitizer sees each byte too many. */
        memcpy(copy, text + at, have - at);
        r = schedstat_next(&p, copy, have - at, &used, &row);
        if (r > 0 && row.kind == SCHEDSTAT_DOMAIN)
            assert_true(row.span >= copy && row.span + row.span_len <= copy + (have - at));
        free(copy);
        if (r < 0)
            return r;
        at += used;
        if (r == 0 && have == len)
            break;
        if (r == 0) {
            have = len - have < piece ? len : have + piece;
            continue;
        }
        s.identity = s.identity * 31 + row.identity;
        if (row.kind == SCHEDSTAT_CPU) {
            s.cpus++;
            s.run_ns += row.rq_cpu_ns_total;
            s.delay_ns += row.run_delay_ns_total;
            s.slices += row.pcount_total;
        } else {
            s.domains++;
            s.newidle_count += row.lb[SCHEDSTAT_NEWIDLE][SCHEDSTAT_LB_COUNT];
            s.busy_gained += row.lb[SCHEDSTAT_BUSY][SCHEDSTAT_LB_GAINED];
            s.affine += row.tail[SCHEDSTAT_TTWU_MOVE_AFFINE];
        }
    }
    s.version = p.version;
    r = schedstat_finish(&p, len - at);
    if (r == 0)
        *ret = s;
    return r;
}

static char *load(const char *name, size_t *ret_len)
{
    char path[512];
    const char *src = getenv("SRC");
    char *text = malloc(1 << 20);

    (void)snprintf(path, sizeof path, "%s/tests/data/schedstat/%s", src ? src : ".", name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    *ret_len = fread(text, 1, 1 << 20, f);
    (void)fclose(f);
    return text;
}

static void test_captures(void **state)
{
    struct rnd rnd = rnd_init("captures");

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(captures); i++) {
        size_t len;
        char *text = load(captures[i].file, &len);
        struct sums whole, pieces;

        assert_int_equal(sum_up(text, len, len, &whole), 0);
        pieces = whole;
        pieces.identity = 0;
        assert_memory_equal(&pieces, &captures[i].s, sizeof pieces);
        assert_int_equal(sum_up(text, len, 1 + rnd_below(&rnd, 5000), &pieces), 0);
        assert_memory_equal(&pieces, &whole, sizeof whole);
        free(text);
    }
}

/* Cut at any byte, a capture is refused, unless it was cut behind a line of a CPU or a domain. */
static void test_truncated(void **state)
{
    size_t len;
    char *text = load("v17-8cpu-7.3.4-debian-qemu-on.txt", &len);
    size_t header = (size_t)(strstr(text, "cpu0") - text);

    (void)state;
    for (size_t n = 0; n < len; n++) {
        struct sums s;
        bool between = n > header && text[n - 1] == '\n';

        assert_int_equal(sum_up(text, n, n, &s), between ? 0 : -EBADMSG);
    }
    free(text);
}

static int parse_text(const char *text, struct sums *ret)
{
    return sum_up(text, strlen(text), strlen(text), ret);
}

#define Z8   " 0 0 0 0 0 0 0 0"
#define Z12  " 0 0 0 0 0 0 0 0 0 0 0 0"
#define CPU0 "cpu0 1 0 2 3 4 5 600 700 8"

static void test_versions(void **state)
{
    struct sums s;

    (void)state;
    /* The same line says "idle, busy, newidle" in version 15 and "busy, idle, newidle" in 16. */
    static const char line[] =
        "timestamp 1\n" CPU0 "\ndomain0 3 1 1 1 1 11 1 1 1 2 2 2 2 22 2 2 2 3 3 3 3 33 3 3 3" Z12
        "\n";
    char text[512];

    (void)snprintf(text, sizeof text, "version 15\n%s", line);
    assert_int_equal(parse_text(text, &s), 0);
    assert_int_equal(s.busy_gained, 22);
    (void)snprintf(text, sizeof text, "version 16\n%s", line);
    assert_int_equal(parse_text(text, &s), 0);
    assert_int_equal(s.busy_gained, 11);
    assert_int_equal(s.newidle_count, 3);
    /* 17 has a name and eleven numbers of a kind: this line is too short for it. */
    (void)snprintf(text, sizeof text, "version 17\n%s", line);
    assert_int_equal(parse_text(text, &s), -EBADMSG);
    /* A later version: CPU lines only. */
    assert_int_equal(parse_text("version 18\ntimestamp 1\n" CPU0
                                "\ndomain0 what ever\nnew 1\ncpu1 1 0 2 3 4 5 1 2 3 4 5\n",
                                &s),
                     0);
    assert_int_equal(s.version, 18);
    assert_int_equal(s.cpus, 2);
    assert_int_equal(s.domains, 0);
    assert_int_equal(s.run_ns, 601);
    assert_int_equal(parse_text("version 14\ntimestamp 1\n" CPU0 " 1 2 3\n", &s), -EPROTONOSUPPORT);
    assert_int_equal(parse_text("version 0\ntimestamp 1\n" CPU0 "\n", &s), -EPROTONOSUPPORT);
}

static void test_extra_fields(void **state)
{
    struct sums s;

    (void)state;
    assert_int_equal(parse_text("version 15\ntimestamp 1\n" CPU0
                                " 9 10 11 x\ndomain0 00000001,00000003" Z8 Z8 Z8 Z12 " 77\n",
                                &s),
                     0);
    assert_int_equal(s.slices, 8);
    assert_int_equal(s.domains, 1);
}

static void test_malformed(void **state)
{
    static const struct {
        const char *text;
        int r;
    } bad[] = {
        { "", -EBADMSG },
        { "\n", -EBADMSG },
        { "version", -EBADMSG },
        { "version 15", -EBADMSG },
        { "version 15\n", -EBADMSG },
        { "version 15\ntimestamp 1\n", -EBADMSG },
        { "version 15 \ntimestamp 1\n" CPU0 "\n", -EBADMSG },
        { "version x\ntimestamp 1\n" CPU0 "\n", -EBADMSG },
        { "version 99999999999999999999\ntimestamp 1\n" CPU0 "\n", -ERANGE },
        { "timestamp 1\nversion 15\n" CPU0 "\n", -EBADMSG },
        { "version 15\n" CPU0 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0, -EBADMSG },
        { "version 15\ntimestamp 1\n\n" CPU0 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu0 1 0 2 3 4 5 600 700\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu0 1 0 2 3 4 5 600 700 \n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu0  1 0 2 3 4 5 600 700 8\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu 1 0 2 3 4 5 600 700 8\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu0 1 0 2 3 4 5 600 700 8x\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu0 1 0 2 3 4 5 600 700 -8\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu8192 1 0 2 3 4 5 600 700 8\n", -EBADMSG },
        { "version 15\ntimestamp 1\ncpu0 4294967296 0 2 3 4 5 600 700 8\n", -ERANGE },
        { "version 15\ntimestamp 1\ncpu0 1 0 2 3 4 5 99999999999999999999 700 8\n", -ERANGE },
        { "version 15\ntimestamp 1\n" CPU0 "\n" CPU0 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\ndomain0 3" Z8 Z8 Z8 Z12 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0 "\ndomain0 3" Z8 Z8 Z8 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0 "\ndomain 3" Z8 Z8 Z8 Z12 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0 "\ndomain300 3" Z8 Z8 Z8 Z12 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0 "\ndomain0 MC 3" Z8 Z8 Z8 Z12 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0 "\ndomain0" Z8 Z8 Z8 Z12 "\n", -EBADMSG },
        { "version 15\ntimestamp 1\n" CPU0 "\ndomain0 3" Z8 Z8 Z8 " 4294967296" Z12 "\n", -ERANGE },
        { "version 15\ntimestamp 1\n" CPU0 "\nwhatever\n", -EBADMSG },
        { "version 17\ntimestamp 1\n" CPU0 "\ndomain0  3" Z8 Z8 Z8 Z12 "\n", -EBADMSG },
    };
    struct sums s;

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
        int r = parse_text(bad[i].text, &s);

        if (r != bad[i].r)
            fail_msg("%d instead of %d for: %s", r, bad[i].r, bad[i].text);
    }
}

/* A line without an end fills no buffer for ever. */
static void test_oversized_line(void **state)
{
    struct schedstat_parser p = { .version = 15, .lines = 2 };
    struct schedstat_row row;
    size_t used, len = SCHEDSTAT_LINE_MAX + 1;
    char *line = malloc(len);

    (void)state;
    memset(line, '1', len);
    assert_int_equal(schedstat_next(&p, line, len, &used, &row), -EBADMSG);
    free(line);
}

/* Bytes changed at random: any answer is right, reading beyond the end is not. */
static void test_hostile(void **state)
{
    struct rnd rnd = rnd_init("hostile");
    size_t len;
    char *text = load("v17-7of8cpu-7.3.4-debian-qemu-cpu2-offline.txt", &len);

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        char *copy = malloc(len);
        struct sums s;

        memcpy(copy, text, len);
        for (uint64_t n = 1 + rnd_below(&rnd, 4); n > 0; n--)
            copy[rnd_below(&rnd, len)] =
                rnd_below(&rnd, 2) ? (char)rnd_next(&rnd) : " \n0,9"[rnd_below(&rnd, 5)];
        int r = sum_up(copy, len, 4096, &s);
        assert_true(r == 0 || r == -EBADMSG || r == -ERANGE || r == -EPROTONOSUPPORT);
        free(copy);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures),  cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_versions),  cmocka_unit_test(test_extra_fields),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_oversized_line),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
