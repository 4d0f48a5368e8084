/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter: a policy as a process, for a plant that is not ours; one line each way.
 *   in   INIT <default> <min> <max> <window_s> <seed>
 *        W <t> <objective> <load>      objective nan or <= 0: missing; load nan or <= 0: not
 * observable END out  K <value> <moves>             value for the next window, within [min, max]
 * Must not accept anything else: an error names the line, exit 2. */
#include "cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8 };

static const uint64_t GAP_MAX = 1000000; /* windows that a jump of t stands for, at most */

struct filter {
    const struct ctl *ctl;
    const char *arg;
    void *state;
    struct tuner_knob knob;
    double lo, hi, last;
    bool started, ours;
    uint64_t next, writes;
    unsigned long line;
};

static int bad(const struct filter *f, const char *what)
{
    fprintf(stderr, "tunesim filter: line %lu: %s\n", f->line, what);
    return 2;
}

/* Splits at blanks; FIELDS + 1 when there are more. */
static int split(char *line, char **ret)
{
    int n = 0;
    char *save = NULL;

    for (char *p = strtok_r(line, " \t\r\n", &save); p; p = strtok_r(NULL, " \t\r\n", &save)) {
        if (n == FIELDS)
            return FIELDS + 1;
        ret[n++] = p;
    }
    return n;
}

static bool read_real(const char *text, double *ret)
{
    char *end;

    *ret = strtod(text, &end);
    return end != text && *end == '\0';
}

static bool read_count(const char *text, uint64_t *ret)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return *end == '\0';
}

static int add_categories(struct filter *f, const char *text)
{
    char *end;

    f->knob.scale = TUNER_SCALE_CHOICE;
    for (;;) {
        double v = strtod(text, &end);

        if (end == text || !isfinite(v) || f->knob.n_choices == TUNER_ARMS_MAX - 1)
            return 2;
        if (v >= f->lo && v <= f->hi)
            f->knob.choices[f->knob.n_choices++] = v;
        if (*end == '\0')
            return 0;
        if (*end != ',')
            return 2;
        text = end + 1;
    }
}

static int on_init(struct filter *f, char **v, int n, const struct options *o)
{
    struct ctl_setup setup = { .arg = f->arg, .set = o->set };
    double def, window;
    uint64_t seed;

    if (f->started)
        return bad(f, "a second INIT");
    if (n != 6 || !read_real(v[1], &def) || !read_real(v[2], &f->lo) || !read_real(v[3], &f->hi) ||
        !read_real(v[4], &window) || !read_count(v[5], &seed))
        return bad(f, "INIT wants <default> <min> <max> <window_s> <seed>");
    if (!isfinite(def) || !isfinite(f->lo) || !isfinite(f->hi) || f->lo > f->hi || !(window > 0.0))
        return bad(f, "INIT: numbers out of range");
    f->knob = (struct tuner_knob){
        .scale = TUNER_SCALE_LOG, .baseline = def, .min = f->lo, .max = f->hi
    };
    if (o->categories && add_categories(f, o->categories) != 0)
        return bad(f, "--categories: not a list of numbers");
    setup.knob = f->knob;
    setup.seed = seed;
    f->state = f->ctl->new (&setup);
    if (!f->state)
        return bad(f, "INIT: this policy cannot be set up for this knob");
    f->last = def;
    f->started = true;
    return 0;
}

static void step(struct filter *f, const struct tuner_window *w)
{
    double v = f->last;

    if (f->ours || (isfinite(w->objective) && w->objective > 0.0))
        v = f->ctl->step(f->state, w);
    f->writes += v < f->last || v > f->last;
    f->last = v;
}

static int on_window(struct filter *f, char **v, int n)
{
    struct tuner_window w = { .objective = NAN, .load = NAN };
    double objective, load;
    uint64_t t;

    if (!f->started)
        return bad(f, "W before INIT");
    if (n != 4 || !read_count(v[1], &t) || !read_real(v[2], &objective) || !read_real(v[3], &load))
        return bad(f, "W wants <t> <objective> <load>");
    for (size_t i = 0; i < TUNER_GUARDS_MAX; i++)
        w.guard[i] = NAN;
    for (uint64_t i = 0; f->next > 0 && f->next < t && i < GAP_MAX; i++, f->next++)
        step(f, &w); /* t counts windows: those left out are missing */
    f->next = t + 1;
    w.objective = objective;
    w.load = load;
    step(f, &w);
    printf("K %.17g %llu\n", fmin(fmax(f->last, f->lo), f->hi),
           (unsigned long long)(f->ctl->moves ? f->ctl->moves(f->state) : f->writes));
    fflush(stdout);
    return 0;
}

int cmd_filter(const struct options *o)
{
    const char *name = o->policy ? o->policy : "hillclimb";
    struct filter f = { 0 };
    char *line = NULL, *v[FIELDS];
    size_t size = 0;
    int r = 0;
    bool end = false;

    f.ctl = ctl_find(name, &f.arg);
    if (!f.ctl || f.ctl == &ctl_oracle) {
        fprintf(stderr, "tunesim filter: policy \"%s\" is unknown or needs a plant of ours\n",
                name);
        return 2;
    }
    f.ours = f.ctl == &ctl_hillclimb || f.ctl == &ctl_fixed;
    while (r == 0 && !end && getline(&line, &size, stdin) > 0) {
        int n;

        f.line++;
        n = split(line, v);
        if (n == 0)
            r = bad(&f, "empty line");
        else if (strcmp(v[0], "W") == 0)
            r = on_window(&f, v, n);
        else if (strcmp(v[0], "INIT") == 0)
            r = on_init(&f, v, n, o);
        else if (strcmp(v[0], "END") == 0 && n == 1)
            end = true;
        else
            r = bad(&f, strcmp(v[0], "END") == 0 ? "END takes no field" : "unknown verb");
    }
    if (f.state)
        f.ctl->free(f.state);
    free(line);
    return r;
}
