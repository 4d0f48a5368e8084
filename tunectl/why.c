/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The evidence behind a knob's value, in sentences: what the knob does, whose value is in force,
 * what was tried and what came out. Draws no conclusions of its own. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "client.h"
#include "doc.h"
#include "history.h"
#include "host.h"
#include "learned.h"
#include "render.h"
#include "sentence.h"
#include "text.h"
#include "tunectl.h"
#include "util.h"

enum { DECISIONS_SHOWN = 8, DECISIONS_READ = 10000 };

struct tally {
    const char *knob; /* borrowed */
    size_t tests, accepts, rejects, aborts, keeps, rollbacks, n;
    struct store_decision shown[DECISIONS_SHOWN]; /* newest first */
    char learned[1024];                           /* value of each class */
};

static int collect(const struct store_decision *d, void *userdata)
{
    struct tally *t = userdata;

    if (strcmp(d->knob, t->knob) != 0)
        return 0;
    t->tests += strcmp(d->event, "trial") == 0;
    t->accepts += strcmp(d->event, "accept") == 0;
    t->rejects += strcmp(d->event, "reject") == 0;
    t->aborts += strcmp(d->event, "abort") == 0;
    t->keeps += strcmp(d->event, "keep") == 0;
    t->rollbacks += strcmp(d->event, "rollback") == 0;
    /* The begin of a trial says nothing that its end does not say better; a void one has no result.
     */
    if (t->n < DECISIONS_SHOWN && strcmp(d->event, "trial") != 0 &&
        strcmp(d->event, "check") != 0 && strcmp(d->event, "void") != 0)
        t->shown[t->n++] = *d;
    return 0;
}

/* The knob as the running daemon tells it, else as found on the host. Borrowed from *doc. */
static struct json_object *find_knob(const struct ctl *c, const char *name,
                                     struct json_object **doc, bool *running)
{
    _cleanup_free_ char *text = NULL;
    struct host *h = NULL;

    *running = client_status(&text) == CTL_OK;
    if (*running) {
        *doc = doc_parse(text);
    } else if (host_probe(c, &h) == CTL_OK) {
        *doc = host_document(h);
        (void)host_free(h);
    }
    for (size_t i = 0; i < doc_length(*doc, "knobs"); i++) {
        struct json_object *k = doc_at(*doc, "knobs", i);
        if (strcmp(doc_text(k, "name", ""), name) == 0)
            return k;
    }
    return NULL;
}

static void say_value(struct json_object *doc, struct json_object *k, const struct knob_def *def,
                      bool running)
{
    struct json_object *class = doc_object(doc, "class");
    double current = doc_number(k, "current"), original = doc_number(k, "original");
    const char *state = doc_text(k, "state", "unknown");
    char v[2][TEXT_SHORT], line[512];

    (void)text_value(v[0], sizeof v[0], current, def->unit);
    (void)text_value(v[1], sizeof v[1], original, def->unit);
    if (strcmp(state, "foreign") == 0)
        (void)snprintf(line, sizeof line,
                       "In force is %s, which somebody else wrote; it is left alone until "
                       "\"tunectl release %s\". The original was %s.",
                       v[0], def->name, v[1]);
    else if (strcmp(state, "ok") != 0)
        (void)snprintf(line, sizeof line, "It cannot be tuned here: %.40s%s%.200s.", state,
                       *doc_text(k, "reason", "") ? ", " : "", doc_text(k, "reason", ""));
    else if (current == original)
        (void)snprintf(line, sizeof line, "In force is %s, the value found at the start.%s", v[0],
                       running ? "" : " The daemon does not run.");
    else
        (void)snprintf(line, sizeof line, "In force is %s; the value found at the start was %s.",
                       v[0], v[1]);
    render_line(&(struct render){ .out = stdout, .width = text_width() }, "value", line, 4);
    if (!running || !class)
        return;
    double gain = doc_number(class, "gain_pct");
    (void)snprintf(line, sizeof line, "The class now is %.100s; its gain over the original is %s.",
                   doc_text(class, "name", "?"),
                   isfinite(gain) && gain != 0 ? text_percent(v[0], sizeof v[0], gain)
                                               : "not shown");
    render_line(&(struct render){ .out = stdout, .width = text_width() }, "class", line, 3);
}

static void say_decision(const struct store_decision *d)
{
    char when[TEXT_SHORT], line[640];

    (void)sentence(line, sizeof line, d);
    (void)printf("  %-14s ", text_time(when, sizeof when, (double)d->real_ns / 1e9));
    text_wrap(stdout, line, 19, text_width(), 3);
}

static void say_history(const struct tally *t)
{
    char line[512] = "";
    struct render r = { .out = stdout, .width = text_width() };

    if (t->tests + t->accepts + t->rejects + t->keeps + t->rollbacks + t->aborts + t->n == 0) {
        render_line(&r, "evidence",
                    "Nothing has been tried yet: the default is kept because nothing better was "
                    "shown.",
                    2);
        return;
    }
    const struct {
        size_t n;
        const char *one, *many;
    } parts[] = {
        { t->tests, "trial begun", "trials begun" },
        { t->accepts, "value accepted", "values accepted" },
        { t->rejects, "value rejected", "values rejected" },
        { t->aborts, "trial aborted by a guard", "trials aborted by a guard" },
        { t->keeps, "time an accepted value was again shown to be better than the original",
          "times an accepted value was again shown to be better than the original" },
        { t->rollbacks, "time it was not and was rolled back",
          "times it was not and was rolled back" },
    };
    for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
        size_t used = strlen(line);
        if (parts[i].n > 0)
            (void)snprintf(line + used, sizeof line - used, "%s%zu %s", used ? ", " : "",
                           parts[i].n, parts[i].n == 1 ? parts[i].one : parts[i].many);
    }
    size_t used = strlen(line);
    (void)snprintf(line + used, sizeof line - used, "%s",
                   t->accepts == 0 ? ". No gain was found: the default is kept." : ".");
    render_line(&r, "evidence", line, 5);
    for (size_t i = 0; i < t->n; i++)
        say_decision(&t->shown[i]);
}

static void print_json(struct json_object *k, const struct knob_def *def, struct json_object *doc,
                       const struct tally *t)
{
    _cleanup_doc_ struct json_object *o = json_object_new_object();
    struct json_object *list = json_object_new_array();

    doc_add_text(o, "knob", def->name);
    doc_add_text(o, "mechanism", def->mechanism);
    (void)json_object_object_add(o, "now", json_object_get(k));
    (void)json_object_object_add(o, "class", json_object_get(doc_get(doc, "class")));
    for (size_t i = 0; i < t->n; i++)
        (void)json_object_array_add(list, history_document(&t->shown[i]));
    (void)json_object_object_add(o, "decisions", list);
    doc_print(o);
}

/* What the store knows of the knob. */
static int read_store(const struct ctl *c, struct tally *t)
{
    struct store *s = NULL;
    int code = history_open(c, &s);

    if (code != CTL_OK || !s)
        return code;
    int r = store_each_decision(s, DECISIONS_READ, collect, t);
    if (r >= 0)
        r = learned_of_knob(c, s, t->knob, t->learned, sizeof t->learned);
    (void)store_close(s);
    if (r >= 0)
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: cannot read the store: %s\n", strerror(-r));
    return CTL_ERROR;
}

static int unknown_knob(const char *name)
{
    (void)fprintf(stderr, "tunectl: there is no knob \"%.60s\"; the knobs are: ", name);
    for (size_t i = 0; i < knob_table_size; i++)
        (void)fprintf(stderr, "%s%s", i ? ", " : "", knob_table[i].name);
    (void)fputc('\n', stderr);
    return CTL_USAGE;
}

int verb_why(const struct ctl *c)
{
    const struct knob_def *def = knob_find(c->words[0]);
    _cleanup_doc_ struct json_object *doc = NULL;
    _cleanup_free_ struct tally *t = calloc(1, sizeof *t);
    bool running = false;

    if (!def)
        return unknown_knob(c->words[0]);
    if (!t) {
        (void)fprintf(stderr, "tunectl: out of memory\n");
        return CTL_ERROR;
    }
    t->knob = def->name;
    struct json_object *k = find_knob(c, def->name, &doc, &running);
    int code = read_store(c, t);
    if (c->json) {
        print_json(k, def, doc, t);
        return code;
    }
    struct render r = { .out = stdout, .width = text_width() };
    render_line(&r, "knob", def->name, 1);
    render_line(&r, "", def->what, 2);
    render_line(&r, "mechanism", def->mechanism, 8);
    say_value(doc, k, def, running);
    if (*t->learned)
        render_line(&r, "learned", t->learned, 4);
    say_history(t);
    return code;
}
