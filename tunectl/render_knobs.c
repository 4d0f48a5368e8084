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
enum { ROWS_MAX = 16 };

static const char *on_trial(struct json_object *doc)
{
    return doc_text(doc_object(doc, "trial"), "knob", "");
}

static void describe_foreign(char *buf, size_t size, struct json_object *k, const char *unit)
{
    struct json_object *f = doc_object(k, "foreign");
    char value[TEXT_SHORT], when[TEXT_SHORT], comm[64], pid[TEXT_SHORT] = "";
    double p = doc_number(f, "pid");

    (void)text_clean(comm, sizeof comm, doc_text(f, "comm", ""), 20);
    if (p > 0 && p < 1e10)
        (void)snprintf(pid, sizeof pid, "pid %.0f", p);
    (void)snprintf(buf, size, "foreign: %s set %s%s%s%s%s; left alone",
                   text_value(value, sizeof value, doc_number(f, "value"), unit),
                   text_time(when, sizeof when, doc_number(f, "when")), *comm || *pid ? " by " : "",
                   comm, *comm && *pid ? ", " : "", pid);
}

static void describe(char *buf, size_t size, struct json_object *doc, struct json_object *k)
{
    const char *state = doc_text(k, "state", "unknown"), *unit = doc_text(k, "unit", "");
    double original = doc_number(k, "original"), current = doc_number(k, "current");
    double kernel = doc_number(k, "kernel_default");
    char value[TEXT_SHORT];

    if (strcmp(state, "foreign") == 0) {
        describe_foreign(buf, size, k, unit);
        return;
    }
    if (strcmp(state, "ok") != 0) {
        const char *reason = doc_text(k, "reason", "");
        (void)snprintf(buf, size, "%.20s%s%.160s", state, *reason ? ": " : "", reason);
        return;
    }
    const char *whose = current == original                ? "original"
                        : current == doc_number(k, "ours") ? "ours"
                        : isfinite(current)                ? "changed"
                                                           : "not read yet";
    bool other = isfinite(original) && isfinite(kernel) && kernel > 0 && original != kernel;
    (void)snprintf(buf, size, "%s%s%s%s%s", whose,
                   strcmp(on_trial(doc), doc_text(k, "name", "?")) == 0 ? ", on trial" : "",
                   doc_get(k, "in_profile") && !doc_bool(k, "in_profile") ? ", not in the profile"
                                                                          : "",
                   other ? "; the kernel's default is " : "",
                   other ? text_value(value, sizeof value, kernel, unit) : "");
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
        [COLUMN_STATE] = { "STATE", SCOLS_FL_WRAP },
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
    char v[TEXT_SHORT], w[TEXT_SHORT], text[320], clean[400];

    if (!line)
        return;
    (void)scols_line_set_data(line, COLUMN_KNOB,
                              text_clean(clean, sizeof clean, doc_text(k, "name", "?"), 28));
    (void)scols_line_set_data(line, COLUMN_ORIGINAL,
                              text_value(v, sizeof v, doc_number(k, "original"), unit));
    (void)scols_line_set_data(line, COLUMN_CURRENT,
                              text_value(v, sizeof v, doc_number(k, "current"), unit));
    (void)snprintf(text, sizeof text, "%s..%s", text_value(v, sizeof v, doc_number(k, "min"), unit),
                   text_value(w, sizeof w, doc_number(k, "max"), unit));
    (void)scols_line_set_data(line, COLUMN_RANGE, isfinite(doc_number(k, "min")) ? text : "-");
    describe(text, sizeof text, doc, k);
    (void)scols_line_set_data(line, COLUMN_STATE, text_clean(clean, sizeof clean, text, 150));
    (void)scols_line_set_color(line, colour_of(k));
}

void render_knobs(const struct render *r, struct json_object *doc)
{
    size_t n = doc_length(doc, "knobs"), rows = 0;
    char absent[640] = "";

    struct libscols_table *t = new_table(r);
    if (!t)
        return;
    for (size_t i = 0; i < n; i++) {
        struct json_object *k = doc_at(doc, "knobs", i);
        size_t used = strlen(absent);
        if (strcmp(doc_text(k, "state", ""), "absent") == 0)
            (void)snprintf(absent + used, sizeof absent - used, "%s%.28s", used ? ", " : "",
                           doc_text(k, "name", "?"));
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
    if (*absent)
        render_line(r, "absent", absent, 2);
}
