/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The originals journal: what must be put back, on disk before the first write. Text, one line per item, replaced as a
 * whole by write + fsync + rename. `tunectl restore` needs this file and nothing else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNDO_ITEMS_MAX = 128, UNDO_ID_MAX = 200, UNDO_TEXT_MAX = 64, UNDO_SCALE_MAX = 16 };

/* Values are texts, exactly as written to the file, without newline. */
struct undo_item {
    char id[UNDO_ID_MAX];            /* path, or path#TOKEN */
    char original[UNDO_TEXT_MAX];    /* "" = lost: the line was damaged; such an item is foreign */
    char confirmed[UNDO_TEXT_MAX];   /* "" = none yet */
    char intended[UNDO_TEXT_MAX];    /* "" = nothing pending */
    uint64_t real_ns;                /* of the last change */
    char original_scale[UNDO_SCALE_MAX]; /* what the kernel's rescale rested on when `original` was found; "" = not scaled */
    char scale[UNDO_SCALE_MAX];      /* ... and at the last write */
    bool foreign;                    /* taken by somebody else: never restored, remembered over restarts */
};

struct undo {
    char path[4096];                 /* "/run/tunerd/undo"; not below sysio's root */
    char boot_id[64];
    size_t n;
    struct undo_item item[UNDO_ITEMS_MAX];
};

/* Reads the journal if there is one. boot_id: of this boot ("" when unknown); a journal of another boot is moved to
 * PATH.old and counts as empty. A damaged journal: lines that are whole are used, -EBADMSG tells that some were
 * not (the rest is loaded; the damaged file is copied to PATH.damaged). 0 or -errno. */
int undo_load(struct undo *u, const char *path, const char *boot_id);

struct undo_item *undo_find(struct undo *u, const char *id); /* NULL: none */

/* Before a write: the item is created with `original` if it is new, `intended` is set, and the file is on disk when this
 * returns 0. On -errno nothing may be written to the knob. */
int undo_intend(struct undo *u, const char *id, const char *original, const char *intended);
/* The same for a value that the kernel rescales. */
int undo_intend_scaled(struct undo *u, const char *id, const char *original, const char *intended, const char *original_scale,
                       const char *scale);
/* After the read-back. This and the following change memory even when the file cannot be written (-errno): the next
 * success repairs it. -ENOENT: no such item. */
int undo_confirm(struct undo *u, const char *id, const char *value);
int undo_set_foreign(struct undo *u, const char *id, bool foreign);
/* The same for an item that need not exist yet. */
int undo_add_foreign(struct undo *u, const char *id, const char *original, const char *original_scale);
/* The original is back (or the item was given up): the line goes; without it, 0. The empty journal is a file with its
 * header. */
int undo_forget(struct undo *u, const char *id);

/* Is `current` one of the values that we may have left behind? */
bool undo_is_ours(const struct undo_item *i, const char *current);
