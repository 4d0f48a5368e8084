/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constants of the controller with their reasons; windows are windows, an hour is 360 of them.
 * What an operator may set is in struct tuner_params, not here. */
#include "tuner_state.h"

#include <math.h>

void tuner_params_default(struct tuner_params *ret)
{
    *ret = (struct tuner_params){
        .alpha = 0.02,    /* 0.05: +0..2 points of gain, three times the false moves */
        .delta = 0.01,    /* nothing below is worth a move */
        .debt_max = 30.0, /* %-windows: bounds the exploration loss */
        .debt_pay = 0.2,  /* long-run loss of 0.2 % at most */
        .block = 3,       /* right up to a settling time of 100 s with windows of 10 s */
        .settle = 1,
        .class_ratio = 1.25, /* x2 loses 12 points on a diurnal load, narrower learns slower */
        .calibration = 5, /* without: 2.2 % false accepts per test at 8 % noise, with: 0.5 to 1 */
        .seed = 1,
    };
}

const struct tuner_const tuner_const_default = {
    .load = {
        .width = 0.0,      /* ln(class_ratio), set by tuner_init() */
        .margin = 0.15,    /* wider: a remembered optimum reaches into the next class */
        .dwell = 2,
        .noise_z = 2.0,    /* a signal noisy by 15 % must not flap */
        .lost = 12,        /* a sensor that fails for less than two minutes changes no class */
    },
    .level = { .slack = 1.0, .bar = 10.0 }, /* 4 windows for a step of -15 % at 3 % noise */
    .dwell = 6,            /* rest after a class change */
    .tau = 0.05,           /* prior effect size: 3 to 10 % are indistinguishable */
    .tests_min = 4.0,      /* quads before an accept; 3 gives a third more false moves for nothing */
    .tests_ref = 16.0,     /* quads of a test at tests_sd; grows with the variance, within lo..hi */
    .tests_lo = 6.0,
    .tests_hi = 36.0,
    .tests_sd = 0.025,
    .futile_z = 0.85,      /* reject when mean + 0.85 se is below delta */
    .guard_min = 0.03,     /* abort inside a quad: candidate lower by max(3 %, 2 se) */
    .guard_z = 2.0,
    .guard_dips = 0.03,    /* more dips than this: two low windows in a row are no evidence */
    .coarse = 3,           /* x8 first: larger effect, faster decision; x4 costs 2 to 12 points, x2 8 to 18 */
    .check_first = 360,    /* the incumbent is re-proved after 1 h, x1.5 up to 4 h */
    .check_max = 1440,
    .check_blind = 480,    /* 80 min where the load cannot be observed */
    .check_quads = 6,
    .load_moved = 0.09,    /* ... and when the load is 9 % from where it was compared */
    .load_moved_z = 2.5,   /* ... or this many sd of the difference of two filtered loads, if that is more */
    .load_gap = 18,
    .alarm_gap = 30,
    .retest_first = 2160,  /* a rejected arm returns after 6 h, doubling to 48 h, +-20 % */
    .retest_max = 17280,
    .retest_rollback = 360, /* what was proved and then rolled back returns after 1 h, then 4 h */
    .rollback_quads = 2,    /* one quad may be a disturbance; real harm is stopped by the guard inside it */
    .patience = 6,         /* rejections in a row before the host rests: 5 min x 1.25^k up to 1 h */
    .rest_first = 30.0,
    .rest_grow = 1.25,
    .rest_max = 360.0,
    .ban_count = 3,        /* rollbacks of a class within 24 h: its signal does not describe the workload */
    .ban_window = 8640,
    .ban_length = 8640,
    .noise_sd = 0.03,      /* prior of a quad difference, until A/A quads say better */
    .noise_weight = 4.0,
    .noise_forget = 0.98,
    .load_tolerance = 0.15, /* ln: a quad during which the load moved further says nothing */
    .settle_sent = true,   /* a block that begins with a real write is settled, whatever ended the quad before */
    .level_known = true,   /* a finished quad gives the level of what is in force after it */
    .settle_slope = 0.25,  /* still to come inside a block, per effect; 0.1 at a settling time of 10 s, 0.5 at 45 s */
    .settle_z = 3.5,       /* looked at after every quad: some hundred looks a day */
    .settle_quads = 8,
    .settle_levels = 3,    /* 0: never */
    .settle_try = 720,     /* windows for which long blocks are tried where short ones found nothing */
    .load_tolerance_z = 2.5, /* ... or this many sd of the difference of two blocks, if that is more */
    .debt_tau = 0.07,      /* prior of a loss seen by the guard: a value far outside it is mostly noise */
    .shift_z = 2.0,        /* sd from which on a value is taken to move the load signal */
    .track_always = false, /* true only when the load is known not to react to the knobs */
};
