/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every option of tunerd.conf and of profiles, one row each: defaults, checks, --dump-config,
 * --dump-defaults and the manual pages come from here. No code but the tables. */
#include "config_table.h"

#include <string.h>

#define MEMBER(type, m) .offset = offsetof(type, m), .size = sizeof(((type *)NULL)->m)
#define OPT(s, k, t, m, d, lo, hi, h)                                                              \
    {                                                                                              \
        .section = s, .key = k, .type = t, MEMBER(struct config, m), .text = d, .min = lo,         \
        .max = hi, .help = h                                                                       \
    }
#define OPT_W(s, k, t, m, d, w, h)                                                                 \
    {                                                                                              \
        .section = s, .key = k, .type = t, MEMBER(struct config, m), .text = d, .words = w,        \
        .help = h                                                                                  \
    }
#define PROF(s, k, t, m, d, o, h)                                                                  \
    {                                                                                              \
        .section = s, .key = k, .type = t, MEMBER(struct profile, m), .text = d, .max = 1000,      \
        .only = o, .help = h                                                                       \
    }
#define PROF_W(s, k, t, m, d, w, o, h)                                                             \
    {                                                                                              \
        .section = s, .key = k, .type = t, MEMBER(struct profile, m), .text = d, .words = w,       \
        .only = o, .help = h                                                                       \
    }

/* The place of a word is the value of the enum. */
static const char *const mode_words[] = { "observe", "tune", NULL };
static const char *const stop_words[] = { "restore", "keep", NULL };
static const char *const start_words[] = { "restore", "adopt", NULL };
static const char *const measure_words[] = { "service", "tps", "latency", NULL };
static const char *const policy_words[] = { "hillclimb", "fixed", NULL };
static const char *const objective_words[] = { "sched", "postgresql", "file", NULL };

#define MS   1e6
#define S    1e9
#define DAY  86400e9
#define MIB  1048576.0
#define FULL 1.8446744073709551e19

const struct option config_options[] = {
    OPT_W("control", "mode", OPT_WORD, mode, "observe", mode_words,
          "What tunerd may do until told otherwise by tunectl. observe: measure and write nothing. "
          "tune: try values and keep what is better."),
    OPT("control", "window", OPT_NS, window_ns, "10s", 100 * MS, 600 * S,
        "Length of one measurement. A trial takes about 15 windows. PostgreSQL publishes its "
        "counters at most once "
        "a second: not below 2s with it."),
    OPT("control", "profile", OPT_TEXT, profile, "auto", 0, 0,
        "Name of the profile that rules. auto: the one with the highest priority among those whose "
        "commands run."),
    OPT_W("control", "policy", OPT_TEXT, policy, "hillclimb", policy_words,
          "How candidates are chosen. hillclimb: one knob at a time, in steps of a factor of two "
          "around the value "
          "found at boot. fixed: never, for comparison."),
    OPT("control", "seed", OPT_U64, seed, "0", 0, FULL,
        "Seed of the random order of a trial's blocks. 0: drawn at the start and logged. Any other "
        "number makes a "
        "run repeatable."),
    OPT("policy", "alpha", OPT_DOUBLE, alpha, "0.02", 1e-4, 0.2,
        "Error level of one accepted change, two-sided. Smaller: slower and surer."),
    OPT("policy", "min_gain", OPT_RATIO, min_gain, "1%", 0.001, 0.2,
        "Smallest gain that is worth a change."),
    OPT("policy", "loss_budget", OPT_DOUBLE, loss_budget, "30", 1, 1000,
        "Loss against the value found at boot that trials may have outstanding, in percent times "
        "windows: 30 is "
        "one window at 30 % or ten at 3 %. When it is used up, nothing is tried until enough is "
        "paid back."),
    OPT("policy", "loss_payback", OPT_DOUBLE, loss_payback, "0.2", 0, 10,
        "Part of the loss budget that comes back with every window, in percent times windows."),
    OPT("policy", "class_width", OPT_DOUBLE, class_width, "1.25", 1.05, 4,
        "Width of a load class: loads that differ by more than this factor are learned apart."),
    OPT("policy", "block", OPT_U32, block, "3", 1, 30,
        "Windows of one block. A trial compares four blocks at a time, two of each value."),
    OPT("policy", "settle", OPT_U32, settle, "1", 0, 30,
        "Windows left out after every write, until the host runs with the new value."),
    OPT("policy", "calibration_quads", OPT_U32, calibration_quads, "5", 0, 50,
        "Comparisons of a value with itself before the first trial: they tell how noisy the host "
        "is. 0: the first "
        "trials run without knowing."),
    OPT_W("safety", "on_stop", OPT_WORD, on_stop, "restore", stop_words,
          "When the daemon stops. restore: every knob gets back the value found at boot. keep: the "
          "values in force stay."),
    OPT_W("safety", "on_start", OPT_WORD, on_start, "restore", start_words,
          "When values of an earlier run are found in force. restore: put the originals back. "
          "adopt: keep them and "
          "check them against the originals first."),
    OPT("emergency", "psi_io_full", OPT_PERCENT, emergency_psi_io_full, "50%", 0, 100,
        "Trials end and changes are taken back within a second when all tasks wait for I/O for "
        "more than this part "
        "of 2 seconds, and for 20 % more than they did before the change. 0: off."),
    OPT("emergency", "psi_memory_full", OPT_PERCENT, emergency_psi_memory_full, "20%", 0, 100,
        "The same for memory: a host that spends a fifth of its time on reclaim alone is about to "
        "thrash. 0: off."),
    OPT("store", "keep", OPT_NS, store_keep_ns, "14d", 3600 * S, 3650 * DAY,
        "How long windows and decisions are kept in the state database. What was learned stays."),
    OPT("store", "max_size", OPT_BYTES, store_max_bytes, "200M", 4 * MIB, 1048576 * MIB,
        "Size of the state database from which the oldest windows are dropped early."),
};
const size_t config_options_size = ELEMENTSOF(config_options);
_Static_assert(ELEMENTSOF(config_options) <= OPTIONS_MAX, "struct option_lines is too small");

const struct option profile_options[] = {
    PROF("profile", "description", OPT_TEXT, description, "", NULL, "One line for people."),
    PROF("profile", "priority", OPT_U32, priority, "10", NULL,
         "The matching profile with the highest priority rules; 0 .. 1000."),
    PROF("match", "command", OPT_COMMANDS, match_command, "", NULL,
         "Command names (as in /proc/PID/comm, at most 15 bytes), separated by commas: the profile "
         "is for hosts where "
         "one of them runs. Without it the profile matches always."),
    PROF_W("objective", "type", OPT_TEXT, objective, "sched", objective_words, NULL,
           "What counts as better. postgresql: the work of a server. file: a number that something "
           "else writes. "
           "sched: run-queue wait, only a proxy."),
    PROF_W("objective", "measure", OPT_WORD, measure, "service", measure_words, "postgresql or file",
           "service: transactions per second of CPU time and run-queue wait, right at every load. "
           "tps: transactions per "
           "second, right only at saturation. latency: active time per transaction (PostgreSQL 14 "
           "and later)."),
    PROF("objective", "connection", OPT_CONNECTION, connection,
         "host=/run/postgresql dbname=postgres user=tunerd application_name=tunerd "
         "connect_timeout=3",
         "postgresql",
         "libpq connection text. Several clusters, separated by ';', are added up. Write no blank "
         "before the ';': it "
         "would start a comment. Passwords belong into a pgpass file."),
    PROF("objective", "database", OPT_TEXT, database, "", "postgresql",
         "Only the transactions of this database; empty: of all."),
    PROF("objective", "file", OPT_TEXT, file, "", "file",
         "Absolute path of the file that holds the objective, higher is better."),
    PROF("objective", "file_metric", OPT_TEXT, file_metric, "", "file",
         "Name of the metric, when the file is a Prometheus text file; empty: the file is one "
         "number."),
    PROF("objective", "file_load_metric", OPT_TEXT, file_load_metric, "", "file",
         "Name of the gauge that tells the load (mean concurrency); empty: the runnable threads "
         "are counted."),
    PROF("objective", "file_counter", OPT_BOOL, file_counter, "no", "file",
         "yes: the number is a total since some start, its growth per second counts. no: it is a "
         "rate already."),
};
const size_t profile_options_size = ELEMENTSOF(profile_options);
_Static_assert(ELEMENTSOF(profile_options) <= OPTIONS_MAX, "struct option_lines is too small");

bool option_belongs(const struct option *o, const char *objective)
{
    size_t n = strlen(objective);

    for (const char *s = o->only; s; s = strchr(s, ' ') ? strchr(s, ' ') + 1 : NULL)
        if (strncmp(s, objective, n) == 0 && (s[n] == ' ' || s[n] == '\0'))
            return true;
    return !o->only;
}
