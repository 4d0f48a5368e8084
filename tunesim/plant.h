/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated host: a response table, a load, noise, dips, settling; deterministic by (scenario,
 * seed). Knows nothing of controllers: a value goes in, an objective and an observed load come out.
 */
#pragma once

#include "policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLANT_LOADS = 32,
    PLANT_KNOTS = 16,
    PLANT_GRID = 256,
    PLANT_LEVELS = 16,
    PLANT_WANTS = 16,
    PLANT_JUMPS = 2048,
};

struct table { /* ln f(load, knob), as a grid per measured load */
    size_t n_loads, n_knots, n_grid;
    bool ordered; /* numeric knob: interpolated in log2; else one column a value */
    double knob_default, knob_min, knob_max;
    double log_load[PLANT_LOADS];
    double knot[PLANT_KNOTS];
    double x0;                 /* ordered: log2(value / default) of the first grid point */
    double level[PLANT_LOADS]; /* ln f(load, default) */
    double value[PLANT_LOADS][PLANT_KNOTS];
    double effect[PLANT_LOADS][PLANT_GRID];
};

enum load_kind { LOAD_STEADY, LOAD_JUMPS, LOAD_DIURNAL, LOAD_RAMP, LOAD_ALTERNATE, LOAD_KINDS };
enum curve_kind { CURVE_TABLE, CURVE_RANDOM, CURVE_RANDOM_CHOICE, CURVE_KINDS };

struct want { /* a bound that a scenario must meet */
    char metric[24];
    int percentile; /* -1: the mean */
    bool at_least;
    double bound;
};

struct scenario {
    char name[64];
    struct table table, second; /* second: of the other workload, or after the regime's change */
    bool has_second;
    enum curve_kind curves;
    enum load_kind load;
    size_t n_levels;
    double levels[PLANT_LEVELS];
    double low, high;
    uint32_t period;
    double load_drift, load_noise, endogenous;
    bool blind;
    uint32_t regime_at; /* 0: never */
    double regime_load;
    double sigma, phi, drift, disturbances, kappa, write_dip;
    uint32_t dip_every, dip_period;
    uint32_t windows;
    double window_s;
    size_t n_wants;
    struct want wants[PLANT_WANTS];
};

struct plant {
    const struct scenario *s;
    struct table table, second; /* of this seed */
    uint32_t n;
    double *base;      /* ln objective at the default, noise included */
    double *load_seen; /* ln of the observed load, before the knob's own effect */
    uint8_t *row, *workload;
    bool *after; /* the second table holds */
    float *weight;
    double *best; /* best effect of any value in this window, as a factor */
    uint16_t *best_at;
    double best_mean;
    uint32_t jumps[PLANT_JUMPS];
    size_t n_jumps;
    double kappa;
    /* while running */
    uint32_t t;
    double value, relaxed, dip;
    size_t at;
};

/* 0 or -errno; a message has gone to stderr. */
int table_load(struct table *ret, const char *path);
void table_build(struct table *t);
size_t table_index(const struct table *t, double value);
double table_grid_value(const struct table *t, size_t i);

int scenario_load(struct scenario *ret, const char *path);

int plant_init(struct plant *p, const struct scenario *s, uint64_t seed);
void plant_done(struct plant *p);
void plant_rewind(struct plant *p);
/* The window p->t with the value in force; *ret_relative: true performance relative to the default.
 */
void plant_window(struct plant *p, struct tuner_window *ret, double *ret_relative);
/* The value for the next window; true: it is another one, a write. */
bool plant_write(struct plant *p, double value);
void plant_knob(const struct plant *p, struct tuner_knob *ret);
