/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tunesim: the controller against simulated hosts.  Options and the table of verbs.
 * Must not simulate anything itself. */
#include "cmd.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *args, *help;
    int (*run)(const struct options *o);
    int min_files, max_files;
} verbs[] = {
    { "run", "SCENARIO", "yardsticks of one policy, or of all", cmd_run, 1, 1 },
    { "compare", "SCENARIO...", "the same as tables, all policies side by side", cmd_compare, 1,
      OPTIONS_FILES },
    { "check", "SCENARIO...", "are the bounds in the scenarios met?", cmd_check, 1, OPTIONS_FILES },
    { "trace", "SCENARIO", "one run as CSV", cmd_trace, 1, 1 },
    { "plot", "SCENARIO", "one run as SVG", cmd_plot, 1, 1 },
    { "replay", "TRACE", "what a policy would have decided on a recorded trace", cmd_replay, 1, 1 },
    { "filter", "", "a policy as a process: INIT, W, END in, K out", cmd_filter, 0, 0 },
    { "bench", "[SCENARIO]", "windows and steps a second", cmd_bench, 0, 1 },
};

static int usage(FILE *f)
{
    fprintf(f, "usage: tunesim VERB [options]\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        fprintf(f, "  %-8s %-12s %s\n", verbs[i].name, verbs[i].args, verbs[i].help);
    fprintf(f, "\n  --policy NAME        %s\n", ctl_words());
    fprintf(
        f, "  --seeds A[-B]        seeds of the runs (default 1-20; trace and plot: the first)\n"
           "  --json               run: machine-readable;  --by-seed  run: one line a seed\n"
           "  --categories V1,V2   filter: the knob has these unordered values beside its default\n"
           "  --baseline V --min V --max V   replay: the knob\n"
           "  --set NAME=VALUE     a constant of hillclimb, for studies\n");
    return f == stdout ? 0 : 2;
}

static bool read_seeds(const char *text, struct options *o)
{
    char *end;

    o->first_seed = o->last_seed = strtoull(text, &end, 10);
    if (end == text)
        return false;
    if (*end == '-') {
        text = end + 1;
        o->last_seed = strtoull(text, &end, 10);
    }
    return *end == '\0' && end != text && o->last_seed >= o->first_seed &&
           o->last_seed - o->first_seed < 100000;
}

static bool read_value(const char *text, double *ret)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v))
        return false;
    *ret = v;
    return true;
}

static bool read_option(int c, struct options *o, int *n_set)
{
    switch (c) {
    case 'p':
        o->policy = optarg;
        return true;
    case 's':
        return read_seeds(optarg, o);
    case 'j':
        o->json = true;
        return true;
    case 'y':
        o->by_seed = true;
        return true;
    case 'c':
        o->categories = optarg;
        return true;
    case 'b':
        return read_value(optarg, &o->baseline);
    case 'l':
        return read_value(optarg, &o->min);
    case 'u':
        return read_value(optarg, &o->max);
    case 'S':
        if (*n_set == OPTIONS_SET)
            return false;
        o->set[(*n_set)++] = optarg;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        { "policy", required_argument, NULL, 'p' },
        { "seeds", required_argument, NULL, 's' },
        { "json", no_argument, NULL, 'j' },
        { "by-seed", no_argument, NULL, 'y' },
        { "categories", required_argument, NULL, 'c' },
        { "baseline", required_argument, NULL, 'b' },
        { "min", required_argument, NULL, 'l' },
        { "max", required_argument, NULL, 'u' },
        { "set", required_argument, NULL, 'S' },
        { NULL, 0, NULL, 0 },
    };
    struct options o = {
        .first_seed = 1, .last_seed = 20, .baseline = NAN, .min = NAN, .max = NAN
    };
    int c, n_set = 0;

    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0))
        return usage(stdout);
    if (argc < 2)
        return usage(stderr);
    while ((c = getopt_long(argc - 1, argv + 1, "", longs, NULL)) != -1)
        if (!read_option(c, &o, &n_set))
            return usage(stderr);
    for (int i = optind + 1; i < argc; i++) {
        if (o.n_files == OPTIONS_FILES)
            return usage(stderr);
        o.files[o.n_files++] = argv[i];
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i].name, argv[1]) != 0)
            continue;
        if (o.n_files < verbs[i].min_files || o.n_files > verbs[i].max_files)
            return usage(stderr);
        return verbs[i].run(&o);
    }
    return usage(stderr);
}
