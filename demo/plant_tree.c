/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the simulated host, in the formats of Linux 6.1: schedstat version 15, pressure, topology and knobs. */
#include "plant.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#define KNOB_DIR "/sys/kernel/debug/sched"

static int make_parents(char *path)
{
    for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
        *s = '\0';
        int r = mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
        *s = '/';
        if (r < 0)
            return r;
    }
    return 0;
}

/* Whole files only: written beside and renamed, so that no reader sees half of one. */
static int put(const struct plant *p, const char *path, const char *fmt, ...) _printf_(3, 4);
static int put(const struct plant *p, const char *path, const char *fmt, ...)
{
    char to[4096], tmp[4110];
    va_list ap;

    (void)snprintf(to, sizeof to, "%s%s", p->root, path);
    (void)snprintf(tmp, sizeof tmp, "%s.new", to);
    FILE *f = fopen(tmp, "we");
    if (!f && errno == ENOENT && make_parents(to) == 0)
        f = fopen(tmp, "we");
    if (!f)
        return -errno;
    va_start(ap, fmt);
    bool failed = vfprintf(f, fmt, ap) < 0;
    va_end(ap);
    failed = fclose(f) != 0 || failed;
    return failed ? -EIO : rename(tmp, to) < 0 ? -errno : 0;
}

static const struct {
    const char *path, *text;
} still[] = {
    { "/proc/sys/kernel/osrelease", "6.1.0-simulated" },
    { "/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555" },
    { "/proc/sys/kernel/sched_schedstats", "1" },
    { "/proc/cpuinfo", "processor\t: 0\nmodel name\t: Simulated CPU" },
    { "/sys/devices/system/cpu/online", "0-7" },
    { "/sys/devices/system/cpu/present", "0-7" },
    { "/sys/devices/system/cpu/possible", "0-7" },
    { "/sys/devices/system/node/online", "0" },
    { "/sys/devices/system/node/possible", "0" },
    { KNOB_DIR "/migration_cost_ns", "500000" },
    { KNOB_DIR "/nr_migrate", "32" },
    { KNOB_DIR "/latency_ns", "24000000" },
    { KNOB_DIR "/min_granularity_ns", "3000000" },
    { KNOB_DIR "/wakeup_granularity_ns", "4000000" },
    { KNOB_DIR "/tunable_scaling", "1" },
    { KNOB_DIR "/verbose", "N" },
};

int plant_make_tree(const struct plant *p)
{
    int r = 0;

    for (size_t i = 0; i < ELEMENTSOF(still) && r >= 0; i++)
        r = put(p, still[i].path, "%s\n", still[i].text);
    return r < 0 ? r : plant_write_tree(p);
}

static int put_schedstat(const struct plant *p)
{
    _cleanup_free_ char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return -ENOMEM;
    (void)fprintf(f, "version 15\ntimestamp %lu\n", UINT64_C(4294892296) + now_mono_ns() / 4000000);
    for (int cpu = 0; cpu < PLANT_CPUS; cpu++) {
        uint32_t n = (uint32_t)(p->slices / PLANT_CPUS);
        (void)fprintf(f, "cpu%d 0 0 %u %u %u %u %.0f %.0f %.0f\n", cpu, n, n / 3, n / 2, n / 4, p->run_ns / PLANT_CPUS,
                      p->wait_ns / PLANT_CPUS, p->slices / PLANT_CPUS);
        (void)fprintf(f, "domain0 ff %u %u 0 0 0 0 0 %u %u %u 0 0 %u 0 0 %u %u %u %u 0 %u 0 0 %u 0 0 0 0 0 0 0 0 0 0 %u 0\n",
                      n / 900, n / 900, n / 900, n / 1000, n / 1100, n / 10000, n / 1100, n / 20, n / 30, n / 200, n / 60,
                      n / 30, n / 40);
    }
    if (fclose(f) != 0)
        return -ENOMEM;
    return put(p, "/proc/schedstat", "%s", text);
}

static int put_pressure(const struct plant *p, const char *path, double some_us, double full_us)
{
    return put(p, path, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%.0f\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=%.0f\n",
               some_us, full_us);
}

int plant_write_tree(const struct plant *p)
{
    int r = put_schedstat(p);

    if (r >= 0)
        r = put_pressure(p, "/proc/pressure/cpu", p->stall_us, 0);
    if (r >= 0)
        r = put_pressure(p, "/proc/pressure/io", p->stall_us / 50, p->stall_us / 100);
    if (r >= 0)
        r = put_pressure(p, "/proc/pressure/memory", 0, 0);
    if (r >= 0)
        r = put(p, "/run/transactions.prom",
                "# TYPE transactions_total counter\ntransactions_total %.0f %lu\n# TYPE clients gauge\nclients %g\n", p->transactions,
                p->real_ns / NSEC_PER_MSEC, p->clients);
    return r;
}

double plant_read_knob(const struct plant *p)
{
    char path[4096], text[64] = "";
    uint64_t v = 0;

    (void)snprintf(path, sizeof path, "%s%s/migration_cost_ns", p->root, KNOB_DIR);
    for (int try = 0; try < 20; try++) { /* a writer truncates before it writes */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n > 0) {
            text[n] = '\0';
            text[strcspn(text, "\n")] = '\0';
            if (parse_u64(text, &v) == 0 && v > 0)
                return (double)v;
        }
    }
    return PLANT_DEFAULT_NS;
}
