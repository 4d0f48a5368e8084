/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every number that a window can hold, by name and unit. One row here makes a metric known to sensors, guards,
 * status, store and tunectl. All are rates or means over the window, never totals. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define METRIC_TABLE(M)                                                                                              \
    M(RUNQ_WAIT_NS,      "runq_wait_ns",      "ns/timeslice", "run-queue wait per timeslice, all CPUs (schedstat)")  \
    M(RUNNING,           "running",           "threads",      "mean number of threads on a CPU (schedstat)")         \
    M(WAITING,           "waiting",           "threads",      "mean number of threads waiting for one (schedstat)")  \
    M(TIMESLICES_PER_S,  "timeslices_per_s",  "1/s",          "timeslices (schedstat)")                              \
    M(WAKEUPS_PER_S,     "wakeups_per_s",     "1/s",          "wake-ups (schedstat, when its counters count)")       \
    M(WAKE_LOCAL_RATIO,  "wake_local_ratio",  "ratio",        "wake-ups on the waker's CPU")                         \
    M(NEWIDLE_PER_S,     "newidle_per_s",     "1/s",          "newidle balance attempts, all domains")               \
    M(NEWIDLE_FAIL_RATIO,"newidle_fail_ratio","ratio",        "newidle attempts that found tasks but moved none")    \
    M(NEWIDLE_GAIN_PER_S,"newidle_gain_per_s","1/s",          "tasks pulled by newidle balance")                     \
    M(NEWIDLE_PER_IDLE,  "newidle_per_idle",  "ratio",        "newidle attempts each time that a CPU ran out of tasks") \
    M(HOT_GAIN_RATIO,    "hot_gain_ratio",    "ratio",        "pulled tasks that were cache-hot")                    \
    M(AFFINE_PER_S,      "affine_per_s",      "1/s",          "wake-ups pulled to the waker by wake_affine")         \
    M(PSI_CPU_SOME,      "psi_cpu_some",      "%",            "time with at least one task waiting for a CPU")       \
    M(PSI_IO_SOME,       "psi_io_some",       "%",            "... for I/O")                                         \
    M(PSI_IO_FULL,       "psi_io_full",       "%",            "time with all tasks waiting for I/O")                 \
    M(PSI_MEMORY_SOME,   "psi_memory_some",   "%",            "... for memory")                                      \
    M(PSI_MEMORY_FULL,   "psi_memory_full",   "%",            "time with all tasks waiting for memory")              \
    M(SWITCHES_PER_S,    "switches_per_s",    "1/s",          "context switches (perf)")                             \
    M(MIGRATIONS_PER_S,  "migrations_per_s",  "1/s",          "CPU migrations (perf)")                               \
    M(INSTRUCTIONS_PER_S,"instructions_per_s","1/s",         "instructions (perf)")                                 \
    M(CYCLES_PER_S,      "cycles_per_s",      "1/s",          "CPU cycles (perf)")                                   \
    M(IPC,               "ipc",               "ratio",        "instructions per cycle (perf)")                       \
    M(CACHE_MISSES_PER_S,"cache_misses_per_s","1/s",          "last-level cache misses (perf)")                      \
    M(BRANCH_MISSES_PER_S,"branch_misses_per_s","1/s",        "mispredicted branches (perf)")                        \
    M(WORKLOAD_RUNNING, "workload_running", "threads", "mean number of the workload's threads on a CPU (taskstats)") \
    M(WORKLOAD_WAITING, "workload_waiting", "threads", "mean number of them waiting for one (taskstats)")            \
    M(WORKLOAD_WAIT_NS, "workload_wait_ns", "ns/timeslice", "their run-queue wait per timeslice (taskstats)")        \
    M(WORKLOAD_VOLUNTARY_PER_S, "workload_voluntary_per_s", "1/s", "their voluntary context switches (taskstats)")   \
    M(WORKLOAD_INVOLUNTARY_PER_S, "workload_involuntary_per_s", "1/s", "their involuntary context switches (taskstats)")\
    M(CGROUP_RUNNING, "cgroup_running", "threads", "CPU time per second of the workload's cgroup (cpu.stat)")        \
    M(CGROUP_THROTTLED, "cgroup_throttled", "%", "its periods in which cpu.max stopped it (cpu.stat)")               \
    M(CGROUP_PSI_CPU_SOME, "cgroup_psi_cpu_some", "%", "its time with a task waiting for a CPU")                     \
    M(CGROUP_PSI_CPU_FULL, "cgroup_psi_cpu_full", "%", "its time with all tasks waiting for a CPU")                  \
    M(CGROUP_PSI_IO_SOME, "cgroup_psi_io_some", "%", "its time with a task waiting for I/O")                         \
    M(CGROUP_PSI_MEMORY_SOME, "cgroup_psi_memory_some", "%", "its time with a task waiting for memory")              \
    M(STEAL, "steal", "%", "CPU time that the hypervisor gave to others")                                            \
    M(LOADAVG, "loadavg", "threads", "load average over one minute")                                                 \
    M(CPUS_ONLINE,       "cpus_online",       "CPUs",         "CPUs online at the end of the window")                \
    M(TPS,               "tps",               "1/s",          "transactions (commits + rollbacks) of the application") \
    M(ACTIVE,            "active",            "threads",      "mean number of active sessions (application)")        \
    M(LOAD,              "load",              "threads",      "load signal: mean number of runnable threads, or the application's concurrency") \
    M(OBJECTIVE,         "objective",         "",             "the number to maximise, unit as the objective says")

enum metric {
#define M(id, name, unit, help) METRIC_##id,
    METRIC_TABLE(M)
#undef M
    METRIC_COUNT
};

struct metric_info {
    const char *name, *unit, *help;
};
extern const struct metric_info metric_info[METRIC_COUNT];

/* METRIC_COUNT when there is none of that name. */
enum metric metric_find(const char *name);

/* One window. valid: bit per metric; a value without its bit is meaningless. */
struct window {
    uint64_t index;              /* counts windows since the daemon started */
    uint64_t start_ns, end_ns;   /* CLOCK_MONOTONIC */
    uint64_t real_ns;            /* CLOCK_REALTIME of the end */
    bool disturbed;              /* hotplug, domain rebuild, a stop of the process: not a normal window */
    const char *disturbance;     /* static text: why, or NULL */
    uint64_t valid;
    double value[METRIC_COUNT];
};
_Static_assert(METRIC_COUNT <= 64, "struct window.valid has 64 bits");

static inline void window_set(struct window *w, enum metric m, double v)
{
    if (!isfinite(v))
        return;
    w->value[m] = v;
    w->valid |= UINT64_C(1) << m;
}
static inline bool window_has(const struct window *w, enum metric m)
{
    return w->valid >> m & 1;
}
static inline double window_get(const struct window *w, enum metric m)
{
    return window_has(w, m) ? w->value[m] : NAN;
}
