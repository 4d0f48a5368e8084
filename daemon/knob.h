/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The knobs: one table row each, one generic probe / read / write / verify / restore. knobs.c is the only place
 * that writes a knob. */
#pragma once

#include "sysio.h"
#include "undo.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How a search goes from value to value: by ratios, or between values without an order (a toggle has two). */
enum knob_step { KNOB_LOG, KNOB_TOGGLE, KNOB_CHOICE };

/* What the file holds. */
enum knob_kind {
    KNOB_NUMBER,
    KNOB_BOOL,    /* Y or N: 1 or 0 */
    KNOB_WORD,    /* one of words[], in parentheses among others: its index */
    KNOB_FEATURE, /* `token` or NO_token in a list: 1 or 0 */
    KNOB_DOMAIN,  /* file `token` of every domain that is called one of words[], below the directory paths[] */
};

struct knob_def {
    const char *name;          /* "migration_cost_ns" */
    const char *what;          /* one line for people */
    const char *mechanism;     /* what it changes in the kernel, for `tunectl why` */
    const char *paths[3];      /* homes, newest first: debugfs, sysctl; NULL-terminated */
    const char *unit;          /* "ns", "tasks" */
    enum knob_step step;
    uint64_t hard_min, hard_max; /* never beyond, whatever anybody configures (kernel-facts: hazards) */
    uint64_t safe_min, safe_max; /* default range of [limits] */
    const char *commit_path[2];  /* file that must be rewritten with its own value after ours, or NULL */
    bool scaled;                 /* the kernel recomputes it at hotplug and domain rebuild */
    double kernel_default;       /* documented default where it is a constant, else 0 */
    enum knob_kind kind;
    const char *const *words;    /* NULL-terminated; see kind */
    const char *token;
    bool aside;                  /* every kernel has it: it alone does not make a host tunable */
};
/* Rows of one home are in the order of their restoration. */
extern const struct knob_def knob_table[];
extern const size_t knob_table_size;
const struct knob_def *knob_find(const char *name); /* NULL: unknown */

enum knob_state {
    KNOB_OK,
    KNOB_ABSENT,   /* no such file on this kernel */
    KNOB_DENIED,   /* file is there, cannot be opened for writing: reason (lockdown, permission, read-only) */
    KNOB_READONLY,
    KNOB_FOREIGN,  /* somebody else wrote it: left alone until released */
    KNOB_BROKEN,   /* a write or read failed in a way that is not permission */
};
const char *knob_state_name(enum knob_state s);

/* What an error of a write means to the controller; one row per errno in knobs.c. */
enum knob_fate { KNOB_FATE_RETRY, KNOB_FATE_REFUSED, KNOB_FATE_GONE, KNOB_FATE_DENIED, KNOB_FATE_BROKEN };
enum knob_fate knob_fate(int error);

/* What the kernel's rescale of a `scaled` knob rests on. */
struct knob_scale {
    int mode;                  /* tunable_scaling: 0 none, 1 log, 2 linear; -1: not known */
    unsigned int cpus;         /* online; 0: not known */
};

struct knob {
    const struct knob_def *def;
    const char *path;          /* static; the home found on this kernel, NULL if none */
    char id[UNDO_ID_MAX];      /* in the journal: the path, for a part of a file with #PART */
    const char *commit_path;   /* static; or NULL */
    enum knob_state state;
    int error;                 /* -errno behind the state */
    char reason[160];
    bool has_original;
    uint64_t original;         /* value at first start of this boot (from the journal, else as read); of a scaled knob:
                                * what the kernel would have made of it for the CPUs that are online now */
    uint64_t current;          /* last value read */
    bool has_ours;
    uint64_t ours;             /* what we wrote last and read back (may be rounded by the kernel) */
    uint64_t ours_asked;       /* ... and what was asked for */
    uint64_t foreign_value;    /* KNOB_FOREIGN: the value found */
    uint64_t foreign_old;      /* ... and the one that it replaced: ours or the original */
    uint64_t foreign_real_ns;  /* ... and when it was noticed */
    int32_t foreign_pid;       /* writer where the kernel told it, else 0 */
    char foreign_comm[32];     /* "" when it had exited */
    char foreign_unit[64];     /* ... its systemd unit, "" likewise */
    uint64_t writes;           /* since start */
    uint64_t limit_min, limit_max; /* range of knob_write; the safe range until the caller sets [limits]. The original is
                                * allowed whatever they say */
    bool adopted;              /* found in force at start, from an earlier process of ours: has_ours is true then too */
    bool uncommitted;          /* in force, but the kernel will drop it at hotplug: see note */
    char note[160];            /* what a person should know of the last write, "" if nothing */
    uint64_t original_found;   /* as it was read, when the scale was original_scale */
    struct knob_scale original_scale, ours_scale;
    uint64_t stamp;            /* KNOB_DOMAIN: of the files when it was found or written; another one after a rebuild */
};

#define KNOBS_MAX 64
struct knobs {
    const struct sysio *io;    /* borrowed */
    struct undo *undo;         /* borrowed */
    bool dry_run;              /* nothing is written, ever: the one place that honours it */
    size_t n;
    struct knob k[KNOBS_MAX];
};

/* Probes every row of the table: finds the home, reads it, opens it for writing without writing. Adopts originals
 * from the journal. Never fails as a whole; each knob has its state. */
void knobs_init(struct knobs *ks, const struct sysio *io, struct undo *undo, bool dry_run);
/* Why no knob can be written on this host, in one sentence for people (container, lockdown, debugfs, kernel without the
 * knobs). 0 and "" when at least one can; else -errno. */
int knobs_why_not(const struct knobs *ks, const struct sysio *io, char *buf, size_t size);
struct knob *knobs_find(struct knobs *ks, const char *name); /* NULL: unknown */

/* The whole path of a write: bounds, read and compare (a value that is not ours -> KNOB_FOREIGN, -ESTALE), journal
 * `intended`, write, commit, read back, journal `confirmed`. Writing what is already there does nothing and returns 0.
 * 1: written; 0: nothing to do; -errno. The read-back may differ by the kernel's rounding: see k->ours.
 * `why` is for the log. */
int knob_write(struct knobs *ks, struct knob *k, uint64_t value, const char *why);

/* Reads every knob with ours or an original; tells the kernel's doing (rescale after hotplug: re-applied by the
 * caller) from somebody else's. Returns a bit mask (index in ks->k) of knobs that changed hands just now; their state is
 * KNOB_FOREIGN. *ret_rescaled: knobs whose value the kernel recomputed. */
uint64_t knobs_verify(struct knobs *ks, uint64_t *ret_rescaled);

/* Puts every original back, knob by knob; those of others are left alone. Number of knobs that could not be
 * restored (0: all well). Journal lines of restored items are removed. */
int knobs_restore(struct knobs *ks, const char *why);

/* Since 6.6 the kernel shows its domains only while sched/verbose is Y: makes it so, with a line in the journal, and looks
 * for the domain knobs again. For profiles that ask for one. 1: switched, 0: nothing to do, or -errno. */
int knobs_show_domains(struct knobs *ks, const char *why);

/* `tunectl release`: a foreign knob is ours again, the value found is its new original. -ENOENT, -EINVAL (not foreign). */
int knob_release(struct knobs *ks, struct knob *k);

/* What `tunectl restore` does: everything of the journal, without a daemon. One line for each item to `report` (may be
 * NULL). Number of items that could not be restored (0: all well; those of others are left alone and not counted), or
 * -errno when the journal cannot be read. */
int knobs_restore_from_journal(const struct sysio *io, const char *undo_path, const char *boot_id, FILE *report);

/* Every path that a service unit has to leave writable, one a line, each with '-' before it (may be missing). */
void knobs_print_write_paths(FILE *f);
