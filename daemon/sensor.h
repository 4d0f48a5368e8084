/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sensor reads one kernel source once per window into metrics. Sensors know nothing of knobs or decisions. */
#pragma once

#include "metric.h"
#include "sysio.h"

enum sensor_state {
    SENSOR_STARTING,  /* one reading so far: rates need two */
    SENSOR_OK,
    SENSOR_PARTIAL,   /* works, some of its metrics do not: reason says which */
    SENSOR_ABSENT,    /* this kernel or host does not have the source */
    SENSOR_DISABLED,  /* it could, but it is switched off: reason says how to switch it on */
    SENSOR_DENIED,    /* no permission: reason says what is needed */
    SENSOR_FORMAT,    /* text that we do not understand */
    SENSOR_FAILED,    /* any other error, named in reason */
};
const char *sensor_state_name(enum sensor_state s);

struct sensor; /* instance: def + private state */

struct sensor_def {
    const char *name; /* "schedstat" */
    const char *what; /* one line for people */
    size_t size;      /* bytes of private state, zeroed before open */
    /* Opens what can stay open. 0, or -errno with state and reason set; a sensor that failed is asked again
     * every 60 windows. Allocates here only. */
    int (*open)(struct sensor *s, const struct sysio *io);
    /* Adds this source's metrics to w (start_ns and end_ns are set). No allocation. */
    int (*read)(struct sensor *s, const struct sysio *io, struct window *w);
    void (*close)(struct sensor *s);
    /* The workload has changed to that of this process (0: none); NULL for a sensor of the whole host. May
     * allocate. Called while open only, and again after each open. */
    void (*follow)(struct sensor *s, const struct sysio *io, int32_t pid);
};

struct sensor {
    const struct sensor_def *def;
    enum sensor_state state;
    int error;         /* 0 or -errno of the last trouble */
    char reason[160];  /* for people; empty when OK */
    bool is_open;
    uint32_t retry_in; /* windows until open() is tried again */
    uint32_t failures; /* readings that failed in a row */
    void *private;     /* owned */
};

#define SENSORS_MAX 16
struct sensors {
    const struct sysio *io; /* borrowed */
    size_t n;
    struct sensor s[SENSORS_MAX];
    uint64_t last_ns;       /* end of the last window; 0: none yet */
    uint64_t index;
    int32_t workload; /* a process of the workload that is followed; 0: none */
};

extern const struct sensor_def *const sensor_table[]; /* NULL-terminated */

int sensors_init(struct sensors *ss, const struct sysio *io);
void sensors_done(struct sensors *ss);
/* Reads every source once. now_ns is the end of the window, one clock read for all. The first call starts the
 * counters: its window is empty. Between two calls of less than 1 ms nothing is valid. A sensor's own trouble
 * is in its state, never an error here. */
void sensors_read(struct sensors *ss, uint64_t now_ns, uint64_t real_ns, struct window *ret);
/* The sensors of a workload (cgroup, taskstats) follow that of this process from now on; 0: of none. Not in a tick. */
void sensors_follow(struct sensors *ss, int32_t pid);

/* What decides whether knobs can act here at all, from the host sensor. */
enum lockdown { LOCKDOWN_UNKNOWN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };
struct host_state {
    enum lockdown lockdown;
    bool sched_ext;         /* a BPF scheduler runs: the fair class's knobs hardly act */
    char sched_ext_ops[64]; /* its name; "" */
};
void sensors_host(const struct sensors *ss, struct host_state *ret);
/* Balancing in the last window by level of the domains, from schedstat. */
struct sensor_balance {
    double attempts_per_s, balanced_per_s, failed_per_s, gained_per_s, hot_gained_per_s;
};
struct sensor_domain {
    char name[16]; /* "MC"; "domain1" where the kernel does not say (before 6.14) */
    uint32_t domains;
    struct sensor_balance busy, idle, newidle;
    double affine_per_s, wake_remote_per_s;
};
/* How many, borrowed until the next reading; 0: not known, as while kernel.sched_schedstats is 0. */
size_t sensors_domains(const struct sensors *ss, const struct sensor_domain **ret);
/* Host facts from the topology sensor, for status: CPUs online as text ("0-3"), counts. */
struct topology {
    uint32_t cpus_online, packages, nodes;
    char online[256];
};
void sensors_topology(const struct sensors *ss, struct topology *ret);
