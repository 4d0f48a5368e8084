/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tunerd.conf and profiles/NAME.conf: one option table each feeds defaults, parsing, checks, --dump-config and the
 * man page. A new configuration is built completely before anybody sees it. */
#pragma once

#include "knob.h"
#include "metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef CONFIG_VENDOR_DIR /* the build says where */
#define CONFIG_VENDOR_DIR "/usr/share/tunerd"
#endif
#ifndef CONFIG_LOCAL_DIR
#define CONFIG_LOCAL_DIR  "/etc/tunerd"
#endif

enum { CONFIG_NAME_MAX = 64, CONFIG_TEXT_MAX = 512, CONFIG_PROFILES_MAX = 32, PROFILE_KNOBS_MAX = 16, PROFILE_GUARDS_MAX = 8,
       PROFILE_MATCH_MAX = 8 };

enum control_mode { MODE_OBSERVE, MODE_TUNE, MODE_PAUSE, MODE_PAUSE_BASELINE };
enum on_stop { ON_STOP_RESTORE, ON_STOP_KEEP };
enum on_start { ON_START_RESTORE, ON_START_ADOPT };
enum measure { MEASURE_SERVICE, MEASURE_TPS, MEASURE_LATENCY };

struct knob_range {
    const struct knob_def *def; /* static */
    uint64_t min, max;          /* in the knob's unit */
    char origin[CONFIG_TEXT_MAX]; /* file:line */
};

struct profile_guard {
    enum metric metric;
    bool relative;       /* "+25%" against "+5 points" */
    bool lower_is_worse; /* "-5%" */
    double bound;        /* > 0; relative: 0.25; points: 5 */
};

struct profile {
    char name[CONFIG_NAME_MAX];     /* base name of the file */
    char path[CONFIG_TEXT_MAX];     /* file it was read from */
    char description[CONFIG_TEXT_MAX];
    uint32_t priority;              /* the highest that matches rules */
    size_t n_match;
    char match_command[PROFILE_MATCH_MAX][16]; /* comm names, exact; none: matches always (generic) */
    char objective[CONFIG_NAME_MAX]; /* "postgresql", "sched", "file" */
    enum measure measure;
    char connection[CONFIG_TEXT_MAX]; /* libpq conninfo; several clusters separated by " ; " are added up */
    char database[CONFIG_NAME_MAX];   /* "" = all */
    char file[CONFIG_TEXT_MAX];       /* objective file: path */
    char file_metric[CONFIG_NAME_MAX]; /* ... name in a Prometheus text file; "" = the file is one number */
    char file_load_metric[CONFIG_NAME_MAX]; /* ... name of the load gauge; "" = runnable threads */
    bool file_counter;                /* ... a total since some start, not a rate */
    size_t n_guards;
    struct profile_guard guard[PROFILE_GUARDS_MAX];
    size_t n_knobs;
    struct knob_range knob[PROFILE_KNOBS_MAX]; /* in file order: the order in which they are tried */
};

struct config {
    /* [control] */
    enum control_mode mode;      /* observe | tune */
    uint64_t window_ns;          /* 100 ms .. 600 s; 10 s */
    char profile[CONFIG_NAME_MAX]; /* "auto" or a name */
    char policy[CONFIG_NAME_MAX];  /* "hillclimb" | "fixed" */
    uint64_t seed;               /* 0: drawn at start and logged */
    /* [policy] names of struct tuner_params, see tunerd.conf */
    double alpha, min_gain, loss_budget, loss_payback, class_width;
    uint32_t block, settle, calibration_quads;
    /* [safety] */
    enum on_stop on_stop;
    enum on_start on_start;
    /* [emergency]: PSI levels, an absolute floor in % of time over 2 s; 0 = off */
    double emergency_psi_io_full, emergency_psi_memory_full;
    /* [limits]: bounds every knob whatever a profile says; one per row of knob_table */
    struct knob_range limit[KNOBS_MAX];
    /* [store] */
    uint64_t store_keep_ns;      /* 14 d */
    uint64_t store_max_bytes;    /* 200 MiB */
    /* profiles, vendor's overridden by name by local ones */
    size_t n_profiles;
    struct profile profiles[CONFIG_PROFILES_MAX];
    char path[CONFIG_TEXT_MAX];  /* main file in use; "" = built-in defaults */
};

struct config_error {
    char text[1024]; /* "file:line: [section] key: reason; what to do" */
};

/* Reads VENDOR/tunerd.conf overridden key by key by LOCAL/tunerd.conf (each optional; or only `file` when it is not
 * NULL, which then must exist), and both profile directories. On any error: -EINVAL (or -ENOENT...) with *err filled,
 * *ret untouched. On 0 *ret is owned by the caller (config_free). Effective ranges of profile knobs are already cut to
 * [limits]; a range that becomes empty is an error. */
int config_load(const char *vendor_dir, const char *local_dir, const char *file, struct config **ret, struct config_error *err);
struct config *config_free(struct config *c); /* returns NULL */
const struct profile *config_profile(const struct config *c, const char *name);

/* --dump-config: every option with its value, as a file that can be read again; profiles after it. */
int config_dump(const struct config *c, FILE *f);
/* One profile as a file that can be read again, ranges as cut by [limits]. */
int config_dump_profile(const struct profile *p, FILE *f);
/* The commented tunerd.conf with defaults, from the same table: `tunerd --dump-defaults`. */
int config_dump_defaults(FILE *f);

const char *mode_name(enum control_mode m);        /* "observe", "tune", "pause", "pause-baseline" */
int mode_parse(const char *s, enum control_mode *ret);
