/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vocabulary of the pure core: what goes into a tuning decision and what comes out of it.
 * Nothing here knows a knob's name, a file, a clock or a log; policies see indices, ranges and numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TUNER_KNOBS_MAX = 16,   /* knobs of one profile; only one is under test at a time */
    TUNER_ARMS_MAX = 24,    /* values of one knob that a search may visit */
    TUNER_CLASSES_MAX = 96, /* workload x load bucket; the one not seen for longest makes room */
    TUNER_GUARDS_MAX = 8,
};

/* ---- configuration: borrowed by tuner_init(), copied -------------------------------------- */

enum tuner_scale {
    TUNER_SCALE_LOG,    /* arms = baseline * 2^k inside [min, max], plus clamped ends */
    TUNER_SCALE_CHOICE, /* unordered values; a toggle is a choice of two */
};

struct tuner_knob {
    enum tuner_scale scale;
    double baseline; /* value at the first start of this boot; always an arm, even outside [min, max] */
    double min, max; /* SCALE_LOG: in the knob's own unit, 0 < min <= max */
    uint8_t n_choices;
    double choices[TUNER_ARMS_MAX]; /* SCALE_CHOICE: the other values, the baseline may be among them */
};

enum tuner_guard_kind {
    TUNER_GUARD_RATIO,  /* bound is a relative change, 0.05 = 5 % */
    TUNER_GUARD_POINTS, /* bound is an absolute change in the metric's unit */
};

struct tuner_guard {
    enum tuner_guard_kind kind;
    bool lower_is_worse; /* tps: true; waiting time, pressure: false */
    double bound;        /* > 0: worse by more than this, over at least 2 windows, breaks the guard */
};

/* What an operator may set.  Everything else is a constant in tuner.c with its reason. */
struct tuner_params {
    double alpha;        /* error level of one accepted move, two-sided; 0.02 */
    double delta;        /* smallest gain worth a move; 0.01 = 1 % */
    double debt_max;     /* loss budget: allowed outstanding loss against the baseline, %-windows; 30 */
    double debt_pay;     /* %-windows paid back per window; 0.2 */
    uint32_t block;      /* windows measured per block; 3 */
    uint32_t settle;     /* windows discarded after every write; 1 */
    double class_ratio;  /* width of a load class; 1.25 */
    uint32_t calibration; /* A/A quads before the first test; 5 */
    uint64_t seed;
};

struct tuner_config {
    struct tuner_params params;
    uint8_t n_knobs;
    struct tuner_knob knobs[TUNER_KNOBS_MAX]; /* in the order in which they are to be tried */
    uint8_t n_guards;
    struct tuner_guard guards[TUNER_GUARDS_MAX];
};

/* ---- one window -------------------------------------------------------------------------- */

struct tuner_window {
    double objective;     /* rate over the window, higher is better; NaN or <= 0: missing window */
    double load;          /* mean concurrency; NaN or <= 0: not observable */
    uint32_t workload;    /* which profile rules: first half of the class */
    bool disturbed;       /* the host was not itself (hotplug, SIGSTOP, reconnect): treat as missing */
    double guard[TUNER_GUARDS_MAX]; /* NaN: not measured in this window */
};

/* ---- decision ---------------------------------------------------------------------------- */

enum tuner_mode {
    TUNER_MODE_TUNE,     /* trials may run */
    TUNER_MODE_HOLD,     /* pause: the incumbent stays in force, nothing is tried */
    TUNER_MODE_BASELINE, /* observe: the baseline is in force, class and noise are still learned */
};

enum tuner_state { TUNER_REST, TUNER_WAIT, TUNER_QUAD };        /* WAIT is HOLD of the text books */
enum tuner_trial_kind { TUNER_TRIAL_NONE, TUNER_TRIAL_TEST, TUNER_TRIAL_CHECK, TUNER_TRIAL_JOINT };
enum tuner_arm { TUNER_ARM_INCUMBENT, TUNER_ARM_CANDIDATE, TUNER_ARM_SETTLING };

enum tuner_event {           /* what this step decided; NONE in most windows */
    TUNER_EVENT_NONE,
    TUNER_EVENT_CLASS,       /* another class is active; its incumbent is put in force */
    TUNER_EVENT_TRIAL,       /* a trial begins (or resumes) */
    TUNER_EVENT_ACCEPT,      /* candidate becomes incumbent: counts as a move */
    TUNER_EVENT_REJECT,      /* no gain or a loss: the incumbent stays */
    TUNER_EVENT_ABORT,       /* candidate back to incumbent inside a quad: a guard broke */
    TUNER_EVENT_CHECK,       /* incumbent is being compared with the baseline */
    TUNER_EVENT_KEEP,        /* ... and stays */
    TUNER_EVENT_ROLLBACK,    /* ... and does not: baseline in force: counts as a move */
    TUNER_EVENT_VOID,        /* a quad was thrown away (load moved, windows missing) */
};

enum tuner_reason {
    TUNER_WHY_NONE,
    TUNER_WHY_MISSING,       /* no measurement: nothing moves */
    TUNER_WHY_CLASS_NEW, TUNER_WHY_CLASS_KNOWN,
    TUNER_WHY_CALIBRATING,   /* A/A quads are being collected */
    TUNER_WHY_RESTING,       /* after a class change */
    TUNER_WHY_BACKOFF,       /* every candidate was tried; earliest retest later */
    TUNER_WHY_QUIET,         /* many rejections in a row on this host */
    TUNER_WHY_BUDGET,        /* loss budget used up */
    TUNER_WHY_BANNED,        /* class left at the baseline after repeated rollbacks */
    TUNER_WHY_WRITE_CAP,     /* cap on writes reached */
    TUNER_WHY_MODE,          /* mode does not allow trials */
    TUNER_WHY_NO_KNOB,       /* no usable knob */
    TUNER_WHY_MEASURING,     /* inside a quad */
    TUNER_WHY_EVIDENCE,      /* sequential test passed */
    TUNER_WHY_FUTILE,        /* the gain cannot be worth a move */
    TUNER_WHY_TOO_LONG,      /* the bar could not be reached in the allowed quads */
    TUNER_WHY_LOSS_GUARD,    /* objective inside the quad fell too far */
    TUNER_WHY_GUARD,         /* a guard metric broke: decision.guard says which */
    TUNER_WHY_EMERGENCY,     /* pressure trigger between windows */
    TUNER_WHY_SCHEDULE,      /* check is due by time */
    TUNER_WHY_LOAD_MOVED,    /* check is due because the load moved, or quad void for it */
    TUNER_WHY_LEVEL_ALARM,   /* the objective's level shifted */
    TUNER_WHY_RESHOWN,       /* check: the gain was shown again */
    TUNER_WHY_NOT_RESHOWN,   /* check: it was not */
    TUNER_WHY_ADOPTED,       /* value taken over from a previous process */
    TUNER_WHY_FOREIGN,       /* a knob of the trial was taken away from us */
    TUNER_WHY_SETTLING,      /* the objective settles more slowly than thought: longer blocks from now on */
    TUNER_WHY_COUNT
};

struct tuner_evidence { /* in natural-log units of the objective: 0.05 is about 5 % */
    uint32_t n;         /* quads */
    double mean, se;    /* candidate minus incumbent (of a check: incumbent minus baseline) */
    double lo, hi;      /* always-valid confidence interval of the mixture test at level alpha */
    double e, bar;      /* E value and the bar 1/alpha */
};

struct tuner_trial { /* the trial under way; kind NONE: nothing else is meaningful */
    enum tuner_trial_kind kind;
    enum tuner_arm arm;           /* which is in force for the next window */
    uint8_t knob;
    double incumbent, candidate;  /* values of that knob (CHECK: candidate is the baseline) */
    uint32_t position, length;    /* windows done in this quad, windows of the quad */
    struct tuner_evidence evidence; /* so far; n = 0: none yet */
};

struct tuner_decision {
    enum tuner_event event;
    enum tuner_reason reason;      /* of the event, or why nothing moves */
    uint8_t knob;                  /* of the event: the knob that it is about */
    uint8_t guard;                 /* WHY_GUARD: which */
    double old_value, new_value;   /* of the event: knob's value before and after */
    struct tuner_evidence evidence; /* of the event, n = 0: none */
    bool moved;                    /* value[] differs from the last decision */
    double value[TUNER_KNOBS_MAX]; /* what must be in force in the next window; NaN: leave the knob alone */
};

/* ---- what is remembered per class -------------------------------------------------------- */

struct tuner_memory { /* one class, in plain numbers, for the store; `value` in config order */
    uint32_t workload;
    int32_t bucket;                /* load bucket; INT32_MIN: load not observable */
    double value[TUNER_KNOBS_MAX]; /* the incumbent */
    double gain;                   /* last known gain over the baseline, ln */
    uint64_t windows;              /* seen in this class */
    uint32_t tests, accepts, rollbacks;
    double load_shift;             /* ln: how far the incumbent itself moves the observed load */
};

struct tuner_noise { /* pooled variance of quad differences: survives a restart */
    double weight, sum;  /* variance = sum / weight */
    uint32_t quads;      /* A/A quads behind it */
};
