/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of a value to the member of a structure and back, by type. Knows no option by name, reads no
 * file. */
#include "config_table.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int option_refuse(struct option_why *why, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(why->text, sizeof why->text, fmt, ap);
    va_end(ap);
    return -EINVAL;
}

int value_number(const char *text, const char *what, double *ret, struct option_why *why)
{
    double v = 0;
    int r = parse_double(text, &v);

    if (r == -ERANGE)
        return option_refuse(why, "'%.60s' is too large or too small a number; write %s", text,
                             what);
    if (r < 0)
        return option_refuse(why, "'%.60s' is not a number; write %s", text, what);
    *ret = v;
    return 0;
}

int value_percent(const char *text, double *ret, struct option_why *why)
{
    char number[64];
    size_t n = strlen(text);
    double v;

    if (strcmp(text, "0") == 0) {
        *ret = 0;
        return 0;
    }
    if (n >= sizeof number)
        return option_refuse(why, "not a percentage; write for example 1%%");
    if (n == 0 || text[n - 1] != '%') {
        if (parse_double(text, &v) == 0)
            return option_refuse(why, "'%s' has no unit; write %s%%", text, text);
        return option_refuse(why, "'%s' is not a percentage; write for example 1%%", text);
    }
    for (n--; n > 0 && text[n - 1] == ' '; n--)
        ;
    memcpy(number, text, n);
    number[n] = '\0';
    return value_number(number, "for example 1%", ret, why);
}

int value_duration(const char *text, uint64_t *ret, struct option_why *why)
{
    uint64_t v = 0;
    double number;
    size_t n = strspn(text, "0123456789.");
    int r = parse_duration_ns(text, &v);

    if (r == -ERANGE)
        return option_refuse(why, "'%.60s' is too long a time; write a smaller one", text);
    if (r < 0 && parse_double(text, &number) == 0)
        return option_refuse(why, "'%.60s' has no unit; write for example 500us, 10s or 14d", text);
    if (r < 0 && n > 0)
        return option_refuse(
            why,
            "'%.60s' has an unknown unit; use ns, us, ms, s, min, h or d right after the number",
            text);
    if (r < 0)
        return option_refuse(why, "'%.60s' is not a time; write for example 500us, 10s or 14d",
                             text);
    *ret = v;
    return 0;
}

static int bytes_set(const char *text, uint64_t *ret, struct option_why *why)
{
    char number[32];
    size_t n = strspn(text, "0123456789");
    uint64_t v = 0;

    if (n == 0 || n >= sizeof number)
        return option_refuse(why, "'%.60s' is not a size; write for example 200M", text);
    if (!text[n])
        return option_refuse(why, "'%.60s' has no unit; write for example 200M", text);
    memcpy(number, text, n);
    number[n] = '\0';
    for (size_t i = 0; i < ELEMENTSOF(byte_units); i++) {
        const char *u = byte_units[i].name;

        if (text[n] != u[0] || (text[n + 1] && strcmp(text + n + 1, "iB") != 0))
            continue;
        if (parse_u64(number, &v) < 0 || __builtin_mul_overflow(v, byte_units[i].factor, &v))
            return option_refuse(why, "'%.60s' is too large; write a smaller size", text);
        *ret = v;
        return 0;
    }
    return option_refuse(why, "'%.60s' has an unknown unit; use K, M or G (powers of 1024)", text);
}

int value_whole(const char *text, uint64_t *ret, struct option_why *why)
{
    uint64_t v = 0;
    int r = parse_u64(text, &v);

    if (r == -ERANGE)
        return option_refuse(why, "'%.60s' is too large; write a smaller number", text);
    if (r < 0)
        return option_refuse(why, "'%.60s' is not a whole number; write digits only", text);
    *ret = v;
    return 0;
}

/* Text to number for every numeric type; *ret_u for the integers, *ret_d for the others and for the
 * range check. */
static int numeric_set(const struct option *o, const char *text, uint64_t *ret_u, double *ret_d,
                       struct option_why *why)
{
    int r = -EINVAL;

    switch (o->type) {
    case OPT_NS:
        r = value_duration(text, ret_u, why);
        break;
    case OPT_BYTES:
        r = bytes_set(text, ret_u, why);
        break;
    case OPT_U64:
    case OPT_U32:
        r = value_whole(text, ret_u, why);
        break;
    case OPT_DOUBLE:
        return value_number(text, "for example 0.5", ret_d, why);
    case OPT_PERCENT:
        return value_percent(text, ret_d, why);
    case OPT_RATIO:
        r = value_percent(text, ret_d, why);
        *ret_d /= 100;
        return r;
    case OPT_BOOL:
    case OPT_WORD:
    case OPT_TEXT:
    case OPT_CONNECTION:
    case OPT_COMMANDS:
        break;
    }
    *ret_d = (double)*ret_u;
    return r;
}

static int number_option_set(const struct option *o, void *base, const char *text,
                             struct option_why *why)
{
    char *member = (char *)base + o->offset, range[100];
    uint64_t u = 0;
    double d = 0;
    int r = numeric_set(o, text, &u, &d, why);

    if (r < 0)
        return r;
    if (d < o->min || d > o->max)
        return option_refuse(why, "%.60s is out of range; write a value in %s", text,
                             option_range(o, range, sizeof range));
    if (o->type == OPT_U32)
        *(uint32_t *)(void *)member = (uint32_t)u;
    else if (o->type == OPT_NS || o->type == OPT_BYTES || o->type == OPT_U64)
        *(uint64_t *)(void *)member = u;
    else
        *(double *)(void *)member = d;
    return 0;
}

static int word_set(const struct option *o, const char *text, unsigned *ret, struct option_why *why)
{
    char range[100];

    for (unsigned i = 0; o->words[i]; i++) {
        if (strcmp(o->words[i], text) == 0) {
            *ret = i;
            return 0;
        }
    }
    return option_refuse(why, "'%.60s' is not known here; write one of: %s", text,
                         option_range(o, range, sizeof range));
}

static int text_set(const struct option *o, void *base, const char *text, struct option_why *why)
{
    char *member = (char *)base + o->offset;

    if (strlen(text) >= o->size)
        return option_refuse(why, "text of %zu bytes; at most %zu are kept", strlen(text),
                             o->size - 1);
    memset(member, 0, o->size);
    (void)copy_string(member, o->size, text);
    return 0;
}

/* "A;B ;  C" to "A ; B ; C"; a ';' inside of '...' is part of a value. */
static int connection_set(const struct option *o, void *base, const char *text,
                          struct option_why *why)
{
    char all[CONFIG_TEXT_MAX];
    size_t n = 0;
    bool quoted = false;

    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            quoted = !quoted;
        if (n + 4 >= sizeof all)
            return option_refuse(why, "text of more than %zu bytes; shorten it", sizeof all - 4);
        if (*p != ';' || quoted) {
            all[n++] = *p;
            continue;
        }
        while (n > 0 && all[n - 1] == ' ')
            n--;
        if (n == 0 || all[n - 1] == ';')
            return option_refuse(why, "an empty connection between ';'; take it away");
        memcpy(all + n, " ; ", 3);
        n += 3;
        while (p[1] == ' ')
            p++;
    }
    while (n > 0 && strchr(" ;", all[n - 1]))
        n--;
    all[n] = '\0';
    if (quoted)
        return option_refuse(why, "a quote ' is not closed; close it");
    return text_set(o, base, all, why);
}

static int commands_set(void *base, const char *text, struct option_why *why)
{
    struct profile *p = base;
    char found[PROFILE_MATCH_MAX][16] = { { 0 } };
    size_t count = 0;

    while (*text) {
        size_t n = strcspn(text, ","), skip = n + (text[n] == ',');

        for (; n > 0 && text[n - 1] == ' '; n--)
            ;
        if (n == 0)
            return option_refuse(why, "an empty name between commas; take it away");
        if (n > 15)
            return option_refuse(
                why, "'%.*s' has %zu bytes; the kernel keeps 15 of a command name: write those",
                (int)(n < 60 ? n : 60), text, n);
        if (count == PROFILE_MATCH_MAX)
            return option_refuse(why, "more than %d commands; write fewer", PROFILE_MATCH_MAX);
        memcpy(found[count++], text, n);
        for (text += skip; *text == ' '; text++)
            ;
    }
    memcpy(p->match_command, found, sizeof found);
    p->n_match = count;
    return 0;
}

int option_set(const struct option *o, void *base, const char *text, struct option_why *why)
{
    unsigned word = 0;
    bool yes = false;
    int r = 0;

    switch (o->type) {
    case OPT_NS:
    case OPT_BYTES:
    case OPT_U64:
    case OPT_U32:
    case OPT_DOUBLE:
    case OPT_RATIO:
    case OPT_PERCENT:
        return number_option_set(o, base, text, why);
    case OPT_BOOL:
        if (parse_bool(text, &yes) < 0)
            return option_refuse(why, "'%.60s' is neither yes nor no; write one of them", text);
        *(bool *)((char *)base + o->offset) = yes;
        return 0;
    case OPT_WORD:
        r = word_set(o, text, &word, why);
        if (r == 0)
            memcpy((char *)base + o->offset, &word, sizeof word);
        return r;
    case OPT_TEXT:
        r = o->words ? word_set(o, text, &word, why) : 0;
        return r < 0 ? r : text_set(o, base, text, why);
    case OPT_CONNECTION:
        return connection_set(o, base, text, why);
    case OPT_COMMANDS:
        return commands_set(base, text, why);
    }
    return -EINVAL;
}
