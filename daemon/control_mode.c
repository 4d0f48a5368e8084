/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which mode is in force and where it comes from: the file, or tunectl until reboot or for a time. What tunectl asked
 * for is kept in RUNTIME/mode, over restart and reload. */
#include "control.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum control_mode control_mode(const struct control *c)
{
    if (c->pause.active)
        return c->pause.mode;
    if (c->set_mode.active)
        return c->set_mode.mode;
    return c->config->mode;
}

enum tuner_mode control_tuner_mode(const struct control *c)
{
    switch (control_mode(c)) {
    case MODE_TUNE:
        return TUNER_MODE_TUNE;
    case MODE_PAUSE:
        return TUNER_MODE_HOLD;
    case MODE_OBSERVE:
    case MODE_PAUSE_BASELINE:
        return TUNER_MODE_BASELINE;
    }
    return TUNER_MODE_BASELINE;
}

bool control_is_at_baseline(const struct control *c)
{
    return control_tuner_mode(c) == TUNER_MODE_BASELINE;
}

void control_mode_origin(const struct control *c, char *buf, size_t size)
{
    const struct control_override *o = c->pause.active ? &c->pause : c->set_mode.active ? &c->set_mode : NULL;
    char t[32];

    if (!o && *c->config->path)
        (void)snprintf(buf, size, "configuration %s", c->config->path);
    else if (!o)
        (void)snprintf(buf, size, "built-in default");
    else if (o->until_ns == 0)
        (void)snprintf(buf, size, "tunectl, until reboot");
    else {
        uint64_t now = now_mono_ns(), left = o->until_ns > now ? o->until_ns - now : 0;
        left -= left % NSEC_PER_SEC;
        (void)snprintf(buf, size, "tunectl, for %s more", format_duration_ns(t, sizeof t, left));
    }
}

/* One line an override: "mode|pause NAME UNTIL". The clock is that of this boot, as is the file. */
static void save_mode(const struct control *c)
{
    char path[4200], tmp[4300];
    _cleanup_fclose_ FILE *f = NULL;

    (void)snprintf(path, sizeof path, "%s/mode", c->paths.runtime_dir);
    (void)snprintf(tmp, sizeof tmp, "%s.new", path);
    f = fopen(tmp, "we");
    if (!f) {
        (void)log_errno(LOG_WARNING, -errno, "cannot keep the mode in %s: %m", path);
        return;
    }
    if (c->set_mode.active)
        (void)fprintf(f, "mode %s %lu\n", mode_name(c->set_mode.mode), c->set_mode.until_ns);
    if (c->pause.active)
        (void)fprintf(f, "pause %s %lu\n", mode_name(c->pause.mode), c->pause.until_ns);
    if (fflush(f) != 0 || fsync(fileno(f)) < 0 || rename(tmp, path) < 0)
        (void)log_errno(LOG_WARNING, -errno, "cannot keep the mode in %s: %m", path);
}

static void load_line(struct control *c, const char *word, const char *name, const char *until)
{
    struct control_override o = { .active = true };

    if (mode_parse(name, &o.mode) < 0 || parse_u64(until, &o.until_ns) < 0)
        return;
    if (o.until_ns != 0 && o.until_ns <= now_mono_ns())
        return;
    bool is_pause = o.mode == MODE_PAUSE || o.mode == MODE_PAUSE_BASELINE;
    if (strcmp(word, "mode") == 0 && !is_pause)
        c->set_mode = o;
    else if (strcmp(word, "pause") == 0 && is_pause)
        c->pause = o;
}

static int on_override_end(sd_event_source *s, uint64_t usec, void *userdata);

static void arm_override_timer(struct control *c)
{
    uint64_t next = UINT64_MAX;

    if (c->set_mode.active && c->set_mode.until_ns != 0)
        next = c->set_mode.until_ns;
    if (c->pause.active && c->pause.until_ns != 0 && c->pause.until_ns < next)
        next = c->pause.until_ns;
    c->override_timer = sd_event_source_disable_unref(c->override_timer);
    if (next == UINT64_MAX)
        return;
    int r = sd_event_add_time(c->event, &c->override_timer, CLOCK_MONOTONIC, next / 1000 + 1, 1000, on_override_end, c);
    if (r < 0)
        (void)log_errno(LOG_ERR, r, "cannot time the end of the mode: %m");
}

/* The mode in force has changed from `before`: tell everybody, and put it into effect now. */
static void changed(struct control *c, enum control_mode before)
{
    enum control_mode now = control_mode(c);
    char origin[700], text[800];

    save_mode(c);
    arm_override_timer(c);
    if (now == before)
        return;
    control_mode_origin(c, origin, sizeof origin);
    (void)snprintf(text, sizeof text, "mode %s -> %s (%s)", mode_name(before), mode_name(now), origin);
    log_event(LOG_NOTICE, &(struct log_event){ .id = LOG_ID_MODE, .old_value = mode_name(before), .new_value = mode_name(now) },
              "%s", text);
    control_record_event(c, "mode", NULL, NAN, NAN, mode_name(now), text);
    if (control_is_at_baseline(c))
        c->unrestored = (uint32_t)knobs_restore(&c->knobs, mode_name(now));
    /* Baselines are the values found when tuning begins: build the tuner anew unless it only paused. */
    if (now == MODE_TUNE && before != MODE_PAUSE)
        control_activate(c, c->profile, c->profile_why);
    else if (c->tuner)
        control_apply(c, tuner_set_mode(c->tuner, control_tuner_mode(c)));
}

static int on_override_end(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct control *c = userdata;
    enum control_mode before = control_mode(c);
    uint64_t now = now_mono_ns();

    (void)s;
    (void)usec;
    if (c->set_mode.active && c->set_mode.until_ns != 0 && c->set_mode.until_ns <= now)
        c->set_mode.active = false;
    if (c->pause.active && c->pause.until_ns != 0 && c->pause.until_ns <= now)
        c->pause.active = false;
    changed(c, before);
    return 0;
}

int control_load_mode(struct control *c)
{
    char path[4200], line[128], word[16], name[32], until[32];
    _cleanup_fclose_ FILE *f = NULL;

    (void)snprintf(path, sizeof path, "%s/mode", c->paths.runtime_dir);
    f = fopen(path, "re");
    if (!f)
        return errno == ENOENT ? 0 : -errno;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%15s %31s %31s", word, name, until) == 3)
            load_line(c, word, name, until);
    arm_override_timer(c);
    return 0;
}

int control_set_mode(struct control *c, enum control_mode mode, uint64_t for_ns)
{
    enum control_mode before = control_mode(c);
    struct control_override o = { .active = true, .mode = mode, .until_ns = for_ns ? now_mono_ns() + for_ns : 0 };

    if (mode == MODE_PAUSE || mode == MODE_PAUSE_BASELINE) {
        c->pause = o;
    } else {
        c->set_mode = o;
        c->pause.active = false;
    }
    changed(c, before);
    return 0;
}

int control_resume(struct control *c)
{
    enum control_mode before = control_mode(c);

    if (!c->pause.active)
        return -EALREADY;
    c->pause.active = false;
    changed(c, before);
    return 0;
}

void control_mode_done(struct control *c)
{
    c->override_timer = sd_event_source_disable_unref(c->override_timer);
}
