/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objective of a host whose application nobody named: a short run-queue wait. It asks no source, the window holds
 * everything; it is only a proxy for what the owner of the workload cares for. */
#include "objective.h"

/* Turns the wait into something to maximise, bounded where nothing waits: the floor is far below any wait that a
 * busy CPU shows (a timeslice takes 1000 us and more). */
static const double WAIT_FLOOR_NS = 1000;

static int sched_open(struct objective *o)
{
    (void)o;
    return 0;
}

static void sched_request(struct objective *o)
{
    o->now = (struct objective_reading){ .valid = true, .mono_ns = now_mono_ns(), .has_rate = true };
    o->reason[0] = '\0';
    objective_finish(o);
}

static void sched_nothing(struct objective *o)
{
    (void)o;
}

static void sched_evaluate(struct objective *o, struct window *w)
{
    if (!window_has(w, METRIC_RUNQ_WAIT_NS)) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "no run-queue wait in this window (see the schedstat sensor)");
        return;
    }
    window_set(w, METRIC_OBJECTIVE, 1e9 / (w->value[METRIC_RUNQ_WAIT_NS] + WAIT_FLOOR_NS));
}

#define UNIT "timeslices per second of run-queue wait"
#define TEXT "short run-queue wait (timeslices per second of waiting, all CPUs)"

const struct objective_def objective_sched = {
    .name = "sched",
    .what = "run-queue wait per timeslice of the whole host",
    .unit = { UNIT, UNIT, UNIT },
    .text = { TEXT, TEXT, TEXT },
    .proxy = true,
    .open = sched_open,
    .request = sched_request,
    .cancel = sched_nothing,
    .close = sched_nothing,
    .evaluate = sched_evaluate,
};
