/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hill climbing with a test: 12 windows before, 12 after, Welch's t > 1.7 keeps the step; memory
 * per load class. A yardstick of what a careful script does. */
#include "ctl.h"

#include "load.h"
#include "tuner_state.h"

#include <math.h>
#include <stdlib.h>

enum { WELCH_N = 12, WELCH_CLASSES = 128 };

struct welch_class {
    bool used;
    int32_t bucket;
    size_t at;
    int side, fails, rest;
};

struct welch {
    double arm[TUNER_ARMS_MAX];
    size_t n, base, try, k;
    struct load_track load;
    struct welch_class class[WELCH_CLASSES], *c;
    bool after;
    int skip;
    uint64_t moves;
    double y[2][WELCH_N];
};

static void *welch_new(const struct ctl_setup *setup)
{
    const struct load_config config = { .width = log(1.25), .margin = .15, .dwell = 3, .lost = 12 };
    struct welch *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->n = ctl_arms(&setup->knob, s->arm, &s->base);
    load_init(&s->load, &config);
    return s;
}

static void enter(struct welch *s)
{
    size_t i = 0;

    while (i + 1 < WELCH_CLASSES && s->class[i].used && s->class[i].bucket != s->load.bucket)
        i++;
    s->c = &s->class[i];
    if (!s->c->used)
        *s->c = (struct welch_class){
            .used = true, .bucket = s->load.bucket, .at = s->base, .side = -1
        };
    s->after = false;
    s->k = 0;
    s->skip = 1;
}

static double t_value(const struct welch *s)
{
    double mean[2] = { 0 }, var[2] = { 0 };

    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < WELCH_N; i++)
            mean[g] += s->y[g][i] / WELCH_N;
        for (int i = 0; i < WELCH_N; i++)
            var[g] += (s->y[g][i] - mean[g]) * (s->y[g][i] - mean[g]) / (WELCH_N - 1);
    }
    return (mean[1] - mean[0]) / sqrt((var[0] + var[1]) / WELCH_N + 1e-12);
}

static size_t next_arm(struct welch *s)
{
    struct welch_class *c = s->c;

    if (s->n < 2)
        return c->at;
    if ((c->side < 0 && c->at == 0) || (c->side > 0 && c->at + 1 >= s->n))
        c->side = -c->side;
    return c->side > 0 ? c->at + 1 : c->at - 1;
}

static double judge(struct welch *s)
{
    struct welch_class *c = s->c;

    s->after = false;
    s->k = 0;
    if (t_value(s) > 1.7) {
        c->at = s->try;
        c->fails = 0;
        s->moves++;
    } else {
        c->side = -c->side;
        c->fails++;
        s->skip = 1;
        if (c->fails >= 2)
            c->rest = 30 * c->fails > 360 ? 360 : 30 * c->fails;
    }
    return s->arm[c->at];
}

static double welch_step(void *ctl, const struct tuner_window *w)
{
    struct welch *s = ctl;
    bool changed = load_update(&s->load, load_log(w->load));

    if (changed || !s->c) {
        enter(s);
        return s->arm[s->c->at];
    }
    if (s->skip > 0 || (!s->after && s->c->rest > 0)) {
        if (s->skip > 0)
            s->skip--;
        else
            s->c->rest--;
        return s->arm[s->after ? s->try : s->c->at];
    }
    s->y[s->after][s->k++] = log(w->objective);
    if (s->k < WELCH_N)
        return s->arm[s->after ? s->try : s->c->at];
    if (s->after)
        return judge(s);
    s->after = true;
    s->k = 0;
    s->skip = 1;
    s->try = next_arm(s);
    return s->arm[s->try];
}

static uint64_t welch_moves(const void *ctl)
{
    return ((const struct welch *)ctl)->moves;
}

const struct ctl ctl_welch = {
    .name = "welch",
    .new = welch_new,
    .step = welch_step,
    .moves = welch_moves,
    .free = free,
};
