/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated host: a directory tree of /proc and /sys files kept moving in real time, whose application answers to
 * migration_cost_ns as a measured table says. It knows tunerd only through the knob files that it reads. */
#include "plant.h"

#include "util.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "demo-plant - a simulated host for tunerd\n"
    "\n"
    "  --root DIR      where the tree of files goes\n"
    "  --table CSV     load,knob,value rows: transactions per second by clients and migration_cost_ns\n"
    "  --clients N     clients of the application (256)\n"
    "  --window T      time scale: noise and settling are per window of this length (200ms)\n"
    "  --sigma R       standard deviation of the noise of a window (0.01)\n"
    "  --flip N        once the knob has been away from its default for 24 windows on end, the application answers like\n"
    "                  one of N clients: what helped before now hurts\n"
    "  --seed N        another story\n";

enum { OPT_ROOT = 256, OPT_TABLE, OPT_CLIENTS, OPT_WINDOW, OPT_SIGMA, OPT_FLIP, OPT_SEED, OPT_HELP };
static const struct option options[] = {
    { "root", required_argument, NULL, OPT_ROOT },       { "table", required_argument, NULL, OPT_TABLE },
    { "clients", required_argument, NULL, OPT_CLIENTS }, { "window", required_argument, NULL, OPT_WINDOW },
    { "sigma", required_argument, NULL, OPT_SIGMA },     { "flip", required_argument, NULL, OPT_FLIP },
    { "seed", required_argument, NULL, OPT_SEED },       { "help", no_argument, NULL, OPT_HELP },
    { 0 },
};

static volatile sig_atomic_t stopped;
static void on_stop(int sig)
{
    (void)sig;
    stopped = 1;
}

static int number(const char *text, double lo, double hi, const char *what, double *ret)
{
    double v;

    if (parse_double(text, &v) < 0 || v < lo || v > hi) {
        (void)fprintf(stderr, "demo-plant: --%s %s: not a number from %g to %g\n", what, text, lo, hi);
        return -EINVAL;
    }
    *ret = v;
    return 0;
}

static int set_option(struct plant *p, int o, const char *arg, const char **table)
{
    double v = 0;
    int r = 0;

    switch (o) {
    case OPT_ROOT:
        return copy_string(p->root, sizeof p->root, arg) ? 0 : -EINVAL;
    case OPT_TABLE:
        *table = arg;
        return 0;
    case OPT_CLIENTS:
        return number(arg, 1, 10000, "clients", &p->clients);
    case OPT_FLIP:
        return number(arg, 1, 10000, "flip", &p->flip_clients);
    case OPT_SIGMA:
        return number(arg, 0, 1, "sigma", &p->sigma);
    case OPT_SEED:
        r = number(arg, 0, 9e15, "seed", &v);
        p->rng = (uint64_t)v;
        return r;
    case OPT_WINDOW:
        r = parse_duration_ns(arg, &p->window_ns);
        return r < 0 || p->window_ns < 10 * NSEC_PER_MSEC ? -EINVAL : 0;
    default:
        return -EINVAL;
    }
}

static int parse_arguments(struct plant *p, int argc, char **argv)
{
    const char *table = NULL;
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (o == OPT_HELP) {
            (void)fputs(help, stdout);
            exit(EXIT_SUCCESS);
        }
        if (set_option(p, o, optarg, &table) < 0)
            return -EINVAL;
    }
    if (optind < argc || !*p->root || !table) {
        (void)fputs(help, stderr);
        return -EINVAL;
    }
    return plant_read_table(p, table);
}

/* splitmix64, then a sum of twelve: close enough to normal for noise. */
static double uniform(uint64_t *s)
{
    uint64_t z = *s += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *s)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += uniform(s);
    return sum;
}

/* The knob decides for the application when it has been away from its default long enough. */
static void maybe_flip(struct plant *p, double knob, double dt)
{
    p->away_s = fabs(knob - PLANT_DEFAULT_NS) < 1 ? 0 : p->away_s + dt;
    if (p->flip_clients > 0 && !p->flipped && p->away_s >= 24e-9 * (double)p->window_ns) {
        p->flipped = true;
        (void)fprintf(stderr, "demo-plant: from now on the application answers like one of %g clients\n", p->flip_clients);
    }
}

/* The mean over a window of noise whose correlation falls by half in a window has 0.89 of its standard deviation. */
static const double NOISE_OF_MEAN = 1 / 0.89;

/* One step of dt seconds: effect of the knob, noise, and the totals that follow from them. A step takes as long as the host
 * lets it: nothing here counts steps. */
static void advance(struct plant *p, double dt)
{
    double knob = plant_read_knob(p), windows = dt * 1e9 / (double)p->window_ns;
    double like = p->flipped ? p->flip_clients : p->clients;
    double g = plant_effect(p, like, knob);

    maybe_flip(p, knob, dt);
    p->effect += (1 - pow(0.4, windows)) * (g - p->effect); /* settles by 60 % a window */
    double phi = pow(0.5, windows);
    p->noise = phi * p->noise + p->sigma * NOISE_OF_MEAN * sqrt(1 - phi * phi) * normal(&p->rng);
    double tps = plant_level(p, p->clients) * exp(p->effect + p->noise);
    double runnable = p->clients / 9 * exp(0.02 * normal(&p->rng));
    double running = fmin(PLANT_CPUS, runnable);
    double waiting = (runnable - running) * exp(-p->effect);

    p->transactions += tps * dt;
    p->run_ns += running * dt * 1e9;
    p->wait_ns += waiting * dt * 1e9;
    p->slices += tps * 3 * dt;
    p->stall_us += waiting / runnable * dt * 1e6;
}

int main(int argc, char **argv)
{
    struct plant *p = calloc(1, sizeof *p);
    uint64_t last;
    int r;

    if (!p)
        return EXIT_FAILURE;
    p->clients = 256;
    p->window_ns = 200 * NSEC_PER_MSEC;
    p->sigma = 0.01;
    r = parse_arguments(p, argc, argv);
    p->real_ns = now_real_ns();
    if (r >= 0)
        r = plant_make_tree(p);
    if (r < 0) {
        if (r != -EINVAL)
            (void)fprintf(stderr, "demo-plant: %s\n", strerror(-r));
        free(p);
        return 2;
    }
    (void)signal(SIGTERM, on_stop);
    (void)signal(SIGINT, on_stop);
    last = now_mono_ns();
    while (!stopped && r >= 0) {
        struct timespec nap = { .tv_nsec = (long)(p->window_ns / PLANT_STEPS % NSEC_PER_SEC),
                                .tv_sec = (time_t)(p->window_ns / PLANT_STEPS / NSEC_PER_SEC) };
        (void)nanosleep(&nap, NULL);
        uint64_t now = now_mono_ns();
        p->real_ns = now_real_ns();
        advance(p, (double)(now - last) / 1e9);
        last = now;
        r = plant_write_tree(p);
    }
    if (r < 0)
        (void)fprintf(stderr, "demo-plant: cannot write below %s: %s\n", p->root, strerror(-r));
    free(p);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
