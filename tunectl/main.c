/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tunectl: the options, the table of verbs and the help that follows from both. What a verb does is
 * in the file of its group. */
#include "tunectl.h"

#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "util.h"

/* Options of single verbs, as bits of struct verb.options; the others (0) are for every verb. */
enum {
    OPT_JSON = 1 << 0,
    OPT_FOR = 1 << 1,
    OPT_BASELINE = 1 << 2,
    OPT_SERVICE_STOP = 1 << 3,
    OPT_TRACE = 1 << 4,
    OPT_FROM = 1 << 5,
    OPT_RAW = 1 << 6,
    OPT_COUNT = 1 << 7,
    OPT_INTERVAL = 1 << 8,
};

enum option_kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_SECONDS,
    KIND_WINDOW,
    KIND_COUNT,
    KIND_HELP,
    KIND_VERSION
};
enum { WINDOW_MIN_NS = 10 * 1000 * 1000, FIRST_OPTION = 1000 /* beyond every character */ };

#define MEMBER(m) offsetof(struct ctl, m)
static const struct {
    const char *name, *arg;
    int verbs;
    enum option_kind kind;
    size_t member; /* of struct ctl */
    const char *help;
} options[] = {
    { "json", NULL, OPT_JSON, KIND_FLAG, MEMBER(json), "print a JSON document instead of text" },
    { "for", "T", OPT_FOR, KIND_SECONDS, MEMBER(for_ns),
      "go back by itself after T: 90s, 10min, 2h" },
    { "baseline", NULL, OPT_BASELINE, KIND_FLAG, MEMBER(baseline), "pause at the original values" },
    { "service-stop", NULL, OPT_SERVICE_STOP, KIND_FLAG, MEMBER(service_stop),
      "as the unit's ExecStopPost: a pending restart keeps the values" },
    { "trace", NULL, OPT_TRACE, KIND_FLAG, MEMBER(trace), "the recorded windows as CSV" },
    { "from", "FILE", OPT_FROM, KIND_TEXT, MEMBER(from),
      "show a document saved by status --json; \"-\" is stdin" },
    { "count", "N", OPT_COUNT, KIND_COUNT, MEMBER(count), "stop after N windows" },
    { "interval", "T", OPT_INTERVAL, KIND_WINDOW, MEMBER(interval_ns),
      "length of a window: 500ms, 2s (1s)" },
    { "raw", NULL, OPT_RAW, KIND_FLAG, MEMBER(raw), "the counters exactly as read, as JSON" },
    { "root", "DIR", 0, KIND_TEXT, MEMBER(root), "look for /proc and /sys below DIR" },
    { "runtime-dir", "DIR", 0, KIND_TEXT, MEMBER(runtime_dir),
      "journal and lock of the daemon (/run/tunerd)" },
    { "state-dir", "DIR", 0, KIND_TEXT, MEMBER(state_dir), "the store (/var/lib/tunerd)" },
    { "config", "FILE", 0, KIND_TEXT, MEMBER(config),
      "read FILE in place of the installed tunerd.conf" },
    { "config-dir", "DIR", 0, KIND_TEXT, MEMBER(config_dir),
      "read tunerd.conf and profiles/ from DIR, nothing from the installed places" },
    { "help", NULL, 0, KIND_HELP, 0, "this text" },
    { "version", NULL, 0, KIND_VERSION, 0, "the version" },
};

static const struct verb {
    const char *name, *args, *help;
    int options;
    size_t min_words, max_words;
    int (*run)(const struct ctl *c);
} verbs[] = {
    { "status", "", "what is happening and why, on one screen", OPT_JSON | OPT_FROM, 0, 0,
      verb_status },
    { "watch", "", "status again after every window", OPT_JSON, 0, 0, verb_watch },
    { "tune", "[--for T]", "allow trials and writes", OPT_FOR, 0, 0, verb_tune },
    { "observe", "[--for T]", "put the originals back and only look", OPT_FOR, 0, 0, verb_observe },
    { "pause", "[--for T] [--baseline]", "try nothing, hold the values in force",
      OPT_FOR | OPT_BASELINE, 0, 0, verb_pause },
    { "resume", "", "end a pause", 0, 0, 0, verb_resume },
    { "release", "KNOB", "tune again a knob that somebody else wrote", 0, 1, 1, verb_release },
    { "reload", "", "read the configuration anew", 0, 0, 0, verb_reload },
    { "restore", "", "put every original back; works without the daemon", OPT_SERVICE_STOP, 0, 0,
      verb_restore },
    { "verify", "", "what differs from what we think; works without the daemon", OPT_JSON, 0, 0,
      verb_verify },
    { "history", "[N] [--trace]", "the last N decisions (30) with their evidence",
      OPT_JSON | OPT_TRACE, 0, 1, verb_history },
    { "report", "[N]", "the last N windows (all) and the decisions as an HTML page with plots", 0,
      0, 1, verb_report },
    { "learned", "", "the value that each class of load has come to", OPT_JSON, 0, 0,
      verb_learned },
    { "why", "KNOB", "the evidence behind the current value", OPT_JSON, 1, 1, verb_why },
    { "probe", "", "knobs and sensors of this host; works without the daemon", OPT_JSON, 0, 0,
      verb_probe },
    { "sensors", "[--count N] [--interval T] [--raw]",
      "what the scheduler does, one line a window; works without the daemon",
      OPT_JSON | OPT_COUNT | OPT_INTERVAL | OPT_RAW, 0, 0, verb_sensors },
    { "dump", "", "the daemon's document and its configuration, for a report of an error", 0, 0, 0,
      verb_dump },
    { "objective test", "[PROFILE]", "read the objective for a few windows: value, noise, load", 0,
      0, 1, verb_objective_test },
    { "profile list", "", "the profiles and what they are for", OPT_JSON, 0, 0, verb_profile_list },
};

int ctl_worse(int a, int b)
{
    static const int order[] = { CTL_USAGE, CTL_NO_DAEMON, CTL_NO_KNOB, CTL_DIFFERS, CTL_ERROR };

    for (size_t i = 0; i < ELEMENTSOF(order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return CTL_OK;
}

static void help(void)
{
    char left[64];

    (void)printf("Usage: tunectl [OPTION...] VERB [...]\n\nVerbs:\n");
    for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
        (void)snprintf(left, sizeof left, "%s%s%s", verbs[i].name, *verbs[i].args ? " " : "",
                       verbs[i].args);
        (void)printf("  %-28s %s\n", left, verbs[i].help);
    }
    (void)printf("  %-28s %s\n\nOptions:\n", "help", "this text");
    for (size_t i = 0; i < ELEMENTSOF(options); i++) {
        (void)snprintf(left, sizeof left, "--%s%s%s", options[i].name, options[i].arg ? " " : "",
                       options[i].arg ? options[i].arg : "");
        (void)printf("  %-20s %s\n", left, options[i].help);
    }
    (void)printf(
        "\nExit status: 0 ok, 1 error, 2 usage or configuration, 3 the daemon does not run,\n"
        "4 verify found differences, 5 no knob can be written on this host.\n"
        "Manual: tunectl(1), org.tunerd.Tuner1(5).\n");
}

/* The row of the first word, or of the first two; *ret_used says how many. */
static const struct verb *find_verb(char *const *words, size_t n, size_t *ret_used)
{
    char two[64];

    for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
        if (strcmp(verbs[i].name, words[0]) == 0) {
            *ret_used = 1;
            return &verbs[i];
        }
        if (n < 2)
            continue;
        (void)snprintf(two, sizeof two, "%.30s %.30s", words[0], words[1]);
        if (strcmp(verbs[i].name, two) == 0) {
            *ret_used = 2;
            return &verbs[i];
        }
    }
    return NULL;
}

/* "did you mean": the verbs that begin with the same letter, or all of them. */
static int unknown_verb(const char *word)
{
    const char *sep = " Did you mean: ";

    (void)fprintf(stderr, "tunectl: there is no verb \"%.40s\".", word);
    for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
        if (*word == '\0' || verbs[i].name[0] != *word)
            continue;
        (void)fprintf(stderr, "%s%s", sep, verbs[i].name);
        sep = ", ";
    }
    (void)fprintf(stderr, "%s See: tunectl help\n", *sep == ',' ? "?" : "");
    return CTL_USAGE;
}

/* The value of option i. -1: go on; else the exit code. */
static int parse_option(struct ctl *c, size_t i, const char *text)
{
    void *to = (char *)c + options[i].member;
    const char *needs = NULL;

    switch (options[i].kind) {
    case KIND_FLAG:
        *(bool *)to = true;
        break;
    case KIND_TEXT:
        *(const char **)to = text;
        break;
    case KIND_SECONDS:
        /* The bus carries whole seconds, and 0 means until reboot. */
        if (parse_duration_ns(text, to) < 0 || *(uint64_t *)to < NSEC_PER_SEC)
            needs = "a time of at least 1s, such as 90s, 10min, 2h";
        break;
    case KIND_WINDOW:
        if (parse_duration_ns(text, to) < 0 || *(uint64_t *)to < WINDOW_MIN_NS)
            needs = "a time of at least 10ms, such as 500ms, 2s";
        break;
    case KIND_COUNT:
        if (parse_u64(text, to) < 0 || *(uint64_t *)to == 0)
            needs = "a number from 1 on";
        break;
    case KIND_HELP:
        help();
        return CTL_OK;
    case KIND_VERSION:
        (void)printf("tunectl %s\n", TUNERD_VERSION);
        return CTL_OK;
    }
    if (!needs)
        return -1;
    (void)fprintf(stderr, "tunectl: --%s %s: needs %s\n", options[i].name, text, needs);
    return CTL_USAGE;
}

/* Fills c and *given. -1: go on; else the exit code. */
static int parse_options(struct ctl *c, int argc, char **argv, int *given)
{
    struct option table[ELEMENTSOF(options) + 1] = { 0 };
    int o, r = -1;

    for (size_t i = 0; i < ELEMENTSOF(options); i++)
        table[i] = (struct option){ .name = options[i].name,
                                    .has_arg = options[i].arg ? required_argument : no_argument,
                                    .val = FIRST_OPTION + (int)i };
    while (r < 0 && (o = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (o == 'h') {
            help();
            return CTL_OK;
        }
        if (o < FIRST_OPTION) {
            (void)fprintf(stderr, "See: tunectl help\n");
            return CTL_USAGE;
        }
        *given |= options[o - FIRST_OPTION].verbs;
        r = parse_option(c, (size_t)(o - FIRST_OPTION), optarg);
    }
    return r;
}

static int check_usage(const struct verb *v, int given, size_t n_words)
{
    for (size_t i = 0; i < ELEMENTSOF(options); i++) {
        if (given & options[i].verbs & ~v->options) {
            (void)fprintf(stderr, "tunectl: %s does not take --%s. See: tunectl help\n", v->name,
                          options[i].name);
            return CTL_USAGE;
        }
    }
    if (n_words < v->min_words || n_words > v->max_words) {
        (void)fprintf(stderr, "Usage: tunectl %s%s%s\n", v->name, *v->args ? " " : "", v->args);
        return CTL_USAGE;
    }
    return CTL_OK;
}

int main(int argc, char **argv)
{
    struct ctl c = { .root = "/", .runtime_dir = "/run/tunerd", .state_dir = "/var/lib/tunerd" };
    int given = 0;
    size_t used = 0;

    (void)setlocale(LC_CTYPE, "");
    (void)setlocale(LC_TIME, "");
    log_init(LOG_WARNING);
    int r = parse_options(&c, argc, argv, &given);
    if (r >= 0)
        return r;
    char *const *words = argv + optind;
    size_t n = (size_t)(argc - optind);
    if (n == 0) {
        (void)fprintf(stderr, "tunectl: which verb? Try: tunectl status, or: tunectl help\n");
        return CTL_USAGE;
    }
    if (strcmp(words[0], "help") == 0) {
        help();
        return CTL_OK;
    }
    const struct verb *v = find_verb(words, n, &used);
    if (!v)
        return unknown_verb(words[0]);
    c.words = words + used;
    c.n_words = n - used;
    r = check_usage(v, given, c.n_words);
    if (r != CTL_OK)
        return r;
    r = v->run(&c);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "tunectl: cannot write the output\n");
        r = ctl_worse(r, CTL_ERROR);
    }
    return r;
}
