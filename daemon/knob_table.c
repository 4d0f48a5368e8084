/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The knobs, one row each: where they are, what they do, how far they may go. No code that reads or writes them. */
#include "knob.h"

#include "util.h"

#include <string.h>

#define DEBUGFS "/sys/kernel/debug/sched/"
#define SYSCTL  "/proc/sys/kernel/sched_"
#define HOMES(name)  { DEBUGFS name, SYSCTL name, NULL }
#define COMMIT       { DEBUGFS "tunable_scaling", SYSCTL "tunable_scaling" }

#define NUMA_HOMES(name) { DEBUGFS "numa_balancing/" name, "/proc/sys/kernel/numa_balancing_" name, NULL }

#define US NSEC_PER_USEC
#define MS NSEC_PER_MSEC

static const char *const preempt_words[] = { "none", "voluntary", "full", "lazy", NULL };
static const char *const smt_words[] = { "SMT", NULL };
static const char *const mc_words[] = { "MC", NULL };
static const char *const pkg_words[] = { "PKG", "DIE", NULL }; /* DIE up to 6.6 */
static const char *const numa_words[] = { "NUMA", NULL };

#define FEATURE(token_, what_, mechanism_)                                                                           \
    {                                                                                                                \
        .name = "feature_" token_, .what = what_, .mechanism = mechanism_, .unit = "", .step = KNOB_TOGGLE,          \
        .paths = { DEBUGFS "features", "/sys/kernel/debug/sched_features", NULL },                                   \
        .kind = KNOB_FEATURE, .token = token_, .hard_min = 0, .hard_max = 1, .safe_min = 0, .safe_max = 1,           \
    }

#define DOMAIN(level, words_, file, unit_, what_, mechanism_, hard_lo, hard_hi, safe_lo, safe_hi)                    \
    {                                                                                                                \
        .name = "domain_" level "_" file, .what = what_ " (" level " domains)", .mechanism = mechanism_,             \
        .paths = { DEBUGFS "domains", SYSCTL "domain", NULL }, .kind = KNOB_DOMAIN, .words = words_, .token = file,  \
        .unit = unit_, .step = KNOB_LOG, .hard_min = hard_lo, .hard_max = hard_hi, .safe_min = safe_lo,              \
        .safe_max = safe_hi,                                                                                         \
    }

/* imbalance_pct below 101 and busy_factor 0 underflow in the kernel's arithmetic. */
#define DOMAIN_ROWS(level, words_)                                                                                   \
    DOMAIN(level, words_, "imbalance_pct", "%", "how much busier the other side must be before tasks are moved",     \
           "threshold of load balancing and of wake_affine_weight()", 101, 400, 103, 150),                           \
    DOMAIN(level, words_, "busy_factor", "", "how much rarer a busy CPU balances", "factor on the balance interval", \
           1, 256, 4, 64),                                                                                           \
    DOMAIN(level, words_, "min_interval", "ms", "shortest time between balance passes", "balance_interval",          \
           1, 1000, 1, 128),                                                                                         \
    DOMAIN(level, words_, "max_interval", "ms", "longest time between balance passes", "balance_interval",           \
           1, 10000, 2, 512),                                                                                        \
    DOMAIN(level, words_, "cache_nice_tries", "", "failed passes after which hot tasks are moved, too",              \
           "can_migrate_task(): nr_balance_failed against it", 1, 100, 1, 8)

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
        /* Above the slices: they are put back under the scaling that was found. */
        .name = "tunable_scaling",
        .what = "how the slices grow with the number of CPUs: 0 not at all, 1 with its logarithm, 2 linearly",
        .mechanism = "factor of update_sysctl() at CPU hotplug; a write takes the slices of now for the norm",
        .paths = HOMES("tunable_scaling"),
        .unit = "",
        .step = KNOB_CHOICE,
        .hard_min = 0, .hard_max = 2,
        .safe_min = 0, .safe_max = 2,
        .kernel_default = 1,
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
    {
        .name = "idle_min_granularity_ns",
        .what = "min_granularity_ns among tasks of idle cgroups (CFS, 5.16 to 6.5)",
        .mechanism = "lower bound of sched_slice() when the run queue holds nothing but idle entities; never rescaled",
        .paths = { DEBUGFS "idle_min_granularity_ns", NULL },
        .unit = "ns",
        .step = KNOB_LOG,
        .hard_min = 100 * US, .hard_max = 100 * MS,
        .safe_min = 300 * US, .safe_max = 20 * MS,
        .kernel_default = 750000,
    },
    {
        .name = "preempt",
        .what = "where the kernel lets itself be preempted",
        .mechanism = "patches the preemption points of the kernel's text on all CPUs",
        .paths = { DEBUGFS "preempt", NULL },
        .unit = "",
        .step = KNOB_CHOICE,
        .kind = KNOB_WORD,
        .words = preempt_words,
        .hard_min = 0, .hard_max = 3,
        .safe_min = 0, .safe_max = 3,
    },
    /* ---- NUMA balancing: scan_size_mb = 0 divides by zero in the tick ---- */
    {
        .name = "numa_balancing",
        .aside = true,
        .what = "automatic NUMA balancing: 0 off, 1 on, 2 memory tiering",
        .mechanism = "unmaps pages to learn by faults which node uses them, then moves pages and tasks",
        .paths = { "/proc/sys/kernel/numa_balancing", NULL },
        .unit = "",
        .step = KNOB_CHOICE,
        .hard_min = 0, .hard_max = 2,
        .safe_min = 0, .safe_max = 1,
    },
    {
        .name = "numa_scan_delay_ms",
        .what = "how long a new task runs before its memory is scanned",
        .mechanism = "first call of task_numa_work()",
        .paths = NUMA_HOMES("scan_delay_ms"),
        .unit = "ms",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 600000,
        .safe_min = 100, .safe_max = 60000,
        .kernel_default = 1000,
    },
    {
        .name = "numa_scan_period_min_ms",
        .what = "shortest time in which a task's memory is scanned once",
        .mechanism = "lower bound of numa_scan_period: the most scanning, and faults, that a task pays for",
        .paths = NUMA_HOMES("scan_period_min_ms"),
        .unit = "ms",
        .step = KNOB_LOG,
        .hard_min = 10, .hard_max = 600000,
        .safe_min = 100, .safe_max = 30000,
        .kernel_default = 1000,
    },
    {
        .name = "numa_scan_period_max_ms",
        .what = "longest time in which a task's memory is scanned once",
        .mechanism = "upper bound of numa_scan_period: how late a change of the access pattern is seen",
        .paths = NUMA_HOMES("scan_period_max_ms"),
        .unit = "ms",
        .step = KNOB_LOG,
        .hard_min = 100, .hard_max = 3600000,
        .safe_min = 5000, .safe_max = 600000,
        .kernel_default = 60000,
    },
    {
        .name = "numa_scan_size_mb",
        .what = "how much memory one scan looks at",
        .mechanism = "pages unmapped in one task_numa_work(): larger means longer pauses, fewer of them",
        .paths = NUMA_HOMES("scan_size_mb"),
        .unit = "MB",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 16384,
        .safe_min = 16, .safe_max = 4096,
        .kernel_default = 256,
    },
    {
        .name = "numa_hot_threshold_ms",
        .what = "pages used again within this are hot (memory tiering, 6.1 and later)",
        .mechanism = "threshold of promotion to the fast node",
        .paths = { DEBUGFS "numa_balancing/hot_threshold_ms", NULL },
        .unit = "ms",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 600000,
        .safe_min = 100, .safe_max = 60000,
        .kernel_default = 1000,
    },
    /* ---- cache-aware scheduling, 7.2 and later ---- */
    {
        .name = "llc_enabled",
        .what = "gather the threads of a process around one last-level cache (7.2 and later)",
        .mechanism = "cache-aware load balancing as a whole",
        .paths = { DEBUGFS "llc_balancing/enabled", NULL },
        .unit = "",
        .step = KNOB_TOGGLE,
        .kind = KNOB_BOOL,
        .hard_min = 0, .hard_max = 1,
        .safe_min = 0, .safe_max = 1,
        .kernel_default = 1,
    },
    {
        .name = "llc_aggr_tolerance",
        .what = "how large a process may be against its cache and still be gathered",
        .mechanism = "bound on threads and memory of a process in cache-aware scheduling",
        .paths = { DEBUGFS "llc_balancing/aggr_tolerance", NULL },
        .unit = "",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 100,
        .safe_min = 1, .safe_max = 100,
        .kernel_default = 1,
    },
    {
        .name = "llc_epoch_period",
        .what = "how long a process's use of caches is counted before it is judged",
        .mechanism = "length of an epoch of cache-aware scheduling",
        .paths = { DEBUGFS "llc_balancing/epoch_period", NULL },
        .unit = "",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 1000,
        .safe_min = 1, .safe_max = 16,
        .kernel_default = 2,
    },
    {
        .name = "llc_epoch_affinity_timeout",
        .what = "after how many idle epochs a process loses its preferred cache",
        .mechanism = "ageing of the preference in cache-aware scheduling",
        .paths = { DEBUGFS "llc_balancing/epoch_affinity_timeout", NULL },
        .unit = "epochs",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 1000,
        .safe_min = 1, .safe_max = 50,
        .kernel_default = 5,
    },
    {
        .name = "llc_overaggr_pct",
        .what = "load of a cache's CPUs from which no more threads are gathered there",
        .mechanism = "utilisation bound of cache-aware migration",
        .paths = { DEBUGFS "llc_balancing/overaggr_pct", NULL },
        .unit = "%",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 100,
        .safe_min = 20, .safe_max = 100,
        .kernel_default = 50,
    },
    {
        .name = "llc_imb_pct",
        .what = "imbalance between caches that gathering may make",
        .mechanism = "tolerance of cache-aware migration against load balance",
        .paths = { DEBUGFS "llc_balancing/imb_pct", NULL },
        .unit = "%",
        .step = KNOB_LOG,
        .hard_min = 1, .hard_max = 100,
        .safe_min = 5, .safe_max = 80,
        .kernel_default = 20,
    },
    /* ---- sysctls of all versions ---- */
    {
        .name = "autogroup_enabled",
        .aside = true,
        .what = "a group of its own for every session: fair between sessions instead of tasks",
        .mechanism = "task_group of tasks in the root cgroup",
        .paths = { SYSCTL "autogroup_enabled", NULL },
        .unit = "",
        .step = KNOB_TOGGLE,
        .hard_min = 0, .hard_max = 1,
        .safe_min = 0, .safe_max = 1,
    },
    {
        .name = "cfs_bandwidth_slice_us",
        .aside = true,
        .what = "how much of a cgroup's quota a CPU takes at a time",
        .mechanism = "larger: less contention for the pool, more quota stranded on CPUs that went idle",
        .paths = { SYSCTL "cfs_bandwidth_slice_us", NULL },
        .unit = "us",
        .step = KNOB_LOG,
        .hard_min = 100, .hard_max = 1000000,
        .safe_min = 1000, .safe_max = 50000,
        .kernel_default = 5000,
    },
    /* ---- features: each toggle patches the kernel's text on all CPUs ---- */
    FEATURE("WA_IDLE", "a waking task goes to the waker's CPU or its own old one when that is idle", "wake_affine_idle()"),
    FEATURE("WA_WEIGHT", "a waking task goes where the load would be less", "wake_affine_weight()"),
    FEATURE("WA_BIAS", "... with a bonus for its old CPU", "imbalance_pct in wake_affine_weight()"),
    FEATURE("SIS_UTIL", "search fewer CPUs for an idle one when a cache's CPUs are busy", "nr of select_idle_cpu()"),
    FEATURE("TTWU_QUEUE", "hand wake-ups across caches to the target CPU", "ttwu_queue_wakelist(): an IPI instead of a lock"),
    FEATURE("NEXT_BUDDY", "a task that was just woken runs next", "set_next_buddy() at wake-up"),
    FEATURE("WAKEUP_PREEMPTION", "a waking task may preempt the running one", "check_preempt_wakeup()"),
    FEATURE("RUN_TO_PARITY", "a task runs to the end of its slice or lag before another is picked (EEVDF)", "pick_eevdf()"),
    FEATURE("PLACE_LAG", "a task keeps its lag over sleep (EEVDF)", "place_entity()"),
    FEATURE("DELAY_DEQUEUE", "a task that sleeps with negative lag stays queued until it is spent (EEVDF)", "dequeue_entity()"),
    FEATURE("NI_RANDOM", "newidle balance at random, by its past success", "sched_balance_newidle()"),
    FEATURE("CACHE_HOT_BUDDY", "the next buddy counts as cache-hot", "task_hot()"),
    /* ---- domains: lost at every rebuild, applied again ---- */
    DOMAIN_ROWS("SMT", smt_words),
    DOMAIN_ROWS("MC", mc_words),
    DOMAIN_ROWS("PKG", pkg_words),
    DOMAIN_ROWS("NUMA", numa_words),
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
    "/proc/sys/kernel/sched_schedstats",
    "/proc/sys/kernel/task_delayacct",
};

static bool is_printed(const char *path, size_t row)
{
    for (size_t i = 0; i < row; i++)
        for (const char *const *p = knob_table[i].paths; *p; p++)
            if (strcmp(*p, path) == 0)
                return true;
    return false;
}

void knobs_print_write_paths(FILE *f)
{
    /* One directory for all of debugfs: a file system that is mounted later has no files to name yet. */
    (void)fprintf(f, "-/sys/kernel/debug/sched\n");
    for (size_t i = 0; i < knob_table_size; i++)
        for (const char *const *p = knob_table[i].paths; *p; p++)
            if (strncmp(*p, DEBUGFS, strlen(DEBUGFS)) != 0 && !is_printed(*p, i))
                (void)fprintf(f, "-%s\n", *p);
    for (size_t i = 0; i < ELEMENTSOF(other_paths); i++)
        (void)fprintf(f, "-%s\n", other_paths[i]);
}
