/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as text that reads back to the same value, ranges, and hints for names that are not known.
 * Reads no file. */
#include "config_table.h"

#include <string.h>

const struct byte_unit byte_units[3] = {
    { "G", UINT64_C(1) << 30 },
    { "M", UINT64_C(1) << 20 },
    { "K", UINT64_C(1) << 10 },
};

/* The shortest text that reads back, '.' as the point whatever the locale. scale: 100 for a ratio
 * in percent. */
const char *format_number(char *buf, size_t size, double v, double scale)
{
    for (int precision = 6; precision <= 17; precision++) {
        double back = 0;

        (void)snprintf(buf, size, "%.*g", precision, v * scale);
        for (char *p = buf; *p; p++)
            if (*p == ',')
                *p = '.';
        if (parse_double(buf, &back) == 0 && back / scale >= v && back / scale <= v)
            break;
    }
    return buf;
}

static const char *format_bytes(char *buf, size_t size, uint64_t v)
{
    for (size_t i = 0; i < ELEMENTSOF(byte_units); i++) {
        if (v % byte_units[i].factor == 0 || i + 1 == ELEMENTSOF(byte_units)) {
            (void)snprintf(buf, size, "%lu%s", v / byte_units[i].factor, byte_units[i].name);
            break;
        }
    }
    return buf;
}

static const char *format_commands(const struct profile *p, char *buf, size_t size)
{
    size_t n = 0;

    *buf = '\0';
    for (size_t i = 0; i < p->n_match && n < size; i++) {
        int k = snprintf(buf + n, size - n, "%s%.15s", i ? ", " : "", p->match_command[i]);
        n += k > 0 ? (size_t)k : 0;
    }
    return buf;
}

static const char *format_percent(char *buf, size_t size, double v, double scale)
{
    size_t n = strlen(format_number(buf, size, v, scale));

    if (v > 0 && n + 1 < size)
        memcpy(buf + n, "%", 2);
    return buf;
}

/* "A ; B" as "A;B": a blank before the ';' would start a comment. */
static const char *format_connection(const char *text, char *buf, size_t size)
{
    size_t n = 0;

    for (const char *p = text; *p && n + 1 < size; p++) {
        bool separator = strncmp(p, " ; ", 3) == 0;

        buf[n++] = separator ? ';' : *p;
        p += separator ? 2 : 0;
    }
    buf[n] = '\0';
    return buf;
}

const char *option_format(const struct option *o, const void *base, char *buf, size_t size)
{
    const void *member = (const char *)base + o->offset;
    unsigned word = 0;

    switch (o->type) {
    case OPT_NS:
        return format_duration_ns(buf, size, *(const uint64_t *)member);
    case OPT_BYTES:
        return format_bytes(buf, size, *(const uint64_t *)member);
    case OPT_U64:
        (void)snprintf(buf, size, "%lu", *(const uint64_t *)member);
        return buf;
    case OPT_U32:
        (void)snprintf(buf, size, "%u", *(const uint32_t *)member);
        return buf;
    case OPT_DOUBLE:
        return format_number(buf, size, *(const double *)member, 1);
    case OPT_RATIO:
        return format_percent(buf, size, *(const double *)member, 100);
    case OPT_PERCENT:
        return format_percent(buf, size, *(const double *)member, 1);
    case OPT_BOOL:
        (void)copy_string(buf, size, *(const bool *)member ? "yes" : "no");
        return buf;
    case OPT_WORD:
        memcpy(&word, member, sizeof word);
        for (unsigned i = 0; o->words[i]; i++)
            if (i == word)
                (void)copy_string(buf, size, o->words[i]);
        return buf;
    case OPT_TEXT:
        (void)copy_string(buf, size, member);
        return buf;
    case OPT_CONNECTION: /* " ;" would start a comment */
        return format_connection(member, buf, size);
    case OPT_COMMANDS:
        return format_commands(base, buf, size);
    }
    return buf;
}

const char *option_range(const struct option *o, char *buf, size_t size)
{
    struct option end = *o;
    char low[64], high[64];
    uint64_t u[2] = { (uint64_t)o->min, o->max < 1.8e19 ? (uint64_t)o->max : UINT64_MAX };
    uint32_t u32[2] = { o->min < UINT32_MAX ? (uint32_t)o->min : UINT32_MAX, o->max < UINT32_MAX ? (uint32_t)o->max : UINT32_MAX };
    double d[2] = { o->min, o->max };
    const void *bound[2] = { d, d + 1 };
    size_t n = 0;

    *buf = '\0';
    for (unsigned i = 0; o->words && o->words[i] && n < size; i++) {
        int k = snprintf(buf + n, size - n, "%s%s", i ? " | " : "", o->words[i]);
        n += k > 0 ? (size_t)k : 0;
    }
    if (o->type == OPT_BOOL)
        (void)copy_string(buf, size, "yes | no");
    if (o->type > OPT_PERCENT || (o->min <= 0 && o->max >= 1.8e19))
        return buf;
    if (o->type == OPT_NS || o->type == OPT_BYTES || o->type == OPT_U64)
        bound[0] = u, bound[1] = u + 1;
    if (o->type == OPT_U32)
        bound[0] = u32, bound[1] = u32 + 1;
    end.offset = 0;
    (void)snprintf(buf, size, "%s .. %s", option_format(&end, bound[0], low, sizeof low),
                   option_format(&end, bound[1], high, sizeof high));
    return buf;
}

/* Edit distance; names longer than 31 bytes are compared by their first 31. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], na = strnlen(a, 31), nb = strnlen(b, 31);

    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *names_hint(const char *const *names, size_t n, const char *name, char *buf, size_t size)
{
    size_t best = SIZE_MAX, which = 0, used;

    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, names[i]);

        if (d < best)
            best = d, which = i;
    }
    if (n > 0 && best <= 1 + strlen(name) / 3) {
        (void)snprintf(buf, size, "did you mean '%s'?", names[which]);
        return buf;
    }
    used = (size_t)snprintf(buf, size, "known are:");
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s %s", i ? "," : "", names[i]);
    return buf;
}
