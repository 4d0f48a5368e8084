/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profile rules, and the objective and the tuner that it asks for. */
#include "control.h"

#include "log.h"
#include "workload.h"

#include <errno.h>
#include <string.h>

static void set_guards(struct control *c, struct tuner_config *tc)
{
    c->n_guards = 0;
    for (size_t i = 0; i < c->profile->n_guards && c->n_guards < TUNER_GUARDS_MAX; i++) {
        const struct profile_guard *g = &c->profile->guard[i];
        c->guard[c->n_guards] = g;
        tc->guards[c->n_guards++] = (struct tuner_guard){
            .kind = g->relative ? TUNER_GUARD_RATIO : TUNER_GUARD_POINTS,
            .lower_is_worse = g->lower_is_worse,
            .bound = g->bound,
        };
    }
    tc->n_guards = c->n_guards;
}

static struct tuner_knob knob_for_tuner(const struct knob *k, const struct knob_range *range, double baseline)
{
    struct tuner_knob t = { .scale = TUNER_SCALE_LOG, .baseline = baseline, .min = (double)range->min, .max = (double)range->max };

    if (k->def->step == KNOB_LOG)
        return t;
    t.scale = TUNER_SCALE_CHOICE;
    for (uint64_t v = range->min; v <= range->max && t.n_choices < TUNER_ARMS_MAX - 1; v++)
        t.choices[t.n_choices++] = (double)v;
    return t;
}

/* Domain knobs of 6.6 and later are there only when somebody asks for them. */
static void show_domains(struct control *c)
{
    bool wanted = false;

    for (size_t i = 0; i < c->profile->n_knobs; i++)
        wanted = wanted || c->profile->knob[i].def->kind == KNOB_DOMAIN;
    if (!wanted || control_mode(c) != MODE_TUNE)
        return;
    int r = knobs_show_domains(&c->knobs, "the profile lists a domain knob");
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "the scheduling domains cannot be shown, their knobs are left out: %m");
}

static void set_knobs(struct control *c, struct tuner_config *tc)
{
    show_domains(c);
    c->n_tuned = 0;
    for (size_t i = 0; i < c->profile->n_knobs && c->n_tuned < TUNER_KNOBS_MAX; i++) {
        const struct knob_range *range = &c->profile->knob[i];
        struct knob *k = knobs_find(&c->knobs, range->def->name);
        if (!k || (k->state != KNOB_OK && k->state != KNOB_FOREIGN))
            continue;
        double baseline = (double)(k->has_original ? k->original : k->current);
        if (k->def->step == KNOB_LOG && baseline <= 0)
            continue; /* no logarithmic steps from 0, and 0 has a meaning of its own: an administrator's choice */
        c->taken[c->n_tuned] = false;
        c->tuned[c->n_tuned] = k;
        tc->knobs[c->n_tuned++] = knob_for_tuner(k, range, baseline);
    }
    tc->n_knobs = c->n_tuned;
}

/* Stored values of one class, matched to this tuner's knobs by name. */
static int remember_class(const struct store_class *sc, void *userdata)
{
    struct control *c = userdata;
    struct tuner_memory m = sc->memory;

    if (strcmp(sc->profile, c->profile->name) != 0)
        return 0;
    for (uint8_t i = 0; i < c->n_tuned; i++) {
        m.value[i] = NAN;
        for (size_t j = 0; j < sc->n_knobs; j++)
            if (strcmp(sc->knob_names[j], c->tuned[i]->def->name) == 0)
                m.value[i] = sc->memory.value[j];
    }
    m.workload = 0;
    if (tuner_remember(c->tuner, &m) < 0)
        c->forgotten++;
    return 0;
}

static void warm_start(struct control *c)
{
    double in_force[TUNER_KNOBS_MAX];
    struct tuner_noise noise;
    bool adopt = false;

    if (store_get_noise(c->store, c->fingerprint, c->profile->name, &noise) == 0)
        tuner_set_noise(c->tuner, &noise);
    c->forgotten = 0;
    (void)store_each_class(c->store, c->fingerprint, remember_class, c);
    if (c->forgotten > 0)
        log_msg(LOG_INFO, "%u classes do not fit the knobs as they are now: they are learned anew", c->forgotten);
    for (uint8_t i = 0; i < c->n_tuned; i++) {
        const struct knob *k = c->tuned[i];
        bool ours = k->state == KNOB_OK && k->has_ours && k->ours != k->original;
        in_force[i] = ours ? (double)k->ours : NAN;
        adopt = adopt || ours;
    }
    if (adopt && tuner_adopt(c->tuner, in_force) < 0)
        log_msg(LOG_NOTICE, "values left by the previous process are not among those of this profile; the baseline is put back");
    (void)tuner_set_mode(c->tuner, control_tuner_mode(c));
    for (uint8_t i = 0; i < c->n_tuned; i++) {
        if (c->tuned[i]->state == KNOB_FOREIGN) {
            c->taken[i] = true;
            (void)tuner_take_knob(c->tuner, i);
        }
    }
}

static int build_tuner(struct control *c)
{
    const struct config *cf = c->config;
    struct tuner_config *tc = calloc(1, sizeof *tc);
    int r = -ENOMEM;

    if (!tc)
        return r;
    tuner_params_default(&tc->params);
    tc->params.alpha = cf->alpha;
    tc->params.delta = cf->min_gain;
    tc->params.debt_max = cf->loss_budget;
    tc->params.debt_pay = cf->loss_payback;
    tc->params.class_ratio = cf->class_width;
    tc->params.block = cf->block;
    tc->params.settle = cf->settle;
    tc->params.calibration = cf->calibration_quads;
    tc->params.seed = c->seed;
    set_guards(c, tc);
    set_knobs(c, tc);
    c->tuner = calloc(1, tuner_size());
    if (c->tuner)
        r = tuner_init(c->tuner, policy_find(cf->policy), tc);
    free(tc);
    if (r < 0) {
        free(TAKE_PTR(c->tuner));
        return log_errno(LOG_ERR, r, "profile %s: the tuner does not take its knobs: %m", c->profile->name);
    }
    warm_start(c);
    return 0;
}

/* Puts values of the old profile's knobs back that the new one does not tune. */
static void leave_profile(struct control *c)
{
    control_save_classes(c);
    if (c->has_objective)
        objective_close(&c->objective);
    c->has_objective = false;
    c->ticking = false;
    free(TAKE_PTR(c->tuner));
    c->n_tuned = 0;
    c->n_guards = 0;
    c->level_incumbent = c->level_baseline = (struct control_level){ 0 };
    memset(c->guard_level, 0, sizeof c->guard_level);
    memset(c->pressure_level, 0, sizeof c->pressure_level);
    c->level_bucket = INT32_MIN;
}

void control_activate(struct control *c, const struct profile *p, const char *why)
{
    char text[300];
    bool other = p != c->profile;
    bool had = c->profile != NULL;

    leave_profile(c);
    if (other && had)
        c->unrestored = (uint32_t)knobs_restore(&c->knobs, "profile changed");
    c->profile = p;
    if (why != c->profile_why)
        (void)copy_string(c->profile_why, sizeof c->profile_why, why);
    if (other) {
        (void)snprintf(text, sizeof text, "profile %s: %s", p ? p->name : "none", why);
        log_msg(LOG_NOTICE, "%s", text);
        control_record_event(c, "profile", NULL, NAN, NAN, p ? p->name : "none", text);
    }
    if (!p || build_tuner(c) < 0)
        return;
    int r = objective_open(&c->objective, p, &c->io, c->event);
    if (r < 0) {
        (void)log_errno(LOG_ERR, r, "profile %s: objective %s cannot be set up: %m", p->name, p->objective);
        return;
    }
    c->has_objective = true;
}

void control_match(struct control *c)
{
    const struct profile *p;
    char why[128];

    if (strcmp(c->config->profile, "auto") != 0) {
        p = config_profile(c->config, c->config->profile);
        (void)copy_string(why, sizeof why, "named in the configuration");
    } else {
        if (c->profile && workload_still_there(&c->io, c->config, c->profile, c->match_pid))
            return;
        p = workload_match(&c->io, c->config, &c->match_pid, why, sizeof why);
        sensors_follow(&c->sensors, c->match_pid);
    }
    if (p != c->profile || (!p && !*c->profile_why))
        control_activate(c, p, why);
}

void control_save_classes(struct control *c)
{
    struct tuner_noise noise;
    struct store_class sc;

    if (!c->tuner || !c->profile || !c->store)
        return;
    tuner_get_noise(c->tuner, &noise);
    int r = store_put_noise(c->store, c->fingerprint, c->profile->name, &noise);
    for (size_t i = 0; i < tuner_classes(c->tuner); i++) {
        memset(&sc, 0, sizeof sc);
        tuner_class_at(c->tuner, i, &sc.memory);
        (void)copy_string(sc.profile, sizeof sc.profile, c->profile->name);
        sc.n_knobs = c->n_tuned;
        for (uint8_t j = 0; j < c->n_tuned; j++)
            (void)copy_string(sc.knob_names[j], sizeof sc.knob_names[j], c->tuned[j]->def->name);
        sc.real_ns = now_real_ns();
        int e = store_put_class(c->store, c->fingerprint, &sc);
        r = r < 0 ? r : e;
    }
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "cannot store what was learned: %m");
}
