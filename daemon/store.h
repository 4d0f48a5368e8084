/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was seen and learned, in SQLite: windows, trials and decisions, per-class optimum, noise. A damaged or
 * future database is moved aside, never fatal; a store that cannot be had is only a warning. */
#pragma once

#include "metric.h"
#include "policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct store; /* opaque */

/* path: "/var/lib/tunerd/state.db". read_only for tunectl. note (may be NULL) receives what people should know
 * ("moved aside to ...") or "". 0 or -errno. *ret owned by the caller. */
int store_open(const char *path, bool read_only, struct store **ret, char *note, size_t note_size);
struct store *store_close(struct store *s); /* returns NULL; NULL is fine */

/* All writing calls: 0 or -errno; NULL store: 0. Windows are collected and committed together at least once a minute
 * (and by store_flush), so that a tick does not wait for fsync. */
struct store_window {
    const struct window *window;
    const char *profile;                 /* class, first half */
    int32_t bucket;
    size_t n_knobs;
    const char *const *knob_names;
    const double *values;                /* in force during the window; NaN: not ours */
    const char *event, *reason;          /* words of the decision taken at its end */
    const char *arm;                     /* "incumbent", "candidate", "settling", "-" */
};
int store_add_window(struct store *s, const struct store_window *w);

struct store_decision {
    uint64_t real_ns, window;
    char profile[64];
    int32_t bucket;
    char event[24], reason[24], knob[48];
    double old_value, new_value;         /* NaN: none */
    struct tuner_evidence evidence;
};
int store_add_decision(struct store *s, const struct store_decision *d);

/* fingerprint: host (CPU model, topology, kernel release). Memory of other fingerprints is kept, not returned. */
struct store_class {
    char profile[64];
    struct tuner_memory memory;          /* value[] in the order of knob_names */
    size_t n_knobs;
    char knob_names[TUNER_KNOBS_MAX][48];
    uint64_t real_ns;
};
int store_put_class(struct store *s, const char *fingerprint, const struct store_class *c);
int store_put_noise(struct store *s, const char *fingerprint, const char *profile, const struct tuner_noise *n);
int store_get_noise(struct store *s, const char *fingerprint, const char *profile, struct tuner_noise *ret); /* -ENOENT */
int store_each_class(struct store *s, const char *fingerprint, int (*f)(const struct store_class *c, void *u), void *u);

/* Newest first; stops after `limit` or when f returns non-zero, which is returned. */
int store_each_decision(struct store *s, size_t limit, int (*f)(const struct store_decision *d, void *u), void *u);

/* Writes the last `windows` windows (0: all) as CSV, oldest first; the header line names the columns, in this order:
 * window,real_time,objective,load,workload,bucket,disturbed,event,reason,arm, then one column a knob by its name, then the
 * other metrics by theirs. Readers go by name. An empty field is not known; disturbed is 0 or 1. */
int store_write_trace(struct store *s, size_t windows, FILE *f);

int store_flush(struct store *s);
/* Drops windows older than keep_ns and, oldest first, what exceeds max_bytes. Called once an hour. */
int store_retain(struct store *s, uint64_t now_real_ns, uint64_t keep_ns, uint64_t max_bytes);
