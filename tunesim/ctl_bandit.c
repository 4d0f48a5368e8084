/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discounted Thompson sampling over the arms, per load class; one pull is a settling window and
 * five measured. A yardstick of what a textbook bandit does. */
#include "ctl.h"

#include "load.h"
#include "stat.h"
#include "tuner_state.h"

#include <math.h>
#include <stdlib.h>

enum { BANDIT_PULL = 5, BANDIT_CLASSES = 128 };

struct bandit_class {
    bool used;
    int32_t bucket;
    double n[TUNER_ARMS_MAX], s[TUNER_ARMS_MAX], level_n, level_s;
};

struct bandit {
    double arm[TUNER_ARMS_MAX];
    size_t n_arms, at, k;
    uint64_t rng;
    struct load_track load;
    struct bandit_class class[BANDIT_CLASSES], *c;
    int skip;
    double y[BANDIT_PULL];
};

static const double FORGET = 0.99, LEVEL_FORGET = 0.97;
static const double PULL_VAR = 0.04 * 0.04, PRIOR_VAR = 0.05 * 0.05;

static void *bandit_new(const struct ctl_setup *setup)
{
    const struct load_config config = { .width = log(1.25), .margin = .15, .dwell = 3, .lost = 12 };
    struct bandit *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->n_arms = ctl_arms(&setup->knob, s->arm, &s->at);
    s->rng = setup->seed * 77 + 1;
    load_init(&s->load, &config);
    return s;
}

static double normal(uint64_t *rng)
{
    double u = 1.0 - stat_uniform(rng), v = stat_uniform(rng);

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static double pick(struct bandit *s)
{
    size_t best = 0;
    double most = -INFINITY;

    for (size_t i = 0; i < s->n_arms; i++) {
        double var = 1.0 / (1.0 / PRIOR_VAR + s->c->n[i] / PULL_VAR);
        double v = var * s->c->s[i] / PULL_VAR + sqrt(var) * normal(&s->rng);

        if (v > most) {
            most = v;
            best = i;
        }
    }
    s->skip = best != s->at;
    s->at = best;
    s->k = 0;
    return s->arm[best];
}

static double bandit_step(void *ctl, const struct tuner_window *w)
{
    struct bandit *s = ctl;
    bool changed = load_update(&s->load, load_log(w->load));
    struct bandit_class *c;
    double r, level;
    size_t i = 0;

    if (changed || !s->c) {
        while (i + 1 < BANDIT_CLASSES && s->class[i].used && s->class[i].bucket != s->load.bucket)
            i++;
        s->c = &s->class[i];
        s->c->used = true;
        s->c->bucket = s->load.bucket;
        return pick(s);
    }
    if (s->skip > 0) {
        s->skip--;
        return s->arm[s->at];
    }
    s->y[s->k++] = log(w->objective);
    if (s->k < BANDIT_PULL)
        return s->arm[s->at];
    c = s->c;
    r = stat_median(s->y, BANDIT_PULL);
    level = c->level_n > 0.0 ? c->level_s / c->level_n : r;
    c->level_n = c->level_n * LEVEL_FORGET + 1.0;
    c->level_s = c->level_s * LEVEL_FORGET + r;
    for (i = 0; i < s->n_arms; i++) {
        c->n[i] *= FORGET;
        c->s[i] *= FORGET;
    }
    c->n[s->at] += 1.0;
    c->s[s->at] += r - level;
    return pick(s);
}

const struct ctl ctl_bandit = {
    .name = "bandit", .new = bandit_new, .step = bandit_step, .free = free
};
