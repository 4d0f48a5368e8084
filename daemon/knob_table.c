/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The knobs, one row each: where they are, what they do, how far they may go. No code that reads or writes them. */
#include "knob.h"

#include "util.h"

#include <string.h>

#define DEBUGFS "/sys/kernel/debug/sched/"
#define SYSCTL  "/proc/sys/kernel/sched_"
#define HOMES(name)  { DEBUGFS name, SYSCTL name, NULL }
#define COMMIT       { DEBUGFS "tunable_scaling", SYSCTL "tunable_scaling" }

#define US NSEC_PER_USEC
#define MS NSEC_PER_MSEC

/* Hard bounds. The kernel stores any 32-bit number that debugfs is given: 0 turns code off or divides by it
 * (min_granularity_ns = 0 and a write to tunable_scaling end in an oops up to 6.5), 2^32-1 means "always" to
 * migration_cost_ns. Slices: 0.1 ms to 100 ms, where the kernel cuts the slice of a single task, too; the sysctls of
 * 5.12 and before begin there and end at 1 s. */
const struct knob_def knob_table[] = {
    {
        .name = "migration_cost_ns",
        .what = "a task that ran less long ago than this is cache-hot and is not moved by load balancing",
        .mechanism = "threshold of task_hot(); up to 5.15 also: no newidle balance when the CPU is idle for less than this",
        .paths = HOMES("migration_cost_ns"),
        .unit = "ns",
        .step = KNOB_LOG,
        /* Up to 1 s: the longest timeslices and scan intervals are below that. */
        .hard_min = 1 * US, .hard_max = 1000 * MS,
        /* Reported gains lie between 0.05 and 5 ms; below 10 us no task is hot, above 5 ms idle CPUs stay idle. */
        .safe_min = 10 * US, .safe_max = 5 * MS,
        .kernel_default = 500000,
    },
    {
        .name = "nr_migrate",
        .what = "how many tasks one load balancing pass looks at while it holds the run queue's lock",
        .mechanism = "bounds env.loop_max in load balancing: fewer means shorter lock times, more means faster spreading",
        .paths = HOMES("nr_migrate"),
        .unit = "tasks",
        .step = KNOB_LOG,
        /* 0 would end periodic and newidle pulls; above 256 interrupts stay off for long. */
        .hard_min = 1, .hard_max = 256,
        .safe_min = 4, .safe_max = 128,
        .kernel_default = 32, /* 8 with PREEMPT_RT */
    },
    {
        .name = "latency_ns",
        .what = "the period in which every runnable task should run once (CFS, up to 6.5)",
        .mechanism = "sched_slice(): the period is cut up among the runnable tasks by weight",
        .paths = HOMES("latency_ns"),
        .unit = "ns",
        .step = KNOB_LOG,
        .hard_min = 100 * US, .hard_max = 1000 * MS,
        /* The kernel's own values are 6 ms (1 CPU) to 24 ms (8 and more). */
        .safe_min = 3 * MS, .safe_max = 100 * MS,
        .commit_path = COMMIT,
        .scaled = true,
    },
    {
        .name = "min_granularity_ns",
        .what = "the shortest time a task runs before another takes its CPU (CFS, up to 6.5)",
        .mechanism = "lower bound of sched_slice() and of tick preemption",
        .paths = HOMES("min_granularity_ns"),
        .unit = "ns",
        .step = KNOB_LOG,
        .hard_min = 100 * US, .hard_max = 100 * MS,
        /* The kernel's own values are 0.75 ms to 3 ms. */
        .safe_min = 300 * US, .safe_max = 20 * MS,
        .commit_path = COMMIT,
        .scaled = true,
    },
    {
        .name = "wakeup_granularity_ns",
        .what = "how much less a waking task must have run to take the CPU at once (CFS, up to 6.5)",
        .mechanism = "wakeup_gran() in check_preempt_wakeup(): larger means fewer wake-up preemptions",
        .paths = HOMES("wakeup_granularity_ns"),
        .unit = "ns",
        .step = KNOB_LOG,
        /* 0 is legal to the kernel, but a logarithmic search cannot leave it. */
        .hard_min = 10 * US, .hard_max = 1000 * MS,
        /* The kernel's own values are 1 ms to 4 ms. */
        .safe_min = 100 * US, .safe_max = 30 * MS,
        .commit_path = COMMIT,
        .scaled = true,
    },
    {
        .name = "base_slice_ns",
        .what = "the slice of a task that asks for none (EEVDF, 6.6 and later)",
        .mechanism = "deadline = vruntime + slice/weight: a longer slice means fewer preemptions and longer waits",
        .paths = { DEBUGFS "base_slice_ns", NULL },
        .unit = "ns",
        .step = KNOB_LOG,
        .hard_min = 100 * US, .hard_max = 100 * MS,
        /* The kernel's own values are 0.7 ms to 3 ms. */
        .safe_min = 300 * US, .safe_max = 20 * MS,
        .commit_path = COMMIT,
        .scaled = true,
    },
};
const size_t knob_table_size = ELEMENTSOF(knob_table);
_Static_assert(ELEMENTSOF(knob_table) <= KNOBS_MAX, "struct knobs has too few places");

const struct knob_def *knob_find(const char *name)
{
    for (size_t i = 0; i < knob_table_size; i++)
        if (strcmp(knob_table[i].name, name) == 0)
            return &knob_table[i];
    return NULL;
}

const char *knob_state_name(enum knob_state s)
{
    static const char *const names[] = {
        [KNOB_OK] = "ok",
        [KNOB_ABSENT] = "absent",
        [KNOB_DENIED] = "denied",
        [KNOB_READONLY] = "read-only",
        [KNOB_FOREIGN] = "foreign",
        [KNOB_BROKEN] = "broken",
    };

    return names[s];
}

/* Beyond the table: switches that an explanation or a profile may ask for, and their homes of older kernels. */
static const char *const other_paths[] = {
    "/proc/sys/kernel/sched_tunable_scaling",
    "/proc/sys/kernel/sched_schedstats",
    "/proc/sys/kernel/sched_autogroup_enabled",
    "/proc/sys/kernel/sched_cfs_bandwidth_slice_us",
    "/proc/sys/kernel/sched_domain",
    "/proc/sys/kernel/task_delayacct",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/numa_balancing_scan_delay_ms",
    "/proc/sys/kernel/numa_balancing_scan_period_min_ms",
    "/proc/sys/kernel/numa_balancing_scan_period_max_ms",
    "/proc/sys/kernel/numa_balancing_scan_size_mb",
    "/sys/kernel/debug/sched_features",
};

void knobs_print_write_paths(FILE *f)
{
    /* One directory for all of debugfs: a file system that is mounted later has no files to name yet. */
    (void)fprintf(f, "-/sys/kernel/debug/sched\n");
    for (size_t i = 0; i < knob_table_size; i++)
        for (const char *const *p = knob_table[i].paths; *p; p++)
            if (strncmp(*p, DEBUGFS, strlen(DEBUGFS)) != 0)
                (void)fprintf(f, "-%s\n", *p);
    for (size_t i = 0; i < ELEMENTSOF(other_paths); i++)
        (void)fprintf(f, "-%s\n", other_paths[i]);
}
