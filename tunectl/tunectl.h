/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verbs of tunectl share: the options, the exit codes and the functions behind the verb
 * table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes; where several hold, ctl_worse() says which is told. */
enum ctl_exit {
    CTL_OK = 0,
    CTL_ERROR = 1,
    CTL_USAGE = 2,     /* usage or configuration */
    CTL_NO_DAEMON = 3, /* the daemon does not run */
    CTL_DIFFERS = 4,   /* verify found differences */
    CTL_NO_KNOB = 5,   /* no knob can be written on this host */
};

struct ctl {
    const char *root;        /* borrowed from argv, as all texts here */
    const char *runtime_dir; /* "/run/tunerd" */
    const char *state_dir;   /* "/var/lib/tunerd" */
    const char *config;      /* NULL: vendor's and local files */
    const char *config_dir;  /* NULL: the installed places */
    const char *from;        /* status: a saved document instead of the daemon */
    bool json, trace, baseline, service_stop, raw;
    uint64_t for_ns;      /* 0: until reboot */
    uint64_t interval_ns; /* 0: the verb's own */
    uint64_t count;       /* 0: for ever */
    size_t n_words;       /* what follows the verb */
    char *const *words;
};

/* 2 before 3 before 5 before 4 before 1 before 0. */
int ctl_worse(int a, int b);

int verb_status(const struct ctl *c);
int verb_watch(const struct ctl *c);
int verb_probe(const struct ctl *c);
int verb_sensors(const struct ctl *c);
int verb_tune(const struct ctl *c);
int verb_observe(const struct ctl *c);
int verb_pause(const struct ctl *c);
int verb_resume(const struct ctl *c);
int verb_release(const struct ctl *c);
int verb_reload(const struct ctl *c);
int verb_restore(const struct ctl *c);
int verb_verify(const struct ctl *c);
int verb_history(const struct ctl *c);
int verb_why(const struct ctl *c);
int verb_learned(const struct ctl *c);
int verb_report(const struct ctl *c);
int verb_dump(const struct ctl *c);
int verb_objective_test(const struct ctl *c);
int verb_profile_list(const struct ctl *c);
