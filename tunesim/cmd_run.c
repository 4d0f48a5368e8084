/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run, compare, check: a scenario over many seeds, and its yardsticks as lines, tables or verdicts.
 * Must not compute a yardstick; metrics.c does. */
#include "cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t SEEDS_FOR_TAILS =
    20; /* bounds on percentiles but the median need that many runs */

static const char *const policies[] = { "fixed",  "static:50000000", "static:1381000",
                                        "oracle", "naive",           "welch",
                                        "bandit", "hillclimb",       NULL };

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_seed(const struct scenario *s, const struct ctl *c, const char *arg, uint64_t seed,
                    const struct options *o, struct run *run, double *ret)
{
    struct ctl_setup setup = { .seed = seed, .arg = arg, .set = o->set };
    struct plant p;
    int r = plant_init(&p, s, seed);

    if (r < 0)
        return r;
    setup.plant = &p;
    plant_knob(&p, &setup.knob);
    r = ctl_run(&p, c, &setup, run);
    if (r == 0)
        metrics_of(&p, run, ret);
    plant_done(&p);
    return r;
}

int batch_run(const struct scenario *s, const char *policy, const struct options *o,
              struct batch *ret)
{
    size_t n = o->last_seed - o->first_seed + 1;
    double start = seconds();
    struct run run = { 0 };
    const char *arg;
    const struct ctl *c = ctl_find(policy, &arg);
    int r = 0;

    if (!c) {
        fprintf(stderr, "tunesim: unknown policy \"%s\"; known: %s\n", policy, ctl_words());
        return -EINVAL;
    }
    *ret = (struct batch){ .n = n, .metrics = calloc(n * METRIC_COUNT, sizeof(double)) };
    if (!ret->metrics)
        return -ENOMEM;
    for (size_t i = 0; i < n && r == 0; i++)
        r = run_seed(s, c, arg, o->first_seed + i, o, &run, ret->metrics + i * METRIC_COUNT);
    run_done(&run);
    ret->seconds = seconds() - start;
    if (r < 0) {
        fprintf(stderr, "tunesim: %s, %s: %s\n", s->name, policy, strerror(-r));
        batch_done(ret);
    }
    return r;
}

void batch_done(struct batch *b)
{
    free(b->metrics);
    *b = (struct batch){ 0 };
}

double batch_percentile(const struct batch *b, enum metric m, int percentile)
{
    double *v = calloc(b->n, sizeof *v), r;

    if (!v)
        return NAN;
    for (size_t i = 0; i < b->n; i++)
        v[i] = b->metrics[i * METRIC_COUNT + m];
    r = metric_percentile(v, b->n, percentile);
    free(v);
    return r;
}

static void print_number(double v, bool json)
{
    if (isfinite(v))
        printf("%.2f", v);
    else if (json)
        printf("null");
    else
        printf("%s", isnan(v) ? "-" : "never");
}

static void print_json(const struct scenario *s, const char *policy, const struct batch *b,
                       bool first)
{
    static const struct {
        const char *name;
        int percentile;
    } which[] = { { "mean", -1 }, { "p5", 5 }, { "p50", 50 }, { "p95", 95 } };

    printf("%s{\"scenario\":\"%s\",\"policy\":\"%s\",\"seeds\":%zu,\"seconds\":%.3f",
           first ? "[" : ",\n", s->name, policy, b->n, b->seconds);
    for (int m = 0; m < METRIC_COUNT; m++) {
        printf(",\"%s\":{", metric_names[m]);
        for (size_t i = 0; i < 4; i++) {
            printf("%s\"%s\":", i ? "," : "", which[i].name);
            print_number(batch_percentile(b, (enum metric)m, which[i].percentile), true);
        }
        printf("}");
    }
    printf("}");
}

static void print_text(const char *policy, const struct batch *b)
{
    printf("%s (%zu seeds, %.2f s)\n", policy, b->n, b->seconds);
    for (int m = 0; m < METRIC_COUNT; m++) {
        printf("  %-10s median ", metric_names[m]);
        print_number(batch_percentile(b, (enum metric)m, 50), false);
        printf("  5 %% ");
        print_number(batch_percentile(b, (enum metric)m, 5), false);
        printf("  95 %% ");
        print_number(batch_percentile(b, (enum metric)m, 95), false);
        printf("  mean ");
        print_number(batch_percentile(b, (enum metric)m, -1), false);
        printf("\n");
    }
}

static void print_seeds(const struct batch *b, const struct options *o)
{
    for (size_t i = 0; i < b->n; i++) {
        printf("seed %llu", (unsigned long long)(o->first_seed + i));
        for (int m = 0; m < METRIC_COUNT; m++) {
            printf(" %s=", metric_names[m]);
            print_number(b->metrics[i * METRIC_COUNT + (size_t)m], false);
        }
        printf("\n");
    }
}

static bool fits(const char *policy, const struct scenario *s)
{
    return strncmp(policy, "static:", 7) != 0 || s->table.ordered;
}

int cmd_run(const struct options *o)
{
    const char *one[] = { o->policy, NULL }, *const *list = o->policy ? one : policies;
    struct scenario *s = calloc(1, sizeof *s);
    int r = s ? scenario_load(s, o->files[0]) : -ENOMEM;
    bool first = true;

    for (; r == 0 && *list; list++) {
        struct batch b;

        if (!o->policy && !fits(*list, s))
            continue;
        r = batch_run(s, *list, o, &b);
        if (r < 0)
            break;
        if (o->json)
            print_json(s, *list, &b, first);
        else
            print_text(*list, &b);
        if (o->by_seed && !o->json)
            print_seeds(&b, o);
        first = false;
        batch_done(&b);
    }
    if (o->json && !first)
        printf("]\n");
    free(s);
    return r < 0 ? (r == -EINVAL ? 2 : 1) : 0;
}

static void print_cell(const struct batch *b, enum metric m)
{
    double lo = batch_percentile(b, m, 5), mid = batch_percentile(b, m, 50),
           hi = batch_percentile(b, m, 95);

    printf(" ");
    print_number(mid, false);
    if (!isnan(mid) && (lo < hi || lo > hi)) {
        printf(" (");
        print_number(lo, false);
        printf("..");
        print_number(hi, false);
        printf(")");
    }
    printf(" |");
}

static int compare_one(const char *file, const struct options *o)
{
    const char *one[] = { o->policy, NULL }, *const *list = o->policy ? one : policies;
    struct scenario *s = calloc(1, sizeof *s);
    int r = s ? scenario_load(s, file) : -ENOMEM;

    if (r == 0) {
        printf("\n**%s**, median (5..95 %%) over seeds %llu-%llu\n\n| policy |", s->name,
               (unsigned long long)o->first_seed, (unsigned long long)o->last_seed);
        for (int m = 0; m < METRIC_COUNT; m++)
            printf(" %s |", metric_names[m]);
        printf("\n|---|");
        for (int m = 0; m < METRIC_COUNT; m++)
            printf("---|");
        printf("\n");
    }
    for (; r == 0 && *list; list++) {
        struct batch b;

        if (!fits(*list, s))
            continue;
        r = batch_run(s, *list, o, &b);
        if (r < 0)
            break;
        printf("| %s |", *list);
        for (int m = 0; m < METRIC_COUNT; m++)
            print_cell(&b, (enum metric)m);
        printf("\n");
        batch_done(&b);
    }
    free(s);
    return r;
}

int cmd_compare(const struct options *o)
{
    double start = seconds();

    for (int i = 0; i < o->n_files; i++) {
        int r = compare_one(o->files[i], o);

        if (r < 0)
            return r == -EINVAL ? 2 : 1;
    }
    printf("\n%.1f s\n", seconds() - start);
    return 0;
}

/* Number of bounds not met, or -errno. */
static int check_one(const char *file, const struct options *o, int *judged)
{
    struct scenario *s = calloc(1, sizeof *s);
    int r = s ? scenario_load(s, file) : -ENOMEM, bad = 0;
    struct batch b = { 0 };

    if (r == 0)
        r = batch_run(s, o->policy ? o->policy : "hillclimb", o, &b);
    for (size_t i = 0; r == 0 && i < s->n_wants; i++) {
        const struct want *w = &s->wants[i];
        int m = metric_find(w->metric);
        double v;
        bool ok;

        if (m < 0) {
            fprintf(stderr, "tunesim: %s: no yardstick is called \"%s\"\n", file, w->metric);
            r = -EINVAL;
            break;
        }
        if (b.n < SEEDS_FOR_TAILS && w->percentile != 50 && w->percentile != -1)
            continue;
        v = batch_percentile(&b, (enum metric)m, w->percentile);
        ok = w->at_least ? v >= w->bound : v <= w->bound;
        bad += !ok;
        ++*judged;
        printf("%-4s %-22s %-9s ", ok ? "ok" : "FAIL", s->name, w->metric);
        printf(w->percentile < 0 ? "mean" : "p%d", w->percentile);
        printf(" %8.2f %s %g\n", v, w->at_least ? ">=" : "<=", w->bound);
    }
    batch_done(&b);
    free(s);
    return r < 0 ? r : bad;
}

int cmd_check(const struct options *o)
{
    double start = seconds();
    int bad = 0, judged = 0;

    for (int i = 0; i < o->n_files; i++) {
        int r = check_one(o->files[i], o, &judged);

        if (r < 0)
            return r == -EINVAL ? 2 : 1;
        bad += r;
    }
    printf("%d of %d bounds not met, seeds %llu-%llu, %.1f s\n", bad, judged,
           (unsigned long long)o->first_seed, (unsigned long long)o->last_seed, seconds() - start);
    return bad > 0;
}
