/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb report: what the store holds as one HTML page on stdout, with plots and the decisions.
 * Reads only. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "history.h"
#include "learned.h"
#include "sentence.h"
#include "text.h"
#include "util.h"

enum { WINDOWS_MAX = 10000000, DECISIONS_MAX = 100000, DECISIONS_SHOWN = 100 };

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tunerd "
    "report</title>\n<style>\n"
    "body{font:14px sans-serif;max-width:1000px;margin:1em auto;padding:0 1em;color:#222}\n"
    "svg{width:100%;margin:.3em 0}text{font-size:11px;fill:#555}.t{font-size:13px;fill:#222}\n"
    ".l{text-anchor:start}.m{text-anchor:middle}.r{text-anchor:end}\n"
    "path{fill:none}.g{stroke:#e4e4e4}.v{stroke:#1f6fb4}.k{stroke:#222;stroke-width:1.5}\n"
    ".accept{stroke:#2a9d3f;stroke-width:2}.rollback{stroke:#c22;stroke-width:2}.abort{stroke:#"
    "e8a33a}\n"
    ".foreign{stroke:#a4c;stroke-width:2}\n"
    "table{border-collapse:collapse}td,th{padding:.15em .7em .15em "
    "0;text-align:left;vertical-align:top}\n"
    "td:first-child{white-space:nowrap}\n"
    "</style></head><body>\n<h1>tunerd report</h1>\n";

struct collection {
    struct report *r;
    size_t room;
};

static int collect(const struct store_decision *d, void *userdata)
{
    struct collection *c = userdata;

    if (c->r->n_marks == c->room) {
        size_t room = c->room ? 2 * c->room : 256;
        struct store_decision *m = reallocarray(c->r->mark, room, sizeof *m);
        if (!m)
            return -ENOMEM;
        c->r->mark = m;
        c->room = room;
    }
    c->r->mark[c->r->n_marks++] = *d;
    return 0;
}

static int read_store(struct store *s, size_t windows, struct report *r)
{
    struct collection c = { .r = r };
    _cleanup_fclose_ FILE *f = tmpfile();

    if (!f)
        return -errno;
    int code = store_write_trace(s, windows, f);
    if (code < 0)
        return code;
    rewind(f);
    code = report_read(r, f);
    return code < 0 ? code : store_each_decision(s, DECISIONS_MAX, collect, &c);
}

static void print_summary(const struct report *r)
{
    char from[TEXT_SHORT], to[TEXT_SHORT], now[TEXT_SHORT];
    size_t accepts = 0, rollbacks = 0, rejects = 0;

    for (size_t i = 0; i < r->n_marks; i++) {
        accepts += strcmp(r->mark[i].event, "accept") == 0;
        rollbacks += strcmp(r->mark[i].event, "rollback") == 0;
        rejects +=
            strcmp(r->mark[i].event, "reject") == 0 || strcmp(r->mark[i].event, "abort") == 0;
    }
    (void)text_time(now, sizeof now, (double)time(NULL));
    if (r->n == 0) {
        (void)printf("<p>Written %s. No windows are recorded yet.</p>\n", now);
        return;
    }
    (void)printf("<p>Written %s. %zu windows from %s to %s; %zu values accepted, %zu refused, %zu "
                 "rolled back.%s</p>\n",
                 now, r->n, text_time(from, sizeof from, r->time[0]),
                 text_time(to, sizeof to, r->time[r->n - 1]), accepts, rejects, rollbacks,
                 accepts == 0 ? " No gain was found: the default is kept." : "");
    (void)printf("<p>Marks: green accepted, red rolled back, yellow aborted, violet written by "
                 "somebody else; a "
                 "pointer that rests on one shows why.</p>\n");
}

static void print_decisions(const struct report *r)
{
    char when[TEXT_SHORT], text[512];

    (void)printf("<h2>Decisions</h2>\n<table>\n");
    for (size_t i = 0, shown = 0; i < r->n_marks && shown < DECISIONS_SHOWN; i++) {
        const struct store_decision *d = &r->mark[i];
        if (strcmp(d->event, "trial") == 0 || strcmp(d->event, "class") == 0 ||
            strcmp(d->event, "void") == 0)
            continue;
        (void)printf("<tr><td>%s<td>", text_time(when, sizeof when, (double)d->real_ns / 1e9));
        report_escape(stdout, d->knob);
        (void)printf("<td>");
        report_escape(stdout, sentence(text, sizeof text, d));
        (void)printf("\n");
        shown++;
    }
    (void)printf("</table>\n");
}

static int print_class(const struct store_class *k, void *unused)
{
    char class[96], v[TEXT_SHORT];

    (void)unused;
    (void)printf("<tr><td>");
    report_escape(stdout, history_class(class, sizeof class, k->profile, k->memory.bucket));
    (void)printf("<td>%lu<td>%s<td>", k->memory.windows,
                 text_percent(v, sizeof v, history_percent(k->memory.gain)));
    for (size_t i = 0; i < k->n_knobs; i++) {
        if (!isfinite(k->memory.value[i]))
            continue;
        report_escape(stdout, k->knob_names[i]);
        (void)printf(" %s<br>",
                     text_value(v, sizeof v, k->memory.value[i], history_unit(k->knob_names[i])));
    }
    (void)printf("\n");
    return 0;
}

static int print_page(const struct ctl *c, struct store *s, const struct report *r)
{
    (void)fputs(head, stdout);
    print_summary(r);
    for (size_t i = 0; i < r->n_series; i++)
        report_draw(stdout, r, &r->series[i]);
    (void)printf("<h2>Learned</h2>\n<table>\n<tr><th>class<th>windows<th>gain<th>values\n");
    int code = learned_each(c, s, print_class, NULL);
    (void)printf("</table>\n");
    print_decisions(r);
    (void)printf("</body></html>\n");
    return code;
}

int verb_report(const struct ctl *c)
{
    struct report r = { 0 };
    struct store *s = NULL;
    uint64_t windows = 0;

    if (c->n_words > 0 &&
        (parse_u64(c->words[0], &windows) < 0 || windows == 0 || windows > WINDOWS_MAX)) {
        (void)fprintf(stderr, "tunectl: report %.40s: a number from 1 to %d\n", c->words[0],
                      WINDOWS_MAX);
        return CTL_USAGE;
    }
    int code = history_open(c, &s);
    if (code != CTL_OK)
        return code;
    int e = s ? read_store(s, (size_t)windows, &r) : 0;
    if (e >= 0)
        e = print_page(c, s, &r);
    report_done(&r);
    (void)store_close(s);
    if (e >= 0)
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: cannot read the store: %s\n", strerror(-e));
    return CTL_ERROR;
}
