/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole-string parsers, text for durations, the clocks. No I/O, no logging. */
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

int parse_u64(const char *s, uint64_t *ret)
{
    uint64_t v = 0;

    if (!*s)
        return -EINVAL;
    for (; *s; s++) {
        if (!isdigit((unsigned char)*s))
            return -EINVAL;
        if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
            return -ERANGE;
    }
    *ret = v;
    return 0;
}

int parse_double(const char *s, double *ret)
{
    static const char allowed[] = "+-.0123456789eE";
    char *end = NULL;
    double v;

    /* strtod() would take blanks, hexadecimal, "inf" and "nan". */
    if (!*s || s[strspn(s, allowed)] != '\0')
        return -EINVAL;
    errno = 0;
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!c)
        return -ENOMEM;
    v = strtod_l(s, &end, c);
    freelocale(c);
    if (end == s || *end)
        return -EINVAL;
    if (errno == ERANGE || !isfinite(v))
        return -ERANGE;
    *ret = v;
    return 0;
}

static const struct {
    const char *unit;
    uint64_t ns;
} units[] = {
    { "ns", 1 },
    { "us", NSEC_PER_USEC },
    { "ms", NSEC_PER_MSEC },
    { "s", NSEC_PER_SEC },
    { "min", 60 * NSEC_PER_SEC },
    { "h", 3600 * NSEC_PER_SEC },
    { "d", 86400 * NSEC_PER_SEC },
};

int parse_duration_ns(const char *s, uint64_t *ret)
{
    char number[32];
    size_t n = strspn(s, "0123456789.");
    double v;
    int r;

    if (strcmp(s, "0") == 0) {
        *ret = 0;
        return 0;
    }
    if (n == 0 || n >= sizeof number)
        return -EINVAL;
    memcpy(number, s, n);
    number[n] = '\0';
    r = parse_double(number, &v);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ELEMENTSOF(units); i++) {
        if (strcmp(s + n, units[i].unit) != 0)
            continue;
        v = round(v * (double)units[i].ns);
        if (v > 9e18)
            return -ERANGE;
        *ret = (uint64_t)v;
        return 0;
    }
    return -EINVAL;
}

int parse_bool(const char *s, bool *ret)
{
    static const char *const yes[] = { "yes", "true", "on", "1" };
    static const char *const no[] = { "no", "false", "off", "0" };

    for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
        if (strcasecmp(s, yes[i]) == 0 || strcasecmp(s, no[i]) == 0) {
            *ret = strcasecmp(s, yes[i]) == 0;
            return 0;
        }
    }
    return -EINVAL;
}

const char *format_duration_ns(char *buf, size_t size, uint64_t ns)
{
    size_t best = 0;

    if (ns == 0) {
        (void)snprintf(buf, size, "0");
        return buf;
    }
    /* The largest unit in which it is at least one and needs at most three decimals; else the next smaller. */
    for (size_t i = 0; i < ELEMENTSOF(units); i++)
        if (ns >= units[i].ns && (units[i].ns < 1000 || ns % (units[i].ns / 1000) == 0))
            best = i;
    uint64_t whole = ns / units[best].ns, rest = ns % units[best].ns;
    if (rest == 0) {
        (void)snprintf(buf, size, "%lu%s", whole, units[best].unit);
        return buf;
    }
    /* Only decimal units have a rest that three decimals can show. */
    if (units[best].ns > NSEC_PER_SEC)
        for (best = 3; ns % (units[best].ns / 1000) != 0; best--)
            ;
    whole = ns / units[best].ns;
    rest = ns % units[best].ns * 1000 / units[best].ns;
    char decimals[8];
    (void)snprintf(decimals, sizeof decimals, "%03lu", rest % 1000);
    for (size_t n = 3; n > 0 && decimals[n - 1] == '0'; n--)
        decimals[n - 1] = '\0';
    (void)snprintf(buf, size, *decimals ? "%lu.%s%s" : "%lu%s%s", whole, decimals, units[best].unit);
    return buf;
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec ts;

    (void)clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t now_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t now_real_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

double percent_of_ln(double ln)
{
    return 100.0 * expm1(ln);
}

bool copy_string(char *dst, size_t size, const char *src)
{
    size_t n = strlen(src);
    bool fits = n < size;

    if (size == 0)
        return false;
    if (!fits)
        n = size - 1;
    memcpy(dst, src, n);
    dst[n] = '\0';
    return fits;
}
