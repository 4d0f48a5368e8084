/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the metrics. */
#include "metric.h"

#include <string.h>

const struct metric_info metric_info[METRIC_COUNT] = {
#define M(id, n, u, h) [METRIC_##id] = { .name = n, .unit = u, .help = h },
    METRIC_TABLE(M)
#undef M
};

enum metric metric_find(const char *name)
{
    for (unsigned i = 0; i < METRIC_COUNT; i++)
        if (strcmp(metric_info[i].name, name) == 0)
            return (enum metric)i;
    return METRIC_COUNT;
}
