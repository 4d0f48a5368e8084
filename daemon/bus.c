/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sd-bus end of the daemon: one vtable, one check of who may change what. Works without a bus, and keeps trying. */
#include "bus.h"

#include "control.h"
#include "log.h"
#include "polkit.h"
#include "status.h"
#include "status_doing.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define RETRY_USEC   5000000
#define ACTION       "org.tunerd.Tuner1.change"
#define CONFIG_ERROR BUS_INTERFACE ".Error.Configuration"

struct bus {
    struct control *control;  /* borrowed */
    sd_event *event;          /* owned reference */
    sd_bus *sd;               /* owned; NULL: no bus at the moment */
    sd_event_source *retry;   /* owned */
    bool told;                /* "no bus" was logged */
    char mode[32], class_[96], doing[400];
    uint64_t moves;
};

static int connect_bus(struct bus *b);

/* ---- reading ------------------------------------------------------------------------------ */

static int reply_json(sd_bus_message *m, char *json)
{
    _cleanup_free_ char *text = json;

    return text ? sd_bus_reply_method_return(m, "s", text) : -ENOMEM;
}

static int method_status(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct bus *b = userdata;

    (void)e;
    return reply_json(m, status_json(b->control));
}

static int method_dump(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct bus *b = userdata;
    _cleanup_free_ char *status = status_json(b->control), *text = NULL, *both = NULL;
    size_t n = 0;
    FILE *f = status ? open_memstream(&text, &n) : NULL;

    (void)e;
    if (!f)
        return -ENOMEM;
    int r = config_dump(b->control->config, f);
    if (fclose(f) != 0 || r < 0)
        return r < 0 ? r : -ENOMEM;
    if (asprintf(&both, "%s\n%s", status, text) < 0) {
        both = NULL; /* asprintf leaves it undefined */
        return -ENOMEM;
    }
    return sd_bus_reply_method_return(m, "s", both);
}

static int get_property(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                        void *userdata, sd_bus_error *e)
{
    struct bus *b = userdata;
    const struct control *c = b->control;
    char text[400];

    (void)sd;
    (void)path;
    (void)interface;
    (void)e;
    switch (property[0]) { /* the names differ in their first letter */
    case 'V':
        return sd_bus_message_append(reply, "s", TUNERD_VERSION);
    case 'M':
        if (property[2] == 'd') /* Mode, Moves */
            return sd_bus_message_append(reply, "s", mode_name(control_mode(c)));
        return sd_bus_message_append(reply, "t", c->tuner ? tuner_moves(c->tuner) : 0);
    case 'C':
        control_class_name(c, text, sizeof text);
        return sd_bus_message_append(reply, "s", text);
    case 'D':
        status_doing(c, text, sizeof text);
        return sd_bus_message_append(reply, "s", text);
    case 'O':
        return sd_bus_message_append(reply, "d", window_get(&c->window, METRIC_OBJECTIVE));
    default:
        return sd_bus_message_append(reply, "d", window_get(&c->window, METRIC_LOAD));
    }
}

/* ---- changing: each takes a message that is already allowed --------------------------------- */

static int set_mode(struct bus *b, sd_bus_message *m, enum control_mode mode, const char *signature)
{
    uint64_t seconds = 0;
    int baseline = 0;
    int r = strcmp(signature, "tb") == 0 ? sd_bus_message_read(m, "tb", &seconds, &baseline)
                                         : sd_bus_message_read(m, "t", &seconds);

    if (r < 0)
        return r;
    if (seconds > 10 * 365 * UINT64_C(86400))
        return sd_bus_reply_method_errorf(m, SD_BUS_ERROR_INVALID_ARGS, "a time of more than ten years");
    r = control_set_mode(b->control, mode == MODE_PAUSE && baseline ? MODE_PAUSE_BASELINE : mode, seconds * NSEC_PER_SEC);
    return r < 0 ? r : sd_bus_reply_method_return(m, "");
}

static int do_tune(struct bus *b, sd_bus_message *m)
{
    return set_mode(b, m, MODE_TUNE, "t");
}
static int do_observe(struct bus *b, sd_bus_message *m)
{
    return set_mode(b, m, MODE_OBSERVE, "t");
}
static int do_pause(struct bus *b, sd_bus_message *m)
{
    return set_mode(b, m, MODE_PAUSE, "tb");
}
static int do_resume(struct bus *b, sd_bus_message *m)
{
    if (control_resume(b->control) == -EALREADY)
        return sd_bus_reply_method_errorf(m, BUS_INTERFACE ".Error.NotPaused", "it is not paused");
    return sd_bus_reply_method_return(m, "");
}
static int do_restore(struct bus *b, sd_bus_message *m)
{
    int r = control_restore(b->control);

    return r < 0 ? r : sd_bus_reply_method_return(m, "u", (uint32_t)r);
}
static int do_release(struct bus *b, sd_bus_message *m)
{
    const char *name;
    int r = sd_bus_message_read(m, "s", &name);

    if (r < 0)
        return r;
    r = control_release(b->control, name);
    if (r == -ENOENT)
        return sd_bus_reply_method_errorf(m, BUS_INTERFACE ".Error.NoSuchKnob", "there is no knob %.64s", name);
    if (r == -EINVAL)
        return sd_bus_reply_method_errorf(m, BUS_INTERFACE ".Error.NotForeign", "%.64s is not in foreign hands", name);
    if (r < 0)
        return sd_bus_reply_method_errnof(m, -r, "%.64s cannot be released: %m", name);
    return sd_bus_reply_method_return(m, "");
}
static int do_reload(struct bus *b, sd_bus_message *m)
{
    struct config_error err = { "" };
    int r = control_reload(b->control, &err);

    if (r < 0)
        return sd_bus_reply_method_errorf(m, CONFIG_ERROR, "%s", err.text);
    return sd_bus_reply_method_return(m, "");
}

static const struct {
    const char *name;
    int (*f)(struct bus *b, sd_bus_message *m);
} changes[] = {
    { "Tune", do_tune },       { "Observe", do_observe }, { "Pause", do_pause },   { "Resume", do_resume },
    { "Restore", do_restore }, { "Release", do_release }, { "Reload", do_reload },
};

static int change(struct bus *b, sd_bus_message *m)
{
    int r = -EOPNOTSUPP;

    for (size_t i = 0; i < ELEMENTSOF(changes); i++)
        if (strcmp(changes[i].name, sd_bus_message_get_member(m)) == 0)
            r = changes[i].f(b, m);
    bus_changed(b);
    return r;
}

/* ---- who may ------------------------------------------------------------------------------- */

static int on_allowed(sd_bus_message *m, void *userdata)
{
    return change(userdata, m);
}

static int method_change(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct bus *b = userdata;
    sd_bus_creds *creds = NULL;
    uid_t uid = (uid_t)-1;

    (void)e;
    if (sd_bus_query_sender_creds(m, SD_BUS_CREDS_EUID, &creds) >= 0)
        (void)sd_bus_creds_get_euid(creds, &uid);
    (void)sd_bus_creds_unref(creds);
    /* On a private bus of an unprivileged user, that user is to the daemon what root is on the system's. */
    if (uid == 0 || (uid == geteuid() && uid != (uid_t)-1))
        return change(b, m);
    return polkit_ask(b->sd, m, ACTION, on_allowed, b);
}

#define CHANGE(name, in, out) SD_BUS_METHOD(name, in, out, method_change, SD_BUS_VTABLE_UNPRIVILEGED)
#define PROPERTY(name, type)  SD_BUS_PROPERTY(name, type, get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("GetStatus", "", "s", method_status, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Dump", "", "s", method_dump, SD_BUS_VTABLE_UNPRIVILEGED),
    CHANGE("Tune", "t", ""),
    CHANGE("Observe", "t", ""),
    CHANGE("Pause", "tb", ""),
    CHANGE("Resume", "", ""),
    CHANGE("Restore", "", "u"),
    CHANGE("Release", "s", ""),
    CHANGE("Reload", "", ""),
    SD_BUS_PROPERTY("Version", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    PROPERTY("Mode", "s"),
    PROPERTY("Class", "s"),
    PROPERTY("Doing", "s"),
    PROPERTY("Objective", "d"),
    PROPERTY("Load", "d"),
    PROPERTY("Moves", "t"),
    SD_BUS_VTABLE_END,
};

/* ---- connection ---------------------------------------------------------------------------- */

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    return connect_bus(userdata);
}

static int retry_later(struct bus *b, int why)
{
    if (!b->told)
        log_msg(LOG_NOTICE, "no message bus (%s): tunectl cannot reach this process until there is one", strerror(-why));
    b->told = true;
    b->sd = sd_bus_close_unref(b->sd);
    b->retry = sd_event_source_disable_unref(b->retry);
    return sd_event_add_time_relative(b->event, &b->retry, CLOCK_MONOTONIC, RETRY_USEC, 0, on_retry, b);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct bus *b = userdata;

    (void)m;
    (void)e;
    b->told = false;
    (void)retry_later(b, -ECONNRESET);
    return 0;
}

static int on_name(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct bus *b = userdata;
    const sd_bus_error *error = sd_bus_message_get_error(m);
    uint32_t answer = 0;

    (void)e;
    if (error || sd_bus_message_read(m, "u", &answer) < 0 || (answer != 1 && answer != 4)) {
        log_msg(LOG_ERR, "the bus does not give us the name %s: %s", BUS_NAME, error ? error->message : "somebody else has it");
        b->told = true;
        (void)retry_later(b, -EBUSY);
        return 0;
    }
    if (b->told)
        log_msg(LOG_NOTICE, "on the message bus as %s", BUS_NAME);
    b->told = false;
    return 0;
}

static int connect_bus(struct bus *b)
{
    int r = sd_bus_open_system(&b->sd);

    if (r >= 0)
        r = sd_bus_attach_event(b->sd, b->event, SD_EVENT_PRIORITY_NORMAL + 10); /* the tick comes first */
    if (r >= 0)
        r = sd_bus_add_object_vtable(b->sd, NULL, BUS_PATH, BUS_INTERFACE, vtable, b);
    if (r >= 0)
        r = sd_bus_match_signal_async(b->sd, NULL, "org.freedesktop.DBus.Local", NULL, "org.freedesktop.DBus.Local",
                                      "Disconnected", on_disconnected, NULL, b);
    if (r >= 0)
        r = sd_bus_request_name_async(b->sd, NULL, BUS_NAME, 0, on_name, b);
    return r < 0 ? retry_later(b, r) : 0;
}

int bus_new(struct bus **ret, struct control *c, sd_event *event)
{
    struct bus *b = calloc(1, sizeof *b);

    if (!b)
        return -ENOMEM;
    b->control = c;
    b->event = sd_event_ref(event);
    int r = connect_bus(b);
    if (r < 0) {
        (void)bus_free(b);
        return r;
    }
    *ret = b;
    return 0;
}

struct bus *bus_free(struct bus *b)
{
    if (!b)
        return NULL;
    b->retry = sd_event_source_disable_unref(b->retry);
    b->sd = sd_bus_flush_close_unref(b->sd);
    b->event = sd_event_unref(b->event);
    free(b);
    return NULL;
}

void bus_changed(struct bus *b)
{
    const char *names[5];
    size_t n = 0;
    char mode[32], class_[96], doing[400];

    if (!b || !b->sd)
        return;
    const struct control *c = b->control;
    uint64_t moves = c->tuner ? tuner_moves(c->tuner) : 0;
    (void)copy_string(mode, sizeof mode, mode_name(control_mode(c)));
    control_class_name(c, class_, sizeof class_);
    status_doing(c, doing, sizeof doing);
    if (strcmp(mode, b->mode) != 0)
        names[n++] = "Mode";
    if (strcmp(class_, b->class_) != 0)
        names[n++] = "Class";
    if (strcmp(doing, b->doing) != 0)
        names[n++] = "Doing";
    if (moves != b->moves)
        names[n++] = "Moves";
    (void)copy_string(b->mode, sizeof b->mode, mode);
    (void)copy_string(b->class_, sizeof b->class_, class_);
    (void)copy_string(b->doing, sizeof b->doing, doing);
    b->moves = moves;
    if (n == 0)
        return;
    names[n] = NULL;
    (void)sd_bus_emit_properties_changed_strv(b->sd, BUS_PATH, BUS_INTERFACE, (char **)(uintptr_t)names);
}
