/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop: reads the sensors, asks the objective, steps the tuner, applies and records. One struct holds all
 * state of the daemon; everything here runs on one sd-event loop. */
#pragma once

#include "config.h"
#include "emergency.h"
#include "knob.h"
#include "metric.h"
#include "objective.h"
#include "sensor.h"
#include "store.h"
#include "tuner.h"
#include "undo.h"
#include "watch.h"

#include <systemd/sd-event.h>

enum { CONTROL_DECISIONS_MAX = 32 };

struct control_paths {
    const char *root;        /* "/" or a tree of /proc and /sys files */
    const char *config_file; /* NULL: vendor and local directories */
    const char *vendor_dir, *local_dir;
    const char *runtime_dir; /* "/run/tunerd" */
    const char *state_dir;   /* "/var/lib/tunerd" */
};

/* Something that happened, for status, log and store. */
struct control_record {
    struct store_decision d;
    char text[320];
};

/* A mode that was asked for at run time, over the configured one. */
struct control_override {
    bool active;
    enum control_mode mode;
    uint64_t until_ns;       /* CLOCK_MONOTONIC; 0: until reboot */
};

/* Exponential mean of a metric, for status. */
struct control_level {
    double mean;
    uint32_t n;
};

struct control {
    sd_event *event;                 /* owned reference */
    struct control_paths paths;      /* borrowed strings, alive as long as the process */
    struct sysio io;
    struct undo undo;
    struct knobs knobs;
    struct watch *watch;             /* owned; who wrote a knob, where the kernel tells it */
    struct emergency *emergency;     /* owned */
    struct sensors sensors;
    struct config *config;           /* owned */
    struct store *store;             /* owned; NULL: unavailable, why in store_note */
    char store_note[256];
    struct bus *bus;                 /* owned */
    int lock_fd;                     /* owned; flock on RUNTIME/lock */
    char boot_id[64];
    char fingerprint[256];
    char kernel[80];
    uint64_t seed;

    const struct profile *profile;   /* borrowed from config; NULL: nothing matches */
    char profile_why[128];
    int32_t match_pid;               /* process that made the profile match; 0: none */
    struct objective objective;
    bool has_objective;

    struct tuner *tuner;             /* owned; of the active profile */
    uint32_t forgotten;              /* stored classes that do not fit the tuner */
    uint8_t n_tuned;
    struct knob *tuned[TUNER_KNOBS_MAX];     /* tuner index -> knob */
    bool taken[TUNER_KNOBS_MAX];
    uint8_t n_guards;
    const struct profile_guard *guard[TUNER_GUARDS_MAX]; /* tuner index -> guard */

    struct control_override set_mode; /* tune or observe, by tunectl */
    struct control_override pause;    /* pause or pause-baseline, by tunectl */
    sd_event_source *override_timer;  /* owned */

    sd_event_source *window_timer;    /* owned */
    sd_event_source *match_timer;     /* owned */
    uint64_t window_due_ns;
    struct window window;             /* the last one */
    bool ticking;                     /* objective asked, answer awaited */
    const char *window_why;           /* static: why it is missing; NULL: it is not */
    uint64_t windows, missing;
    uint64_t last_retain_ns;
    uint32_t unrestored;              /* knobs that could not be put back in a mode that writes nothing; tried again every window */
    uint32_t stuck;                   /* knobs with a value of ours that cannot be written any more; likewise */

    struct control_level level_incumbent, level_baseline; /* of the objective, in this class */
    struct control_level guard_level[TUNER_GUARDS_MAX];
    struct control_level pressure_level[EMERGENCY_COUNT];
    int32_t level_bucket;

    size_t n_records, next_record;    /* ring */
    struct control_record record[CONTROL_DECISIONS_MAX];
};

/* Sets everything up; *err tells what is wrong with the configuration. 0, -EINVAL (configuration), -EBUSY
 * (another tunerd runs), or -errno. */
int control_init(struct control *c, const struct control_paths *paths, sd_event *event, struct config_error *err);
/* Puts back what must be put back (or leaves it for the process that takes over) and frees everything. */
void control_done(struct control *c, bool restart);
/* Arms the first window. */
int control_start(struct control *c);

/* What the bus offers. 0 or -errno. */
enum control_mode control_mode(const struct control *c);
int control_set_mode(struct control *c, enum control_mode mode, uint64_t for_ns);
int control_resume(struct control *c);
int control_release(struct control *c, const char *knob);
int control_restore(struct control *c); /* >= 0: knobs that could not be restored */
int control_reload(struct control *c, struct config_error *err);

/* Arms the pressure triggers of the configuration in force, anew after a reload. 0 or -errno. */
int control_arm_emergency(struct control *c);

/* ---- between the files of the control ---------------------------------------------------- */

/* control_apply.c: makes the knobs what the decision says; nothing in a mode that does not write. */
void control_apply(struct control *c, const struct tuner_decision *d);
/* Finds knobs that changed hands or that the kernel rescaled. */
void control_verify(struct control *c);

/* control_profile.c: chooses the profile and builds objective and tuner for it. */
void control_match(struct control *c);
void control_activate(struct control *c, const struct profile *p, const char *why);
void control_save_classes(struct control *c);

/* control_mode.c */
enum tuner_mode control_tuner_mode(const struct control *c);
/* A mode that writes nothing but originals: observe, pause at the baseline. */
bool control_is_at_baseline(const struct control *c);
void control_mode_origin(const struct control *c, char *buf, size_t size);
int control_load_mode(struct control *c);
void control_mode_done(struct control *c);

/* control_record.c: into the ring, the log, the store. */
void control_record_decision(struct control *c, const struct tuner_decision *d);
void control_record_event(struct control *c, const char *what, const struct knob *k, double old_value, double new_value,
                          const char *reason, const char *text);
void control_class_name(const struct control *c, char *buf, size_t size);
const char *control_value_text(const struct knob *k, double v, char *buf, size_t size);
