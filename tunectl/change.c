/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs that ask the running daemon to change what it does. They change nothing themselves. */
#include <stdio.h>

#include "client.h"
#include "doc.h"
#include "tunectl.h"
#include "util.h"

static uint64_t seconds(const struct ctl *c)
{
    return c->for_ns / NSEC_PER_SEC;
}

static int finish(const struct ctl *c, int code)
{
    if (code == CTL_NO_DAEMON)
        client_say_down(c);
    return code;
}

/* "mode tune for 10min", "mode tune until reboot". */
static void say_mode(const struct ctl *c, const char *what)
{
    char t[32];

    if (c->for_ns)
        (void)printf("%s for %s\n", what,
                     format_duration_ns(t, sizeof t, seconds(c) * NSEC_PER_SEC));
    else
        (void)printf("%s until reboot\n", what);
}

int verb_tune(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;
    _cleanup_free_ char *text = NULL;
    _cleanup_doc_ struct json_object *doc = NULL;

    int code = client_call(&reply, "Tune", "t", seconds(c));
    if (code != CTL_OK)
        return finish(c, code);
    say_mode(c, "tuning is allowed");
    if (client_status(&text) != CTL_OK)
        return CTL_OK;
    doc = doc_parse(text);
    struct json_object *host = doc_object(doc, "host");
    if (!host || doc_bool(host, "tunable"))
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: but no knob can be written on this host: %.300s\n",
                  doc_text(host, "why_not", "no reason told"));
    return CTL_NO_KNOB;
}

int verb_observe(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;

    int code = client_call(&reply, "Observe", "t", seconds(c));
    if (code == CTL_OK)
        say_mode(c, "originals are put back, observing only");
    return finish(c, code);
}

int verb_pause(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;

    int code = client_call(&reply, "Pause", "tb", seconds(c), (int)c->baseline);
    if (code == CTL_OK)
        say_mode(c, c->baseline ? "paused at the original values"
                                : "paused, values in force are held");
    return finish(c, code);
}

int verb_resume(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;

    int code = client_call(&reply, "Resume", NULL);
    if (code == CTL_OK)
        (void)printf("resumed\n");
    return finish(c, code);
}

int verb_reload(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;

    int code = client_call(&reply, "Reload", NULL);
    if (code == CTL_OK)
        (void)printf("configuration read anew\n");
    return finish(c, code);
}

int verb_release(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;

    int code = client_call(&reply, "Release", "s", c->words[0]);
    if (code == CTL_OK)
        (void)printf("%s may be tuned again; its value now is its new original\n", c->words[0]);
    return finish(c, code);
}
