/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of knobs inside the status screen: original, current, whose value it is. */
#include "render.h"

#include <libsmartcols.h>
#include <math.h>
#include <string.h>

#include "doc.h"
#include "text.h"
#include "util.h"

enum { COLUMN_KNOB, COLUMN_ORIGINAL, COLUMN_CURRENT, COLUMN_RANGE, COLUMN_STATE, COLUMN_COUNT };
enum { ROWS_MAX = 16, NOTES_MAX = 6 };
enum { IDLE_MAX = 8 }; /* more knobs than this outside of the profile are only named */

static const char *on_trial(struct json_object *doc)
{
    return doc_text(doc_object(doc, "trial"), "knob", "");
}

/* What does not fit into the table: why, by whom, when. "" when there is nothing to say. */
static void explain(char *buf, size_t size, struct json_object *k)
{
    const char *state = doc_text(k, "state", "unknown"), *unit = doc_text(k, "unit", "");
    struct json_object *f = doc_object(k, "foreign");
    double original = doc_number(k, "original"), kernel = doc_number(k, "kernel_default");
    double p = doc_number(f, "pid"), at = doc_number(f, "when");
    char value[TEXT_SHORT], when[TEXT_SHORT], comm[64], pid[TEXT_SHORT] = "";

    if (strcmp(state, "absent") == 0) {
        buf[0] = '\0';
    } else if (strcmp(state, "foreign") == 0) {
        (void)text_clean(comm, sizeof comm, doc_text(f, "comm", ""), 20);
        if (p > 0 && p < 1e10)
            (void)snprintf(pid, sizeof pid, "%spid %.0f", *comm ? ", " : "", p);
        (void)snprintf(buf, size, "%s written%s%s by %s%s; left alone until tunectl release",
                       text_value(value, sizeof value, doc_number(f, "value"), unit),
                       isfinite(at) ? " at " : "",
                       isfinite(at) ? text_time(when, sizeof when, at) : "",
                       *comm || *pid ? comm : "somebody else", pid);
    } else if (*doc_text(k, "reason", "")) {
        (void)snprintf(buf, size, "%.240s", doc_text(k, "reason", ""));
    } else if (isfinite(original) && kernel > 0 && original != kernel) {
        (void)snprintf(buf, size, "the original is not the kernel's default, %s",
                       text_value(value, sizeof value, kernel, unit));
    } else {
        buf[0] = '\0';
    }
}

static void describe(char *buf, size_t size, struct json_object *doc, struct json_object *k)
{
    const char *state = doc_text(k, "state", "unknown");
    double original = doc_number(k, "original"), current = doc_number(k, "current");
    bool left_out = doc_get(k, "in_profile") && !doc_bool(k, "in_profile");

    if (strcmp(state, "ok") != 0) {
        (void)snprintf(buf, size, "%.20s", state);
        return;
    }
    const char *whose = current == original                ? "original"
                        : current == doc_number(k, "ours") ? "ours"
                        : isfinite(current)                ? "changed"
                                                           : "not read yet";
    (void)snprintf(buf, size, "%s%s%s", whose,
                   strcmp(on_trial(doc), doc_text(k, "name", "?")) == 0 ? ", on trial" : "",
                   left_out ? ", not in profile" : "");
}

static const char *colour_of(struct json_object *k)
{
    const char *state = doc_text(k, "state", "");

    if (strcmp(state, "foreign") == 0)
        return "yellow";
    if (strcmp(state, "ok") != 0)
        return "red";
    return doc_number(k, "current") == doc_number(k, "original") ? NULL : "green";
}

static struct libscols_table *new_table(const struct render *r)
{
    static const struct {
        const char *name;
        int flags;
    } columns[COLUMN_COUNT] = {
        [COLUMN_KNOB] = { "KNOB", 0 },
        [COLUMN_ORIGINAL] = { "ORIGINAL", SCOLS_FL_RIGHT },
        [COLUMN_CURRENT] = { "CURRENT", SCOLS_FL_RIGHT },
        [COLUMN_RANGE] = { "RANGE", 0 },
        [COLUMN_STATE] = { "STATE", SCOLS_FL_TRUNC },
    };
    struct libscols_table *t = scols_new_table();

    if (!t)
        return NULL;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (!scols_table_new_column(t, columns[i].name, i == COLUMN_STATE ? 0.9 : 0,
                                    columns[i].flags)) {
            scols_unref_table(t);
            return NULL;
        }
    }
    (void)scols_table_set_stream(t, r->out);
    (void)scols_table_set_termforce(t, SCOLS_TERMFORCE_ALWAYS);
    (void)scols_table_set_termwidth(t, r->width);
    (void)scols_table_enable_colors(t, r->colour);
    return t;
}

static void add_row(struct libscols_table *t, struct json_object *doc, struct json_object *k)
{
    struct libscols_line *line = scols_table_new_line(t, NULL);
    const char *unit = doc_text(k, "unit", "");
    char v[TEXT_SHORT], w[TEXT_SHORT], text[128], clean[160];

    if (!line)
        return;
    (void)scols_line_set_data(line, COLUMN_KNOB,
                              text_clean(clean, sizeof clean, doc_text(k, "name", "?"), 22));
    (void)scols_line_set_data(line, COLUMN_ORIGINAL,
                              text_value(v, sizeof v, doc_number(k, "original"), unit));
    (void)scols_line_set_data(line, COLUMN_CURRENT,
                              text_value(v, sizeof v, doc_number(k, "current"), unit));
    (void)snprintf(text, sizeof text, "%s..%s", text_value(v, sizeof v, doc_number(k, "min"), unit),
                   text_value(w, sizeof w, doc_number(k, "max"), unit));
    (void)scols_line_set_data(line, COLUMN_RANGE, isfinite(doc_number(k, "min")) ? text : "-");
    describe(text, sizeof text, doc, k);
    (void)scols_line_set_data(line, COLUMN_STATE, text_clean(clean, sizeof clean, text, 32));
    (void)scols_line_set_color(line, colour_of(k));
}

/* A note, once for the knobs in a row that share it. */
static void render_notes(const struct render *r, struct json_object *doc, size_t n)
{
    char note[320], next[320] = "", line[440], more[64];

    for (size_t i = 0, same = 1, shown = 0; i < n && shown < NOTES_MAX; i += same, same = 1) {
        struct json_object *k = doc_at(doc, "knobs", i);
        explain(note, sizeof note, k);
        if (!*note)
            continue;
        for (; i + same < n; same++) {
            explain(next, sizeof next, doc_at(doc, "knobs", i + same));
            if (strcmp(note, next) != 0)
                break;
        }
        more[0] = '\0';
        if (same > 1)
            (void)snprintf(more, sizeof more, " and the next %zu", same - 1);
        (void)snprintf(line, sizeof line, "%.40s%s: %s", doc_text(k, "name", "?"), more, note);
        render_line(r, "", line, 2);
        shown++;
    }
}

/* Nobody asked for it and nobody touched it. */
static bool is_idle(struct json_object *k)
{
    return !json_object_get_boolean(json_object_object_get(k, "in_profile")) && strcmp(doc_text(k, "state", ""), "ok") == 0 &&
           !isfinite(doc_number(k, "ours")) && !(doc_number(k, "writes") > 0);
}

static void add_name(char *list, size_t size, struct json_object *k)
{
    size_t used = strlen(list);

    (void)snprintf(list + used, size - used, "%s%.28s", used ? ", " : "", doc_text(k, "name", "?"));
}

void render_knobs(const struct render *r, struct json_object *doc)
{
    size_t n = doc_length(doc, "knobs"), rows = 0, idle = 0;
    char absent[1400] = "", aside[1400] = "";

    struct libscols_table *t = new_table(r);
    if (!t)
        return;
    for (size_t i = 0; i < n; i++)
        idle += is_idle(doc_at(doc, "knobs", i));
    for (size_t i = 0; i < n; i++) {
        struct json_object *k = doc_at(doc, "knobs", i);
        if (strcmp(doc_text(k, "state", ""), "absent") == 0)
            add_name(absent, sizeof absent, k);
        else if (idle > IDLE_MAX && idle < n && is_idle(k))
            add_name(aside, sizeof aside, k);
        else if (rows++ < ROWS_MAX)
            add_row(t, doc, k);
    }
    if (rows > 0) {
        (void)scols_print_table(t);
        if (rows > ROWS_MAX)
            (void)fprintf(r->out, "and %zu more\n", rows - ROWS_MAX);
    } else {
        (void)fprintf(r->out, "no knob is there\n");
    }
    scols_unref_table(t);
    render_notes(r, doc, n);
    if (*aside)
        render_line(r, "not used", aside, 4);
    if (*absent)
        render_line(r, "absent", absent, 2);
}
