/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a trace into columns. Takes what the header names and skips what it does not know. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "knob.h"
#include "util.h"

/* Beside the knobs; the unit of the objective is that of its profile, which a trace does not tell.
 */
static const struct {
    const char *name, *unit;
} wanted[] = {
    { "objective", "" }, { "load", "threads" }, { "tps", "1/s" }, { "runq_wait_ns", "ns" }
};

enum { FIELDS_MAX = 128, LINE_MAX_BYTES = 16384, NO_COLUMN = -1 };

struct layout {
    int time;
    int series[REPORT_SERIES_MAX];
};

static size_t split(char *line, char *field[FIELDS_MAX])
{
    size_t n = 0;

    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; p && n < FIELDS_MAX;) {
        field[n++] = p;
        p = strchr(p, ',');
        if (p)
            *p++ = '\0';
    }
    return n;
}

static void add_series(struct report *r, struct layout *l, const char *name, const char *unit,
                       int column)
{
    if (r->n_series == REPORT_SERIES_MAX)
        return;
    struct report_series *s = &r->series[r->n_series];
    if (!copy_string(s->name, sizeof s->name, name))
        return;
    s->unit = unit;
    s->is_knob = knob_find(name) != NULL;
    l->series[r->n_series++] = column;
}

static int read_header(struct report *r, struct layout *l, char *line)
{
    char *field[FIELDS_MAX];
    size_t n = split(line, field);

    l->time = NO_COLUMN;
    for (size_t i = 0; i < n; i++)
        if (strcmp(field[i], "real_time") == 0)
            l->time = (int)i;
    for (size_t k = 0; k < ELEMENTSOF(wanted); k++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(field[i], wanted[k].name) == 0)
                add_series(r, l, wanted[k].name, wanted[k].unit, (int)i);
    for (size_t i = 0; i < n; i++)
        if (knob_find(field[i]))
            add_series(r, l, field[i], knob_find(field[i])->unit, (int)i);
    return l->time == NO_COLUMN ? -EBADMSG : 0;
}

static int make_room(struct report *r)
{
    size_t room = r->room ? 2 * r->room : 4096;

    if (r->n < r->room)
        return 0;
    double *time = reallocarray(r->time, room, sizeof *time);
    if (!time)
        return -ENOMEM;
    r->time = time;
    for (size_t i = 0; i < r->n_series; i++) {
        double *value = reallocarray(r->series[i].value, room, sizeof *value);
        if (!value)
            return -ENOMEM;
        r->series[i].value = value;
    }
    r->room = room;
    return 0;
}

static double number(char *const *field, size_t n, int column)
{
    double v;

    return column >= 0 && (size_t)column < n && parse_double(field[column], &v) == 0 ? v
                                                                                     : (double)NAN;
}

int report_read(struct report *r, FILE *f)
{
    _cleanup_free_ char *line = malloc(LINE_MAX_BYTES);
    char *field[FIELDS_MAX];
    struct layout l;

    if (!line)
        return -ENOMEM;
    if (!fgets(line, LINE_MAX_BYTES, f))
        return ferror(f) ? -EIO : 0;
    int code = read_header(r, &l, line);
    while (code == 0 && fgets(line, LINE_MAX_BYTES, f)) {
        size_t n = split(line, field);
        double t = number(field, n, l.time);
        /* A clock that was set back would draw lines backwards. */
        if (!isfinite(t) || (r->n > 0 && t < r->time[r->n - 1]))
            continue;
        code = make_room(r);
        if (code < 0)
            return code;
        r->time[r->n] = t;
        for (size_t i = 0; i < r->n_series; i++)
            r->series[i].value[r->n] = number(field, n, l.series[i]);
        r->n++;
    }
    return code < 0 ? code : ferror(f) ? -EIO : 0;
}

void report_done(struct report *r)
{
    free(r->time);
    free(r->mark);
    for (size_t i = 0; i < r->n_series; i++)
        free(r->series[i].value);
    *r = (struct report){ 0 };
}
