/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the knobs share among themselves; nobody else includes this. */
#pragma once

#include "knob.h"

enum { KNOB_TEXT_MAX = 32 };

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

/* The kernel's text of a value; sysctls before 5.13 show 2^32-1 as -1 and take only that. */
int knob_parse(const char *text, uint64_t *ret);
void knob_format(const struct knob *k, uint64_t value, char *buf, size_t size);

/* knobs.c */
int knob_read(const struct knobs *ks, const struct knob *k, uint64_t *ret);
/* State and reason for an error of a read (`writing` false) or a write. */
void knob_failed(struct knob *k, int error, bool writing);
/* Whose value is `current`? */
enum knob_owner { KNOB_MINE, KNOB_RESCALED, KNOB_ALIEN };
enum knob_owner knob_owner(const struct knobs *ks, const struct knob *k, uint64_t current);
void knob_lost(struct knobs *ks, struct knob *k, uint64_t current);
/* k->original for the CPUs of now. */
void knob_refresh_original(const struct knobs *ks, struct knob *k);
/* The write itself, with its journal; k->current was just read and is ours or the original. `id` as in log.h. 1 or
 * -errno. */
int knob_put(struct knobs *ks, struct knob *k, uint64_t value, const char *id, const char *why);
/* One line to a file that an item of the journal names, nothing around it. */
int knob_write_text(const struct sysio *io, const char *path, const char *text);

/* knob_probe.c: one row anew. */
void knob_probe(struct knobs *ks, struct knob *k);
