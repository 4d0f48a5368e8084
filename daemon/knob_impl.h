/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the knobs share among themselves; nobody else includes this. */
#pragma once

#include "knob.h"

enum { KNOB_TEXT_MAX = UNDO_TEXT_MAX };

/* knob_scale.c: the kernel's arithmetic of slices, see update_sysctl() and sched_update_scaling(). */
struct knob_scale knob_scale_read(const struct sysio *io, const char *commit_path);
/* What the kernel makes of `value`, found under `from`, now that `to` holds. */
uint64_t knob_scale_value(uint64_t value, struct knob_scale from, struct knob_scale to);
/* Could the kernel have made `current` of `value`, written under `at`, by itself? */
bool knob_scale_explains(uint64_t value, struct knob_scale at, struct knob_scale now, uint64_t current);
void knob_scale_format(char *buf, size_t size, struct knob_scale s);
struct knob_scale knob_scale_parse(const char *s);
/* Equal, or apart by what an integer division by at most 8 loses. */
bool knob_same(const struct knob *k, uint64_t a, uint64_t b);

/* knob_value.c: values and the texts that are written and kept in the journal. */
int knob_parse(const struct knob_def *d, const char *text, uint64_t *ret);
void knob_format(const struct knob *k, uint64_t value, char *buf, size_t size);
/* The text of a whole file, or of one token of it. -ENOENT: no such token. */
int knob_read_item(const struct sysio *io, const char *path, const char *token, char *buf, size_t size);
int knob_read(const struct knobs *ks, const struct knob *k, uint64_t *ret);

/* knob_domain.c. Where copies differ: -EXDEV, or, once the original is known, the value that is least expected. -ENODEV:
 * no such domain. */
int knob_domain_read(const struct sysio *io, const struct knob *k, uint64_t *ret);
int knob_domain_write(const struct sysio *io, const struct knob *k, const char *text);
bool knob_domain_is_uniform(const struct sysio *io, const struct knob *k);
/* Puts the original where a value of ours is, and nowhere else. */
int knob_domain_return(const struct sysio *io, const struct knob *k);
int knob_domain_try_write(const struct sysio *io, const struct knob *k);
uint64_t knob_domain_stamp(const struct sysio *io, const struct knob *k);

/* knobs.c */
int knob_try_write(const struct knobs *ks, const struct knob *k);
/* State and reason for an error of a read (`writing` false) or a write. */
void knob_failed(struct knob *k, int error, bool writing);
/* Whose value is `current`? */
enum knob_owner { KNOB_MINE, KNOB_RESCALED, KNOB_ALIEN };
enum knob_owner knob_owner(const struct knobs *ks, const struct knob *k, uint64_t current);
void knob_lost(struct knobs *ks, struct knob *k, uint64_t current);
/* Is the value just read in all copies? Of all but domains there is one. */
bool knob_is_whole(const struct knobs *ks, const struct knob *k);
/* k->original for the CPUs of now. */
void knob_refresh_original(const struct knobs *ks, struct knob *k);
/* The write itself, with its journal; k->current was just read and is ours or the original. `id` as in log.h. 1 or
 * -errno. */
int knob_put(struct knobs *ks, struct knob *k, uint64_t value, const char *id, const char *why);
void knob_log_dry_run(const struct knob *k, uint64_t value, const char *why);
/* One line to a file that an item of the journal names, nothing around it. */
int knob_write_text(const struct sysio *io, const char *path, const char *text);

/* knob_probe.c: one row anew. */
void knob_probe(struct knobs *ks, struct knob *k);
