/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sensors share among themselves; nobody else includes this. */
#pragma once

#include "procparse.h"
#include "sensor.h"
#include "util.h"

extern const struct sensor_def sensor_schedstat, sensor_psi, sensor_perf, sensor_perf_hw,
    sensor_topology, sensor_cgroup, sensor_taskstats, sensor_host;

/* Sets state, error and reason, and returns error. */
int sensor_say(struct sensor *s, enum sensor_state state, int error, const char *fmt, ...)
    _printf_(4, 5);
/* The state that belongs to an errno of reading `path`. Returns error. */
int sensor_say_errno(struct sensor *s, int error, const char *path);

/* The first disturbance of a window is kept. `why` is static. */
void window_disturb(struct window *w, const char *why);

/* Puts the increase of a pressure total as percent of the window into m; METRIC_COUNT: nowhere. */
void window_set_psi(struct window *w, enum metric m, const struct psi_line *before,
                    const struct psi_line *now);

static inline double window_seconds(const struct window *w)
{
    return (double)(w->end_ns - w->start_ns) / (double)NSEC_PER_SEC;
}
