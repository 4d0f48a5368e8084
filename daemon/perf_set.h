/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A group of perf events counted on every online CPU: names through libpfm4, one descriptor for
 * each event and CPU, one read for each CPU. Does not know what the events mean. */
#pragma once

#include "procparse.h"

#include <linux/perf_event.h>

#define PERF_EVENTS_MAX 6

struct perf_cpu; /* per CPU: descriptors and last values */
struct perf_set {
    size_t n;
    struct perf_event_attr attr[PERF_EVENTS_MAX];
    int cgroup_fd; /* borrowed; -1: everything on the CPU */
    uint32_t cpus_max;
    struct perf_cpu *cpu; /* owned */
};

/* Sums over the CPUs since the last reading, scaled up where the events took turns on the hardware.
 */
struct perf_sums {
    bool complete; /* every online CPU counted during the whole of the interval */
    bool reopened; /* a CPU whose events stood still was opened again */
    double value[PERF_EVENTS_MAX];
    double running_part; /* 1: all the time on the hardware; 0: never, nothing is known */
};

/* What read(2) gives for a group with both times. */
struct perf_reading {
    uint64_t n, enabled_ns, running_ns, value[PERF_EVENTS_MAX];
};
/* The increase between two readings of one CPU, scaled. 1: ret_value[0..n) filled; 0: the events
 * were never on the hardware, which says nothing; -EIO: their clock stands still, as it does after
 * their CPU was offline. Pure. */
int perf_delta(const struct perf_reading *before, const struct perf_reading *now, size_t n,
               double *ret_value);

/* names[0..n) in libpfm4's notation, one group: they are counted at the same times. Nothing is
 * opened yet. 0, -ENOMEM, -EOPNOTSUPP: libpfm4 does not know this name (for this machine). */
int perf_set_init(struct perf_set *p, const char *const *names, size_t n, uint32_t cpus_max,
                  int cgroup_fd);
/* Opens all events on all CPUs of the set. 0 or -errno of perf_event_open(2); nothing stays open
 * then. */
int perf_set_open(struct perf_set *p, const struct cpuset *online);
/* 0, or -errno when no CPU could be read. Opens CPUs that came and closes those that went. */
int perf_set_read(struct perf_set *p, const struct cpuset *online, struct perf_sums *ret);
void perf_set_done(struct perf_set *p);

/* Enough descriptors: raises the soft limit of RLIMIT_NOFILE as far as the hard one. 0, or -EMFILE:
 * still too few. */
int perf_raise_nofile(uint64_t needed);
