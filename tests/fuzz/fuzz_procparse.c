/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libFuzzer target for every format of procparse. The first byte of an input names the format; the
 * second, for schedstat, the size of the pieces in which the text comes. Aborts where an answer
 * contradicts another. */
#include "nl_proc.h"
#include "nl_taskstats.h"
#include "procparse.h"

#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* The rows as one hash, fed in pieces that end where the sanitizer sees a look beyond. */
static int walk(const char *text, size_t len, size_t piece, uint64_t *ret)
{
    struct schedstat_parser p = { 0 };
    struct schedstat_row row;
    uint64_t hash = 0;
    size_t at = 0, have = 0;

    for (;;) {
        size_t used = 0;
        char *copy = malloc(have - at + 1);

        memcpy(copy, text + at, have - at);
        int r = schedstat_next(&p, copy, have - at, &used, &row);
        must(used <= have - at);
        if (r > 0) {
            hash = hash * 31 + row.identity + row.run_delay_ns_total * (row.kind == SCHEDSTAT_CPU);
            if (row.kind == SCHEDSTAT_DOMAIN) {
                struct cpuset span;

                must(row.span >= copy && row.span + row.span_len <= copy + used);
                must(row.name >= copy && row.name + row.name_len <= copy + used);
                (void)cpumask_parse(row.span, row.span_len, &span);
            }
        }
        free(copy);
        if (r < 0)
            return r;
        at += used;
        if (r == 0 && have == len)
            break;
        if (r == 0)
            have = len - have < piece ? len : have + piece;
    }
    *ret = hash;
    return schedstat_finish(&p, len - at);
}

/* However the text is cut into pieces, the answer is the same (only a line that is too long may be
 * noticed earlier). */
static void fuzz_schedstat(const char *text, size_t len, uint8_t piece)
{
    uint64_t whole = 0, pieces = 0;
    int a = walk(text, len, len + 1, &whole), b = walk(text, len, 1 + (size_t)piece * 16, &pieces);

    if (len <= SCHEDSTAT_LINE_MAX)
        must(a == b && (a < 0 || whole == pieces));
}

static void fuzz_cpulist(const char *text, size_t len)
{
    static char back[65536];
    struct cpuset s, again;

    if (cpulist_parse(text, len, &s) < 0)
        return;
    (void)cpulist_format(back, sizeof back, &s);
    must(cpulist_parse(back, strlen(back), &again) == 0 && cpuset_equal(&s, &again));
    must(cpuset_count(&s) <= cpuset_end(&s));
    (void)cpulist_format(back, 1 + len % 40, &s);
    must(strlen(back) < 1 + len % 40);
}

static void fuzz_small(uint8_t format, const char *text, size_t len)
{
    static const char *const words[] = { "none", "integrity", "confidentiality" };
    struct stat_cpu stat;
    struct psi psi;
    struct cpuset s;
    const char *path;
    uint64_t v;
    double load;
    size_t n;
    int r;

    switch (format % 8) {
    case 0:
        r = psi_parse(text, len, &psi);
        must(r < 0 || psi.some.present || psi.full.present);
        break;
    case 1:
        r = cpumask_parse(text, len, &s);
        must(r < 0 || cpuset_end(&s) <= CPUSET_MAX);
        break;
    case 2:
        r = number_parse(text, len, &v);
        must(r == 0 || r == -EBADMSG || r == -ERANGE);
        break;
    case 3:
        r = stat_cpu_parse(text, len, &stat);
        must(r < 0 || stat.steal_total <= stat.sum_total);
        break;
    case 4:
        r = loadavg_parse(text, len, &load);
        must(r < 0 || load >= 0);
        break;
    case 5:
        r = choice_parse(text, len, words, ELEMENTSOF(words), &n);
        must(r < 0 || n < ELEMENTSOF(words));
        break;
    case 6:
        r = cgroup_parse(text, len, &path, &n);
        must(r < 0 || (path[0] == '/' && path + n < text + len));
        break;
    default:
        r = keyvalue_parse(text, len, "nr_throttled", &v);
        must(r == 0 || r == -EBADMSG || r == -ERANGE || r == -ENOENT);
    }
}

/* Bytes of the kernel, which says how long each part is. */
static void fuzz_netlink(const uint8_t *data, size_t len)
{
    struct nl_proc_event ev;
    struct task_usage usage;
    int r = nl_proc_decode(data, len, &ev);

    must(r == 0 || r == 1 || r == -EBADMSG);
    r = taskstats_decode(data, len, &usage);
    must(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    if (size < 2)
        return 0;
    if (data[0] == 's')
        fuzz_schedstat(text + 2, size - 2, data[1]);
    else if (data[0] == 'l')
        fuzz_cpulist(text + 1, size - 1);
    else if (data[0] == 'n')
        fuzz_netlink(data + 1, size - 1);
    else
        fuzz_small(data[0], text + 1, size - 1);
    return 0;
}
