/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Yardsticks of one run, and percentiles of them over seeds; true performance, never the noisy one.
 * Must not know which policy ran. */
#pragma once

#include "plant.h"

enum metric {
    METRIC_GAIN,      /* %, mean against the default, exploration included */
    METRIC_CAPTURED,  /* % of the oracle's gain */
    METRIC_CAPTURED2, /* ... in the second half */
    METRIC_HARM,      /* % of the time at 3 % or more below the default */
    METRIC_WORST10,   /* %, mean loss of the worst 60 windows */
    METRIC_WORST60,
    METRIC_WRITES,   /* an hour of 360 windows */
    METRIC_MOVES,    /* a day of 8640 windows */
    METRIC_TO2,      /* minutes until 30 min within 2 % of the oracle */
    METRIC_RECOVERY, /* minutes after a jump until 5 min within 2 % */
    METRIC_AWAY,     /* % of the time off the default */
    METRIC_COUNT
};

struct run { /* one run, window by window; owned arrays of n */
    uint32_t n;
    double *relative;
    double *value;
    double *objective;
    uint64_t writes, moves;
};

extern const char *const metric_names[METRIC_COUNT];

void metrics_of(const struct plant *p, const struct run *r, double *ret);
int metric_find(const char *name);
/* Percentile 0..100 of n values, NaNs left out, -1: the mean; v is sorted. */
double metric_percentile(double *v, size_t n, int percentile);
