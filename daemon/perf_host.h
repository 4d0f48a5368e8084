/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sensors that use perf share: which CPUs there are, and what an error means to people. */
#pragma once

#include "kept.h"
#include "procparse.h"
#include "sensor_impl.h"

struct perf_host {
    struct kept online;
    uint32_t cpus_max; /* highest CPU number that can come, + 1 */
};

/* Looks at the CPUs and makes room for `events` descriptors on each. 0, or -errno with the sensor's
 * state set. */
int perf_host_open(struct perf_host *h, struct sensor *s, const struct sysio *io, size_t events,
                   struct cpuset *ret_online);
void perf_host_close(struct perf_host *h);
/* CPUs online now; -ESTALE when there are more than cpus_max. 0, or -errno with the sensor's state
 * set. */
int perf_host_online(struct perf_host *h, struct sensor *s, const struct sysio *io,
                     struct cpuset *ret);

/* Sets the state that belongs to an errno of perf_event_open(2). Returns error. */
int perf_explain(struct sensor *s, const struct sysio *io, int error);
