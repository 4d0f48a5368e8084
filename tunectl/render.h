/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's document (status.h) as a screen of text. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct render {
    FILE *out;    /* borrowed */
    size_t width; /* columns */
    bool colour;
};

/* Prints doc, whatever is in it. */
void render_status(const struct render *r, struct json_object *doc);
/* The parts that other verbs show too. */
void render_host(const struct render *r, struct json_object *doc);
void render_knobs(const struct render *r, struct json_object *doc);
void render_sensors(const struct render *r, struct json_object *doc);
/* "unit" text of one decision without its time: "accept migration_cost_ns 500us -> 62.5us: +4.3 %
 * ...". */
void render_decision_text(char *buf, size_t size, struct json_object *decision, const char *unit);

enum { RENDER_LABEL = 11 }; /* columns of "objective  " */
/* "label      text", wrapped. */
void render_line(const struct render *r, const char *label, const char *text, size_t max_lines);
