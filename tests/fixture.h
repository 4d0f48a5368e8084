/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of /proc and /sys files as kernels of several generations show them, in a directory of their own. */
#pragma once

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIXTURE_UNUSED __attribute__((unused))

enum fixture_kernel { FIXTURE_5_10, FIXTURE_6_1, FIXTURE_6_12, FIXTURE_7_3, FIXTURE_KERNELS };

struct fixture {
    char dir[64];  /* all of it */
    char root[80]; /* the tree, for sysio_init */
    char undo[96]; /* a journal path beside the tree */
};

static FIXTURE_UNUSED void fixture_path(const struct fixture *f, const char *path, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s%s", f->root, path);
    assert(n > 0 && (size_t)n < size);
}

static FIXTURE_UNUSED void fixture_mkdir(const struct fixture *f, const char *path)
{
    char full[PATH_MAX];

    fixture_path(f, path, full, sizeof full);
    for (char *p = full + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(full, 0755) < 0)
            assert(errno == EEXIST);
        *p = '/';
    }
    if (mkdir(full, 0755) < 0)
        assert(errno == EEXIST);
}

/* Creates the directories above it, too. */
static FIXTURE_UNUSED void fixture_write(const struct fixture *f, const char *path, const char *text)
{
    char full[PATH_MAX], dir[PATH_MAX];
    FILE *out;

    (void)snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = '\0';
    fixture_mkdir(f, dir);
    fixture_path(f, path, full, sizeof full);
    out = fopen(full, "we");
    assert(out);
    (void)fputs(text, out);
    (void)fclose(out);
}

static FIXTURE_UNUSED void fixture_number(const struct fixture *f, const char *path, unsigned long v)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%lu\n", v);
    fixture_write(f, path, text);
}

/* The text without its last newline; static until the next call. */
static FIXTURE_UNUSED const char *fixture_read(const struct fixture *f, const char *path)
{
    static char text[4096];
    char full[PATH_MAX];
    FILE *in;
    size_t n;

    fixture_path(f, path, full, sizeof full);
    in = fopen(full, "re");
    if (!in)
        return "(none)";
    n = fread(text, 1, sizeof text - 1, in);
    (void)fclose(in);
    text[n] = '\0';
    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return text;
}

static FIXTURE_UNUSED void fixture_remove(const struct fixture *f, const char *path)
{
    char full[PATH_MAX];

    fixture_path(f, path, full, sizeof full);
    (void)unlink(full);
}

static FIXTURE_UNUSED void fixture_chmod(const struct fixture *f, const char *path, mode_t mode)
{
    char full[PATH_MAX];

    fixture_path(f, path, full, sizeof full);
    assert(chmod(full, mode) == 0);
}

static FIXTURE_UNUSED void fixture_cpus(const struct fixture *f, unsigned int n)
{
    char text[32];

    (void)snprintf(text, sizeof text, n > 1 ? "0-%u\n" : "0\n", n - 1);
    fixture_write(f, "/sys/devices/system/cpu/online", text);
}

static FIXTURE_UNUSED void fixture_debugfs(const struct fixture *f, const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof path, "/sys/kernel/debug/sched/%s", name);
    fixture_write(f, path, text);
}

static FIXTURE_UNUSED void fixture_sysctl(const struct fixture *f, const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
    fixture_write(f, path, text);
}

/* A tree with nothing of the scheduler in it; debugfs is mounted. */
static FIXTURE_UNUSED void fixture_bare(struct fixture *f)
{
    /* In memory where there is such a place: the journal is synced at every step. */
    (void)snprintf(f->dir, sizeof f->dir, "%s/tunerd-fixture.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert(mkdtemp(f->dir));
    (void)snprintf(f->root, sizeof f->root, "%s/root", f->dir);
    (void)snprintf(f->undo, sizeof f->undo, "%s/undo", f->dir);
    fixture_mkdir(f, "/sys/kernel/debug");
    fixture_write(f, "/sys/kernel/debug/gpio", "\n");
    fixture_write(f, "/proc/sys/kernel/ostype", "Linux\n");
    fixture_cpus(f, 4);
}

static FIXTURE_UNUSED int fixture_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    (void)remove(path);
    return 0;
}

static FIXTURE_UNUSED void fixture_domain(const struct fixture *f, const char *dir, const char *name, unsigned int imbalance)
{
    char path[256];
    const struct {
        const char *name;
        unsigned long value;
    } fields[] = {
        { "imbalance_pct", imbalance }, { "busy_factor", 16 }, { "min_interval", 4 }, { "max_interval", 8 },
        { "cache_nice_tries", 1 },
    };

    (void)snprintf(path, sizeof path, "%s/name", dir);
    char text[32];
    (void)snprintf(text, sizeof text, "%s\n", name);
    fixture_write(f, path, text);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, fields[i].name);
        fixture_number(f, path, fields[i].value);
    }
}

/* The domains of CPUs with two threads on two nodes: SMT, MC, NUMA; as a rebuild makes them, in new files. With `odd`, CPU 0
 * has lost its sibling and with it its SMT domain: indices move. */
static FIXTURE_UNUSED void fixture_domains(const struct fixture *f, const char *home, unsigned int cpus, bool odd)
{
    static const char *const names[] = { "SMT", "MC", "NUMA" };
    static const unsigned int imbalance[] = { 110, 117, 117 };
    char dir[200], old[PATH_MAX], aside[PATH_MAX + 8];

    fixture_path(f, home, old, sizeof old);
    (void)snprintf(aside, sizeof aside, "%s.old", old);
    bool was = rename(old, aside) == 0;
    for (unsigned int c = 0; c < cpus; c++)
        for (unsigned int d = odd && c == 0; d < 3; d++) {
            (void)snprintf(dir, sizeof dir, "%s/cpu%u/domain%u", home, c, d - (odd && c == 0));
            fixture_domain(f, dir, names[d], imbalance[d]);
        }
    if (was)
        (void)nftw(aside, fixture_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static FIXTURE_UNUSED void fixture_hide_domains(const struct fixture *f, const char *home)
{
    char dir[PATH_MAX];

    fixture_path(f, home, dir, sizeof dir);
    (void)nftw(dir, fixture_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static FIXTURE_UNUSED void fixture_cfs_debugfs(const struct fixture *f)
{
    fixture_debugfs(f, "latency_ns", "18000000\n");
    fixture_debugfs(f, "min_granularity_ns", "2250000\n");
    fixture_debugfs(f, "idle_min_granularity_ns", "750000\n");
    fixture_debugfs(f, "wakeup_granularity_ns", "3000000\n");
}

static FIXTURE_UNUSED void fixture_5_10(const struct fixture *f)
{
    fixture_sysctl(f, "sched_latency_ns", "18000000\n");
    fixture_sysctl(f, "sched_min_granularity_ns", "2250000\n");
    fixture_sysctl(f, "sched_wakeup_granularity_ns", "3000000\n");
    fixture_sysctl(f, "sched_migration_cost_ns", "500000\n");
    fixture_sysctl(f, "sched_nr_migrate", "32\n");
    fixture_sysctl(f, "sched_tunable_scaling", "1\n");
    fixture_sysctl(f, "numa_balancing_scan_delay_ms", "1000\n");
    fixture_sysctl(f, "numa_balancing_scan_period_min_ms", "1000\n");
    fixture_sysctl(f, "numa_balancing_scan_period_max_ms", "60000\n");
    fixture_sysctl(f, "numa_balancing_scan_size_mb", "256\n");
    fixture_write(f, "/sys/kernel/debug/sched_features",
                  "GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY LAST_BUDDY CACHE_HOT_BUDDY WAKEUP_PREEMPTION NO_HRTICK "
                  "TTWU_QUEUE SIS_PROP WA_IDLE WA_WEIGHT WA_BIAS UTIL_EST \n");
    fixture_domains(f, "/proc/sys/kernel/sched_domain", 4, false);
}

/* A tree of that kernel with 4 CPUs. */
static FIXTURE_UNUSED void fixture_new(struct fixture *f, enum fixture_kernel kernel)
{
    fixture_bare(f);
    fixture_sysctl(f, "sched_schedstats", "0\n");
    fixture_sysctl(f, "sched_autogroup_enabled", "1\n");
    fixture_sysctl(f, "sched_cfs_bandwidth_slice_us", "5000\n");
    fixture_sysctl(f, "numa_balancing", "1\n");
    if (kernel == FIXTURE_5_10) {
        fixture_5_10(f);
        return;
    }
    fixture_debugfs(f, "migration_cost_ns", "500000\n");
    fixture_debugfs(f, "nr_migrate", "32\n");
    fixture_debugfs(f, "tunable_scaling", "1\n");
    fixture_debugfs(f, "verbose", "N\n");
    fixture_debugfs(f, "numa_balancing/scan_delay_ms", "1000\n");
    fixture_debugfs(f, "numa_balancing/scan_period_min_ms", "1000\n");
    fixture_debugfs(f, "numa_balancing/scan_period_max_ms", "60000\n");
    fixture_debugfs(f, "numa_balancing/scan_size_mb", "256\n");
    fixture_debugfs(f, "numa_balancing/hot_threshold_ms", "1000\n");
    fixture_debugfs(f, "preempt", kernel == FIXTURE_7_3 ? "full (lazy) \n" : "none (voluntary) full \n");
    if (kernel == FIXTURE_6_1) {
        fixture_domains(f, "/sys/kernel/debug/sched/domains", 4, false);
        fixture_cfs_debugfs(f);
        fixture_debugfs(f, "features",
                        "GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY LAST_BUDDY CACHE_HOT_BUDDY WAKEUP_PREEMPTION "
                        "NO_HRTICK TTWU_QUEUE NO_SIS_PROP SIS_UTIL WA_IDLE WA_WEIGHT WA_BIAS UTIL_EST NI_RANDOM \n");
        return;
    }
    fixture_debugfs(f, "base_slice_ns", "2100000\n");
    fixture_debugfs(f, "features",
                    "PLACE_LAG PLACE_DEADLINE_INITIAL RUN_TO_PARITY PREEMPT_SHORT NO_NEXT_BUDDY PICK_BUDDY CACHE_HOT_BUDDY "
                    "DELAY_DEQUEUE DELAY_ZERO WAKEUP_PREEMPTION NO_HRTICK TTWU_QUEUE SIS_UTIL WA_IDLE WA_WEIGHT WA_BIAS "
                    "NI_RANDOM \n");
    if (kernel == FIXTURE_7_3) {
        fixture_debugfs(f, "llc_balancing/enabled", "Y\n");
        fixture_debugfs(f, "llc_balancing/aggr_tolerance", "1\n");
        fixture_debugfs(f, "llc_balancing/epoch_period", "2\n");
        fixture_debugfs(f, "llc_balancing/epoch_affinity_timeout", "5\n");
        fixture_debugfs(f, "llc_balancing/overaggr_pct", "50\n");
        fixture_debugfs(f, "llc_balancing/imb_pct", "20\n");
    }
}

static FIXTURE_UNUSED void fixture_free(struct fixture *f)
{
    if (*f->dir)
        (void)nftw(f->dir, fixture_unlink, 16, FTW_DEPTH | FTW_PHYS);
    f->dir[0] = '\0';
}
