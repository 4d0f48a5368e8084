/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws one series as SVG: no script, no external file, as many points as the panel has columns. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "sentence.h"
#include "text.h"
#include "util.h"

enum { WIDTH = 960, HEIGHT = 150, LEFT = 78, RIGHT = 12, TOP = 22, BOTTOM = 22, TICKS = 5 };
enum { PLOT_WIDTH = WIDTH - LEFT - RIGHT };

struct scale {
    double t0, t1, lo, hi; /* of the value, ln where it is a log scale */
    bool is_log;
};

void report_escape(FILE *out, const char *s)
{
    char clean[1024];

    for (const char *p = text_clean(clean, sizeof clean, s, sizeof clean); *p; p++) {
        switch (*p) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc(*p, out);
        }
    }
}

static bool is_shown(double v, bool is_log)
{
    /* Differences and sums of what is drawn must stay finite. */
    return fabs(v) < 1e200 && (!is_log || v > 0);
}

/* False when there is nothing to draw. */
static bool find_scale(const struct report *r, const struct report_series *s, struct scale *ret)
{
    struct scale c = { .lo = INFINITY, .hi = -INFINITY, .is_log = s->is_knob };

    for (size_t i = 0; i < r->n; i++) {
        if (!is_shown(s->value[i], c.is_log))
            continue;
        double v = c.is_log ? log(s->value[i]) : s->value[i];
        c.lo = fmin(c.lo, v);
        c.hi = fmax(c.hi, v);
    }
    if (!(c.lo <= c.hi))
        return false;
    /* Room above and below; a constant is a line in the middle. */
    double margin = c.hi > c.lo ? 0.05 * (c.hi - c.lo)
                    : c.is_log  ? 1
                                : fmax(fabs(c.hi) * 0.1, 1e-9);
    c.lo -= margin;
    c.hi += margin;
    c.t0 = r->time[0];
    c.t1 = r->time[r->n - 1] > c.t0 ? r->time[r->n - 1] : c.t0 + 1;
    *ret = c;
    return true;
}

static double x_of(const struct scale *c, double t)
{
    return LEFT + PLOT_WIDTH * (t - c->t0) / (c->t1 - c->t0);
}

static double y_of(const struct scale *c, double v)
{
    return TOP +
           (HEIGHT - TOP - BOTTOM) * (1 - ((c->is_log ? log(v) : v) - c->lo) / (c->hi - c->lo));
}

static void draw_axes(FILE *out, const struct scale *c, const struct report_series *s)
{
    char text[TEXT_SHORT];

    for (int i = 0; i < 3; i++) {
        double v = c->lo + (c->hi - c->lo) * (0.1 + 0.4 * i), y = y_of(c, c->is_log ? exp(v) : v);
        (void)fprintf(out,
                      "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                      "class=\"r\">%s</text>\n",
                      LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4,
                      text_value(text, sizeof text, c->is_log ? exp(v) : v, s->unit));
    }
    for (int i = 0; i < TICKS; i++) {
        double t = c->t0 + (c->t1 - c->t0) * i / (TICKS - 1);
        (void)fprintf(out, "<text x=\"%.0f\" y=\"%d\" class=\"%s\">%s</text>\n", x_of(c, t),
                      HEIGHT - 4,
                      i == 0           ? "l"
                      : i == TICKS - 1 ? "r"
                                       : "m",
                      text_time(text, sizeof text, t));
    }
}

/* Every change of a knob; nothing between two equal values. */
static void draw_steps(FILE *out, const struct report *r, const struct report_series *s,
                       const struct scale *c)
{
    bool open = false;
    double last = NAN;

    (void)fputs("<path class=\"k\" d=\"", out);
    for (size_t i = 0; i < r->n; i++) {
        double v = s->value[i];
        if (!is_shown(v, true)) {
            open = false;
            continue;
        }
        if (!open)
            (void)fprintf(out, "M%.1f %.1f", x_of(c, r->time[i]), y_of(c, v));
        else if (v != last || i + 1 == r->n || !is_shown(s->value[i + 1], true))
            (void)fprintf(out, "H%.1fV%.1f", x_of(c, r->time[i]), y_of(c, v));
        open = true;
        last = v;
    }
    (void)fputs("\"/>\n", out);
}

/* Mean of each column of the panel; a column without a value is a gap. */
static void draw_means(FILE *out, const struct report *r, const struct report_series *s,
                       const struct scale *c)
{
    bool open = false;
    size_t i = 0;

    (void)fputs("<path class=\"v\" d=\"", out);
    while (i < r->n) {
        double x = floor(x_of(c, r->time[i])), sum = 0;
        size_t n = 0;
        for (; i < r->n && floor(x_of(c, r->time[i])) <= x; i++) {
            if (is_shown(s->value[i], false)) {
                sum += s->value[i];
                n++;
            }
        }
        if (n > 0)
            (void)fprintf(out, "%c%.0f %.1f", open ? 'L' : 'M', x, y_of(c, sum / (double)n));
        open = n > 0;
    }
    (void)fputs("\"/>\n", out);
}

static const char *class_of(const struct store_decision *d)
{
    static const char *const events[] = { "accept", "rollback", "abort", "foreign" };

    for (size_t i = 0; i < ELEMENTSOF(events); i++)
        if (strcmp(d->event, events[i]) == 0)
            return events[i];
    return NULL;
}

static void draw_marks(FILE *out, const struct report *r, const struct report_series *s,
                       const struct scale *c)
{
    char text[512];

    for (size_t i = 0; i < r->n_marks; i++) {
        const struct store_decision *d = &r->mark[i];
        double t = (double)d->real_ns / 1e9;
        if (!class_of(d) || t < c->t0 || t > c->t1 || (s->is_knob && strcmp(d->knob, s->name) != 0))
            continue;
        (void)fprintf(out, "<path class=\"%s\" d=\"M%.1f %dV%d\"><title>", class_of(d), x_of(c, t),
                      TOP, HEIGHT - BOTTOM);
        report_escape(out, d->knob);
        (void)fputs(": ", out);
        report_escape(out, sentence(text, sizeof text, d));
        (void)fputs("</title></path>\n", out);
    }
}

void report_draw(FILE *out, const struct report *r, const struct report_series *s)
{
    struct scale c;

    if (r->n == 0 || !find_scale(r, s, &c))
        return;
    (void)fprintf(
        out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<text x=\"%d\" y=\"14\" class=\"l t\">",
        WIDTH, HEIGHT, LEFT);
    report_escape(out, s->name);
    (void)fprintf(out, "%s%s</text>\n", *s->unit && !s->is_knob ? ", " : "",
                  s->is_knob ? "" : s->unit);
    draw_axes(out, &c, s);
    draw_marks(out, r, s, &c);
    if (s->is_knob)
        draw_steps(out, r, s, &c);
    else
        draw_means(out, r, s, &c);
    (void)fputs("</svg>\n", out);
}
