/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counts as better. An objective asks its source without blocking the loop; at the end of a window the control
 * asks, and goes on when the answer is there or the deadline has passed. */
#pragma once

#include "config.h"
#include "metric.h"
#include "sysio.h"
#include "util.h"

#include <stdio.h>
#include <systemd/sd-event.h>

enum objective_state {
    OBJECTIVE_STARTING,   /* no two answers yet */
    OBJECTIVE_OK,
    OBJECTIVE_REFUSED,    /* source says no: reason and help say what to set up */
    OBJECTIVE_UNREACHABLE, /* no server, no file */
    OBJECTIVE_LATE,       /* did not answer before the deadline */
    OBJECTIVE_NONSENSE,   /* answered with something that cannot be: counters fell, NaN */
};
const char *objective_state_name(enum objective_state s);

struct objective;
typedef void (*objective_done_t)(struct objective *o, void *userdata);

enum { OBJECTIVE_MEASURES = MEASURE_LATENCY + 1 };

struct objective_def {
    const char *name;   /* "postgresql" */
    const char *what;
    const char *unit[OBJECTIVE_MEASURES]; /* of METRIC_OBJECTIVE, by enum measure */
    const char *text[OBJECTIVE_MEASURES]; /* the same as a phrase for people */
    bool proxy;         /* only a proxy for what the owner of the workload cares for: status says so */
    size_t size;        /* private state, zeroed */
    int (*open)(struct objective *o);
    /* Starts one reading; calls objective_finish() exactly once, at once or later, also on trouble. Never blocks. */
    void (*request)(struct objective *o);
    /* The deadline has passed: forget the reading under way (its answer must not be taken for a later one). */
    void (*cancel)(struct objective *o);
    void (*close)(struct objective *o);
    /* NULL: the rates of the readings, by measure. Else this makes METRIC_OBJECTIVE from the window alone. */
    void (*evaluate)(struct objective *o, struct window *w);
};
extern const struct objective_def *const objective_table[]; /* NULL-terminated: postgresql, sched, file */

/* One reading of the source: totals, to be differenced, or a gauge. */
struct objective_reading {
    bool valid;
    uint64_t mono_ns;          /* when it was taken */
    bool has_work;
    double work_total;         /* transactions since some start, our own subtracted */
    bool has_active;
    double active_s_total;     /* seconds of active sessions since some start (PostgreSQL 14+: active_time) */
    bool has_rate;
    double rate;               /* a rate or gauge that needs no difference */
    bool has_load;
    double load;               /* the application's own concurrency */
    uint64_t epoch;            /* changes when totals start anew (statistics reset, server restart, other cluster set) */
};

struct objective {
    const struct objective_def *def;
    const struct profile *profile;  /* borrowed: outlives the objective */
    const struct sysio *io;         /* borrowed */
    sd_event *event;                /* owned reference; NULL for sched */
    enum objective_state state;
    char reason[256];
    char help[1024];                /* lines to set it up, when refused */
    struct objective_reading last, now;
    bool pending;
    sd_event_source *deadline;      /* owned */
    objective_done_t done;
    void *done_userdata;
    void *private;                  /* owned */
};

/* 0 or -errno (-ENOENT: no objective of that name; -EINVAL: the profile does not describe a source, o->reason says
 * why); then nothing is to be freed. A source that cannot be reached is not an error here. *o must stay where it is
 * until objective_close(). */
int objective_open(struct objective *o, const struct profile *p, const struct sysio *io, sd_event *event);
/* The same with an implementation that is not in the table. */
int objective_open_def(struct objective *o, const struct objective_def *def, const struct profile *p,
                       const struct sysio *io, sd_event *event);
void objective_close(struct objective *o);
/* Asks; `done` is called exactly once from here or from the loop, after at most deadline_ns. Asking again before
 * that ends the reading under way as late. `done` may read and evaluate; it must not ask or close. */
void objective_ask(struct objective *o, uint64_t deadline_ns, objective_done_t done, void *userdata);
/* For the implementations: the reading under way has ended (o->now is filled; valid or not). When it is not valid
 * they have called objective_trouble() before; without a reading under way nothing happens. */
void objective_finish(struct objective *o);
/* For the implementations: state and the reason for it. */
void objective_trouble(struct objective *o, enum objective_state state, const char *fmt, ...) _printf_(3, 4);

/* After `done`: turns the difference of the last two readings into METRIC_TPS, METRIC_ACTIVE, METRIC_LOAD and
 * METRIC_OBJECTIVE of w, whose sensor metrics are already there (service needs run and wait time of the same window).
 * What is not known stays invalid. Rates use the time between the two readings, and are taken only where that time
 * is about the window's (half to one and a half of it): across a missed reading nothing is claimed.
 * Higher is better, always:
 *   service  work per second of (CPU time + run-queue wait)
 *   tps      work per second
 *   latency  work per second of active sessions: 1 / mean time that a session is active for one transaction */
void objective_evaluate(struct objective *o, struct window *w);
/* Unit of METRIC_OBJECTIVE for people: "transactions per CPU-second". Static. */
const char *objective_unit(const struct objective *o);
/* "transactions of PostgreSQL per second of CPU time and run-queue wait". Static. */
const char *objective_text(const struct objective *o);
/* Where METRIC_LOAD comes from: "runnable threads (schedstat)", "sessions". Static. */
const char *objective_load_source(const struct objective *o);

/* `tunectl objective test`: connects, reads for `windows` windows, prints value and load of each, then mean and noise
 * (coefficient of variation); lines to set the source up when it refuses. 0, or -errno: -EACCES refused, -ETIMEDOUT
 * late, -ENODATA nothing that could be measured. Runs a loop of its own. */
int objective_test(const struct profile *p, const struct sysio *io, unsigned windows, uint64_t window_ns, FILE *out);
