/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated host: its state, its table and its files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLANT_CPUS = 8, PLANT_STEPS = 25 /* updates of the files in a window */, PLANT_LOADS_MAX = 32, PLANT_KNOBS_MAX = 16 };
#define PLANT_DEFAULT_NS 500000.0

struct plant_row {
    double load;
    size_t n;
    double knob[PLANT_KNOBS_MAX], value[PLANT_KNOBS_MAX]; /* by rising knob */
};

struct plant {
    char root[3900];
    uint64_t window_ns, rng;
    double clients, flip_clients, sigma;
    size_t n_rows;
    struct plant_row row[PLANT_LOADS_MAX]; /* by rising load */
    /* state */
    bool flipped;
    double away_s;               /* for so long the knob has been away from its default */
    uint64_t real_ns;            /* CLOCK_REALTIME of the totals */
    double effect, noise;        /* in ln of the rate */
    double transactions, run_ns, wait_ns, slices, stall_us; /* totals */
};

/* Rows "load,knob,value"; comment lines begin with '#'. 0, or -errno with a message on stderr. */
int plant_read_table(struct plant *p, const char *path);
/* ln of the rate with `knob` (ns) against the rate with the default, at that load: linear in ln load and log2 knob, flat
 * beyond the measured points. */
double plant_effect(const struct plant *p, double load, double knob);
/* Rate at the default, transactions per second. */
double plant_level(const struct plant *p, double load);

/* The tree as at boot, knobs at their defaults. 0 or -errno. */
int plant_make_tree(const struct plant *p);
/* The files that move. */
int plant_write_tree(const struct plant *p);
/* migration_cost_ns as it is in its file. */
double plant_read_knob(const struct plant *p);
