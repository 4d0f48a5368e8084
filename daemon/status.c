/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON document of status.h from the state of the control. Reads only. */
#include "status.h"

#include "control.h"
#include "util.h"
#include "status_doing.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

typedef struct json_object json;

static void put(json *o, const char *key, json *v)
{
    (void)json_object_object_add(o, key, v);
}
static void put_s(json *o, const char *key, const char *s)
{
    put(o, key, s ? json_object_new_string(s) : NULL);
}
static void put_d(json *o, const char *key, double v)
{
    char text[40];

    if (!isfinite(v)) {
        put(o, key, NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%.9g", v);
    put(o, key, json_object_new_double_s(v, text));
}
static void put_u(json *o, const char *key, uint64_t v)
{
    put(o, key, json_object_new_uint64(v));
}
static void put_b(json *o, const char *key, bool v)
{
    put(o, key, json_object_new_boolean(v));
}
static json *host(const struct control *c)
{
    json *o = json_object_new_object();
    struct topology t;
    char why[256];
    bool tunable = knobs_why_not(&c->knobs, &c->io, why, sizeof why) == 0;

    sensors_topology(&c->sensors, &t);
    put_s(o, "kernel", c->kernel);
    put_u(o, "cpus", t.cpus_online);
    put_s(o, "online", t.online);
    put_u(o, "packages", t.packages);
    put_u(o, "nodes", t.nodes);
    put_b(o, "tunable", tunable);
    put_s(o, "why_not", tunable ? NULL : why);
    put_b(o, "simulated", !c->io.real);
    return o;
}

static json *window(const struct control *c)
{
    json *o = json_object_new_object();
    uint64_t now = now_mono_ns();

    put_u(o, "index", c->windows);
    put_d(o, "length_s", (double)c->config->window_ns / 1e9);
    put_b(o, "missing", c->window_why != NULL);
    put_s(o, "why_missing", c->window_why);
    put_d(o, "next_in_s", c->window_due_ns > now ? (double)(c->window_due_ns - now) / 1e9 : 0);
    return o;
}

static json *profile(const struct control *c)
{
    json *o = c->profile ? json_object_new_object() : NULL;

    if (!o)
        return NULL;
    put_s(o, "name", c->profile->name);
    put_s(o, "path", c->profile->path);
    put_s(o, "why", c->profile_why);
    return o;
}

static json *class_(const struct control *c)
{
    struct tuner_memory m;
    char name[96];
    json *o;

    if (!c->tuner || !tuner_class(c->tuner, &m))
        return NULL;
    o = json_object_new_object();
    control_class_name(c, name, sizeof name);
    put_s(o, "name", name);
    put_s(o, "profile", c->profile->name);
    put(o, "bucket", m.bucket == INT32_MIN ? NULL : json_object_new_int(m.bucket));
    put_u(o, "windows", m.windows);
    put_u(o, "tests", m.tests);
    put_u(o, "accepts", m.accepts);
    put_u(o, "rollbacks", m.rollbacks);
    put_d(o, "gain_pct", m.gain != 0 ? percent_of_ln(m.gain) : NAN);
    return o;
}

static json *objective(const struct control *c)
{
    static const char *const measures[] = { [MEASURE_SERVICE] = "service", [MEASURE_TPS] = "tps", [MEASURE_LATENCY] = "latency" };
    json *o = json_object_new_object();
    struct tuner_noise noise = { 0 };

    put_s(o, "name", c->profile ? c->profile->objective : NULL);
    put_s(o, "measure", c->profile ? measures[c->profile->measure] : NULL);
    put_s(o, "text", c->has_objective ? objective_text(&c->objective) : NULL);
    put_s(o, "unit", c->has_objective ? objective_unit(&c->objective) : NULL);
    put_b(o, "proxy", c->has_objective && c->objective.def->proxy);
    put_s(o, "state", c->has_objective ? objective_state_name(c->objective.state) : "none");
    put_s(o, "reason", c->has_objective ? c->objective.reason : "no profile is active");
    put_s(o, "help", c->has_objective ? c->objective.help : "");
    put_d(o, "value", window_get(&c->window, METRIC_OBJECTIVE));
    put_d(o, "incumbent", c->level_incumbent.n ? c->level_incumbent.mean : NAN);
    put_d(o, "baseline", c->level_baseline.n ? c->level_baseline.mean : NAN);
    put_d(o, "tps", window_get(&c->window, METRIC_TPS));
    if (c->tuner)
        tuner_get_noise(c->tuner, &noise);
    put_d(o, "noise_pct", noise.weight > 0 ? 100 * sqrt(noise.sum / noise.weight) : NAN);
    return o;
}

static json *guards(const struct control *c)
{
    json *a = json_object_new_array();

    for (uint8_t i = 0; i < c->n_guards; i++) {
        const struct profile_guard *g = c->guard[i];
        const struct control_level *l = &c->guard_level[i];
        double v = window_get(&c->window, g->metric), worse = g->lower_is_worse ? l->mean - v : v - l->mean;
        json *o = json_object_new_object();
        char bound[48];

        (void)snprintf(bound, sizeof bound, g->relative ? "%c%.4g%%" : "%c%.4g points", g->lower_is_worse ? '-' : '+',
                       g->relative ? 100 * g->bound : g->bound);
        put_s(o, "metric", metric_info[g->metric].name);
        put_s(o, "unit", metric_info[g->metric].unit);
        put_s(o, "bound", bound);
        put_d(o, "value", v);
        put_d(o, "incumbent", l->n ? l->mean : NAN);
        put_b(o, "ok", l->n == 0 || !(worse > (g->relative ? g->bound * l->mean : g->bound)));
        (void)json_object_array_add(a, o);
    }
    return a;
}

static json *foreign(const struct knob *k)
{
    json *o;

    if (k->state != KNOB_FOREIGN)
        return NULL;
    o = json_object_new_object();
    put_u(o, "value", k->foreign_value);
    put(o, "when", k->foreign_real_ns ? json_object_new_double((double)(k->foreign_real_ns / NSEC_PER_MSEC) / 1e3) : NULL);
    put(o, "pid", k->foreign_pid > 0 ? json_object_new_int(k->foreign_pid) : NULL);
    put_s(o, "comm", *k->foreign_comm ? k->foreign_comm : NULL);
    put_s(o, "unit", *k->foreign_unit ? k->foreign_unit : NULL);
    return o;
}

static const struct knob_range *in_profile(const struct control *c, const struct knob *k)
{
    for (size_t i = 0; c->profile && i < c->profile->n_knobs; i++)
        if (c->profile->knob[i].def == k->def)
            return &c->profile->knob[i];
    return NULL;
}

static json *knobs(const struct control *c)
{
    json *a = json_object_new_array();

    for (size_t i = 0; i < c->knobs.n; i++) {
        const struct knob *k = &c->knobs.k[i];
        const struct knob_range *range = in_profile(c, k);
        bool read = k->path && k->state != KNOB_ABSENT && k->error != -EACCES;
        json *o = json_object_new_object();

        put_s(o, "name", k->def->name);
        put_s(o, "what", k->def->what);
        put_s(o, "path", k->path);
        put_s(o, "unit", k->def->unit);
        put_s(o, "state", knob_state_name(k->state));
        put_s(o, "reason", *k->reason ? k->reason : k->note);
        put(o, "original", k->has_original ? json_object_new_uint64(k->original) : NULL);
        put(o, "current", read ? json_object_new_uint64(k->current) : NULL);
        put(o, "ours", k->has_ours ? json_object_new_uint64(k->ours) : NULL);
        put(o, "kernel_default", k->def->kernel_default > 0 ? json_object_new_uint64((uint64_t)k->def->kernel_default) : NULL);
        put(o, "min", range ? json_object_new_uint64(range->min) : NULL);
        put(o, "max", range ? json_object_new_uint64(range->max) : NULL);
        put_b(o, "in_profile", range != NULL);
        put_u(o, "writes", k->writes);
        put(o, "foreign", foreign(k));
        (void)json_object_array_add(a, o);
    }
    return a;
}

static void put_evidence(json *o, const struct tuner_evidence *e, const char *count)
{
    bool any = e->n > 0;

    put(o, count, any || strcmp(count, "quads") == 0 ? json_object_new_int((int)e->n) : NULL);
    put_d(o, "mean_pct", any ? percent_of_ln(e->mean) : NAN);
    put_d(o, "se_pct", any ? 100 * e->se : NAN);
    put_d(o, "lo_pct", any ? percent_of_ln(e->lo) : NAN);
    put_d(o, "hi_pct", any ? percent_of_ln(e->hi) : NAN);
    put_d(o, "e", any ? e->e : NAN);
    put_d(o, "bar", any ? e->bar : NAN);
}

static json *trial(const struct control *c)
{
    static const char *const kinds[] = { [TUNER_TRIAL_NONE] = "none", [TUNER_TRIAL_TEST] = "test", [TUNER_TRIAL_CHECK] = "check",
                                         [TUNER_TRIAL_JOINT] = "joint" };
    static const char *const arms[] = { [TUNER_ARM_INCUMBENT] = "incumbent", [TUNER_ARM_CANDIDATE] = "candidate",
                                        [TUNER_ARM_SETTLING] = "settling" };
    const struct tuner_trial *t = c->tuner ? tuner_trial(c->tuner) : NULL;
    json *o;

    if (!t || t->kind == TUNER_TRIAL_NONE)
        return NULL;
    o = json_object_new_object();
    put_s(o, "kind", kinds[t->kind]);
    put_s(o, "knob", t->knob < c->n_tuned ? c->tuned[t->knob]->def->name : NULL);
    put_d(o, "incumbent", t->incumbent);
    put_d(o, "candidate", t->candidate);
    put_s(o, "arm", arms[t->arm]);
    put_u(o, "position", t->position);
    put_u(o, "length", t->length);
    put_evidence(o, &t->evidence, "quads");
    return o;
}

static json *decision(const struct control_record *r)
{
    json *o = json_object_new_object();
    char name[96];

    if (r->d.bucket == INT32_MIN)
        (void)snprintf(name, sizeof name, "%s", r->d.profile);
    else
        (void)snprintf(name, sizeof name, "%s/%d", r->d.profile, r->d.bucket);
    put(o, "time", json_object_new_double((double)(r->d.real_ns / NSEC_PER_MSEC) / 1e3));
    put_u(o, "window", r->d.window);
    put_s(o, "class", *name ? name : NULL);
    put_s(o, "what", r->d.event);
    put_s(o, "knob", *r->d.knob ? r->d.knob : NULL);
    put_d(o, "old", r->d.old_value);
    put_d(o, "new", r->d.new_value);
    put_s(o, "reason", r->d.reason);
    put_s(o, "text", r->text);
    put_evidence(o, &r->d.evidence, "n");
    return o;
}

static json *decisions(const struct control *c)
{
    json *a = json_object_new_array();

    for (size_t i = 0; i < c->n_records && i < 10; i++) {
        size_t at = (c->next_record + CONTROL_DECISIONS_MAX - 1 - i) % CONTROL_DECISIONS_MAX;
        (void)json_object_array_add(a, decision(&c->record[at]));
    }
    return a;
}

static json *sensors(const struct control *c)
{
    json *a = json_object_new_array();

    for (size_t i = 0; i < c->sensors.n; i++) {
        const struct sensor *s = &c->sensors.s[i];
        json *o = json_object_new_object();
        put_s(o, "name", s->def->name);
        put_s(o, "what", s->def->what);
        put_s(o, "state", sensor_state_name(s->state));
        put_s(o, "reason", s->reason);
        (void)json_object_array_add(a, o);
    }
    return a;
}

static json *metrics(const struct control *c)
{
    json *o = json_object_new_object();

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        put_d(o, metric_info[m].name, window_get(&c->window, (enum metric)m));
    return o;
}

static json *counters(const struct control *c)
{
    json *o = json_object_new_object();
    uint64_t writes = 0;

    for (size_t i = 0; i < c->knobs.n; i++)
        writes += c->knobs.k[i].writes;
    put_u(o, "windows", c->windows);
    put_u(o, "missing", c->missing);
    put_u(o, "moves", c->tuner ? tuner_moves(c->tuner) : 0);
    put_u(o, "writes", writes);
    put_u(o, "unrestored", c->unrestored + c->stuck);
    put_d(o, "debt_pct_windows", c->tuner ? tuner_debt(c->tuner) : 0);
    return o;
}

static json *store(const struct control *c)
{
    json *o = json_object_new_object();
    char path[4200];

    (void)snprintf(path, sizeof path, "%s/state.db", c->paths.state_dir);
    put_s(o, "path", path);
    put_s(o, "state", c->store ? "ok" : "unavailable");
    put_s(o, "reason", c->store_note);
    return o;
}

static json *load(const struct control *c)
{
    json *o = json_object_new_object();

    put_d(o, "value", window_get(&c->window, METRIC_LOAD));
    put_s(o, "source", c->has_objective ? objective_load_source(&c->objective) : NULL);
    return o;
}

char *status_json(const struct control *c)
{
    json *o = json_object_new_object();
    char text[700], *ret;

    put_s(o, "version", TUNERD_VERSION);
    put_u(o, "schema", 1);
    put_s(o, "mode", mode_name(control_mode(c)));
    control_mode_origin(c, text, sizeof text);
    put_s(o, "mode_origin", text);
    status_doing(c, text, sizeof text);
    put_s(o, "doing", text);
    put(o, "host", host(c));
    put(o, "window", window(c));
    put(o, "profile", profile(c));
    put(o, "class", class_(c));
    put(o, "load", load(c));
    put(o, "objective", objective(c));
    put(o, "guards", guards(c));
    put(o, "knobs", knobs(c));
    put(o, "trial", trial(c));
    put(o, "decisions", decisions(c));
    put(o, "counters", counters(c));
    put(o, "sensors", sensors(c));
    put(o, "metrics", metrics(c));
    put(o, "store", store(c));
    ret = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    (void)json_object_put(o);
    return ret;
}
