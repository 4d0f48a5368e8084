/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole state of the controller, for the files of policies/ and for those who embed it.
 * Everybody else uses tuner.h; nothing outside policies/ may write a member (the simulator sets
 * constants). */
#pragma once

#include "guard.h"
#include "load.h"
#include "seqtest.h"
#include "tuner.h"

enum {
    TUNER_BLOCK_MAX = 64, /* windows of one block: a quad must fit into STAT_MAX */
    TUNER_SETTLE_MAX = 256,
    TUNER_OPEN_TESTS = 4, /* unfinished tests remembered per class */
    TUNER_WRITE_CAP = 75, /* writes in TUNER_HOUR windows */
    TUNER_HOUR = 360,     /* windows; an hour of 10 s windows */
    TUNER_ROLLBACKS = 3,  /* remembered rollbacks of a class */
    TUNER_NO_ARM = 255,
};

struct tuner_const { /* values and reasons: constants.c */
    struct load_config load;
    struct level_config level;
    uint32_t dwell;
    double tau;
    double tests_min, tests_ref, tests_lo, tests_hi, tests_sd;
    double futile_z;
    double guard_min, guard_z, guard_dips;
    uint32_t coarse;
    uint32_t check_first, check_max, check_quads;
    double load_moved, load_moved_z;
    uint32_t load_gap;
    uint32_t alarm_gap;
    uint32_t retest_first, retest_max, retest_rollback;
    uint32_t rollback_quads;
    uint32_t patience;
    double rest_first, rest_grow, rest_max;
    uint32_t ban_count, ban_window, ban_length;
    double noise_sd, noise_weight, noise_forget;
    double load_tolerance, load_tolerance_z;
    bool track_always;
    bool settle_sent;
    bool level_known;
    double shift_z;
    double debt_tau;
    double settle_slope, settle_z;
    uint32_t settle_quads, settle_levels, settle_try;
};

struct knob_arms { /* the values of one knob, ascending for a log knob */
    uint8_t n, base;
    bool ordered; /* neighbours mean something */
    bool taken;   /* somebody else's: not ours to write */
    double value[TUNER_ARMS_MAX];
};

struct arm_record {
    uint64_t ok_at;   /* not tested before this window; meaningful when backoff > 0 */
    double effect;    /* mean effect when its last test ended, against `against` */
    uint32_t backoff; /* 0: never tested */
    uint8_t against;  /* incumbent of that test, TUNER_NO_ARM: none */
};

struct knob_memory {
    uint8_t incumbent;
    uint8_t n_hints, hint[2]; /* incumbents of the neighbour classes when this one was new */
    int8_t dir;               /* side of the last accepted move: -1, 0, +1 */
    bool down_first;          /* side that is searched first, by lot */
    struct arm_record arm[TUNER_ARMS_MAX];
};

struct open_test { /* sums of a test that was interrupted */
    bool used;
    uint8_t knob, candidate, incumbent;
    uint64_t at;
    double load_shift; /* sum over the quads of what the candidate does to the observed load */
    struct seqtest sums;
};

struct class_memory {
    bool used;
    bool joint_due; /* several knobs moved: the combination is compared with the baseline */
    uint32_t workload;
    int32_t bucket;
    uint64_t seen_at, windows;
    uint32_t tests, accepts, rollbacks;
    uint64_t check_at;
    uint32_t check_interval;
    double load_ref; /* ln(load) and window of the last comparison with the baseline */
    uint64_t load_ref_at;
    double load_shift; /* what the incumbent does to the observed load, ln; taken out before classes
                          are told */
    double gain;       /* of the incumbent over the baseline when last measured */
    uint64_t rollback_at[TUNER_ROLLBACKS];
    uint8_t n_rollbacks;
    uint64_t ban_until;
    double guard_ref[TUNER_GUARDS_MAX]; /* level at the last comparison, NaN: none */
    struct open_test test[TUNER_OPEN_TESTS];
    struct knob_memory knob[TUNER_KNOBS_MAX];
};

struct settle {             /* does the objective still move after the settling windows? */
    uint32_t level;         /* 0: block and settle are those of the operator */
    uint32_t block, settle; /* ... which are */
    bool tried;             /* long blocks were tried for want of any gain */
    uint64_t try_until;
    uint32_t n, n_known;
    double sum, square, weight; /* of all quads: drift x effect, its square, effect^2 */
    double known_sum, known_weight,
        var; /* of quads whose effect was known before; variance of a drift */
};

struct quad { /* the trial under way: ABBA or BAAB */
    enum tuner_trial_kind kind;
    uint8_t knob, candidate; /* of a test */
    bool b_first;
    uint8_t block; /* 0..3 */
    uint32_t settle_left, measure_left;
    uint32_t missing;     /* missing windows in a row */
    struct seqtest *sums; /* of a test: in the class; of a check: own */
    struct seqtest own;
    uint8_t a[TUNER_KNOBS_MAX], b[TUNER_KNOBS_MAX]; /* the two vectors of arms */
    size_t na, nb, nl, n_early;
    double early[TUNER_BLOCK_MAX]; /* candidate's windows while it settles: for the guard only */
    double ya[2 * TUNER_BLOCK_MAX], yb[2 * TUNER_BLOCK_MAX];
    double load[4 * TUNER_BLOCK_MAX];
    double *load_shift; /* as sums: in the class, or own_shift */
    double own_shift, load_a, load_b;
    struct guard_sums ga[TUNER_GUARDS_MAX], gb[TUNER_GUARDS_MAX];
};

struct tuner {
    const struct policy *policy;
    struct tuner_params params;
    struct tuner_const k;
    uint8_t n_knobs, n_guards;
    struct tuner_knob knobs[TUNER_KNOBS_MAX];
    struct knob_arms arms[TUNER_KNOBS_MAX];
    struct tuner_guard guards[TUNER_GUARDS_MAX];

    uint64_t now, rng;
    enum tuner_mode mode;
    enum tuner_state state;
    enum tuner_reason wait_reason;
    uint32_t rest;
    uint64_t until;
    bool skip_window; /* the running window is spoilt */
    uint32_t workload;
    struct class_memory *active; /* into class[] */
    bool adopted;                /* adopt[] was taken over: the first class gets it */
    uint8_t adopt[TUNER_KNOBS_MAX];

    uint8_t home[TUNER_KNOBS_MAX];  /* arms in force outside trials */
    uint8_t force[TUNER_KNOBS_MAX]; /* arms for the next window */
    uint8_t sent[TUNER_KNOBS_MAX]; /* arms of the last decision: in force in the window that ends */
    uint8_t last[TUNER_KNOBS_MAX];
    uint32_t since; /* windows at sent[] before this one */

    struct load_track load;
    struct level level;
    bool alarm;
    enum tuner_reason alarm_reason;
    uint8_t alarm_guard;
    uint64_t alarm_ok;
    uint32_t guard_run[TUNER_GUARDS_MAX];
    struct guard_noise guard_noise[TUNER_GUARDS_MAX];

    struct tuner_noise noise;
    struct settle settle;
    struct elastic elastic;
    size_t n_aa;
    double aa[4 * TUNER_BLOCK_MAX];
    double debt;
    uint32_t dry; /* rejections in a row, host-wide */
    uint64_t quiet;
    uint64_t moves;
    uint64_t write_at[TUNER_WRITE_CAP];
    uint32_t write_next, n_writes;

    struct quad quad;
    struct tuner_trial view;
    struct tuner_decision decision;
    struct class_memory class[TUNER_CLASSES_MAX];
};

/* ---- constants.c */
extern const struct tuner_const tuner_const_default;

/* ---- arms.c: grids of values and vectors of arms */
int arms_init(struct knob_arms *ret, const struct tuner_knob *knob);
uint8_t arms_find(const struct knob_arms *arms, double value); /* TUNER_NO_ARM: none of them */
void arms_baseline(const struct tuner *t, uint8_t *ret);
void arms_incumbent(const struct tuner *t, const struct class_memory *c, uint8_t *ret);
bool arms_equal(const struct tuner *t, const uint8_t *a, const uint8_t *b);
bool arms_is_baseline(const struct tuner *t, const struct class_memory *c);
uint32_t arms_distance(const struct tuner *t, const uint8_t *a,
                       const uint8_t *b); /* knobs that differ */

/* ---- memory.c: what is remembered per class */
struct class_memory *memory_find(struct tuner *t, uint32_t workload, int32_t bucket);
struct class_memory *memory_new(struct tuner *t, uint32_t workload, int32_t bucket);
struct open_test *memory_test(struct tuner *t, struct class_memory *c, uint8_t knob,
                              uint8_t candidate);
void memory_close(struct class_memory *c, uint8_t knob, uint8_t candidate, uint8_t incumbent);
void memory_backoff(struct tuner *t, struct class_memory *c, uint8_t knob, uint8_t arm);
void memory_return(struct tuner *t, struct class_memory *c, uint8_t knob,
                   uint8_t arm); /* after a rollback */
void memory_forget_knob(struct tuner *t, struct class_memory *c, uint8_t knob);

/* ---- plan.c: what is done next */
void plan_next(struct tuner *t);
void plan_enter(struct tuner *t);
void plan_check(struct tuner *t, enum tuner_reason why);
bool plan_check_due(const struct tuner *t, enum tuner_reason *ret_why);
void plan_go_home(struct tuner *t); /* home[] from mode, class and write cap; in force at once */
bool plan_has_room(const struct tuner *t, const uint8_t *a,
                   const uint8_t *b); /* writes for one quad */
void plan_wait(struct tuner *t, uint64_t until, enum tuner_reason why);

/* ---- trial.c: one quad after the other */
void trial_quad(struct tuner *t, bool baseline_first);
void trial_window(struct tuner *t, const struct tuner_window *w, double log_y, double log_load);
void trial_charge(struct tuner *t, double d, double windows);
bool trial_is_b(const struct quad *q); /* the block under way belongs to the candidate */
void trial_void(struct tuner *t, enum tuner_reason why);

/* ---- settle.c */
/* One finished quad, before it is added to the sums.  True: blocks are longer from now on, the
 * trial is void. */
bool settle_learn(struct tuner *t, double diff);
/* No candidate is left.  True: longer blocks are worth a try, plan again. */
bool settle_exhausted(struct tuner *t);
/* Before a trial: a try of long blocks that found nothing ends here. */
void settle_expire(struct tuner *t);

/* ---- verdict.c: what a comparison leads to */
void verdict_test(struct tuner *t);
void verdict_check(struct tuner *t);
void verdict_abort(struct tuner *t); /* the objective fell in the candidate's windows */
void verdict_reject(struct tuner *t, enum tuner_reason why, double effect);
void verdict_rollback(struct tuner *t, enum tuner_reason why);

/* ---- tuner.c */
/* The event of this step; a later one does not overwrite an earlier one of the same step: then
 * NULL. */
struct tuner_decision *tuner_emit(struct tuner *t, enum tuner_event event, enum tuner_reason why);
void tuner_begin(struct tuner *t);                          /* a new decision */
const struct tuner_decision *tuner_finish(struct tuner *t); /* counts the writes, shows the state */
uint32_t tuner_writes(const struct tuner *t);               /* in the last TUNER_HOUR windows */
double tuner_value(const struct tuner *t, uint8_t knob, uint8_t arm);

/* ---- search policies */
struct policy {
    const char *name;
    bool moves; /* false: the baseline is all there is */
    /* The next arm of this knob worth a test against the incumbent of `c`, TUNER_NO_ARM: none now.
     */
    uint8_t (*candidate)(const struct tuner *t, const struct class_memory *c, uint8_t knob);
};
extern const struct policy policy_hillclimb, policy_fixed;
