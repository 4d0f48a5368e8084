/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters, numbers, sets of CPUs and pressure. Pure: no I/O, no log, no allocation. */
#include "procparse.h"

#include <errno.h>
#include <string.h>

int counter_delta(uint64_t before, uint64_t after, unsigned bits, uint64_t max_step, uint64_t *ret)
{
    uint64_t d;

    if (bits == 64) {
        /* At one per nanosecond it takes 584 years to wrap: going down is a reset. */
        if (after < before)
            return -ERANGE;
        d = after - before;
    } else {
        d = (uint32_t)after - (uint32_t)before;
        d &= UINT32_MAX;
        if ((uint32_t)after < (uint32_t)before && d > (max_step > 0 ? max_step : UINT32_MAX / 2))
            return -ERANGE;
    }
    *ret = d;
    return 0;
}

/* Scanning. */

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *c, const char *text)
{
    size_t n = strlen(text);

    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
        return false;
    c->at += n;
    return true;
}

static int take_number(struct cursor *c, uint64_t *ret)
{
    const char *start = c->at;
    uint64_t v = 0;

    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)(*c->at - '0'), &v))
            return -ERANGE;
    if (c->at == start)
        return -EBADMSG;
    *ret = v;
    return 0;
}

/* One newline or none, and then nothing. */
static int take_end(struct cursor *c)
{
    (void)take(c, "\n");
    return c->at == c->end ? 0 : -EBADMSG;
}

int number_parse(const char *buf, size_t len, uint64_t *ret)
{
    struct cursor c = { buf, buf + len };
    uint64_t v;
    int r;

    if ((r = take_number(&c, &v)) < 0 || (r = take_end(&c)) < 0)
        return r;
    *ret = v;
    return 0;
}

int keyvalue_parse(const char *buf, size_t len, const char *key, uint64_t *ret)
{
    struct cursor c = { buf, buf + len };

    while (c.at < c.end) {
        const char *end = memchr(c.at, '\n', (size_t)(c.end - c.at));
        struct cursor line = { c.at, end ? end : c.end };

        if (take(&line, key) && take(&line, " ")) {
            /* The text of the kernel always ends with a newline: a number without one may be a part
             * of it. */
            if (!end)
                return -EBADMSG;
            return number_parse(line.at, (size_t)(line.end - line.at), ret);
        }
        c.at = end ? end + 1 : c.end;
    }
    return -ENOENT;
}

/* Sets of CPUs. */

uint32_t cpuset_count(const struct cpuset *s)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < ELEMENTSOF(s->word); i++)
        n += (uint32_t)__builtin_popcountll(s->word[i]);
    return n;
}

uint32_t cpuset_end(const struct cpuset *s)
{
    for (unsigned i = ELEMENTSOF(s->word); i > 0; i--)
        if (s->word[i - 1])
            return i * 64 - (uint32_t)__builtin_clzll(s->word[i - 1]);
    return 0;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
    return memcmp(a->word, b->word, sizeof a->word) == 0;
}

int cpulist_parse(const char *buf, size_t len, struct cpuset *ret)
{
    struct cursor c = { buf, buf + len };
    struct cpuset s = { 0 };
    uint64_t first, last, next = 0;
    int r;

    if (take_end(&c) == 0) {
        *ret = s;
        return 0;
    }
    c.at = buf;
    do {
        if ((r = take_number(&c, &first)) < 0)
            return r;
        last = first;
        if (take(&c, "-") && (r = take_number(&c, &last)) < 0)
            return r;
        if (last >= CPUSET_MAX)
            return -ERANGE;
        if (first < next || last < first)
            return -EBADMSG; /* ascending, so that no CPU counts twice */
        for (uint64_t cpu = first; cpu <= last; cpu++)
            cpuset_add(&s, (uint32_t)cpu);
        next = last + 1;
    } while (take(&c, ","));
    if ((r = take_end(&c)) < 0)
        return r;
    *ret = s;
    return 0;
}

static int hex_value(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    return -1;
}

int cpumask_parse(const char *buf, size_t len, struct cpuset *ret)
{
    struct cpuset s = { 0 };
    uint32_t bit = 0, digits = 0;

    if (len > 0 && buf[len - 1] == '\n')
        len--;
    if (len == 0)
        return -EBADMSG;
    /* From the end: the lowest CPUs come last. All words but the first have eight digits. */
    for (size_t i = len; i > 0; i--) {
        if (buf[i - 1] == ',') {
            if (digits != 8 || i == 1)
                return -EBADMSG;
            digits = 0;
            continue;
        }
        int v = hex_value(buf[i - 1]);
        if (v < 0 || ++digits > 8)
            return -EBADMSG;
        if (bit >= CPUSET_MAX && v != 0)
            return -ERANGE;
        if (bit < CPUSET_MAX)
            s.word[bit / 64] |= (uint64_t)v << (bit % 64);
        bit += 4;
    }
    *ret = s;
    return 0;
}

const char *cpulist_format(char *buf, size_t size, const struct cpuset *s)
{
    uint32_t end = cpuset_end(s);
    size_t used = 0, dots = 0; /* dots: the last place that has room for them */

    if (size > 0)
        buf[0] = '\0';
    for (uint32_t cpu = 0; cpu < end; cpu++) {
        char one[24];
        uint32_t last = cpu;
        int n;

        if (!cpuset_has(s, cpu))
            continue;
        while (cpuset_has(s, last + 1))
            last++;
        n = snprintf(one, sizeof one, last > cpu ? "%s%u-%u" : "%s%u", used ? "," : "", cpu, last);
        if (n < 0 || used + (size_t)n + 1 > size) {
            if (dots + 4 <= size)
                memcpy(buf + dots, "...", 4);
            break;
        }
        memcpy(buf + used, one, (size_t)n + 1);
        used += (size_t)n;
        if (used + 4 <= size)
            dots = used;
        cpu = last;
    }
    return buf;
}

/* Pressure. */

/* "12.85": two decimals, as the kernel prints LOAD_FRAC. */
static int take_pct(struct cursor *c, const char *key, double *ret)
{
    uint64_t whole, hundredths;
    int r;

    if (!take(c, key))
        return -EBADMSG;
    if ((r = take_number(c, &whole)) < 0)
        return r;
    const char *point = c->at;
    if (!take(c, "."))
        return -EBADMSG;
    if ((r = take_number(c, &hundredths)) < 0)
        return r;
    if (c->at - point != 3)
        return -EBADMSG;
    *ret = (double)whole + (double)hundredths / 100;
    return 0;
}

static int take_psi_line(struct cursor *c, struct psi_line *ret)
{
    struct psi_line l = { .present = true };
    int r;

    if (ret->present)
        return -EBADMSG; /* twice */
    if ((r = take_pct(c, " avg10=", &l.avg10_pct)) < 0 ||
        (r = take_pct(c, " avg60=", &l.avg60_pct)) < 0 ||
        (r = take_pct(c, " avg300=", &l.avg300_pct)) < 0)
        return r;
    if (!take(c, " total="))
        return -EBADMSG;
    if ((r = take_number(c, &l.us_total)) < 0)
        return r;
    if (!take(c, "\n"))
        return -EBADMSG; /* cut short: more digits may have followed */
    *ret = l;
    return 0;
}

int psi_parse(const char *buf, size_t len, struct psi *ret)
{
    struct cursor c = { buf, buf + len };
    struct psi p = { 0 };
    int r;

    while (c.at < c.end) {
        if (take(&c, "some"))
            r = take_psi_line(&c, &p.some);
        else if (take(&c, "full"))
            r = take_psi_line(&c, &p.full);
        else
            r = -EBADMSG;
        if (r < 0)
            return r;
    }
    if (!p.some.present && !p.full.present)
        return -EBADMSG;
    *ret = p;
    return 0;
}
