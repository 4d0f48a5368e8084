/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast /proc/schedstat is parsed: 512 CPUs with four domains each, in pieces of 4 KiB as the
 * kernel gives them. Prints MB/s (best of several runs) and the time of one pass; fails below --min
 * MB/s. */
#include "procparse.h"
#include "sensor.h"

#include <string.h>

#include "fixture.h"

#define CPUS    512
#define DOMAINS 4
#define PIECE   4096
#define RUNS    20

/* Counters of a machine that is up for a while: most have four to six digits, some ten, many are 0.
 */
static size_t make_text(char *text)
{
    static const char *const name[DOMAINS] = { "SMT", "MC", "PKG", "NUMA" };
    uint64_t random = 1;
    size_t n = (size_t)sprintf(text, "version 17\ntimestamp 4295012345\n");

    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        n += (size_t)sprintf(text + n, "cpu%u 0 0 %u %u %u %u %lu %lu %u\n", cpu, 3533438 + cpu,
                             553969, 853684, 465731, 2045936778163UL + cpu, 343796328169UL,
                             4767485 + cpu);
        for (unsigned d = 0; d < DOMAINS; d++) {
            n += (size_t)sprintf(text + n, "domain%u %s ", d, name[d]);
            for (unsigned w = CPUS / 32; w > 0; w--)
                n += (size_t)sprintf(text + n, "%08x%s", w * 32 > cpu ? 0xffffffffU : 0,
                                     w > 1 ? "," : "");
            for (unsigned i = 0; i < 45; i++) {
                random = random * 6364136223846793005UL + 1442695040888963407UL;
                unsigned digits = (unsigned)(random >> 33) % 8;
                uint64_t value =
                    digits < 3 ? 0 : (random >> 20) % (digits < 7 ? 300000 : 4000000000UL);
                n += (size_t)sprintf(text + n, " %lu", value);
            }
            n += (size_t)sprintf(text + n, "\n");
        }
    }
    return n;
}

static int one_pass(const char *text, size_t len, char *buf, unsigned *ret_rows)
{
    struct schedstat_parser p = { 0 };
    struct schedstat_row row;
    size_t have = 0, at = 0;
    unsigned rows = 0;

    for (;;) {
        size_t used = 0, start = 0;
        int r;

        while ((r = schedstat_next(&p, buf + start, have - start, &used, &row)) > 0) {
            start += used;
            rows++;
        }
        if (r < 0)
            return r;
        start += used;
        memmove(buf, buf + start, have - start);
        have -= start;
        if (at == len)
            break;
        size_t n = len - at < PIECE ? len - at : PIECE;
        memcpy(buf + have, text + at, n);
        at += n;
        have += n;
    }
    *ret_rows = rows;
    return schedstat_finish(&p, have);
}

/* The whole reading of the sensors on a tree of files of that size. */
static double sensors_us(const char *text)
{
    struct fixture f;
    struct sensors ss;
    struct window w;
    uint64_t best = UINT64_MAX;

    fixture_init(&f);
    fixture_put(&f, "/proc/schedstat", "%s", text);
    fixture_put(&f, "/sys/devices/system/cpu/online", "0-%u\n", CPUS - 1);
    if (sensors_init(&ss, &f.io) < 0)
        abort();
    for (unsigned i = 0; i < RUNS; i++) {
        uint64_t t = now_mono_ns();

        sensors_read(&ss, t, 1, &w);
        t = now_mono_ns() - t;
        best = t < best ? t : best;
        (void)usleep(1500);
    }
    sensors_done(&ss);
    fixture_done(&f);
    return (double)best / 1e3;
}

int main(int argc, char **argv)
{
    static char buf[2 * SCHEDSTAT_LINE_MAX];
    char *text = malloc(4 << 20);
    uint64_t best = UINT64_MAX;
    double mb_s, min = argc == 3 && strcmp(argv[1], "--min") == 0 ? strtod(argv[2], NULL) : 0;
    size_t len = make_text(text);
    unsigned rows = 0;

    for (unsigned i = 0; i < RUNS * 10; i++) {
        uint64_t t = now_mono_ns();

        if (one_pass(text, len, buf, &rows) < 0 || rows != CPUS * (1 + DOMAINS)) {
            (void)fprintf(stderr, "bench_schedstat: the text was not understood\n");
            return 1;
        }
        t = now_mono_ns() - t;
        best = t < best ? t : best;
    }
    mb_s = (double)len / (double)best * 1e3;
    (void)printf("schedstat: %zu bytes, %u rows, %.0f us, %.0f MB/s\n", len, rows,
                 (double)best / 1e3, mb_s);
    (void)printf("sensors_read on a tree of that size: %.0f us\n", sensors_us(text));
    free(text);
    return mb_s < min;
}
