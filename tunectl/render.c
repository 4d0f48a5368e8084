/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lays the daemon's document out on one screen. Believes nothing of it: members may be missing, of
 * another type, long or hostile; asks nobody and decides nothing. */
#include "render.h"

#include <math.h>
#include <string.h>

#include "doc.h"
#include "text.h"
#include "util.h"

enum { DECISIONS_SHOWN = 6 };

static void colour(const struct render *r, const char *sgr)
{
    if (r->colour)
        (void)fprintf(r->out, "\033[%sm", sgr);
}

void render_line(const struct render *r, const char *label, const char *text, size_t max_lines)
{
    (void)fprintf(r->out, "%-*s", RENDER_LABEL, label);
    text_wrap(r->out, text, RENDER_LABEL, r->width, max_lines);
}

static const char *count(char *buf, size_t size, struct json_object *o, const char *key)
{
    double n = doc_number(o, key);

    if (isfinite(n) && fabs(n) < 1e15)
        (void)snprintf(buf, size, "%.0f", n);
    else
        (void)snprintf(buf, size, "?");
    return buf;
}

static const char *plural(struct json_object *o, const char *key)
{
    return doc_number(o, key) == 1 ? "" : "s";
}

static void render_head(const struct render *r, struct json_object *doc)
{
    char version[TEXT_SHORT], mode[TEXT_SHORT], origin[160], line[320];

    (void)text_clean(version, sizeof version, doc_text(doc, "version", "?"), 16);
    (void)text_clean(mode, sizeof mode, doc_text(doc, "mode", "unknown"), 20);
    (void)text_clean(origin, sizeof origin, doc_text(doc, "mode_origin", "origin not told"), 120);
    colour(r, "1");
    (void)fprintf(r->out, "%-*s", RENDER_LABEL, "tunerd");
    (void)snprintf(line, sizeof line, "%s, mode %s (%s)", version, mode, origin);
    text_wrap(r->out, line, RENDER_LABEL, r->width, 2);
    colour(r, "0");
    render_line(r, "doing", doc_text(doc, "doing", "not told"), 3);
}

void render_host(const struct render *r, struct json_object *doc)
{
    struct json_object *host = doc_object(doc, "host");
    char line[512], kernel[64], online[64], n[3][TEXT_SHORT];

    (void)text_clean(kernel, sizeof kernel, doc_text(host, "kernel", "kernel not told"), 40);
    (void)text_clean(online, sizeof online, doc_text(host, "online", "?"), 24);
    (void)snprintf(line, sizeof line, "%s%s, %s CPUs (%s), %s package%s, %s node%s%s",
                   doc_bool(host, "simulated") ? "simulated: " : "", kernel,
                   count(n[0], sizeof n[0], host, "cpus"), online,
                   count(n[1], sizeof n[1], host, "packages"), plural(host, "packages"),
                   count(n[2], sizeof n[2], host, "nodes"), plural(host, "nodes"),
                   doc_bool(host, "tunable") ? "; knobs can be written" : "");
    render_line(r, "host", line, 2);
    if (doc_bool(host, "tunable"))
        return;
    colour(r, "31");
    (void)snprintf(line, sizeof line, "nothing can be tuned here: %.400s",
                   doc_text(host, "why_not", "no reason told"));
    render_line(r, "", line, 3);
    colour(r, "0");
}

static void render_class(const struct render *r, struct json_object *doc)
{
    struct json_object *profile = doc_object(doc, "profile"), *class = doc_object(doc, "class");
    struct json_object *load = doc_object(doc, "load");
    double gain_pct = doc_number(class, "gain_pct");
    char line[512], n[4][TEXT_SHORT], gain[TEXT_SHORT], value[TEXT_SHORT];

    if (profile)
        (void)snprintf(line, sizeof line, "%.100s (%.300s)", doc_text(profile, "name", "?"),
                       doc_text(profile, "why", "no reason told"));
    else
        (void)snprintf(line, sizeof line, "none: no profile matches what is running");
    render_line(r, "profile", line, 2);
    if (class)
        (void)snprintf(
            line, sizeof line, "%.100s: %s windows, %s tests, %s accepted, %s rolled back%s%s",
            doc_text(class, "name", "?"), count(n[0], sizeof n[0], class, "windows"),
            count(n[1], sizeof n[1], class, "tests"), count(n[2], sizeof n[2], class, "accepts"),
            count(n[3], sizeof n[3], class, "rollbacks"), isfinite(gain_pct) ? ", gain " : "",
            isfinite(gain_pct) ? text_percent(gain, sizeof gain, gain_pct) : "");
    else
        (void)snprintf(line, sizeof line, "none yet");
    render_line(r, "class", line, 2);
    (void)snprintf(line, sizeof line, "%s%s%.200s",
                   isfinite(doc_number(load, "value"))
                       ? text_number(value, sizeof value, doc_number(load, "value"))
                       : "not known",
                   *doc_text(load, "source", "") ? ", " : "", doc_text(load, "source", ""));
    render_line(r, "load", line, 1);
}

/* Lines to be copied as they are: not wrapped. */
static void render_help(const struct render *r, const char *help)
{
    char line[256], clean[256];

    for (size_t i = 0; *help && i < 8;) {
        size_t n = strcspn(help, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1),
                       help);
        help += n + (help[n] == '\n');
        if (n == 0)
            continue;
        (void)fprintf(r->out, "%*s%s\n", RENDER_LABEL + 2, "",
                      text_clean(clean, sizeof clean, line, 200));
        i++;
    }
}

/* ", 121 at the incumbent"; nothing when it is not known. */
static void append_level(char *buf, size_t size, double value, const char *where)
{
    char v[TEXT_SHORT];
    size_t used = strlen(buf);

    if (isfinite(value))
        (void)snprintf(buf + used, size - used, "; %s at the %s", text_number(v, sizeof v, value),
                       where);
}

static void render_objective(const struct render *r, struct json_object *doc)
{
    struct json_object *o = doc_object(doc, "objective");
    char line[640], v[2][TEXT_SHORT];
    const char *state = doc_text(o, "state", "unknown");

    if (!o || strcmp(state, "none") == 0) {
        render_line(r, "objective", "none: without an objective nothing is tried", 1);
        return;
    }
    (void)snprintf(line, sizeof line, "%s %.120s",
                   isfinite(doc_number(o, "value"))
                       ? text_number(v[0], sizeof v[0], doc_number(o, "value"))
                       : "no value,",
                   doc_text(o, "unit", "unit not told"));
    append_level(line, sizeof line, doc_number(o, "incumbent"), "incumbent");
    append_level(line, sizeof line, doc_number(o, "baseline"), "baseline");
    render_line(r, "objective", line, 2);
    (void)snprintf(line, sizeof line, "%.60s, measure %.40s: %.200s", doc_text(o, "name", "?"),
                   doc_text(o, "measure", "?"), doc_text(o, "text", "?"));
    render_line(r, "", line, 2);
    bool has_tps = isfinite(doc_number(o, "tps")), has_noise = isfinite(doc_number(o, "noise_pct"));
    (void)snprintf(line, sizeof line, "%s%s%s%s%s%s",
                   has_tps ? text_number(v[0], sizeof v[0], doc_number(o, "tps")) : "",
                   has_tps ? " transactions/s" : "", has_tps && has_noise ? ", " : "",
                   has_noise ? "noise " : "",
                   has_noise ? text_short(v[1], sizeof v[1], doc_number(o, "noise_pct")) : "",
                   has_noise ? " %" : "");
    if (*line)
        render_line(r, "", line, 1);
    if (doc_bool(o, "proxy"))
        render_line(r, "",
                    "only a proxy: no application says what counts, so a gain here need not be "
                    "one there",
                    2);
    if (strcmp(state, "ok") == 0)
        return;
    colour(r, "33");
    (void)snprintf(line, sizeof line, "%.40s%s%.400s", state,
                   *doc_text(o, "reason", "") ? ": " : "", doc_text(o, "reason", ""));
    render_line(r, "", line, 3);
    colour(r, "0");
    render_help(r, doc_text(o, "help", ""));
}

static void render_guards(const struct render *r, struct json_object *doc)
{
    char line[1024] = "", v[2][TEXT_SHORT];
    size_t n = doc_length(doc, "guards");

    for (size_t i = 0; i < n && i < 8; i++) {
        struct json_object *g = doc_at(doc, "guards", i);
        size_t used = strlen(line);
        (void)snprintf(line + used, sizeof line - used, "%s%.40s %.16s %s (%s)", used ? ", " : "",
                       doc_text(g, "metric", "?"), doc_text(g, "bound", "?"),
                       !doc_get(g, "ok")   ? "unknown"
                       : doc_bool(g, "ok") ? "ok"
                                           : "BROKEN",
                       text_number(v[0], sizeof v[0], doc_number(g, "value")));
    }
    render_line(r, "guards", *line ? line : "none", 3);
}

static void render_trial(const struct render *r, struct json_object *doc)
{
    struct json_object *t = doc_object(doc, "trial");
    char line[512], old[TEXT_SHORT], new[TEXT_SHORT], n[3][TEXT_SHORT], p[3][TEXT_SHORT],
        e[2][TEXT_SHORT];

    if (!t) {
        render_line(r, "trial", "none under way", 1);
        return;
    }
    const char *knob = doc_text(t, "knob", "?"), *arm = doc_text(t, "arm", "?");
    size_t len = strlen(knob);
    const char *unit = len > 3 && strcmp(knob + len - 3, "_ns") == 0 ? "ns" : "";
    bool check = strcmp(doc_text(t, "kind", ""), "check") == 0;
    (void)snprintf(line, sizeof line,
                   "%.20s of %.60s: %s against %s%s; %.20s in force, window %s of %s",
                   doc_text(t, "kind", "trial"), knob,
                   text_value(check ? old : new, TEXT_SHORT,
                              doc_number(t, check ? "incumbent" : "candidate"), unit),
                   text_value(check ? new : old, TEXT_SHORT,
                              doc_number(t, check ? "candidate" : "incumbent"), unit),
                   check ? " (baseline)" : "", arm, count(n[0], sizeof n[0], t, "position"),
                   count(n[1], sizeof n[1], t, "length"));
    render_line(r, "trial", line, 2);
    if (!(doc_number(t, "quads") > 0)) {
        render_line(r, "", "no evidence yet: the first comparison is not complete", 1);
        return;
    }
    (void)snprintf(line, sizeof line,
                   "so far %s quads: %s (interval %s to %s), E %s of the %s needed",
                   count(n[2], sizeof n[2], t, "quads"),
                   text_percent(p[0], sizeof p[0], doc_number(t, "mean_pct")),
                   text_percent(p[1], sizeof p[1], doc_number(t, "lo_pct")),
                   text_percent(p[2], sizeof p[2], doc_number(t, "hi_pct")),
                   text_short(e[0], sizeof e[0], doc_number(t, "e")),
                   text_short(e[1], sizeof e[1], doc_number(t, "bar")));
    render_line(r, "", line, 2);
}

void render_decision_text(char *buf, size_t size, struct json_object *d, const char *unit)
{
    char old[TEXT_SHORT], new[TEXT_SHORT], p[TEXT_SHORT];
    const char *text = doc_text(d, "text", "");

    if (*text) {
        (void)snprintf(buf, size, "%s", text);
        return;
    }
    (void)snprintf(buf, size, "%.24s %.48s %s -> %s, %s (%.40s)", doc_text(d, "what", "?"),
                   doc_text(d, "knob", ""), text_value(old, sizeof old, doc_number(d, "old"), unit),
                   text_value(new, sizeof new, doc_number(d, "new"), unit),
                   text_percent(p, sizeof p, doc_number(d, "mean_pct")),
                   doc_text(d, "reason", "?"));
}

static void render_decisions(const struct render *r, struct json_object *doc)
{
    size_t n = doc_length(doc, "decisions");
    char when[TEXT_SHORT], text[1024];

    if (n == 0) {
        render_line(r, "decisions", "none yet", 1);
        return;
    }
    (void)fprintf(r->out, "decisions, newest first (tunectl history shows more)\n");
    for (size_t i = 0; i < n && i < DECISIONS_SHOWN; i++) {
        struct json_object *d = doc_at(doc, "decisions", i);
        render_decision_text(text, sizeof text, d, "");
        (void)fprintf(r->out, "  %-14s ", text_time(when, sizeof when, doc_number(d, "time")));
        text_wrap(r->out, text, 19, r->width, 2);
    }
}

void render_sensors(const struct render *r, struct json_object *doc)
{
    char line[512];

    for (size_t i = 0; i < doc_length(doc, "sensors") && i < 16; i++) {
        struct json_object *s = doc_at(doc, "sensors", i);
        const char *reason = doc_text(s, "reason", "");
        char name[TEXT_SHORT];
        (void)snprintf(line, sizeof line, "%.20s: %.240s", doc_text(s, "state", "unknown"),
                       *reason ? reason : doc_text(s, "what", ""));
        render_line(r, text_clean(name, sizeof name, doc_text(s, "name", "?"), RENDER_LABEL - 1),
                    line, 2);
    }
}

/* Those that do not work as they should; what this host does not have, in one line. */
static void render_bad_sensors(const struct render *r, struct json_object *doc)
{
    static const char *const fine[] = { "ok", "starting", "absent" };
    char line[512], absent[256] = "";

    for (size_t i = 0; i < doc_length(doc, "sensors") && i < 16; i++) {
        struct json_object *s = doc_at(doc, "sensors", i);
        const char *state = doc_text(s, "state", "unknown");
        size_t used = strlen(absent), k = 0;
        while (k < ELEMENTSOF(fine) && strcmp(state, fine[k]) != 0)
            k++;
        if (strcmp(state, "absent") == 0)
            (void)snprintf(absent + used, sizeof absent - used, "%s%.24s", used ? ", " : "",
                           doc_text(s, "name", "?"));
        if (k < ELEMENTSOF(fine))
            continue;
        (void)snprintf(line, sizeof line, "%.40s %.20s: %.200s", doc_text(s, "name", "?"), state,
                       doc_text(s, "reason", "no reason told"));
        render_line(r, "sensor", line, 1);
    }
    (void)snprintf(line, sizeof line, "not on this host: %s (tunectl probe says why)", absent);
    if (*absent)
        render_line(r, "sensors", line, 2);
}

static void render_foot(const struct render *r, struct json_object *doc)
{
    struct json_object *c = doc_object(doc, "counters"), *w = doc_object(doc, "window");
    struct json_object *store = doc_object(doc, "store");
    char line[512], n[5][TEXT_SHORT];

    (void)snprintf(line, sizeof line,
                   "%s seen (%s without a measurement) of %s s; moves %s, writes %s",
                   count(n[0], sizeof n[0], c, "windows"), count(n[1], sizeof n[1], c, "missing"),
                   text_number(n[2], sizeof n[2], doc_number(w, "length_s")),
                   count(n[3], sizeof n[3], c, "moves"), count(n[4], sizeof n[4], c, "writes"));
    render_line(r, "windows", line, 1);
    if (doc_bool(w, "missing"))
        render_line(r, "", doc_text(w, "why_missing", "the last window has no measurement"), 2);
    render_bad_sensors(r, doc);
    if (store && strcmp(doc_text(store, "state", "ok"), "ok") != 0) {
        (void)snprintf(line, sizeof line, "nothing is remembered: %.300s",
                       doc_text(store, "reason", "no reason told"));
        render_line(r, "store", line, 2);
    }
}

void render_status(const struct render *r, struct json_object *doc)
{
    render_head(r, doc);
    render_host(r, doc);
    render_class(r, doc);
    render_objective(r, doc);
    render_guards(r, doc);
    (void)fputc('\n', r->out);
    render_knobs(r, doc);
    (void)fputc('\n', r->out);
    render_trial(r, doc);
    render_decisions(r, doc);
    render_foot(r, doc);
}
