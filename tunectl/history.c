/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decisions in the store as a table, as JSON, and the windows as a trace. Reads only. */
#include "history.h"

#include <errno.h>
#include <libsmartcols.h>
#include <math.h>
#include <string.h>

#include "doc.h"
#include "knob.h"
#include "text.h"
#include "util.h"

enum { HISTORY_DEFAULT = 30, HISTORY_MAX = 1000000 };

int history_open(const struct ctl *c, struct store **ret)
{
    char path[4096], note[256] = "";

    *ret = NULL;
    if (snprintf(path, sizeof path, "%s/state.db", c->state_dir) >= (int)sizeof path) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", c->state_dir, strerror(ENAMETOOLONG));
        return CTL_ERROR;
    }
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return CTL_OK;
    int r = store_open(path, true, ret, note, sizeof note);
    if (*note)
        (void)fprintf(stderr, "tunectl: %s\n", note);
    if (r == 0)
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: %s: %s%s\n", path, strerror(-r),
                  r == -EACCES && geteuid() != 0 ? "; try sudo" : "");
    return CTL_ERROR;
}

double history_percent(double ln)
{
    return isfinite(ln) ? percent_of_ln(ln) : NAN;
}

const char *history_unit(const char *knob)
{
    const struct knob_def *d = knob_find(knob);

    return d ? d->unit : "";
}

const char *history_evidence(char *buf, size_t size, const struct tuner_evidence *e)
{
    char v[5][TEXT_SHORT];

    buf[0] = '\0';
    if (e->n > 0)
        (void)snprintf(buf, size, "%s (%s to %s), E %s of %s, %u quad%s",
                       text_percent(v[0], sizeof v[0], history_percent(e->mean)),
                       text_percent(v[1], sizeof v[1], history_percent(e->lo)),
                       text_percent(v[2], sizeof v[2], history_percent(e->hi)),
                       text_short(v[3], sizeof v[3], e->e), text_short(v[4], sizeof v[4], e->bar),
                       e->n, e->n == 1 ? "" : "s");
    return buf;
}

const char *history_class(char *buf, size_t size, const char *profile, int32_t bucket)
{
    if (bucket == INT32_MIN || !*profile)
        (void)snprintf(buf, size, "%s", profile);
    else
        (void)snprintf(buf, size, "%s/%d", profile, bucket);
    return buf;
}

struct json_object *history_document(const struct store_decision *d)
{
    struct json_object *o = json_object_new_object();
    bool some = d->evidence.n > 0;
    char class[96];

    doc_add_number(o, "time", (double)d->real_ns / 1e9);
    doc_add_number(o, "window", (double)d->window);
    doc_add_text(o, "class",
                 *d->profile ? history_class(class, sizeof class, d->profile, d->bucket) : NULL);
    doc_add_text(o, "what", d->event);
    doc_add_text(o, "knob", *d->knob ? d->knob : NULL);
    doc_add_number(o, "old", d->old_value);
    doc_add_number(o, "new", d->new_value);
    doc_add_text(o, "reason", d->reason);
    doc_add_number(o, "n", some ? (double)d->evidence.n : NAN);
    doc_add_number(o, "mean_pct", some ? history_percent(d->evidence.mean) : NAN);
    doc_add_number(o, "se_pct", some ? 100 * d->evidence.se : NAN);
    doc_add_number(o, "lo_pct", some ? history_percent(d->evidence.lo) : NAN);
    doc_add_number(o, "hi_pct", some ? history_percent(d->evidence.hi) : NAN);
    doc_add_number(o, "e", some ? d->evidence.e : NAN);
    doc_add_number(o, "bar", some ? d->evidence.bar : NAN);
    return o;
}

enum {
    H_TIME,
    H_CLASS,
    H_WHAT,
    H_KNOB,
    H_CHANGE,
    H_EFFECT,
    H_INTERVAL,
    H_E,
    H_N,
    H_REASON,
    H_COUNT
};

static struct libscols_table *new_table(void)
{
    static const char *const names[H_COUNT] = { "TIME",   "CLASS",    "WHAT", "KNOB", "OLD -> NEW",
                                                "EFFECT", "INTERVAL", "E",    "N",    "REASON" };
    struct libscols_table *t = scols_new_table();

    if (!t)
        return NULL;
    for (size_t i = 0; i < H_COUNT; i++) {
        int flags = i == H_EFFECT || i == H_E || i == H_N ? SCOLS_FL_RIGHT : 0;
        if (!scols_table_new_column(t, names[i], 0, flags)) {
            scols_unref_table(t);
            return NULL;
        }
    }
    /* Never cut: a terminal that is too narrow wraps, a pager scrolls. */
    (void)scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
    return t;
}

static void set(struct libscols_line *line, size_t column, const char *text)
{
    char clean[256];

    (void)scols_line_set_data(line, column, text_clean(clean, sizeof clean, text, 80));
}

static int add_row(const struct store_decision *d, void *userdata)
{
    struct libscols_line *line = scols_table_new_line(userdata, NULL);
    const char *unit = history_unit(d->knob);
    char v[3][TEXT_SHORT], text[128];

    if (!line)
        return -ENOMEM;
    set(line, H_TIME, text_time(v[0], sizeof v[0], (double)d->real_ns / 1e9));
    set(line, H_CLASS, history_class(text, sizeof text, d->profile, d->bucket));
    set(line, H_WHAT, d->event);
    set(line, H_KNOB, d->knob);
    set(line, H_REASON, d->reason);
    if (isfinite(d->old_value) || isfinite(d->new_value)) {
        (void)snprintf(text, sizeof text, "%s -> %s",
                       text_value(v[0], sizeof v[0], d->old_value, unit),
                       text_value(v[1], sizeof v[1], d->new_value, unit));
        set(line, H_CHANGE, text);
    }
    if (d->evidence.n == 0)
        return 0;
    set(line, H_EFFECT, text_percent(v[0], sizeof v[0], history_percent(d->evidence.mean)));
    (void)snprintf(text, sizeof text, "%s to %s",
                   text_percent(v[0], sizeof v[0], history_percent(d->evidence.lo)),
                   text_percent(v[1], sizeof v[1], history_percent(d->evidence.hi)));
    set(line, H_INTERVAL, text);
    set(line, H_E, text_short(v[0], sizeof v[0], d->evidence.e));
    (void)snprintf(text, sizeof text, "%u", d->evidence.n);
    set(line, H_N, text);
    return 0;
}

static int add_document(const struct store_decision *d, void *userdata)
{
    return json_object_array_add(userdata, history_document(d)) < 0 ? -ENOMEM : 0;
}

static int print_json(struct store *s, size_t limit)
{
    _cleanup_doc_ struct json_object *doc = json_object_new_object();
    struct json_object *list = json_object_new_array();
    int r = s ? store_each_decision(s, limit, add_document, list) : 0;

    (void)json_object_object_add(doc, "decisions", list);
    doc_print(doc);
    return r;
}

static int print_table(struct store *s, size_t limit)
{
    struct libscols_table *t = s ? new_table() : NULL;

    if (s && !t)
        return -ENOMEM;
    int r = s ? store_each_decision(s, limit, add_row, t) : 0;
    if (t && !scols_table_is_empty(t))
        (void)scols_print_table(t);
    else if (r == 0)
        (void)printf("no decisions yet\n");
    scols_unref_table(t);
    return r;
}

int verb_history(const struct ctl *c)
{
    struct store *s = NULL;
    uint64_t limit = c->trace ? 0 : HISTORY_DEFAULT;
    int r;

    if (c->trace && c->json) {
        (void)fprintf(stderr, "tunectl: a trace is CSV: --trace and --json exclude each other\n");
        return CTL_USAGE;
    }
    if (c->n_words > 0 &&
        (parse_u64(c->words[0], &limit) < 0 || limit == 0 || limit > HISTORY_MAX)) {
        (void)fprintf(stderr, "tunectl: history %.40s: a number from 1 to %d\n", c->words[0],
                      HISTORY_MAX);
        return CTL_USAGE;
    }
    int code = history_open(c, &s);
    if (code != CTL_OK)
        return code;
    if (c->trace)
        r = s ? store_write_trace(s, (size_t)limit, stdout) : 0;
    else
        r = c->json ? print_json(s, (size_t)limit) : print_table(s, (size_t)limit);
    (void)store_close(s);
    if (r >= 0)
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: cannot read the store: %s\n", strerror(-r));
    return CTL_ERROR;
}
