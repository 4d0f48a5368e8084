/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load buckets and change detection, one number a window.
 * Must not know about knobs: the caller decides which windows may be shown here. */
#include "load.h"

#include "stat.h"

#include <math.h>
#include <string.h>

static const double LOAD_FLOOR = 0.5;   /* less than half a runnable thread is idle */
static const double LOAD_CEIL = 1e9;    /* keeps a bucket inside int32 whatever the sensor says */
static const double SMOOTH_GAIN = 0.25; /* slow average behind the median */
static const double JITTER_START = 0.03, JITTER_FOLLOW = 0.02;
static const double JITTER_SD = 0.886; /* sd per mean |difference| of two independent normals */
static const double FILTER_SD =
    0.37; /* sd left by median of 5 and slow average, measured on white noise */
static const double ELASTIC_FORGET = 0.99; /* per quad */
static const double ELASTIC_QUADS = 4.0, ELASTIC_SE = 0.25;
static const uint32_t LEVEL_LEARN = 8;   /* windows that make the first level */
static const double LEVEL_STEP = 0.1;    /* a dip moves the level by no more while it is learned */
static const double LEVEL_FOLLOW = 0.03; /* drift of hours is followed, a step is not */
static const double DIP_SD = 4.0, DIP_MIN = 0.1, DIP_FOLLOW = 0.01;
static const double SCALE_FOLLOW = 0.02;
static const double SCALE_START = 0.03;
static const double SCALE_MIN = 1e-5;

double load_log(double load)
{
    if (!(load > 0.0))
        return NAN;
    return log(stat_clip(load, LOAD_FLOOR, LOAD_CEIL));
}

void load_init(struct load_track *l, const struct load_config *config)
{
    memset(l, 0, sizeof *l);
    l->config = *config;
    l->jitter = JITTER_START;
}

void load_reset(struct load_track *l)
{
    struct load_config c = l->config;
    double jitter = l->jitter;

    load_init(l, &c);
    l->jitter = jitter;
}

double load_noise(const struct load_track *l)
{
    return JITTER_SD * l->jitter;
}

double load_smooth_noise(const struct load_track *l)
{
    return FILTER_SD * load_noise(l);
}

/* A jump of the load itself counts as little as a large noise. */
static void learn_jitter(struct load_track *l, double step)
{
    l->jitter +=
        JITTER_FOLLOW * (stat_min(fabs(step) * l->config.width, 4.0 * l->jitter) - l->jitter);
    l->jitter = stat_max(l->jitter, 1e-4);
}

static double median5(const double *v)
{
    double a = stat_min(v[0], v[1]), b = stat_max(v[0], v[1]), c = stat_min(v[2], v[3]),
           d = stat_max(v[2], v[3]);
    double lo = stat_max(a, c), hi = stat_min(b, d); /* the median is among lo, hi and the fifth */

    return stat_max(stat_min(lo, hi), stat_min(stat_max(lo, hi), v[4]));
}

static bool update_missing(struct load_track *l)
{
    if (l->known && l->bucket == LOAD_UNKNOWN)
        return false;
    if (l->known && ++l->missing < l->config.lost)
        return false;
    load_reset(l);
    l->known = true;
    l->bucket = LOAD_UNKNOWN;
    return true;
}

bool load_update(struct load_track *l, double log_load)
{
    double v, d, margin = l->config.margin;

    if (isnan(log_load))
        return update_missing(l);
    v = log_load / l->config.width;
    l->missing = 0;
    if (!l->known || l->bucket == LOAD_UNKNOWN) {
        l->known = true;
        l->bucket = (int32_t)floor(v + 0.5);
        l->smooth = v;
        l->outside = 0;
        for (int i = 0; i < LOAD_MEDIAN; i++)
            l->recent[i] = v;
        return true;
    }
    learn_jitter(l, v - l->recent[LOAD_MEDIAN - 1]);
    margin = stat_max(margin, l->config.noise_z * load_smooth_noise(l) / l->config.width);
    memmove(l->recent, l->recent + 1, (LOAD_MEDIAN - 1) * sizeof l->recent[0]);
    l->recent[LOAD_MEDIAN - 1] = v;
    v = median5(l->recent);
    d = v - l->smooth;
    l->smooth = fabs(d) < 1.0 ? l->smooth + SMOOTH_GAIN * d : v;
    if (!(fabs(l->smooth - (double)l->bucket) > 0.5 + margin)) {
        l->outside = 0;
        return false;
    }
    if (++l->outside < l->config.dwell)
        return false;
    l->bucket = (int32_t)floor(l->smooth + 0.5);
    l->outside = 0;
    return true;
}

double load_smooth(const struct load_track *l)
{
    if (!l->known || l->bucket == LOAD_UNKNOWN)
        return NAN;
    return l->smooth * l->config.width;
}

void elastic_learn(struct elastic *e, double effect, double shift)
{
    e->n = e->n * ELASTIC_FORGET + 1.0;
    e->xx = e->xx * ELASTIC_FORGET + effect * effect;
    e->xy = e->xy * ELASTIC_FORGET + effect * shift;
    e->yy = e->yy * ELASTIC_FORGET + shift * shift;
}

bool elastic_slope(const struct elastic *e, double *ret)
{
    double slope, rest;

    if (e->n < ELASTIC_QUADS || !(e->xx > 0.0))
        return false;
    slope = e->xy / e->xx;
    rest = stat_max(0.0, e->yy - slope * e->xy) / (e->n - 1.0);
    if (rest / e->xx > ELASTIC_SE * ELASTIC_SE)
        return false;
    *ret = stat_clip(slope, -2.0, 0.5);
    return true;
}

void level_init(struct level *v)
{
    memset(v, 0, sizeof *v);
    v->scale = SCALE_START;
}

void level_reset(struct level *v)
{
    v->known = false;
}

void level_set(struct level *v, double base)
{
    v->known = true;
    v->base = base;
    v->n = LEVEL_LEARN;
    v->down = v->up = 0.0;
}

bool level_update(struct level *v, const struct level_config *config, double log_y, uint64_t now)
{
    double dev, z;

    v->at = now;
    if (!v->known) {
        v->known = true;
        v->base = log_y;
        v->n = 1;
        v->down = v->up = 0.0;
        return false;
    }
    dev = log_y - v->base;
    if (v->n < LEVEL_LEARN) {
        v->n++;
        v->base += stat_clip(dev, -LEVEL_STEP, LEVEL_STEP) / (double)v->n;
        return false;
    }
    v->dips += DIP_FOLLOW * ((dev < -stat_max(DIP_MIN, DIP_SD * v->scale) ? 1.0 : 0.0) - v->dips);
    v->scale += SCALE_FOLLOW * (1.25 * stat_min(fabs(dev), 4.0 * v->scale) - v->scale);
    v->scale = stat_max(v->scale, SCALE_MIN);
    z = stat_clip(dev / v->scale, -4.0, 4.0);
    v->down = stat_max(0.0, v->down - z - config->slack);
    v->up = stat_max(0.0, v->up + z - config->slack);
    v->base += LEVEL_FOLLOW * stat_clip(dev, -4.0 * v->scale, 4.0 * v->scale);
    if (!(v->down > config->bar) && !(v->up > config->bar))
        return false;
    v->down = v->up = 0.0;
    return true;
}
