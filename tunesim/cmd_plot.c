/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plot: one run as an SVG that a person can judge by eye: performance, value, load over time.
 * Must not need anything to look at it but a browser. */
#include "cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1000, PANEL = 180, LEFT = 80, TOP = 40, GAP = 45 };

static const uint32_t SMOOTH = 30; /* windows of the moving mean that is drawn */
static const int POINTS = 1200;

struct panel {
    int y;
    double lo, hi;
};

static double to_y(const struct panel *a, double v)
{
    v = fmin(fmax(v, a->lo), a->hi);
    return a->y + PANEL * (1.0 - (v - a->lo) / (a->hi - a->lo));
}

static void frame(const struct panel *a, const char *title, const char *unit)
{
    printf("<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#999'/>\n", LEFT, a->y,
           WIDTH, PANEL);
    printf("<text x='%d' y='%d' font-weight='bold'>%s</text>\n", LEFT, a->y - 6, title);
    for (int i = 0; i <= 4; i++) {
        double v = a->lo + (a->hi - a->lo) * i / 4.0;

        printf("<text x='%d' y='%.0f' text-anchor='end'>%.3g%s</text>\n", LEFT - 5, to_y(a, v) + 4,
               v, unit);
        printf("<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#eee'/>\n", LEFT, LEFT + WIDTH,
               to_y(a, v), to_y(a, v));
    }
}

static void curve(const struct panel *a, const double *v, uint32_t n, uint32_t smooth,
                  const char *style)
{
    double sum = 0.0;
    uint32_t step = n / (uint32_t)POINTS + 1;

    printf("<polyline fill='none' %s points='", style);
    for (uint32_t t = 0; t < n; t++) {
        sum += v[t];
        if (t >= smooth)
            sum -= v[t - smooth];
        if (t % step == 0)
            printf("%.1f,%.1f ", LEFT + WIDTH * (double)t / n,
                   to_y(a, sum / (t < smooth ? t + 1 : smooth)));
    }
    printf("'/>\n");
}

static void range_of(struct panel *a, const double *v, uint32_t n)
{
    double lo = v[0], hi = v[0];

    for (uint32_t t = 1; t < n; t++) {
        lo = fmin(lo, v[t]);
        hi = fmax(hi, v[t]);
    }
    a->lo = fmin(a->lo, lo - 0.02 * (hi - lo));
    a->hi = fmax(a->hi, hi + 0.02 * (hi - lo));
}

static void time_axis(const struct plant *p, int y)
{
    double hours = p->n * p->s->window_s / 3600.0,
           every = hours > 12.0 ? 4.0 : (hours > 3.0 ? 1.0 : 0.25);

    for (double h = 0.0; h <= hours + 1e-9; h += every)
        printf("<text x='%.0f' y='%d' text-anchor='middle'>%g h</text>\n", LEFT + WIDTH * h / hours,
               y, h);
}

static void draw(const struct plant *p, const struct run *r, const char *policy, uint64_t seed)
{
    struct panel perf = { TOP + 20, -3, 3 }, value = { TOP + 20 + PANEL + GAP, 0, 1 },
                 load = { TOP + 20 + 2 * (PANEL + GAP), INFINITY, -INFINITY };
    double *v = calloc(p->n, sizeof *v);
    double m[METRIC_COUNT];

    if (!v)
        return;
    metrics_of(p, r, m);
    printf("<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
           "font-family='sans-serif' font-size='12'>\n",
           WIDTH + LEFT + 20, load.y + PANEL + 50);
    printf("<rect width='100%%' height='100%%' fill='white'/>\n<text x='%d' y='22' "
           "font-size='16'>%s, %s, seed %llu: "
           "gain %.2f %%, %.0f %% of the oracle's, %llu moves, %.1f writes/h</text>\n",
           LEFT, p->s->name, policy, (unsigned long long)seed, m[METRIC_GAIN], m[METRIC_CAPTURED],
           (unsigned long long)r->moves, m[METRIC_WRITES]);
    for (uint32_t t = 0; t < p->n; t++)
        v[t] = 100.0 * (p->best[t] - 1.0);
    range_of(&perf, v, p->n);
    frame(&perf, "true performance against the default (grey: the best possible), 5 min mean",
          " %");
    curve(&perf, v, p->n, 1, "stroke='#bbb'");
    for (uint32_t t = 0; t < p->n; t++)
        v[t] = 100.0 * (r->relative[t] - 1.0);
    curve(&perf, v, p->n, SMOOTH, "stroke='#0a58ca' stroke-width='1.5'");
    for (uint32_t t = 0; t < p->n; t++)
        v[t] = p->table.ordered ? log2(r->value[t] / p->table.knob_default) : r->value[t];
    range_of(&value, v, p->n);
    frame(&value, p->table.ordered ? "value in force, log2(value / default)" : "value in force",
          "");
    curve(&value, v, p->n, 1, "stroke='#b02a37'");
    for (uint32_t t = 0; t < p->n; t++)
        v[t] = exp(p->load_seen[t]);
    range_of(&load, v, p->n);
    frame(&load, "load as observed", "");
    curve(&load, v, p->n, SMOOTH, "stroke='#198754'");
    time_axis(p, load.y + PANEL + 18);
    printf("</svg>\n");
    free(v);
}

int cmd_plot(const struct options *o)
{
    struct ctl_setup setup = { .seed = o->first_seed, .set = o->set };
    const char *policy = o->policy ? o->policy : "hillclimb";
    const struct ctl *c = ctl_find(policy, &setup.arg);
    struct scenario *s = calloc(1, sizeof *s);
    struct plant p = { 0 };
    struct run run = { 0 };
    int r = s && c ? scenario_load(s, o->files[0]) : -EINVAL;

    if (r == 0)
        r = plant_init(&p, s, o->first_seed);
    if (r == 0) {
        setup.plant = &p;
        plant_knob(&p, &setup.knob);
        r = ctl_run(&p, c, &setup, &run);
    }
    if (r == 0)
        draw(&p, &run, policy, o->first_seed);
    run_done(&run);
    plant_done(&p);
    free(s);
    return r < 0 ? (r == -EINVAL ? 2 : 1) : 0;
}
