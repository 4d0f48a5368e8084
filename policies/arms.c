/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grid of values of each knob, and vectors of arms (one arm a knob).
 * Must not know what has been measured. */
#include "tuner_state.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double END_CELL = 0.5;     /* a clamped end is an arm of its own from half a cell on */
static const double MATCH_RATIO = 0.02; /* a value read back is this arm: kernels round */
static const double MATCH_UNITS = 0.51;

static bool is_positive(double v)
{
    return isfinite(v) && v > 0.0;
}

/* Values outward from the baseline on one side, nearest first; up to max of them. */
static size_t side_values(const struct tuner_knob *k, double factor, size_t max, double *ret)
{
    double end = factor > 1.0 ? k->max : k->min, v = k->baseline, last = v;
    size_t n = 0;

    if (factor > 1.0 ? end < v : end > v)
        return 0;
    while (n < max) {
        v *= factor;
        if (!is_positive(v) || (factor > 1.0 ? v > end : v < end))
            break;
        last = v;
        if (v >= k->min && v <= k->max)
            ret[n++] = v;
    }
    if (n < max && fabs(log2(end / last)) > END_CELL)
        ret[n++] = end;
    return n;
}

static int log_arms(struct knob_arms *r, const struct tuner_knob *k)
{
    double down[TUNER_ARMS_MAX], up[TUNER_ARMS_MAX];
    size_t nd, nu, room = TUNER_ARMS_MAX - 1;

    if (!is_positive(k->baseline) || !is_positive(k->min) || !is_positive(k->max) ||
        k->min > k->max)
        return -EINVAL;
    nd = side_values(k, 0.5, room, down);
    nu = side_values(k, 2.0, room, up);
    while (nd + nu > room) { /* too wide a range: what is nearest to the baseline */
        if (nd > nu)
            nd--;
        else
            nu--;
    }
    for (size_t i = 0; i < nd; i++)
        r->value[i] = down[nd - 1 - i];
    r->value[nd] = k->baseline;
    memcpy(r->value + nd + 1, up, nu * sizeof up[0]);
    r->n = (uint8_t)(nd + nu + 1);
    r->base = (uint8_t)nd;
    r->ordered = true;
    return 0;
}

static int choice_arms(struct knob_arms *r, const struct tuner_knob *k)
{
    if (!isfinite(k->baseline) || k->n_choices > TUNER_ARMS_MAX)
        return -EINVAL;
    r->value[0] = k->baseline;
    r->n = 1;
    for (size_t i = 0; i < k->n_choices; i++) {
        bool known = false;

        if (!isfinite(k->choices[i]))
            return -EINVAL;
        for (size_t j = 0; j < r->n; j++)
            known = known || r->value[j] == k->choices[i];
        if (known)
            continue;
        if (r->n == TUNER_ARMS_MAX)
            return -EINVAL;
        r->value[r->n++] = k->choices[i];
    }
    return 0;
}

int arms_init(struct knob_arms *ret, const struct tuner_knob *knob)
{
    struct knob_arms a = { 0 };
    int r = -EINVAL;

    switch (knob->scale) {
    case TUNER_SCALE_LOG:
        r = log_arms(&a, knob);
        break;
    case TUNER_SCALE_CHOICE:
        r = choice_arms(&a, knob);
        break;
    }
    if (r == 0)
        *ret = a;
    return r;
}

uint8_t arms_find(const struct knob_arms *arms, double value)
{
    uint8_t best = TUNER_NO_ARM;
    double near = INFINITY;

    if (isnan(value))
        return arms->base;
    for (uint8_t i = 0; i < arms->n; i++) {
        double d = fabs(value - arms->value[i]);

        if (d < near && d <= fmax(MATCH_UNITS, MATCH_RATIO * fabs(arms->value[i]))) {
            near = d;
            best = i;
        }
    }
    return best;
}

void arms_baseline(const struct tuner *t, uint8_t *ret)
{
    for (uint8_t i = 0; i < t->n_knobs; i++)
        ret[i] = t->arms[i].base;
}

void arms_incumbent(const struct tuner *t, const struct class_memory *c, uint8_t *ret)
{
    for (uint8_t i = 0; i < t->n_knobs; i++)
        ret[i] = c->knob[i].incumbent;
}

bool arms_equal(const struct tuner *t, const uint8_t *a, const uint8_t *b)
{
    for (uint8_t i = 0; i < t->n_knobs; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

bool arms_is_baseline(const struct tuner *t, const struct class_memory *c)
{
    for (uint8_t i = 0; i < t->n_knobs; i++)
        if (c->knob[i].incumbent != t->arms[i].base)
            return false;
    return true;
}

uint32_t arms_distance(const struct tuner *t, const uint8_t *a, const uint8_t *b)
{
    uint32_t n = 0;

    for (uint8_t i = 0; i < t->n_knobs; i++)
        n += a[i] != b[i];
    return n;
}
