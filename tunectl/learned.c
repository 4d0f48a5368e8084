/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was learned on this host, class by class. Reads the store only. */
#include "learned.h"

#include <errno.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "history.h"
#include "hostid.h"
#include "text.h"
#include "util.h"

int learned_each(const struct ctl *c, struct store *s,
                 int (*f)(const struct store_class *k, void *u), void *u)
{
    char fingerprint[512];
    struct sysio io;

    int r = sysio_init(&io, c->root);
    if (r < 0)
        return r;
    (void)hostid_fingerprint(&io, fingerprint, sizeof fingerprint);
    sysio_done(&io);
    return s ? store_each_class(s, fingerprint, f, u) : 0;
}

struct one_knob {
    const char *knob;
    char *buf;
    size_t size;
};

static int append_one(const struct store_class *k, void *userdata)
{
    struct one_knob *o = userdata;
    char v[2][TEXT_SHORT], class[96];

    for (size_t i = 0; i < k->n_knobs; i++) {
        size_t used = strlen(o->buf);
        if (strcmp(k->knob_names[i], o->knob) != 0 || !isfinite(k->memory.value[i]))
            continue;
        (void)snprintf(o->buf + used, o->size - used, "%s%s in %s (gain %s)", used ? ", " : "",
                       text_value(v[0], sizeof v[0], k->memory.value[i], history_unit(o->knob)),
                       history_class(class, sizeof class, k->profile, k->memory.bucket),
                       text_percent(v[1], sizeof v[1], history_percent(k->memory.gain)));
    }
    return 0;
}

int learned_of_knob(const struct ctl *c, struct store *s, const char *knob, char *buf, size_t size)
{
    struct one_knob o = { .knob = knob, .buf = buf, .size = size };

    buf[0] = '\0';
    return learned_each(c, s, append_one, &o);
}

static struct json_object *describe(const struct store_class *k)
{
    struct json_object *o = json_object_new_object(), *values = json_object_new_object();
    char class[96];

    doc_add_text(o, "name", history_class(class, sizeof class, k->profile, k->memory.bucket));
    doc_add_text(o, "profile", k->profile);
    doc_add_number(o, "bucket", k->memory.bucket == INT32_MIN ? NAN : (double)k->memory.bucket);
    doc_add_number(o, "time", (double)k->real_ns / 1e9);
    doc_add_number(o, "windows", (double)k->memory.windows);
    doc_add_number(o, "tests", k->memory.tests);
    doc_add_number(o, "accepts", k->memory.accepts);
    doc_add_number(o, "rollbacks", k->memory.rollbacks);
    doc_add_number(o, "gain_pct", history_percent(k->memory.gain));
    for (size_t i = 0; i < k->n_knobs; i++)
        doc_add_number(values, k->knob_names[i], k->memory.value[i]);
    (void)json_object_object_add(o, "values", values);
    return o;
}

static int add_document(const struct store_class *k, void *userdata)
{
    return json_object_array_add(userdata, describe(k)) < 0 ? -ENOMEM : 0;
}

enum { L_CLASS, L_SEEN, L_WINDOWS, L_TESTS, L_ACCEPTS, L_ROLLBACKS, L_GAIN, L_VALUES, L_COUNT };

static int add_row(const struct store_class *k, void *userdata)
{
    struct libscols_line *line = scols_table_new_line(userdata, NULL);
    char v[TEXT_SHORT], class[96], values[640] = "", clean[640];
    const uint64_t counts[] = { k->memory.windows, k->memory.tests, k->memory.accepts,
                                k->memory.rollbacks };

    if (!line)
        return -ENOMEM;
    (void)history_class(class, sizeof class, k->profile, k->memory.bucket);
    (void)scols_line_set_data(line, L_CLASS, text_clean(clean, sizeof clean, class, 40));
    (void)scols_line_set_data(line, L_SEEN, text_time(v, sizeof v, (double)k->real_ns / 1e9));
    for (size_t i = 0; i < ELEMENTSOF(counts); i++) {
        (void)snprintf(v, sizeof v, "%lu", counts[i]);
        (void)scols_line_set_data(line, L_WINDOWS + i, v);
    }
    (void)scols_line_set_data(line, L_GAIN,
                              text_percent(v, sizeof v, history_percent(k->memory.gain)));
    for (size_t i = 0; i < k->n_knobs; i++) {
        size_t used = strlen(values);
        if (isfinite(k->memory.value[i]))
            (void)snprintf(
                values + used, sizeof values - used, "%s%s %s", used ? ", " : "", k->knob_names[i],
                text_value(v, sizeof v, k->memory.value[i], history_unit(k->knob_names[i])));
    }
    (void)scols_line_set_data(line, L_VALUES,
                              text_clean(clean, sizeof clean, *values ? values : "originals", 600));
    return 0;
}

static int print_table(const struct ctl *c, struct store *s)
{
    static const char *const names[L_COUNT] = { "CLASS",    "LAST",        "WINDOWS", "TESTS",
                                                "ACCEPTED", "ROLLED BACK", "GAIN",    "VALUES" };
    struct libscols_table *t = scols_new_table();

    for (size_t i = 0; t && i < L_COUNT; i++)
        (void)scols_table_new_column(t, names[i], 0,
                                     i >= L_WINDOWS && i <= L_GAIN ? SCOLS_FL_RIGHT : 0);
    if (!t)
        return -ENOMEM;
    (void)scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
    int r = learned_each(c, s, add_row, t);
    if (!scols_table_is_empty(t))
        (void)scols_print_table(t);
    else if (r >= 0)
        (void)printf("nothing has been learned on this host yet\n");
    scols_unref_table(t);
    return r;
}

int verb_learned(const struct ctl *c)
{
    struct store *s = NULL;
    int r, code = history_open(c, &s);

    if (code != CTL_OK)
        return code;
    if (c->json) {
        _cleanup_doc_ struct json_object *doc = json_object_new_object();
        struct json_object *list = json_object_new_array();
        r = learned_each(c, s, add_document, list);
        (void)json_object_object_add(doc, "classes", list);
        doc_print(doc);
    } else {
        r = print_table(c, s);
    }
    (void)store_close(s);
    if (r >= 0)
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: cannot read what was learned: %s\n", strerror(-r));
    return CTL_ERROR;
}
