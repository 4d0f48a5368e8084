/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenarios: an ini file becomes numbers, through one table of options.
 * Must not draw random numbers; plant.c does. */
#include "plant.h"

#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum opt_type { OPT_REAL, OPT_COUNT, OPT_BOOL };

struct opt {
    const char *section, *key;
    enum opt_type type;
    size_t offset;
    double fallback;
};

#define OPT(section, key, type, member, fallback)                                                  \
    {                                                                                              \
        section, key, type, offsetof(struct scenario, member), fallback                            \
    }

static const struct opt opts[] = {
    OPT("plant", "kappa", OPT_REAL, kappa, 0.6), /* share of the way to the new level per window */
    OPT("plant", "write_dip", OPT_REAL, write_dip,
        0.005), /* every write costs one window this much */
    OPT("plant", "regime_at", OPT_COUNT, regime_at, 0),
    OPT("plant", "regime_load", OPT_REAL, regime_load, 0),
    OPT("load", "low", OPT_REAL, low, 24),
    OPT("load", "high", OPT_REAL, high, 256),
    OPT("load", "period", OPT_COUNT, period, 8640),
    OPT("load", "drift", OPT_REAL, load_drift, 0.03),
    OPT("load", "noise", OPT_REAL, load_noise, 0.03),
    OPT("load", "endogenous", OPT_REAL, endogenous, 0),
    OPT("load", "blind", OPT_BOOL, blind, 0),
    OPT("noise", "sigma", OPT_REAL, sigma, 0.03),
    OPT("noise", "phi", OPT_REAL, phi, 0.5),
    OPT("noise", "drift", OPT_REAL, drift, 0.03),
    OPT("noise", "disturbances", OPT_REAL, disturbances, 2),
    OPT("noise", "dip_every", OPT_COUNT, dip_every, 90),
    OPT("noise", "dip_period", OPT_COUNT, dip_period, 0),
    OPT("run", "windows", OPT_COUNT, windows, 8640),
    OPT("run", "window_s", OPT_REAL, window_s, 10),
};

static const char *const load_words[LOAD_KINDS] = { "steady", "jumps", "diurnal", "ramp",
                                                    "alternate" };
static const char *const curve_words[CURVE_KINDS] = { "table", "random", "random-choice" };

struct reader {
    struct scenario *s;
    const char *path;
    bool has_table;
};

static void store(struct scenario *s, const struct opt *o, double v)
{
    char *p = (char *)s + o->offset;

    switch (o->type) {
    case OPT_REAL:
        *(double *)(void *)p = v;
        break;
    case OPT_COUNT:
        *(uint32_t *)(void *)p = (uint32_t)v;
        break;
    case OPT_BOOL:
        *(bool *)(void *)p = v != 0.0;
        break;
    }
}

static bool read_number(const char *text, double *ret)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v))
        return false;
    *ret = v;
    return true;
}

static bool read_word(const char *text, const char *const *words, int n, int *ret)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

static bool read_levels(struct scenario *s, const char *text)
{
    char *end;

    for (s->n_levels = 0; s->n_levels < PLANT_LEVELS; s->n_levels++) {
        double v = strtod(text, &end);

        if (end == text || !(v > 0.0))
            return false;
        s->levels[s->n_levels] = v;
        if (*end != ',') {
            s->n_levels++;
            return *end == '\0';
        }
        text = end + 1;
    }
    return false;
}

/* "captured p50 >= 88", "moves mean <= 0.6" */
static bool read_want(struct scenario *s, const char *text)
{
    struct want *w = &s->wants[s->n_wants];
    char metric[24], which[8], op[3], bound[32];

    if (s->n_wants == PLANT_WANTS ||
        sscanf(text, "%23s %7s %2s %31s", metric, which, op, bound) != 4)
        return false;
    *w = (struct want){ .percentile = which[0] == 'p' ? atoi(which + 1) : -1,
                        .at_least = op[0] == '>' };
    memcpy(w->metric, metric, sizeof w->metric);
    if ((which[0] != 'p' && strcmp(which, "mean") != 0) || (op[0] != '>' && op[0] != '<'))
        return false;
    if (!read_number(bound, &w->bound))
        return false;
    s->n_wants++;
    return true;
}

static bool read_table(struct reader *r, const char *name, struct table *ret)
{
    const char *slash = strrchr(r->path, '/');
    char path[512];
    int dir = slash ? (int)(slash - r->path) + 1 : 0;

    if (snprintf(path, sizeof path, "%.*s%s", dir, r->path, name) >= (int)sizeof path)
        return false;
    return table_load(ret, path) == 0;
}

static bool read_special(struct reader *r, const char *section, const char *key, const char *value)
{
    struct scenario *s = r->s;
    int i;

    if (strcmp(section, "bounds") == 0 && strcmp(key, "want") == 0)
        return read_want(s, value);
    if (strcmp(section, "plant") == 0 && strcmp(key, "table") == 0) {
        r->has_table = read_table(r, value, &s->table);
        return r->has_table;
    }
    if (strcmp(section, "plant") == 0 && strcmp(key, "second") == 0) {
        s->has_second = read_table(r, value, &s->second);
        return s->has_second;
    }
    if (strcmp(section, "plant") == 0 && strcmp(key, "curves") == 0) {
        if (!read_word(value, curve_words, CURVE_KINDS, &i))
            return false;
        s->curves = (enum curve_kind)i;
        return true;
    }
    if (strcmp(section, "load") == 0 && strcmp(key, "kind") == 0) {
        if (!read_word(value, load_words, LOAD_KINDS, &i))
            return false;
        s->load = (enum load_kind)i;
        return true;
    }
    return strcmp(section, "load") == 0 && strcmp(key, "levels") == 0 && read_levels(s, value);
}

static int on_option(void *user, const char *section, const char *key, const char *value)
{
    struct reader *r = user;
    double v;

    for (size_t i = 0; i < sizeof opts / sizeof opts[0]; i++) {
        if (strcmp(opts[i].section, section) != 0 || strcmp(opts[i].key, key) != 0)
            continue;
        if (!read_number(value, &v) || v < 0.0) {
            fprintf(stderr, "tunesim: %s: [%s] %s: not a number\n", r->path, section, key);
            return 0;
        }
        store(r->s, &opts[i], v);
        return 1;
    }
    if (read_special(r, section, key, value))
        return 1;
    fprintf(stderr, "tunesim: %s: [%s] %s = %s: unknown or unusable\n", r->path, section, key,
            value);
    return 0;
}

static bool is_usable(const struct scenario *s)
{
    if (s->windows < 100 || s->windows > 10000000 || !(s->window_s > 0.0) || s->period < 2)
        return false;
    if (s->phi >= 1.0 || s->kappa <= 0.0 || s->kappa > 1.0 || !(s->low > 0.0) ||
        !(s->high >= s->low))
        return false;
    return s->load == LOAD_DIURNAL || s->load == LOAD_RAMP ||
           s->n_levels >= (s->load == LOAD_STEADY ? 1u : 2u);
}

int scenario_load(struct scenario *ret, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct reader r = { .s = ret, .path = path };
    int line;

    memset(ret, 0, sizeof *ret);
    (void)snprintf(ret->name, sizeof ret->name, "%.*s", (int)strcspn(name, "."), name);
    for (size_t i = 0; i < sizeof opts / sizeof opts[0]; i++)
        store(ret, &opts[i], opts[i].fallback);
    line = ini_parse(path, on_option, &r);
    if (line < 0) {
        fprintf(stderr, "tunesim: %s: cannot be read\n", path);
        return -ENOENT;
    }
    if (line > 0) {
        fprintf(stderr, "tunesim: %s:%d: not a scenario\n", path, line);
        return -EINVAL;
    }
    if (!r.has_table || !is_usable(ret)) {
        fprintf(stderr, "tunesim: %s: table or load is missing, or a number is out of range\n",
                path);
        return -EINVAL;
    }
    return 0;
}
