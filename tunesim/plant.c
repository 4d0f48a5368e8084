/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of the simulated host: trajectories are drawn at the start, windows are played one by
 * one. Must not know who chooses the values. */
#include "plant.h"

#include "stat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double OU_LOAD = 180.0, OU_DRIFT = 720.0; /* time constants in windows: 30 min, 2 h */
static const uint32_t LEVELS_USED = 4;                 /* a host revisits few load levels */

struct gauss { /* normals in pairs */
    uint64_t rng;
    double spare;
    bool has_spare;
};

static double uniform(struct gauss *g)
{
    return stat_uniform(&g->rng);
}

static double normal(struct gauss *g)
{
    double u, v, s;

    if (g->has_spare) {
        g->has_spare = false;
        return g->spare;
    }
    do {
        u = 2.0 * uniform(g) - 1.0;
        v = 2.0 * uniform(g) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s <= 0.0);
    s = sqrt(-2.0 * log(s) / s);
    g->spare = v * s;
    g->has_spare = true;
    return u * s;
}

static uint32_t below(struct gauss *g, uint32_t n)
{
    return (uint32_t)(uniform(g) * n);
}

/* Adds a stationary first-order process of standard deviation sd. */
static void add_process(struct gauss *g, double *v, uint32_t n, double sd, double memory)
{
    double x = sd * normal(g), e = sd * sqrt(1.0 - memory * memory);

    if (sd <= 0.0)
        return;
    for (uint32_t t = 0; t < n; t++) {
        x = memory * x + e * normal(g);
        v[t] += x;
    }
}

static void add_jump(struct plant *p, uint32_t t)
{
    if (p->n_jumps < PLANT_JUMPS && t < p->n)
        p->jumps[p->n_jumps++] = t;
}

static void draw_jumps(struct plant *p, struct gauss *g, double *load)
{
    const struct scenario *s = p->s;
    bool alternate = s->load == LOAD_ALTERNATE;
    size_t n = s->n_levels, used, cur = 0;
    double level[PLANT_LEVELS];

    memcpy(level, s->levels, sizeof level);
    used = n < LEVELS_USED || alternate ? n : LEVELS_USED;
    for (size_t i = 0; i < used && !alternate; i++) {
        size_t j = i + below(g, (uint32_t)(n - i));
        double v = level[i];

        level[i] = level[j];
        level[j] = v;
    }
    for (uint32_t t = 0; t < p->n;) {
        uint32_t end =
            t + 120 + (uint32_t)(-420.0 * log(1.0 - uniform(g))); /* at least 20 min, mean 90 */

        for (; t < end && t < p->n; t++) {
            load[t] = log(level[cur]);
            p->workload[t] = alternate ? (uint8_t)(cur % 2) : 0;
        }
        add_jump(p, t);
        cur = alternate ? (cur + 1) % used : (cur + 1 + below(g, (uint32_t)used - 1)) % used;
    }
}

static void draw_load(struct plant *p, struct gauss *g, double *load)
{
    const struct scenario *s = p->s;
    double lo = log(s->low), range = log(s->high) - lo, phase = uniform(g);
    uint32_t batch = below(g, p->n > 400 ? p->n - 400 : 1);

    switch (s->load) {
    case LOAD_STEADY:
        for (uint32_t t = 0; t < p->n; t++)
            load[t] = log(s->levels[0]);
        break;
    case LOAD_JUMPS:
    case LOAD_ALTERNATE:
        draw_jumps(p, g, load);
        break;
    case LOAD_DIURNAL: /* a day's wave and one batch hour */
        for (uint32_t t = 0; t < p->n; t++) {
            bool in_batch = t >= batch && t < batch + 360;

            load[t] = lo + range * (in_batch ? 1.0
                                             : 0.5 + 0.5 * sin(6.283185307179586 *
                                                               (t / (double)s->period + phase)));
        }
        add_jump(p, batch);
        add_jump(p, batch + 360);
        break;
    case LOAD_RAMP: /* slow climb, sudden drop */
        for (uint32_t t = 0; t < p->n; t++) {
            double z = t / (double)s->period + phase;

            load[t] = lo + range * (z - floor(z));
            if (t > 0 && load[t] < load[t - 1])
                add_jump(p, t);
        }
        break;
    case LOAD_KINDS:
        break;
    }
    add_process(g, load, p->n, s->load_drift, exp(-1.0 / OU_LOAD));
}

static void locate(const struct table *t, double load, uint8_t *ret_row, float *ret_weight)
{
    size_t j = 0, last = t->n_loads - 1;
    double l = fmin(fmax(load, t->log_load[0]), t->log_load[last]);

    while (j + 2 <= last && l > t->log_load[j + 1])
        j++;
    *ret_row = (uint8_t)j;
    *ret_weight =
        last == 0 ? 0.0f : (float)((l - t->log_load[j]) / (t->log_load[j + 1] - t->log_load[j]));
}

/* Random smooth curves, or random effects of unordered values: another one a load level and seed.
 */
static void draw_curves(struct plant *p, struct gauss *g)
{
    struct table *t = &p->table;
    size_t base = table_index(t, t->knob_default);

    for (size_t l = 0; l < t->n_loads; l++) {
        double amp[4];

        for (int i = 0; i < 4; i++)
            amp[i] = 0.06 * normal(g);
        for (size_t i = 0; i < t->n_grid; i++) {
            double x = log2(table_grid_value(t, i) / t->knob_default), v = 0.0;

            for (int k = 0; k < 4 && p->s->curves == CURVE_RANDOM; k++) {
                double z = (x - (-6.0 + 3.0 * k)) / 2.5;

                v += amp[k] * exp(-0.5 * z * z);
            }
            if (p->s->curves == CURVE_RANDOM_CHOICE)
                v = 0.05 * normal(g);
            t->effect[l][i] = v;
        }
        for (size_t i = t->n_grid; i-- > 0;)
            if (i != base)
                t->effect[l][i] -= t->effect[l][base];
        t->effect[l][base] = 0.0;
    }
}

static double effect_at(const struct plant *p, uint32_t t, size_t i)
{
    const struct table *tab = p->after[t] ? &p->second : &p->table;
    size_t j = p->row[t], j2 = j + 1 < tab->n_loads ? j + 1 : j;
    double w = (double)p->weight[t];

    return tab->effect[j][i] * (1.0 - w) + tab->effect[j2][i] * w;
}

static void find_best(struct plant *p)
{
    double sum = 0.0;
    size_t step = p->table.ordered ? 2 : 1; /* 0.1 octaves are close enough for a yardstick */

    for (uint32_t t = 0; t < p->n; t++) {
        double best = 0.0;
        size_t at = table_index(&p->table, p->table.knob_default);

        for (size_t i = 0; i < p->table.n_grid; i += step) {
            double v = effect_at(p, t, i);

            if (v > best) {
                best = v;
                at = i;
            }
        }
        p->best[t] = exp(best);
        p->best_at[t] = (uint16_t)at;
        sum += p->best[t];
    }
    p->best_mean = sum / p->n;
}

static void draw_base(struct plant *p, struct gauss *g, const double *load, double sigma,
                      double phi)
{
    const struct scenario *s = p->s;
    uint32_t k = s->dip_period ? below(g, s->dip_period) : 0;
    double expected = s->disturbances * p->n / 8640.0;

    for (uint32_t t = 0; t < p->n; t++) {
        const struct table *tab;
        size_t j, j2;
        double w;

        p->after[t] =
            p->s->has_second && (p->workload[t] == 1 || (s->regime_at && t >= s->regime_at));
        tab = p->after[t] ? &p->second : &p->table;
        locate(tab,
               s->regime_at && t >= s->regime_at && s->regime_load > 0.0 ? log(s->regime_load)
                                                                         : load[t],
               &p->row[t], &p->weight[t]);
        j = p->row[t];
        j2 = j + 1 < tab->n_loads ? j + 1 : j;
        w = (double)p->weight[t];
        p->base[t] = tab->level[j] * (1.0 - w) + tab->level[j2] * w;
        if (s->regime_at && t >= s->regime_at)
            p->base[t] =
                p->base[s->regime_at - 1]; /* the response changes silently, the level stays */
    }
    add_process(g, p->base, p->n, s->drift, exp(-1.0 / OU_DRIFT));
    add_process(g, p->base, p->n, sigma, phi);
    for (double u = uniform(g), c = exp(-expected); u > c; u *= uniform(g)) { /* Poisson */
        uint32_t a = below(g, p->n), n = 60 + below(g, 180);
        double d = log(1.0 - (0.10 + 0.15 * uniform(g)));

        for (uint32_t t = a; t < a + n && t < p->n; t++)
            p->base[t] += d;
    }
    for (uint32_t t = 0; t < p->n; t++) {
        bool periodic = s->dip_period != 0;
        uint32_t at = t;

        if (periodic ? t % s->dip_period != k
                     : s->dip_every == 0 || uniform(g) * s->dip_every >= 1.0)
            continue;
        at += periodic ? below(g, 2) : 0;
        double d = log(1.0 - (0.2 + 0.3 * uniform(g)));
        for (uint32_t n = 1 + below(g, 2); n > 0 && at < p->n; n--, at++)
            p->base[at] += d;
    }
}

static int allocate(struct plant *p)
{
    size_t n = p->n;

    p->base = calloc(n, sizeof *p->base);
    p->load_seen = calloc(n, sizeof *p->load_seen);
    p->row = calloc(n, sizeof *p->row);
    p->workload = calloc(n, sizeof *p->workload);
    p->after = calloc(n, sizeof *p->after);
    p->weight = calloc(n, sizeof *p->weight);
    p->best = calloc(n, sizeof *p->best);
    p->best_at = calloc(n, sizeof *p->best_at);
    if (p->base && p->load_seen && p->row && p->workload && p->after && p->weight && p->best &&
        p->best_at)
        return 0;
    plant_done(p);
    return -ENOMEM;
}

int plant_init(struct plant *p, const struct scenario *s, uint64_t seed)
{
    struct gauss g = { .rng = seed * 0x9E3779B97F4A7C15u };
    double sigma = s->sigma, phi = s->phi;
    int r;

    for (const char *c = s->name; *c; c++)
        g.rng = g.rng * 31 + (uint8_t)*c;
    memset(p, 0, sizeof *p);
    p->s = s;
    p->n = s->windows;
    p->table = s->table;
    p->second = s->has_second ? s->second : s->table;
    p->kappa = s->kappa;
    r = allocate(p);
    if (r < 0)
        return r;
    if (s->curves != CURVE_TABLE) {
        draw_curves(p, &g);
        sigma *= (1.0 + 5.0 * uniform(&g)) / 3.0; /* noise and settling differ from host to host */
        phi = 0.2 + 0.6 * uniform(&g);
        p->kappa = 0.3 + 0.6 * uniform(&g);
    }
    draw_load(p, &g, p->load_seen);
    draw_base(p, &g, p->load_seen, sigma, phi);
    if (s->regime_at)
        add_jump(p, s->regime_at);
    find_best(p);
    for (uint32_t t = 0; t < p->n; t++)
        p->load_seen[t] += s->load_noise * normal(&g);
    plant_rewind(p);
    return 0;
}

void plant_done(struct plant *p)
{
    free(p->base);
    free(p->load_seen);
    free(p->row);
    free(p->workload);
    free(p->after);
    free(p->weight);
    free(p->best);
    free(p->best_at);
    memset(p, 0, sizeof *p);
}

void plant_rewind(struct plant *p)
{
    p->t = 0;
    p->value = p->table.knob_default;
    p->at = table_index(&p->table, p->value);
    p->relaxed = p->dip = 0.0;
}

void plant_window(struct plant *p, struct tuner_window *ret, double *ret_relative)
{
    double e;

    p->relaxed += p->kappa * (effect_at(p, p->t, p->at) - p->relaxed);
    e = p->relaxed - p->dip;
    p->dip = 0.0;
    *ret_relative = exp(e);
    ret->objective = exp(p->base[p->t]) * *ret_relative;
    ret->load = p->s->blind ? NAN : exp(p->load_seen[p->t] - p->s->endogenous * e);
    ret->workload = p->workload[p->t];
    ret->disturbed = false;
    p->t++;
}

bool plant_write(struct plant *p, double value)
{
    if (fabs(value - p->value) <= 1e-9 * fabs(value))
        return false;
    p->value = value;
    p->at = table_index(&p->table, value);
    p->dip = p->s->write_dip;
    return true;
}

void plant_knob(const struct plant *p, struct tuner_knob *ret)
{
    const struct table *t = &p->table;

    *ret = (struct tuner_knob){
        .scale = t->ordered ? TUNER_SCALE_LOG : TUNER_SCALE_CHOICE,
        .baseline = t->knob_default,
        .min = t->knob_min,
        .max = t->knob_max,
    };
    if (t->ordered)
        return;
    for (size_t k = 0; k < t->n_knots; k++)
        ret->choices[ret->n_choices++] = t->knot[k];
}
