/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench: windows a second with the plant, steps a second of tuner_step() alone.
 * Must not be used to judge a policy. */
#include "cmd.h"

#include "tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The windows of one run, shown again and again. */
static double steps_per_second(const struct scenario *s)
{
    struct tuner_window *w = calloc(s->windows, sizeof *w);
    struct tuner_config c = { .n_knobs = 1 };
    struct tuner *t = malloc(tuner_size());
    struct plant p;
    double start, end, relative;
    uint64_t n = 0;

    if (!w || !t || plant_init(&p, s, 1) < 0) {
        free(w);
        free(t);
        return NAN;
    }
    for (uint32_t i = 0; i < s->windows; i++)
        plant_window(&p, &w[i], &relative);
    tuner_params_default(&c.params);
    plant_knob(&p, &c.knobs[0]);
    (void)tuner_init(t, policy_find("hillclimb"), &c);
    start = seconds();
    do {
        for (uint32_t i = 0; i < s->windows; i++)
            (void)tuner_step(t, &w[i]);
        n += s->windows;
        end = seconds();
    } while (end - start < 1.0);
    plant_done(&p);
    free(w);
    free(t);
    return (double)n / (end - start);
}

int cmd_bench(const struct options *o)
{
    const char *file = o->n_files > 0 ? o->files[0] : "tests/sim/scenarios/steady.ini";
    struct scenario *s = calloc(1, sizeof *s);
    struct options seeds = *o;
    struct batch b;
    double start;
    int r;

    r = s ? scenario_load(s, file) : -1;
    seeds.first_seed = 1;
    seeds.last_seed = 200;
    start = seconds();
    if (r == 0)
        r = batch_run(s, "hillclimb", &seeds, &b);
    if (r == 0) {
        printf("plant and hillclimb: %.2f million windows/s\n",
               200e-6 * s->windows / (seconds() - start));
        printf("tuner_step alone:    %.2f million steps/s\n", 1e-6 * steps_per_second(s));
        batch_done(&b);
    }
    free(s);
    return r == 0 ? 0 : 1;
}
