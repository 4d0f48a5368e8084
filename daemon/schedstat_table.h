/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has been added to /proc/schedstat between two readings, summed over CPUs and by domain
 * level. Knows nothing of windows or metrics. */
#pragma once

#include "schedstat.h"

#define SCHEDSTAT_LEVELS_MAX 8

struct schedstat_cpu_before;
struct schedstat_domain_before;

struct schedstat_table {
    struct schedstat_reader reader;
    struct schedstat_cpu_before *cpu;       /* owned; by CPU number */
    struct schedstat_domain_before *domain; /* owned; in the order of the file */
    uint32_t cpu_room, domain_room;
    uint32_t cpus, domains; /* of the last reading */
    uint32_t pass;          /* counts readings */
    size_t n_levels;
    char level[SCHEDSTAT_LEVELS_MAX][16]; /* names, in the order in which they were met */
};

/* All domains of one name ("MC"; "domain1" before version 17). */
struct schedstat_level {
    uint32_t domains;
    uint64_t count[SCHEDSTAT_IDLE_TYPES], balanced[SCHEDSTAT_IDLE_TYPES],
        failed[SCHEDSTAT_IDLE_TYPES];
    uint64_t gained[SCHEDSTAT_IDLE_TYPES], hot_gained[SCHEDSTAT_IDLE_TYPES];
    uint64_t move_affine, wake_remote;
};

struct schedstat_sums {
    uint32_t cpus, domains;
    /* Other CPUs or domains than before; counters that went back. What they touch is void then. */
    bool cpus_changed, domains_changed, cpu_reset, domain_reset;
    uint64_t run_ns, delay_ns, slices;
    uint64_t sched, goidle, ttwu, ttwu_local;
    struct schedstat_level level[SCHEDSTAT_LEVELS_MAX]; /* as struct schedstat_table.level */
};

/* Allocates for every CPU that can come, with as many domains as the richest has now. 0 or -errno.
 */
int schedstat_table_open(struct schedstat_table *t, const struct sysio *io);
void schedstat_table_close(struct schedstat_table *t);
/* One pass over the file; max_step as in counter_delta(), of one CPU's 32-bit counters. The first
 * pass after opening, and after an error, says that everything has changed. 0; -ESTALE: more CPUs
 * or domains than there is room for; -errno. */
int schedstat_table_read(struct schedstat_table *t, const struct sysio *io, uint64_t max_step,
                         struct schedstat_sums *ret);
