/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of knobs and bounds of guards: text to structure and back. Reads no file. */
#include "config_table.h"

#include <errno.h>
#include <string.h>

static bool in_time(const struct knob_def *def)
{
    return strcmp(def->unit, "ns") == 0;
}

static const char *format_bound(const struct knob_def *def, uint64_t v, char *buf, size_t size)
{
    if (in_time(def))
        return format_duration_ns(buf, size, v);
    (void)snprintf(buf, size, "%lu", v);
    return buf;
}

const char *range_format(const struct knob_range *r, char *buf, size_t size)
{
    char low[32], high[32];

    (void)snprintf(buf, size, "%s .. %s", format_bound(r->def, r->min, low, sizeof low),
                   format_bound(r->def, r->max, high, sizeof high));
    return buf;
}

static int set_bound(const struct knob_def *def, const char *text, size_t n, uint64_t *ret,
                     struct option_why *why)
{
    char number[64];

    while (n > 0 && (*text == ' ' || *text == '\t'))
        text++, n--;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    if (n == 0 || n >= sizeof number)
        return option_refuse(why, "a range needs two bounds; write MIN .. MAX");
    memcpy(number, text, n);
    number[n] = '\0';
    return in_time(def) ? value_duration(number, ret, why) : value_whole(number, ret, why);
}

int range_set(const struct knob_def *def, const char *text, struct knob_range *ret,
              struct option_why *why)
{
    struct knob_range hard = { .def = def, .min = def->hard_min, .max = def->hard_max };
    const char *dots = strstr(text, "..");
    char bounds[80];
    uint64_t min = 0, max = 0;
    int r;

    if (!dots)
        return option_refuse(why, "'%.60s' is not a range; write MIN .. MAX, for example %s", text,
                             range_format(&hard, bounds, sizeof bounds));
    r = set_bound(def, text, (size_t)(dots - text), &min, why);
    if (r == 0)
        r = set_bound(def, dots + 2, strlen(dots + 2), &max, why);
    if (r < 0)
        return r;
    if (min > max)
        return option_refuse(why, "the smaller bound comes first; write MIN .. MAX");
    if (min < def->hard_min || max > def->hard_max)
        return option_refuse(why, "%.60s goes beyond what is safe to write; stay within %s", text,
                             range_format(&hard, bounds, sizeof bounds));
    ret->def = def;
    ret->min = min;
    ret->max = max;
    return 0;
}

int guard_set(const char *text, struct profile_guard *ret, struct option_why *why)
{
    static const char example[] = "for example -5%, +25% or +5 points";
    char number[32];
    size_t n = strcspn(text, "% p");
    const char *unit = text + n + strspn(text + n, " ");
    bool relative = strcmp(unit, "%") == 0,
         points = strcmp(unit, "points") == 0 || strcmp(unit, "point") == 0;
    double v = 0;
    int r;

    if (*text != '+' && *text != '-')
        return option_refuse(
            why, "'%.60s' has no sign; + when more is worse, - when less is worse: write %s", text,
            example);
    if (n >= sizeof number)
        return option_refuse(why, "'%.60s' is not a bound; write %s", text, example);
    memcpy(number, text, n);
    number[n] = '\0';
    r = value_number(number + 1, example, &v, why);
    if (r < 0)
        return r;
    if (!relative && !points)
        return option_refuse(why, "'%.60s' has %s; write %s", text,
                             *unit ? "an unknown unit" : "no unit", example);
    if (v <= 0 || (relative && *text == '-' && v >= 100) || v > 10000)
        return option_refuse(why, "'%.60s' can never break or always does; write %s", text,
                             example);
    ret->relative = relative;
    ret->lower_is_worse = *text == '-';
    ret->bound = relative ? v / 100 : v;
    return 0;
}

const char *guard_format(const struct profile_guard *g, char *buf, size_t size)
{
    char number[40];

    (void)snprintf(buf, size, "%c%s%s", g->lower_is_worse ? '-' : '+',
                   format_number(number, sizeof number, g->bound, g->relative ? 100 : 1),
                   g->relative ? "%" : " points");
    return buf;
}
