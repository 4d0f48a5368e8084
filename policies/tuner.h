/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trial state machine: one window in, one decision out.
 * Pure: no I/O, clock, allocation, log or writable static; all times are counted in windows. */
#pragma once

#include "policy.h"

struct tuner; /* complete in tuner_state.h for those who embed it; about 1 MiB, of which 10 KiB
              * a class are touched when the class is first seen */

/* Bytes that a caller must provide (aligned for max_align_t) for a struct tuner. */
size_t tuner_size(void);

/* The defaults of struct tuner_params, from the table in constants.c. */
void tuner_params_default(struct tuner_params *ret);

/* Search policies by name: "hillclimb" (default), "fixed" (never moves).  NULL: unknown. */
struct policy;
const struct policy *policy_find(const char *name);

/* Starts from the baseline in force.  0, or -EINVAL when the configuration is not usable (bounds not finite,
 * min > max, baseline <= 0 for a log knob, too many knobs); then *t is untouched. */
int tuner_init(struct tuner *t, const struct policy *policy, const struct tuner_config *config);

/* Warm start, before the first step.  A remembered incumbent other than the baseline is put in force when its
 * class is entered, and the first thing that happens to it is a check.  -EINVAL: not representable. */
int tuner_remember(struct tuner *t, const struct tuner_memory *memory);
void tuner_set_noise(struct tuner *t, const struct tuner_noise *noise);

/* Values that a previous process left in force (in config order, NaN: the baseline): they are the incumbent of
 * the first class that is seen and stay in force; the next action on it is a check. */
int tuner_adopt(struct tuner *t, const double *value);

/* One window has ended.  The decision is valid until the next call on t (borrowed). */
const struct tuner_decision *tuner_step(struct tuner *t, const struct tuner_window *w);

/* Between windows: pressure beyond the emergency level.  Aborts the trial, or rolls back an incumbent other than
 * the baseline, at once; the running window counts as missing. */
const struct tuner_decision *tuner_emergency(struct tuner *t);

/* Takes effect now: an open trial ends as missing, value[] says what must be in force. */
const struct tuner_decision *tuner_set_mode(struct tuner *t, enum tuner_mode mode);

/* The caller could not put or keep a knob's value (foreign write, refused, gone): the trial ends as missing,
 * nothing is learned from it, and the knob is left alone (value NaN) until it is given back; then it is at the
 * baseline in every class. */
const struct tuner_decision *tuner_take_knob(struct tuner *t, uint8_t knob);
const struct tuner_decision *tuner_give_knob(struct tuner *t, uint8_t knob, double baseline);

/* Questions. */
enum tuner_state tuner_state(const struct tuner *t);
const struct tuner_trial *tuner_trial(const struct tuner *t);       /* borrowed until the next call */
const struct tuner_decision *tuner_last(const struct tuner *t);     /* the decision in force */
bool tuner_class(const struct tuner *t, struct tuner_memory *ret);  /* active class; false: none yet */
size_t tuner_classes(const struct tuner *t);
void tuner_class_at(const struct tuner *t, size_t i, struct tuner_memory *ret);
void tuner_get_noise(const struct tuner *t, struct tuner_noise *ret);
uint64_t tuner_moves(const struct tuner *t);                        /* accepts + rollbacks */
uint64_t tuner_wait_windows(const struct tuner *t);                 /* until the next planned action; 0: now */
double tuner_debt(const struct tuner *t);                           /* outstanding loss, %-windows */

/* Stable lower-case words for enums, for status and the store. */
const char *tuner_event_name(enum tuner_event e);
const char *tuner_reason_name(enum tuner_reason r);
