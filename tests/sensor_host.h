/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated host of two CPUs whose files change by known amounts from window to window. */
#pragma once

#include "sensor.h"
#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tree.h"

#define T0   (UINT64_C(100) * NSEC_PER_SEC)
#define STEP (UINT64_C(2) * NSEC_PER_SEC)
#define NEAR(m, x)                                                                                 \
    assert_true(window_has(&w, METRIC_##m) && fabs(window_get(&w, METRIC_##m) - (x)) < 1e-6)
#define NONE(m) assert_false(window_has(&w, METRIC_##m))

struct host {
    struct fixture f;
    struct sensors ss;
    uint64_t now;
    /* What the next schedstat says: two CPUs, two domains each. */
    unsigned version, cpus, domains;
    uint64_t run, delay, slices;
    uint32_t sched, ttwu, local, newidle, failed, gained, hot, affine;
};

/* Tasks are pulled in the first and in the third kind of balancing. */
#define LINE15                                                                                     \
    "domain%u 3 1 1 1 1 %u %u 1 1 0 0 0 0 0 0 0 0 %u 0 %u 9 %u %u 0 0 0 0 0 0 0 0 0 0 0 0 %u 0\n"
#define LINE17                                                                                     \
    "domain%u MC 3 1 1 1 1 2 3 4 %u %u 1 1 0 0 0 0 0 0 0 0 0 0 0 %u 0 %u 9 9 9 9 %u %u 0 0 "       \
    "0 0 0 0 0 0 0 0 0 0 %u 0\n"

static inline void put_schedstat(struct host *h)
{
    char text[8192];
    size_t n = (size_t)sprintf(text, "version %u\ntimestamp 1\n", h->version);

    for (unsigned cpu = 0; cpu < h->cpus; cpu++) {
        n += (size_t)sprintf(text + n, "cpu%u 0 0 %u 0 %u %u %lu %lu %lu\n", cpu, h->sched, h->ttwu,
                             h->local, h->run, h->delay, h->slices);
        for (unsigned d = 0; d < h->domains; d++)
            n += (size_t)sprintf(text + n, h->version == 17 ? LINE17 : LINE15, d, h->gained, h->hot,
                                 h->newidle, h->failed, h->gained, h->hot, h->affine);
    }
    fixture_put(&h->f, "/proc/schedstat", "%s", text);
}

static inline void __attribute__((unused))
put_psi(struct host *h, uint64_t cpu, uint64_t io, uint64_t memory)
{
#define LINE "avg10=0.00 avg60=0.00 avg300=0.00 total="
    fixture_put(&h->f, "/proc/pressure/cpu", "some " LINE "%lu\nfull " LINE "0\n", cpu);
    fixture_put(&h->f, "/proc/pressure/io", "some " LINE "%lu\nfull " LINE "%lu\n", io, io / 2);
    fixture_put(&h->f, "/proc/pressure/memory", "some " LINE "%lu\nfull " LINE "%lu\n", memory,
                memory / 4);
}

static inline struct window next(struct host *h)
{
    struct window w;

    h->now += STEP;
    sensors_read(&h->ss, h->now, 1, &w);
    return w;
}

static inline const struct sensor *sensor(const struct host *h, const char *name)
{
    for (size_t i = 0; i < h->ss.n; i++)
        if (strcmp(h->ss.s[i].def->name, name) == 0)
            return &h->ss.s[i];
    fail_msg("no sensor %s", name);
    return NULL;
}

static inline int setup(void **state)
{
    struct host *h = calloc(1, sizeof *h);

    *h = (struct host){
        .now = T0, .version = 15, .cpus = 2, .domains = 2, .run = 1000, .delay = 500, .slices = 10
    };
    fixture_init(&h->f);
    put_schedstat(h);
    put_psi(h, 1000000, 2000000, 4000000);
    fixture_put(&h->f, "/sys/devices/system/cpu/online", "0-1\n");
    fixture_put(&h->f, "/sys/devices/system/cpu/possible", "0-3\n");
    fixture_put(&h->f, "/sys/devices/system/node/online", "0-1\n");
    fixture_put(&h->f, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    fixture_put(&h->f, "/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
    *state = h;
    return 0;
}

static inline int teardown(void **state)
{
    struct host *h = *state;

    sensors_done(&h->ss);
    fixture_done(&h->f);
    free(h);
    return 0;
}

static inline void start(struct host *h)
{
    struct window w;

    assert_int_equal(sensors_init(&h->ss, &h->f.io), 0);
    w = next(h);
    assert_int_equal(w.valid, 0);
    assert_int_equal(w.index, 0);
    assert_int_equal(sensor(h, "schedstat")->state, SENSOR_STARTING);
}

/* Two seconds: each CPU runs for half of it and waits 100 ms in 1000 timeslices. */
static inline void run_for_a_window(struct host *h)
{
    h->run += NSEC_PER_SEC;
    h->delay += 100 * NSEC_PER_MSEC;
    h->slices += 1000;
    put_schedstat(h);
}

static inline void count_for_a_window(struct host *h)
{
    h->sched += 1500;
    h->ttwu += 400;
    h->local += 100;
    h->newidle += 50;
    h->failed += 10;
    h->gained += 20;
    h->hot += 5;
    h->affine += 30;
    run_for_a_window(h);
}
