/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start, stop and reload: what is opened in which order, and what is put back at the end. */
#include "control.h"

#include "bus.h"
#include "hostid.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

static const char *in_dir(const char *dir, const char *name, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s/%s", dir, name);
    return buf;
}

/* One tunerd a runtime directory. */
static int take_lock(struct control *c)
{
    _cleanup_close_ int fd = -1;
    char path[4200];

    if (mkdir(c->paths.runtime_dir, 0755) < 0 && errno != EEXIST)
        return log_errno(LOG_ERR, -errno, "cannot make %s: %m", c->paths.runtime_dir);
    (void)in_dir(c->paths.runtime_dir, "lock", path, sizeof path);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return log_errno(LOG_ERR, -errno, "cannot open %s: %m", path);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return log_errno(LOG_ERR, -errno, "cannot lock %s: %m", path);
        log_msg(LOG_ERR, "another tunerd runs (it holds %s); stop it first", path);
        return -EBUSY;
    }
    c->lock_fd = TAKE_FD(fd); /* from here on the originals are ours to put back */
    return 0;
}

/* A process that stops for a restart says so here; without it, values found in force are somebody's crash. */
static bool take_handover(struct control *c)
{
    char path[4200];

    return unlink(in_dir(c->paths.runtime_dir, "handover", path, sizeof path)) == 0;
}

static void give_handover(struct control *c)
{
    char path[4200];
    int fd = open(in_dir(c->paths.runtime_dir, "handover", path, sizeof path), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        (void)log_errno(LOG_WARNING, -errno, "cannot write %s, the next process will put the originals back: %m", path);
    else
        (void)close(fd);
}

static void settle_leftovers(struct control *c)
{
    bool handed = take_handover(c);
    size_t left = 0;

    for (size_t i = 0; i < c->knobs.n; i++)
        left += c->knobs.k[i].adopted;
    if (left == 0)
        return;
    if (handed || c->config->on_start == ON_START_ADOPT) {
        log_msg(LOG_NOTICE, "%zu knob%s with values of the previous process: adopted, they will be checked first", left,
                left == 1 ? "" : "s");
        return;
    }
    log_msg(LOG_NOTICE, "a previous process ended without restoring: putting %zu original%s back", left, left == 1 ? "" : "s");
    c->unrestored = (uint32_t)knobs_restore(&c->knobs, "left by a previous process");
}

static void set_limits(struct control *c)
{
    for (size_t i = 0; i < c->knobs.n; i++) {
        struct knob *k = &c->knobs.k[i];
        for (size_t j = 0; j < ELEMENTSOF(c->config->limit); j++) {
            if (c->config->limit[j].def != k->def)
                continue;
            k->limit_min = c->config->limit[j].min;
            k->limit_max = c->config->limit[j].max;
        }
    }
}

static void open_store(struct control *c)
{
    char path[4200];

    int r = store_open(in_dir(c->paths.state_dir, "state.db", path, sizeof path), false, &c->store, c->store_note,
                       sizeof c->store_note);
    if (r < 0) {
        (void)snprintf(c->store_note, sizeof c->store_note, "%.150s: %s; what is learned will not survive a restart", path,
                       strerror(-r));
        log_msg(LOG_WARNING, "%s", c->store_note);
    } else if (*c->store_note) {
        log_msg(LOG_WARNING, "%s", c->store_note);
    }
}

static int open_host(struct control *c)
{
    char path[4200];

    int r = sysio_init(&c->io, c->paths.root);
    if (r < 0)
        return log_errno(LOG_ERR, r, "cannot open %s: %m", c->paths.root);
    r = take_lock(c);
    if (r < 0)
        return r;
    (void)hostid_boot(&c->io, c->boot_id, sizeof c->boot_id);
    (void)hostid_kernel(&c->io, c->kernel, sizeof c->kernel);
    (void)hostid_fingerprint(&c->io, c->fingerprint, sizeof c->fingerprint);
    r = undo_load(&c->undo, in_dir(c->paths.runtime_dir, "undo", path, sizeof path), c->boot_id);
    if (r == -EBADMSG)
        log_msg(LOG_ERR, "the journal %s was damaged; the lines that are whole are used", path);
    else if (r < 0)
        return log_errno(LOG_ERR, r, "cannot read the journal %s, so nothing may be written: %m", path);
    knobs_init(&c->knobs, &c->io, &c->undo, false);
    return sensors_init(&c->sensors, &c->io);
}

/* Somebody else wrote a knob just now: no need to wait for the end of the window. */
static void on_foreign_write(struct knob *k, void *userdata)
{
    (void)k;
    control_verify(userdata);
}

int control_init(struct control *c, const struct control_paths *paths, sd_event *event, struct config_error *err)
{
    *c = (struct control){ .paths = *paths, .event = sd_event_ref(event), .lock_fd = -1, .io.root_fd = -1,
                           .level_bucket = INT32_MIN };
    int r = config_load(paths->vendor_dir, paths->local_dir, paths->config_file, &c->config, err);
    if (r < 0)
        return -EINVAL;
    r = open_host(c);
    if (r < 0)
        return r;
    set_limits(c);
    settle_leftovers(c);
    r = watch_new(&c->watch, event, &c->io, &c->knobs, on_foreign_write, c);
    if (r < 0)
        return log_errno(LOG_ERR, r, "cannot watch the knobs: %m");
    r = control_arm_emergency(c);
    if (r < 0)
        return log_errno(LOG_ERR, r, "cannot set pressure triggers: %m");
    r = control_load_mode(c);
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "cannot read the mode that tunectl set: %m");
    open_store(c);
    c->seed = c->config->seed;
    if (c->seed == 0 && getrandom(&c->seed, sizeof c->seed, 0) < 0)
        c->seed = now_real_ns();
    log_msg(LOG_INFO, "mode %s, window %.3g s, policy %s, seed %lu", mode_name(control_mode(c)),
            (double)c->config->window_ns / 1e9, c->config->policy, c->seed);
    return bus_new(&c->bus, c, event);
}

int control_reload(struct control *c, struct config_error *err)
{
    struct config *fresh = NULL;
    enum control_mode before = control_mode(c);

    if (config_load(c->paths.vendor_dir, c->paths.local_dir, c->paths.config_file, &fresh, err) < 0) {
        log_msg(LOG_ERR, "reload: %s; the old configuration stays", err->text);
        return -EINVAL;
    }
    /* The profile and the objective borrow from the old configuration: let go of it first. */
    struct config *old = c->config;
    control_activate(c, NULL, "configuration read anew");
    c->config = fresh;
    (void)config_free(old);
    set_limits(c);
    if (control_mode(c) != before && control_is_at_baseline(c))
        c->unrestored = (uint32_t)knobs_restore(&c->knobs, "configuration");
    int r = control_arm_emergency(c);
    if (r < 0)
        (void)log_errno(LOG_ERR, r, "cannot set pressure triggers: %m");
    control_match(c);
    uint64_t now = now_mono_ns();
    if (c->window_timer) {
        c->window_due_ns = now + c->config->window_ns;
        (void)sd_event_source_set_time(c->window_timer, c->window_due_ns / NSEC_PER_USEC);
    }
    log_msg(LOG_NOTICE, "configuration read anew");
    return 0;
}

void control_done(struct control *c, bool restart)
{
    c->window_timer = sd_event_source_disable_unref(c->window_timer);
    c->match_timer = sd_event_source_disable_unref(c->match_timer);
    control_mode_done(c);
    if (c->config && c->lock_fd >= 0) {
        control_save_classes(c);
        if (restart) {
            give_handover(c);
            log_msg(LOG_NOTICE, "restart: the values in force stay for the next process");
        } else if (c->config->on_stop == ON_STOP_KEEP) {
            log_msg(LOG_NOTICE, "on_stop = keep: the values in force stay; `tunectl restore` puts the originals back");
        } else if (knobs_restore(&c->knobs, "stop") > 0) {
            log_msg(LOG_ERR, "not every original could be put back: see `tunectl verify`");
        }
    }
    c->bus = bus_free(c->bus);
    c->watch = watch_free(c->watch);
    c->emergency = emergency_free(c->emergency);
    if (c->has_objective)
        objective_close(&c->objective);
    free(TAKE_PTR(c->tuner));
    (void)store_flush(c->store);
    c->store = store_close(c->store);
    sensors_done(&c->sensors);
    sysio_done(&c->io);
    c->config = config_free(c->config);
    if (c->lock_fd >= 0)
        (void)close(TAKE_FD(c->lock_fd));
    c->event = sd_event_unref(c->event);
}
