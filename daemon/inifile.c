/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader that stands between inih and the file, and the form of every configuration error. Does
 * not open files and does not log. */
#include "inifile.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>

struct reader {
    FILE *f;
    struct ini_place at;
    char section[INIFILE_SECTION_MAX + 1];
    const struct inifile_ops *ops;
    void *userdata;
    struct config_error *err;
    int error; /* 0, or what ended the reading */
};

int inifile_fail(struct config_error *err, const struct ini_place *at, const char *fmt, ...)
{
    size_t n = 0, size = sizeof err->text;
    int k = snprintf(err->text, size, "%.500s:", at->file);
    va_list ap;

    n += k > 0 ? (size_t)k : 0;
    if (at->line > 0)
        k = snprintf(err->text + n, size - n, "%u: ", at->line);
    else
        k = snprintf(err->text + n, size - n, " ");
    n += k > 0 ? (size_t)k : 0;
    if (at->section && *at->section) {
        k = snprintf(err->text + n, size - n,
                     at->key ? "[%.64s] %.64s: " : "[%.64s]: ", at->section, at->key);
        n += k > 0 ? (size_t)k : 0;
    } else if (at->key) {
        k = snprintf(err->text + n, size - n, "%.64s: ", at->key);
        n += k > 0 ? (size_t)k : 0;
    }
    va_start(ap, fmt);
    (void)vsnprintf(err->text + n, size - n, fmt, ap);
    va_end(ap);
    return -EINVAL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where a comment after a blank begins, as inih sees it; else the end. */
static size_t comment_at(const char *s)
{
    for (size_t i = 1; s[0] && s[i]; i++)
        if (s[i] == ';' && is_blank(s[i - 1]))
            return i;
    return strlen(s);
}

static int check_section(struct reader *r, const char *line)
{
    size_t end = comment_at(line), n = strcspn(line, "]");

    r->at.key = NULL;
    r->at.section = NULL;
    if (n >= end)
        return inifile_fail(r->err, &r->at, "section without ']'; write [NAME] alone on its line");
    n--;
    if (n > INIFILE_SECTION_MAX)
        return inifile_fail(r->err, &r->at, "section name of %zu bytes; at most %d are read", n,
                            INIFILE_SECTION_MAX);
    for (size_t i = n + 2; i < end; i++)
        if (!is_blank(line[i]))
            return inifile_fail(r->err, &r->at, "text after ']'; write [NAME] alone on its line");
    memcpy(r->section, line + 1, n);
    r->section[n] = '\0';
    r->at.section = r->section;
    return r->ops->section(r->userdata, &r->at);
}

/* line: no line end, not empty, no comment line. Sees to it that inih cannot take it in another way
 * than people. */
static int check_line(struct reader *r, const char *line)
{
    size_t end = comment_at(line), equals = strcspn(line, "=");
    char key[64];

    r->at.section = r->section;
    r->at.key = NULL;
    if (is_blank(*line))
        return inifile_fail(r->err, &r->at,
                            "line begins with a blank, which would continue the value above; begin "
                            "in the first column");
    if (*line == '[')
        return check_section(r, line);
    if (equals >= end)
        return inifile_fail(r->err, &r->at,
                            "neither [section] nor key = value; add '=' or begin the line with #");
    if (memchr(line, ':', equals))
        return inifile_fail(r->err, &r->at, "':' before '='; write key = value");
    while (equals > 0 && is_blank(line[equals - 1]))
        equals--;
    if (equals == 0)
        return inifile_fail(r->err, &r->at, "no key before '='; write key = value");
    if (!*r->section) {
        (void)snprintf(key, sizeof key, "%.*s", (int)(equals < 60 ? equals : 60), line);
        r->at.key = key;
        (void)inifile_fail(r->err, &r->at,
                           "stands before any section; put it below a [section] line");
        r->at.key = NULL;
        return -EINVAL;
    }
    return 0;
}

/* One line into buf, without its end. 1: a line; 0: end of file; or a failure. Comment lines may
 * have any length. */
static int get_line(struct reader *r, char *buf, size_t size)
{
    size_t n = 0, limit = size - 1 < INIFILE_LINE_MAX ? size - 1 : INIFILE_LINE_MAX;
    bool comment = false, blank = true, any = false;
    int c;

    r->at.section = r->section;
    r->at.key = NULL;
    while ((c = getc_unlocked(r->f)) != EOF && c != '\n') {
        any = true;
        if (c == '\0')
            return inifile_fail(r->err, &r->at, "NUL byte; this is not a text file: write it anew");
        if (blank && (c == '#' || c == ';'))
            comment = true;
        if (c != ' ' && c != '\t')
            blank = false;
        if (comment)
            continue;
        if (n >= limit + (c == '\r'))
            return inifile_fail(r->err, &r->at, "line of more than %zu bytes; shorten it", limit);
        buf[n++] = (char)c;
        if (r->at.line == 1 && n == 3 && memcmp(buf, "\xef\xbb\xbf", 3) == 0) {
            n = 0;
            blank = true;
        }
    }
    if (c == EOF && ferror_unlocked(r->f)) {
        int error = errno > 0 ? errno : EIO;
        r->at.line = 0;
        r->at.section = NULL;
        (void)inifile_fail(r->err, &r->at, "cannot be read: %s; see its owner and type",
                           strerror(error));
        return -error;
    }
    while (n > 0 && (is_blank(buf[n - 1]) || buf[n - 1] == '\r'))
        n--;
    if (comment)
        n = 0;
    buf[n] = '\0';
    return any || c == '\n';
}

/* fgets() for inih: a line that passed check_line(), or NULL for the end. */
static char *read_line(char *str, int num, void *stream)
{
    struct reader *r = stream;

    if (r->error < 0)
        return NULL;
    r->at.line++;
    r->error = get_line(r, str, (size_t)num);
    if (r->error <= 0)
        return NULL;
    r->error = *str ? check_line(r, str) : 0;
    return r->error < 0 ? NULL : str;
}

static int on_value(void *user, const char *section, const char *key, const char *value)
{
    struct reader *r = user;

    r->at.section = section;
    r->at.key = key;
    r->error = r->ops->value(r->userdata, &r->at, value);
    return r->error >= 0;
}

int inifile_parse(FILE *f, const char *name, const struct inifile_ops *ops, void *userdata,
                  struct config_error *err)
{
    struct reader r = { .f = f, .at.file = name, .ops = ops, .userdata = userdata, .err = err };
    int line;

    errno = 0;
    line = ini_parse_stream(read_line, &r, on_value, &r);
    if (r.error < 0)
        return r.error;
    if (line != 0) { /* check_line() leaves nothing for inih to refuse; if it does, say so */
        r.at = (struct ini_place){ .file = name, .line = line > 0 ? (unsigned)line : 0 };
        return inifile_fail(err, &r.at, "not understood; write [section] or key = value");
    }
    return 0;
}
