/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Response tables: CSV in, monotone interpolation, one grid of effects per measured load.
 * Must not know about time or noise. */
#include "plant.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 0.05;          /* grid of an ordered knob, log2 units */
static const double RANGE_LO = 1e4 / 5e5; /* range of a knob of which the table says none */
static const double RANGE_HI = 5e6 / 5e5;

static double end_slope(double h0, double h1, double s0, double s1)
{
    double v = ((2.0 * h0 + h1) * s0 - h0 * s1) / (h0 + h1);

    if (v * s0 <= 0.0)
        return 0.0;
    if (s0 * s1 <= 0.0 && fabs(v) > 3.0 * fabs(s0))
        return 3.0 * s0;
    return v;
}

/* Fritsch-Butland slopes of n >= 2 knots. */
static void slopes(const double *x, const double *y, size_t n, double *d)
{
    double h[PLANT_KNOTS], s[PLANT_KNOTS];

    for (size_t i = 0; i + 1 < n; i++) {
        h[i] = x[i + 1] - x[i];
        s[i] = (y[i + 1] - y[i]) / h[i];
    }
    if (n == 2) {
        d[0] = d[1] = s[0];
        return;
    }
    for (size_t i = 1; i + 1 < n; i++) {
        double w1 = 2.0 * h[i] + h[i - 1], w2 = h[i] + 2.0 * h[i - 1];

        d[i] = s[i - 1] * s[i] > 0.0 ? (w1 + w2) / (w1 / s[i - 1] + w2 / s[i]) : 0.0;
    }
    d[0] = end_slope(h[0], h[1], s[0], s[1]);
    d[n - 1] = end_slope(h[n - 2], h[n - 3], s[n - 2], s[n - 3]);
}

static double pchip(const double *xk, const double *yk, const double *d, size_t n, double x)
{
    size_t j = 0;
    double h, t;

    x = fmin(fmax(x, xk[0]), xk[n - 1]);
    while (j + 2 < n && x > xk[j + 1])
        j++;
    h = xk[j + 1] - xk[j];
    t = (x - xk[j]) / h;
    return (1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t) * yk[j] + t * (1.0 - t) * (1.0 - t) * h * d[j] +
           t * t * (3.0 - 2.0 * t) * yk[j + 1] + t * t * (t - 1.0) * h * d[j + 1];
}

double table_grid_value(const struct table *t, size_t i)
{
    if (!t->ordered)
        return t->knot[i];
    return fmin(fmax(t->knob_default * exp2(t->x0 + STEP * (double)i), t->knob_min), t->knob_max);
}

size_t table_index(const struct table *t, double value)
{
    double i;

    if (!t->ordered) {
        size_t best = 0;

        for (size_t k = 1; k < t->n_knots; k++)
            if (fabs(t->knot[k] - value) < fabs(t->knot[best] - value))
                best = k;
        return best;
    }
    i = floor((log2(value / t->knob_default) - t->x0) / STEP + 0.5);
    return i < 0.0 ? 0 : (i >= (double)t->n_grid ? t->n_grid - 1 : (size_t)i);
}

static size_t find_knot(const struct table *t, double value)
{
    for (size_t k = 0; k < t->n_knots; k++)
        if (t->knot[k] >= value && t->knot[k] <= value)
            return k;
    return 0;
}

void table_build(struct table *t)
{
    size_t base = find_knot(t, t->knob_default);
    double x[PLANT_KNOTS], d[PLANT_KNOTS];

    if (t->ordered) {
        double lo = ceil(log2(t->knob_min / t->knob_default) / STEP - 0.01) - 1.0;
        double hi = floor(log2(t->knob_max / t->knob_default) / STEP + 0.01) + 1.0;

        t->x0 = lo * STEP;
        t->n_grid = (size_t)(hi - lo) + 1;
        if (t->n_grid > PLANT_GRID)
            t->n_grid = PLANT_GRID;
    } else {
        t->n_grid = t->n_knots;
    }
    for (size_t k = 0; k < t->n_knots; k++)
        x[k] = t->ordered ? log2(t->knot[k] / t->knob_default) : (double)k;
    for (size_t l = 0; l < t->n_loads; l++) {
        t->level[l] = t->value[l][base];
        if (t->ordered)
            slopes(x, t->value[l], t->n_knots, d);
        for (size_t i = 0; i < t->n_grid; i++) {
            double v = t->ordered ? pchip(x, t->value[l], d, t->n_knots, t->x0 + STEP * (double)i)
                                  : t->value[l][i];

            t->effect[l][i] = v - t->level[l];
        }
    }
}

static int add_cell(struct table *t, double load, double knob, double value)
{
    size_t l = 0, k = 0;
    double ll = log(load);

    while (l < t->n_loads && fabs(t->log_load[l] - ll) > 1e-9)
        l++;
    while (k < t->n_knots && fabs(t->knot[k] - knob) > 1e-9)
        k++;
    if (l == PLANT_LOADS || k == PLANT_KNOTS || !(load > 0.0) || !(value > 0.0))
        return -EINVAL;
    if ((l == t->n_loads && l > 0 && ll < t->log_load[l - 1]) ||
        (k == t->n_knots && k > 0 && knob < t->knot[k - 1]))
        return -EINVAL; /* loads and knob values ascend */
    t->log_load[l] = ll;
    t->knot[k] = knob;
    if (l == t->n_loads)
        t->n_loads++;
    if (k == t->n_knots)
        t->n_knots++;
    t->value[l][k] = log(value);
    return 0;
}

static int parse_line(struct table *t, const char *line)
{
    const char *def = strstr(line, "default=");
    double v[3];
    char *end;

    if (line[0] == '#') {
        if (def)
            t->knob_default = strtod(def + strlen("default="), NULL);
        return 0;
    }
    if (strncmp(line, "load,", 5) == 0 || line[0] == '\n')
        return 0;
    for (int i = 0; i < 3; i++) {
        v[i] = strtod(line, &end);
        if (end == line || (i < 2 && *end != ','))
            return -EINVAL;
        line = end + 1;
    }
    return add_cell(t, v[0], v[1], v[2]);
}

int table_load(struct table *ret, const char *path)
{
    FILE *f = fopen(path, "re");
    char line[512];
    int r = 0, n = 0;

    if (!f) {
        r = -errno;
        fprintf(stderr, "tunesim: %s: %s\n", path, strerror(-r));
        return r;
    }
    memset(ret, 0, sizeof *ret);
    while (r == 0 && fgets(line, sizeof line, f)) {
        n++;
        r = parse_line(ret, line);
    }
    fclose(f);
    if (r == 0 && (ret->n_loads < 1 || ret->n_knots < 2))
        r = -EINVAL;
    if (r < 0) {
        fprintf(stderr, "tunesim: %s:%d: not a response table\n", path, n);
        return r;
    }
    ret->ordered = ret->knob_default > 0.0 && ret->n_knots > 2;
    ret->knob_min = ret->ordered ? ret->knob_default * RANGE_LO : ret->knot[0];
    ret->knob_max = ret->ordered ? ret->knob_default * RANGE_HI : ret->knot[ret->n_knots - 1];
    table_build(ret);
    return 0;
}
