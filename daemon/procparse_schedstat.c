/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/schedstat, versions 15 to 17, one row at a time. Pure: no I/O, no log, no allocation. */
#include "procparse.h"

#include <errno.h>
#include <string.h>

#define LB(x) SCHEDSTAT_LB_##x

/* What differs between versions (show_schedstat() in kernel/sched/stats.c). The order of the three
 * kinds is that of enum cpu_idle_type, which 6.10 turned around. */
struct schedstat_layout {
    uint64_t version;
    bool has_name;
    enum schedstat_idle order[SCHEDSTAT_IDLE_TYPES];
    uint8_t per_type;
    enum schedstat_lb counter[SCHEDSTAT_LB_COUNTERS];
};
static const struct schedstat_layout layouts[] = {
    { .version = 15,
      .order = { SCHEDSTAT_IDLE, SCHEDSTAT_BUSY, SCHEDSTAT_NEWIDLE },
      .per_type = 8,
      .counter = { LB(COUNT), LB(BALANCED), LB(FAILED), LB(IMBALANCE_LOAD), LB(GAINED),
                   LB(HOT_GAINED), LB(NOBUSYQ), LB(NOBUSYG) } },
    { .version = 16,
      .order = { SCHEDSTAT_BUSY, SCHEDSTAT_IDLE, SCHEDSTAT_NEWIDLE },
      .per_type = 8,
      .counter = { LB(COUNT), LB(BALANCED), LB(FAILED), LB(IMBALANCE_LOAD), LB(GAINED),
                   LB(HOT_GAINED), LB(NOBUSYQ), LB(NOBUSYG) } },
    { .version = 17,
      .has_name = true,
      .order = { SCHEDSTAT_BUSY, SCHEDSTAT_IDLE, SCHEDSTAT_NEWIDLE },
      .per_type = 11,
      .counter = { LB(COUNT), LB(BALANCED), LB(FAILED), LB(IMBALANCE_LOAD), LB(IMBALANCE_UTIL),
                   LB(IMBALANCE_TASK), LB(IMBALANCE_MISFIT), LB(GAINED), LB(HOT_GAINED),
                   LB(NOBUSYQ), LB(NOBUSYG) } },
};
#define VERSION_FIRST 15
#define VERSION_LAST  17

/* A line is read through a cursor. The newline that ends it stops every scan, so that the end is
 * not asked for. */
static bool is_digit(char c)
{
    return (unsigned)(c - '0') <= 9;
}

static int take_u64(const char **at, uint64_t *ret)
{
    const char *p = *at, *start = p;
    uint64_t v = 0;

    while (is_digit(*p) && p - start < 19)
        v = v * 10 + (uint64_t)(*p++ - '0');
    if (p == start)
        return -EBADMSG;
    for (; is_digit(*p); p++)
        if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return -ERANGE;
    *at = p;
    *ret = v;
    return 0;
}

/* A number of up to seven digits out of eight bytes at once, without a branch for each digit:
 * numbers of all lengths are mixed here, and a loop guesses its end wrong each time (560 against
 * 900 MB/s). Returns how many digits, 0 or 8: not for this way. */
static inline unsigned take_digits(const char *p, uint32_t *ret)
{
    uint64_t v, not_digit;

    memcpy(&v, p, sizeof v);
    v ^= UINT64_C(0x3030303030303030);
    /* The high bit of each byte that is not 0 to 9; nothing carries below the first of them. */
    not_digit = ((v + UINT64_C(0x7676767676767676)) | v) & UINT64_C(0x8080808080808080);
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || not_digit == 0)
        return 8;
    unsigned n = (unsigned)__builtin_ctzll(not_digit) / 8;
    if (n == 0)
        return 0;
    v <<= 64 - 8 * n; /* zeros in front, the last digit in the highest byte */
    v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
    v = v * 10000 + (v >> 32);
    *ret = (uint32_t)v;
    return n;
}

/* A blank and a number of 32 bits: most of the text. end: of the line. */
static inline int take_blank_u32(const char **at, const char *end, uint32_t *ret)
{
    const char *p = *at;
    uint64_t v;

    if (*p++ != ' ' || !is_digit(*p))
        return -EBADMSG;
    if (end - p >= 8) {
        unsigned n = take_digits(p, ret);

        if (n < 8) {
            *at = p + n;
            return 0;
        }
    }
    v = (uint64_t)(*p++ - '0');
    while (is_digit(*p)) {
        v = v * 10 + (uint64_t)(*p++ - '0');
        if (v > UINT32_MAX)
            return -ERANGE;
    }
    *at = p;
    *ret = (uint32_t)v;
    return 0;
}

static int take_blank_u64(const char **at, uint64_t *ret)
{
    if (**at != ' ')
        return -EBADMSG;
    ++*at;
    return take_u64(at, ret);
}

/* Later kernels may append fields: a blank may follow the last known one, nothing else. */
static int take_rest(const char *at)
{
    return *at == '\n' || *at == ' ' ? 0 : -EBADMSG;
}

static uint64_t hash_bytes(uint64_t h, const char *s, size_t len)
{
    uint64_t v;

    for (; len >= sizeof v; s += sizeof v, len -= sizeof v) {
        memcpy(&v, s, sizeof v);
        h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    v = len;
    memcpy(&v, s, len);
    h = (h ^ v ^ (uint64_t)len << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static bool take_word(const char **at, const char *word)
{
    const char *p = *at;

    for (; *word; word++, p++)
        if (*p != *word)
            return false;
    *at = p;
    return true;
}

static int parse_header(struct schedstat_parser *p, const char *line)
{
    uint64_t v;
    int r;

    if (!take_word(&line, p->lines == 0 ? "version " : "timestamp "))
        return -EBADMSG;
    r = take_u64(&line, &v);
    if (r < 0)
        return r;
    if (*line != '\n')
        return -EBADMSG;
    if (p->lines == 1) {
        p->timestamp = v;
        return 0;
    }
    /* 14 and before had twelve fields on a CPU line, in another order. */
    if (v < VERSION_FIRST)
        return -EPROTONOSUPPORT;
    p->version = v;
    p->layout = v <= VERSION_LAST ? &layouts[v - VERSION_FIRST] : NULL;
    return 0;
}

static int parse_cpu(struct schedstat_parser *p, const char *at, struct schedstat_row *row)
{
    uint64_t cpu, field[6] = { 0 };
    int r = take_u64(&at, &cpu);

    /* Ascending, so that the same CPU twice is noticed. */
    if (r < 0 || cpu >= CPUSET_MAX || (p->cpus > 0 && cpu <= p->cpu))
        return -EBADMSG;
    for (unsigned i = 0; i < ELEMENTSOF(field); i++) {
        r = take_blank_u64(&at, &field[i]);
        if (r < 0)
            return r;
        if (p->layout && field[i] > UINT32_MAX)
            return -ERANGE;
    }
    if ((r = take_blank_u64(&at, &row->rq_cpu_ns_total)) < 0 ||
        (r = take_blank_u64(&at, &row->run_delay_ns_total)) < 0 ||
        (r = take_blank_u64(&at, &row->pcount_total)) < 0 || (r = take_rest(at)) < 0)
        return r;
    row->kind = SCHEDSTAT_CPU;
    row->cpu = (uint32_t)cpu;
    row->identity = hash_bytes(cpu + 1, "", 0);
    /* field[1] is a constant 0 since the O(1) scheduler's array switches went away. */
    row->yld_count = p->layout ? (uint32_t)field[0] : 0;
    row->sched_count = p->layout ? (uint32_t)field[2] : 0;
    row->sched_goidle = p->layout ? (uint32_t)field[3] : 0;
    row->ttwu_count = p->layout ? (uint32_t)field[4] : 0;
    row->ttwu_local = p->layout ? (uint32_t)field[5] : 0;
    p->cpu = row->cpu;
    p->cpus++;
    return 1;
}

/* A third of the text of a large machine are masks: a table is faster than comparisons. */
static const bool is_mask[256] = {
    ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true, ['5'] = true,
    ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true, ['a'] = true, ['b'] = true,
    ['c'] = true, ['d'] = true, ['e'] = true, ['f'] = true, [','] = true,
};

static int parse_span(const char **at, struct schedstat_row *row)
{
    const char *q;

    if (*(*at)++ != ' ')
        return -EBADMSG;
    for (q = *at; is_mask[(unsigned char)*q]; q++)
        ;
    row->span = *at;
    row->span_len = (size_t)(q - *at);
    *at = q;
    return row->span_len > 0 && *q == ' ' ? 0 : -EBADMSG;
}

static int parse_name(const char **at, struct schedstat_row *row)
{
    const char *q;

    if (*(*at)++ != ' ')
        return -EBADMSG;
    for (q = *at; *q > ' ' && *q < 127; q++)
        ;
    row->name = *at;
    row->name_len = (size_t)(q - *at);
    *at = q;
    return row->name_len > 0 ? 0 : -EBADMSG;
}

static int parse_domain(const struct schedstat_parser *p, const char *at, const char *end,
                        struct schedstat_row *row)
{
    const struct schedstat_layout *l = p->layout;
    uint64_t domain;
    int r;

    r = take_u64(&at, &domain);
    if (r < 0 || domain > UINT8_MAX || p->cpus == 0)
        return -EBADMSG;
    row->name = at;
    row->name_len = 0;
    if (l->has_name && (r = parse_name(&at, row)) < 0)
        return r;
    if ((r = parse_span(&at, row)) < 0)
        return r;
    for (unsigned t = 0; t < SCHEDSTAT_IDLE_TYPES; t++) {
        uint32_t *lb = row->lb[l->order[t]];

        lb[LB(IMBALANCE_UTIL)] = lb[LB(IMBALANCE_TASK)] = lb[LB(IMBALANCE_MISFIT)] = 0;
        for (unsigned i = 0; i < l->per_type; i++)
            if ((r = take_blank_u32(&at, end, &lb[l->counter[i]])) < 0)
                return r;
    }
    for (unsigned i = 0; i < SCHEDSTAT_TAIL_COUNTERS; i++)
        if ((r = take_blank_u32(&at, end, &row->tail[i])) < 0)
            return r;
    if ((r = take_rest(at)) < 0)
        return r;
    row->kind = SCHEDSTAT_DOMAIN;
    row->cpu = p->cpu;
    row->domain = (uint32_t)domain;
    row->identity = hash_bytes((uint64_t)p->cpu << 32 | domain << 8 | 2, row->name, row->name_len);
    row->identity = hash_bytes(row->identity, row->span, row->span_len);
    return 1;
}

/* 1: a row; 0: a line without one. */
static int parse_line(struct schedstat_parser *p, const char *line, const char *end,
                      struct schedstat_row *row)
{
    if (p->lines < 2)
        return parse_header(p, line);
    if (take_word(&line, "cpu"))
        return parse_cpu(p, line, row);
    /* Of a version that is not known only the CPU lines are looked at. */
    if (!p->layout)
        return 0;
    if (take_word(&line, "domain"))
        return parse_domain(p, line, end, row);
    return -EBADMSG;
}

int schedstat_next(struct schedstat_parser *p, const char *buf, size_t len, size_t *ret_used,
                   struct schedstat_row *ret_row)
{
    size_t used = 0;

    while (used < len) {
        const char *line = buf + used, *end = memchr(line, '\n', len - used);
        int r;

        if (!end) {
            if (len - used > SCHEDSTAT_LINE_MAX)
                return -EBADMSG;
            break;
        }
        r = parse_line(p, line, end, ret_row);
        if (r < 0)
            return r;
        p->lines++;
        used += (size_t)(end - line) + 1;
        if (r > 0) {
            *ret_used = used;
            return 1;
        }
    }
    *ret_used = used;
    return 0;
}

int schedstat_finish(const struct schedstat_parser *p, size_t left)
{
    return left == 0 && p->cpus > 0 ? 0 : -EBADMSG;
}
