/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares each item of the journal with what is in force. Writes nothing and needs no daemon. */
#include <ctype.h>
#include <errno.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "doc.h"
#include "host.h"
#include "settings.h"
#include "text.h"
#include "tunectl.h"
#include "util.h"

enum verdict {
    VERDICT_OURS,
    VERDICT_ORIGINAL,
    VERDICT_KEPT,
    VERDICT_NOT_BACK,
    VERDICT_FOREIGN,
    VERDICT_UNREADABLE
};

static const struct {
    const char *word, *text;
    bool differs;
} verdicts[] = {
    [VERDICT_OURS] = { "ours", "ours", false },
    [VERDICT_ORIGINAL] = { "original", "the original is in force", false },
    [VERDICT_KEPT] = { "kept", "ours, kept because on_stop = keep", false },
    [VERDICT_NOT_BACK] = { "not-back", "ours, though no daemon runs: tunectl restore", true },
    [VERDICT_FOREIGN] = { "foreign", "somebody else's value: left alone", true },
    [VERDICT_UNREADABLE] = { "unreadable", "cannot be read", true },
};

struct check {
    const struct undo_item *item; /* borrowed */
    enum verdict verdict;
    int error;
    char current[UNDO_TEXT_MAX];
};

/* A token of a list such as sched features is on as NAME and off as NO_NAME. */
static int read_token(const struct sysio *io, const char *path, const char *token, char *buf,
                      size_t size)
{
    char text[8192], *save = NULL;

    ssize_t n = sysio_read(io, path, text, sizeof text);
    if (n < 0)
        return (int)n;
    for (char *w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
        const char *name = strncmp(w, "NO_", 3) == 0 ? w + 3 : w;
        if (strcmp(name, token) == 0)
            return copy_string(buf, size, w) ? 0 : -EFBIG;
    }
    return -ENOENT;
}

static int read_item(const struct sysio *io, const char *id, char *buf, size_t size)
{
    char path[UNDO_ID_MAX];

    (void)copy_string(path, sizeof path, id);
    char *hash = strchr(path, '#');
    if (!hash) {
        ssize_t n = sysio_read_line(io, path, buf, size);
        return n < 0 ? (int)n : 0;
    }
    *hash = '\0';
    return read_token(io, path, hash + 1, buf, size);
}

/* The knob whose file the item is: it knows what the kernel makes of a value by itself. */
static const struct knob *knob_of(struct host *h, const char *id)
{
    for (size_t i = 0; i < knob_table_size; i++) {
        const struct knob *k = host_knob(h, knob_table[i].name);
        if (k && k->path && strcmp(k->path, id) == 0)
            return k;
    }
    return NULL;
}

static void judge(struct check *k, struct host *h, bool running, bool keep)
{
    const struct knob *knob = knob_of(h, k->item->id);
    enum verdict ours = running ? VERDICT_OURS : keep ? VERDICT_KEPT : VERDICT_NOT_BACK;

    k->error = read_item(host_io(h), k->item->id, k->current, sizeof k->current);
    if (k->error < 0)
        k->verdict = VERDICT_UNREADABLE;
    else if (k->item->foreign)
        k->verdict = VERDICT_FOREIGN;
    else if (strcmp(k->current, k->item->original) == 0)
        k->verdict = VERDICT_ORIGINAL;
    else if (undo_is_ours(k->item, k->current))
        k->verdict = ours;
    else if (!knob || knob->state == KNOB_FOREIGN)
        k->verdict = VERDICT_FOREIGN;
    else /* a rescale of the kernel */
        k->verdict =
            knob->has_original && knob->current == knob->original ? VERDICT_ORIGINAL : ours;
}

static const char *our_value(const struct undo_item *i)
{
    return *i->confirmed ? i->confirmed : i->intended;
}

static void add_row(struct libscols_table *t, const struct check *k)
{
    struct libscols_line *line = scols_table_new_line(t, NULL);
    char clean[UNDO_ID_MAX + 64], text[UNDO_ID_MAX];

    if (!line)
        return;
    (void)scols_line_set_data(line, 0, text_clean(clean, sizeof clean, k->item->id, UNDO_ID_MAX));
    (void)scols_line_set_data(line, 1, text_clean(clean, sizeof clean, k->item->original, 24));
    (void)scols_line_set_data(line, 2, text_clean(clean, sizeof clean, our_value(k->item), 24));
    (void)scols_line_set_data(line, 3,
                              k->error < 0 ? "-" : text_clean(clean, sizeof clean, k->current, 24));
    (void)snprintf(text, sizeof text, "%s%s%s", verdicts[k->verdict].text, k->error < 0 ? ": " : "",
                   k->error < 0 ? strerror(-k->error) : "");
    (void)scols_line_set_data(line, 4, text);
}

static void print_table(const struct check *checks, size_t n)
{
    static const char *const names[] = { "ITEM", "ORIGINAL", "OURS", "CURRENT", "STATE" };
    struct libscols_table *t = scols_new_table();

    for (size_t i = 0; t && i < ELEMENTSOF(names); i++)
        (void)scols_table_new_column(t, names[i], 0, i >= 1 && i <= 3 ? SCOLS_FL_RIGHT : 0);
    if (t) {
        (void)scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
        for (size_t i = 0; i < n; i++)
            add_row(t, &checks[i]);
        (void)scols_print_table(t);
    }
    scols_unref_table(t);
}

static void print_json(const struct check *checks, size_t n, bool running)
{
    _cleanup_doc_ struct json_object *doc = json_object_new_object();
    struct json_object *list = json_object_new_array();

    (void)json_object_object_add(doc, "daemon", json_object_new_boolean(running));
    for (size_t i = 0; i < n; i++) {
        struct json_object *o = json_object_new_object();
        doc_add_text(o, "item", checks[i].item->id);
        doc_add_text(o, "original", checks[i].item->original);
        doc_add_text(o, "ours", *our_value(checks[i].item) ? our_value(checks[i].item) : NULL);
        doc_add_text(o, "current", checks[i].error < 0 ? NULL : checks[i].current);
        doc_add_text(o, "state", verdicts[checks[i].verdict].word);
        doc_add_text(o, "reason", checks[i].error < 0 ? strerror(-checks[i].error) : "");
        (void)json_object_object_add(o, "differs",
                                     json_object_new_boolean(verdicts[checks[i].verdict].differs));
        (void)json_object_array_add(list, o);
    }
    (void)json_object_object_add(doc, "items", list);
    doc_print(doc);
}

static bool is_daemon_running(const struct ctl *c)
{
    _cleanup_free_ char *text = NULL;

    return client_lock_holder(c) > 0 || client_status(&text) == CTL_OK;
}

int verb_verify(const struct ctl *c)
{
    struct host *h = NULL;
    struct config *config = NULL;
    size_t differences = 0;
    int code = settings_load(c, &config);

    if (code != CTL_OK)
        return code;
    bool running = is_daemon_running(c), keep = config->on_stop == ON_STOP_KEEP;
    (void)config_free(config);
    code = host_probe(c, &h);
    if (code != CTL_OK)
        return code;
    const struct undo *u = host_undo(h);
    _cleanup_free_ struct check *checks = calloc(u->n + 1, sizeof *checks);
    for (size_t i = 0; checks && i < u->n; i++) {
        checks[i].item = &u->item[i];
        judge(&checks[i], h, running, keep);
        differences += verdicts[checks[i].verdict].differs;
    }
    if (checks && c->json)
        print_json(checks, u->n, running);
    else if (checks && u->n == 0 && host_journal_error(h) == 0)
        (void)printf(
            "nothing differs: the journal holds no original, tunerd has changed nothing\n");
    else if (checks && u->n > 0)
        print_table(checks, u->n);
    if (checks && u->n > 0 && !c->json)
        (void)printf("\n%s; %zu of %zu differ from what we think\n",
                     running ? "the daemon runs" : "no daemon runs", differences, u->n);
    code = differences > 0 ? CTL_DIFFERS : CTL_OK;
    if (!checks || host_journal_error(h) < 0)
        code = ctl_worse(code, CTL_ERROR);
    (void)host_free(h);
    return code;
}
