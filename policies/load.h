/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load classes (log-spaced buckets with hysteresis) and the level alarm (two-sided CUSUM of the
 * objective). Both see one number a window and say whether something changed; neither knows what
 * follows from it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    LOAD_UNKNOWN = INT32_MIN, /* bucket of a load that cannot be observed */
    LOAD_MEDIAN = 5,          /* windows of the median filter */
};

struct load_config {
    double width;   /* ln of the class ratio */
    double margin;  /* hysteresis, in class widths beyond the border */
    uint32_t dwell; /* windows outside before the class changes */
    double noise_z; /* hysteresis is at least this many sd of the filtered load; 0: fixed */
    uint32_t lost;  /* windows without a load before the class is "not observable" */
};

struct load_track {
    struct load_config config;
    bool known; /* bucket is valid (it may be LOAD_UNKNOWN) */
    int32_t bucket;
    uint32_t outside, missing;
    double smooth; /* filtered ln(load) in class widths */
    double recent[LOAD_MEDIAN];
    double jitter; /* mean |difference| of neighbouring windows, ln */
};

/* ln(load) as used everywhere in the core, NaN when the load is not observable. */
double load_log(double load);

void load_init(struct load_track *l, const struct load_config *config);

/* The next window starts without a class (another workload rules). */
void load_reset(struct load_track *l);

/* One window's ln(load), NaN: not observable.  True: the class is another one now (or the first).
 */
bool load_update(struct load_track *l, double log_load);

/* Filtered ln(load); NaN while it is not observable. */
double load_smooth(const struct load_track *l);

/* Standard deviation of the load signal between windows, ln. */
double load_noise(const struct load_track *l);

/* ... and of the filtered load. */
double load_smooth_noise(const struct load_track *l);

/* Does the observed load follow the objective?  Regression of load differences on objective
 * differences (ln). */
struct elastic {
    double n, xx, xy, yy;
};

void elastic_learn(struct elastic *e, double effect, double shift);

/* True when the slope is known well enough to correct a window with it; 0: an exogenous load, about
 * -1: demand over performance. */
bool elastic_slope(const struct elastic *e, double *ret);

struct level_config {
    double slack, bar; /* of the CUSUM, in sd */
};

struct level { /* level of the objective at the incumbent */
    bool known;
    uint32_t n;         /* windows behind base while it is being learned */
    double base, scale; /* expected ln(objective), its mean absolute deviation as an sd */
    double down, up;    /* the two sums */
    double dips;        /* share of windows far below the level */
    uint64_t at;        /* window of the last update */
};

void level_init(struct level *v);
void level_reset(struct level *v); /* the level is to be learned again; the scale stays */
void level_set(struct level *v, double base); /* ... is known from elsewhere */

/* One window at the incumbent.  True: the level has shifted. */
bool level_update(struct level *v, const struct level_config *config, double log_y, uint64_t now);
