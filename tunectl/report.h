/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorded windows as columns of numbers, and how they are drawn. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "store.h"

enum { REPORT_SERIES_MAX = 24 };

struct report_series {
    char name[48];
    const char *unit; /* static */
    bool is_knob;     /* drawn as steps on a log scale */
    double *value;    /* owned; NaN: not measured */
};

struct report {
    size_t n, room;
    double *time; /* owned; seconds since 1970, ascending */
    size_t n_series;
    struct report_series series[REPORT_SERIES_MAX];
    size_t n_marks;
    struct store_decision *mark; /* owned; newest first */
};

/* Reads a trace (store_write_trace) from f. 0 or -errno. */
int report_read(struct report *r, FILE *f);
void report_done(struct report *r);

/* One panel as SVG: the series over time with a mark for each decision about it. */
void report_draw(FILE *out, const struct report *r, const struct report_series *s);
/* s as text of an HTML document. */
void report_escape(FILE *out, const char *s);
