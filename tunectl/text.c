/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and foreign texts as people read them. Knows no documents and no verbs. */
#include "text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "util.h"

/* v rounded to three digits; exact where it has no more. */
static uint64_t three_digits(double v)
{
    uint64_t u = (uint64_t)v, step = 1;

    while (u / step >= 1000)
        step *= 10;
    return (u + step / 2) / step * step;
}

const char *text_value(char *buf, size_t size, double v, const char *unit)
{
    char duration[TEXT_SHORT];

    if (!isfinite(v))
        (void)snprintf(buf, size, "-");
    else if (strcmp(unit, "ns") != 0 || v < 0 || v > 9e17)
        (void)text_number(buf, size, v);
    else
        (void)snprintf(buf, size, "%s",
                       format_duration_ns(duration, sizeof duration, three_digits(v)));
    return buf;
}

const char *text_number(char *buf, size_t size, double v)
{
    double a = fabs(v);
    int decimals = 3;

    if (!isfinite(v)) {
        (void)snprintf(buf, size, "-");
        return buf;
    }
    if (a >= 1e9 || (a > 0 && a < 0.001)) {
        (void)snprintf(buf, size, "%.3g", v);
        return buf;
    }
    for (double limit = 10; decimals > 0 && a >= limit; limit *= 10)
        decimals--;
    (void)snprintf(buf, size, "%.*f", decimals, v);
    if (decimals > 0) {
        size_t n = strlen(buf);
        while (n > 1 && buf[n - 1] == '0')
            buf[--n] = '\0';
        if (n > 1 && buf[n - 1] == '.')
            buf[n - 1] = '\0';
    }
    return buf;
}

const char *text_short(char *buf, size_t size, double v)
{
    double step = 1;

    if (!isfinite(v) || fabs(v) >= 1e9 || fabs(v) < 0.001)
        return text_number(buf, size, v);
    while (fabs(v) >= 100 * step)
        step *= 10;
    while (fabs(v) < 10 * step)
        step /= 10;
    return text_number(buf, size,
                       step < 1 ? round(v * round(1 / step)) / round(1 / step)
                                : round(v / step) * step);
}

const char *text_percent(char *buf, size_t size, double pct)
{
    if (!isfinite(pct))
        (void)snprintf(buf, size, "-");
    else
        (void)snprintf(buf, size, fabs(pct) < 1e6 ? "%+.1f %%" : "%+.2g %%", pct);
    return buf;
}

const char *text_time(char *buf, size_t size, double real_s)
{
    struct tm tm;
    time_t t;

    /* Up to the year 9999. */
    if (!(real_s >= 0 && real_s < 253402300800.0)) {
        (void)snprintf(buf, size, "-");
        return buf;
    }
    t = (time_t)real_s;
    if (!localtime_r(&t, &tm) || strftime(buf, size, "%m-%d %H:%M:%S", &tm) == 0)
        (void)snprintf(buf, size, "-");
    return buf;
}

/* Length of the UTF-8 character at s; 0 when it is none, or one that moves the cursor. */
static size_t character(const unsigned char *s)
{
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc2 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf5 ? 4
                             : 0;

    if (n == 1)
        return s[0] >= 0x20 && s[0] != 0x7f;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* U+0080 to U+009F are control characters too; U+200E.. and U+202A.. turn the direction of what
     * follows. */
    if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0x8b))
        return 0;
    return n;
}

const char *text_clean(char *buf, size_t size, const char *s, size_t columns)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t used = 0, column = 0, cut = 0;

    while (*p && column < columns && used + 5 < size) {
        size_t n = character(p);
        if (column + 3 <= columns && used + 9 <= size)
            cut = used;
        if (n == 0)
            buf[used++] = '?';
        for (size_t i = 0; i < n; i++)
            buf[used++] = (char)p[i];
        p += n ? n : 1;
        column++;
    }
    if (*p && columns >= 3 && size >= 9) {
        memcpy(buf + cut, "...", 3);
        used = cut + 3;
    }
    buf[used] = '\0';
    return buf;
}

/* Characters of a cleaned text, at most n bytes. */
static size_t columns_of(const char *s, size_t n)
{
    size_t c = 0;

    for (size_t i = 0; i < n; i++)
        c += ((unsigned char)s[i] & 0xc0) != 0x80;
    return c;
}

/* Bytes of the first `columns` characters of s. */
static size_t bytes_of(const char *s, size_t columns)
{
    size_t n = 0;

    while (s[n] && columns-- > 0)
        for (n++; ((unsigned char)s[n] & 0xc0) == 0x80;)
            n++;
    return n;
}

void text_wrap(FILE *f, const char *s, size_t indent, size_t width, size_t max_lines)
{
    char clean[4096];
    size_t line = 1, room = width > indent + 10 ? width - indent : 10, column = 0;
    const char *p = text_clean(clean, sizeof clean, s, sizeof clean);

    for (p += strspn(p, " "); *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " "), c = columns_of(p, n);
        size_t space = line == max_lines ? room - 4 : room; /* of the last line: for " ..." */
        if (line == max_lines && column + (column > 0) + columns_of(p, strlen(p)) <= room)
            space = room;
        if (column > 0 && column + 1 + c > space && line < max_lines) {
            line++;
            (void)fprintf(f, "\n%*s", (int)indent, "");
            column = 0;
            continue;
        }
        if (column + (column > 0) + c > space) {
            /* A word longer than a line is cut where the line ends. */
            n = column > 0 ? 0 : bytes_of(p, space);
            if (line == max_lines) {
                (void)fprintf(f, "%.*s ...", (int)n, p);
                break;
            }
            c = space;
        }
        (void)fprintf(f, "%s%.*s", column > 0 ? " " : "", (int)n, p);
        column += c + (column > 0);
        p += n;
    }
    (void)fputc('\n', f);
}

size_t text_width(void)
{
    struct winsize w;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col < 60 ? 60 : w.ws_col > 200 ? 200 : w.ws_col;
    return 80;
}

bool text_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
