/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs status and watch: get the daemon's document, or find out what there is without it, and
 * show it. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "doc.h"
#include "host.h"
#include "render.h"
#include "text.h"
#include "tunectl.h"
#include "util.h"

/* More than any document of the daemon: 16 knobs, 10 decisions, 4 sensors are below 64 KiB. */
enum { DOCUMENT_MAX = 4 << 20 };

static int read_file(const char *path, char **ret)
{
    _cleanup_fclose_ FILE *f = NULL;
    _cleanup_free_ char *text = malloc(DOCUMENT_MAX + 1);
    bool is_stdin = strcmp(path, "-") == 0;

    f = is_stdin ? NULL : fopen(path, "re");
    if (!text || (!f && !is_stdin)) {
        (void)fprintf(stderr, "tunectl: cannot read %s: %s\n", path, strerror(errno));
        return CTL_ERROR;
    }
    size_t n = fread(text, 1, DOCUMENT_MAX, is_stdin ? stdin : f);
    text[n] = '\0';
    *ret = TAKE_PTR(text);
    return CTL_OK;
}

static int show(const struct ctl *c, const char *text, double *ret_next_s)
{
    struct render r = { .out = stdout, .width = text_width(), .colour = text_colour() };
    _cleanup_doc_ struct json_object *doc = doc_parse(text);

    if (!doc) {
        (void)fprintf(stderr, "tunectl: this is no document of tunerd\n");
        return CTL_ERROR;
    }
    if (c->json)
        (void)printf("%s%s", text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
    else
        render_status(&r, doc);
    *ret_next_s = doc_number(doc_object(doc, "window"), "next_in_s");
    return CTL_OK;
}

/* What is found without a daemon. */
static int show_host(const struct ctl *c)
{
    struct host *h = NULL;
    int code = host_probe(c, &h);

    if (code == CTL_OK && c->json) {
        _cleanup_doc_ struct json_object *doc = host_document(h);
        doc_print(doc);
    } else if (code == CTL_OK) {
        (void)printf("The daemon does not run. What this host offers:\n\n");
        code = host_print(h, stdout, text_width(), text_colour());
    }
    (void)host_free(h);
    (void)fflush(stdout);
    client_say_down(c);
    return ctl_worse(code, CTL_NO_DAEMON);
}

int verb_status(const struct ctl *c)
{
    _cleanup_free_ char *text = NULL;
    double next_s;

    int code = c->from ? read_file(c->from, &text) : client_status(&text);
    if (code == CTL_NO_DAEMON)
        return show_host(c);
    return code == CTL_OK ? show(c, text, &next_s) : code;
}

int verb_watch(const struct ctl *c)
{
    for (;;) {
        _cleanup_free_ char *text = NULL;
        double next_s = NAN;

        int code = client_status(&text);
        if (code == CTL_NO_DAEMON)
            return show_host(c);
        if (code != CTL_OK)
            return code;
        if (!c->json)
            (void)fputs(isatty(STDOUT_FILENO) ? "\033[H\033[2J" : "\n", stdout);
        code = show(c, text, &next_s);
        if (code != CTL_OK || fflush(stdout) != 0)
            return ctl_worse(code, CTL_ERROR);
        /* A little after the window's end, so that the daemon has decided; never a busy loop. */
        next_s = (isfinite(next_s) ? next_s : 1.0) + 0.05;
        next_s = next_s < 0.2 ? 0.2 : next_s > 600 ? 600 : next_s;
        struct timespec t = { .tv_sec = (time_t)next_s,
                              .tv_nsec = (long)((next_s - floor(next_s)) * 1e9) };
        (void)nanosleep(&t, NULL);
    }
}

int verb_dump(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;
    const char *text = NULL;

    int code = client_call(&reply, "Dump", NULL);
    if (code == CTL_NO_DAEMON)
        client_say_down(c);
    if (code != CTL_OK)
        return code;
    if (sd_bus_message_read(reply, "s", &text) < 0) {
        (void)fprintf(stderr, "tunectl: cannot read the daemon's answer\n");
        return CTL_ERROR;
    }
    (void)printf("%s%s", text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
    return CTL_OK;
}
