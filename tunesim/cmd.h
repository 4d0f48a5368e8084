/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of tunesim, one function each, and the options that they share.
 * Exit codes: 0 ok, 1 a bound is not met or an error, 2 usage. */
#pragma once

#include "ctl.h"

enum { OPTIONS_SET = 16, OPTIONS_FILES = 64 };

struct options {
    const char *policy; /* NULL: the verb's own choice */
    uint64_t first_seed, last_seed;
    bool json, by_seed;
    const char *categories;    /* of filter */
    double baseline, min, max; /* of replay; NaN: from the trace */
    const char *set[OPTIONS_SET + 1];
    const char *files[OPTIONS_FILES];
    int n_files;
};

/* Yardsticks of one policy over the seeds; rows of METRIC_COUNT, owned by the caller. */
struct batch {
    size_t n;
    double *metrics;
    double seconds;
};

int batch_run(const struct scenario *s, const char *policy, const struct options *o,
              struct batch *ret);
void batch_done(struct batch *b);
double batch_percentile(const struct batch *b, enum metric m, int percentile);

int cmd_run(const struct options *o);
int cmd_compare(const struct options *o);
int cmd_check(const struct options *o);
int cmd_trace(const struct options *o);
int cmd_plot(const struct options *o);
int cmd_filter(const struct options *o);
int cmd_replay(const struct options *o);
int cmd_bench(const struct options *o);
