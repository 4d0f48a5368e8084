/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and foreign texts as people read them. Every function returns buf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TEXT_SHORT = 32 }; /* enough for any number, value or time below */

/* A knob's or metric's value with its unit, three digits that count: "500us", "1.38ms", "32"; NaN:
 * "-". */
const char *text_value(char *buf, size_t size, double v, const char *unit);
/* Four digits that count, no exponent below 1e9: "123.4"; NaN: "-". */
const char *text_number(char *buf, size_t size, double v);
/* Two digits that count, for evidence and noise: "3.1", "110", "16000". */
const char *text_short(char *buf, size_t size, double v);
/* "+4.1 %"; NaN: "-". */
const char *text_percent(char *buf, size_t size, double pct);
/* Local time of seconds since the epoch, "11-30 22:51:49"; NaN or nonsense: "-". */
const char *text_time(char *buf, size_t size, double real_s);

/* Copies s for a terminal: control characters and bytes that are not UTF-8 become '?', what does
 * not fit in `columns` characters (or in buf) ends in "...". Text of other processes must go
 * through this. */
const char *text_clean(char *buf, size_t size, const char *s, size_t columns);

/* Prints s, cleaned, broken at blanks into lines of at most `width` columns that begin with
 * `indent` blanks, except the first, where the caller has printed that many columns already. At
 * most `max_lines`. */
void text_wrap(FILE *f, const char *s, size_t indent, size_t width, size_t max_lines);

/* What stdout can do. */
size_t text_width(void); /* of the terminal, 60 to 200; 80 when there is none */
bool text_colour(void);  /* a terminal, and NO_COLOR is not set */
