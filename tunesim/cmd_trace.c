/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace and replay: one run as CSV, and a recorded CSV shown to a policy.
 *
 * Format of a trace: lines that begin with # are comments; then a header that begins with
 *   window,objective,load,workload,disturbed,value0[,value1...]
 * and one line a window: its number (a gap stands for missing windows), objective and load (empty
 * or nan: missing), workload number, 0 or 1, and the values that were in force during the window.
 * Further columns are ignored. trace itself adds: next,relative,best,bucket,trial,event,reason,debt
 * (next: what is put in force after the window). Must not judge a run. */
#include "cmd.h"

#include "tuner_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trials[] = { "none", "test", "check", "joint" };
static const char HEADER[] = "window,objective,load,workload,disturbed,value0";

static void trace_line(const struct plant *p, const struct tuner_window *w, double value,
                       double relative, const struct tuner *t)
{
    const struct tuner_decision *d = t ? tuner_last(t) : NULL;

    printf("%u,%.12g,%.9g,%u,%d,%.9g,%.9g,%.5f,%.5f,", p->t - 1, w->objective, w->load, w->workload,
           w->disturbed, value, p->value, relative, p->best[p->t - 1]);
    if (d)
        printf("%d,%s,%s,%s,%.2f\n", t->load.bucket, trials[tuner_trial(t)->kind],
               tuner_event_name(d->event), tuner_reason_name(d->reason), tuner_debt(t));
    else
        printf(",,,,\n");
}

static int trace_run(struct plant *p, const struct ctl *c, struct ctl_setup *setup)
{
    void *ctl = c->new (setup);
    bool ours = c == &ctl_hillclimb || c == &ctl_fixed;

    if (!ctl)
        return -EINVAL;
    printf("%s,next,relative,best,bucket,trial,event,reason,debt\n", HEADER);
    for (uint32_t t = 0; t < p->n; t++) {
        struct tuner_window w = { 0 };
        double value = p->value, relative;

        plant_window(p, &w, &relative);
        (void)plant_write(p, c->step(ctl, &w));
        trace_line(p, &w, value, relative, ours ? ctl_tuner(ctl) : NULL);
    }
    c->free(ctl);
    return 0;
}

int cmd_trace(const struct options *o)
{
    struct ctl_setup setup = { .seed = o->first_seed, .set = o->set };
    const struct ctl *c = ctl_find(o->policy ? o->policy : "hillclimb", &setup.arg);
    struct scenario *s = calloc(1, sizeof *s);
    struct plant p = { 0 };
    int r = s && c ? scenario_load(s, o->files[0]) : -EINVAL;

    if (r == 0)
        r = plant_init(&p, s, o->first_seed);
    if (r == 0) {
        setup.plant = &p;
        plant_knob(&p, &setup.knob);
        r = trace_run(&p, c, &setup);
    }
    plant_done(&p);
    free(s);
    return r < 0 ? (r == -EINVAL ? 2 : 1) : 0;
}

struct replay {
    struct tuner *t;
    uint8_t n_knobs;
    uint64_t next;
    uint64_t windows, agree;
};

static bool read_field(char **p, double *ret)
{
    char *end, *text = *p;
    size_t n = strcspn(text, ",\r\n");

    *p = text + n + (text[n] == ',');
    *ret = NAN;
    if (n == 0)
        return true;
    *ret = strtod(text, &end);
    return end == text + n;
}

static int start(struct replay *r, const double *value, const struct options *o)
{
    struct tuner_config c = { .n_knobs = r->n_knobs };
    const char *policy = o->policy ? o->policy : "hillclimb";
    int err;

    if (!policy_find(policy))
        return -EINVAL;
    tuner_params_default(&c.params);
    c.params.seed = o->first_seed;
    for (uint8_t i = 0; i < r->n_knobs; i++) {
        double base = i == 0 && isfinite(o->baseline) ? o->baseline : value[i];

        c.knobs[i] = (struct tuner_knob){
            .scale = TUNER_SCALE_LOG,
            .baseline = base,
            .min = i == 0 && isfinite(o->min) ? o->min : base / 50.0,
            .max = i == 0 && isfinite(o->max) ? o->max : base * 10.0,
        };
    }
    err = tuner_init(r->t, policy_find(policy), &c);
    for (const char *const *s = o->set; err == 0 && *s; s++)
        err = ctl_set(r->t, *s);
    return err;
}

static void show(uint64_t window, const struct tuner_decision *d, const struct replay *r)
{
    printf("%llu %s %s", (unsigned long long)window, tuner_event_name(d->event),
           tuner_reason_name(d->reason));
    for (uint8_t i = 0; i < r->n_knobs; i++)
        printf(" %.9g", d->value[i]);
    if (d->event != TUNER_EVENT_NONE && d->event != TUNER_EVENT_CLASS)
        printf("  knob %u: %.9g -> %.9g", d->knob, d->old_value, d->new_value);
    if (d->evidence.n > 0)
        printf("  n=%u mean=%+.4f se=%.4f interval=%+.4f..%+.4f e=%.3g bar=%.3g", d->evidence.n,
               d->evidence.mean, d->evidence.se, d->evidence.lo, d->evidence.hi, d->evidence.e,
               d->evidence.bar);
    printf("\n");
}

static int replay_line(struct replay *r, char *line, const struct options *o)
{
    struct tuner_window w = { 0 }, missing = { .objective = NAN, .load = NAN };
    double f[5], value[TUNER_KNOBS_MAX];
    uint64_t at;

    for (int i = 0; i < 5; i++)
        if (!read_field(&line, &f[i]))
            return -EINVAL;
    for (uint8_t i = 0; i < r->n_knobs; i++)
        if (!read_field(&line, &value[i]))
            return -EINVAL;
    if (!(f[0] >= 0.0) || f[0] > 1e15)
        return -EINVAL;
    at = (uint64_t)f[0];
    if (r->windows == 0 && start(r, value, o) < 0)
        return -EINVAL;
    for (uint64_t i = 0; i < TUNER_GUARDS_MAX; i++)
        w.guard[i] = missing.guard[i] = NAN;
    for (; r->windows > 0 && r->next < at && at - r->next < 1000000; r->next++)
        (void)tuner_step(r->t, &missing);
    w.objective = f[1];
    w.load = f[2];
    w.workload = f[3] > 0.0 && f[3] < 4e9 ? (uint32_t)f[3] : 0;
    w.disturbed = f[4] > 0.0;
    r->agree += r->windows == 0 || fabs(tuner_last(r->t)->value[0] - value[0]) <= 0.51;
    show(at, tuner_step(r->t, &w), r);
    r->next = at + 1;
    r->windows++;
    return 0;
}

static int count_values(const char *header)
{
    char name[16];
    int n = 0;

    if (strncmp(header, HEADER, strlen(HEADER)) != 0)
        return -EINVAL;
    do {
        n++;
        (void)snprintf(name, sizeof name, ",value%d", n);
    } while (n < TUNER_KNOBS_MAX && strstr(header, name));
    return n;
}

int cmd_replay(const struct options *o)
{
    struct replay r = { .t = malloc(tuner_size()) };
    FILE *f = fopen(o->files[0], "re");
    char *line = NULL;
    size_t size = 0;
    unsigned long at = 0;
    int err = r.t && f ? 0 : -ENOENT;

    while (err == 0 && getline(&line, &size, f) > 0) {
        at++;
        if (line[0] == '#')
            continue;
        if (r.n_knobs == 0) {
            int n = count_values(line);

            err = n < 0 ? n : 0;
            r.n_knobs = n > 0 ? (uint8_t)n : 0;
        } else {
            err = replay_line(&r, line, o);
        }
    }
    if (err < 0)
        fprintf(stderr, "tunesim: %s:%lu: %s\n", o->files[0], at,
                f ? "not a trace" : strerror(errno));
    else
        fprintf(
            stderr,
            "%llu windows; the value in force is what the policy would have had in %llu of them\n",
            (unsigned long long)r.windows, (unsigned long long)r.agree);
    if (f)
        fclose(f);
    free(line);
    free(r.t);
    return err < 0 ? 1 : 0;
}
