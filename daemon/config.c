/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds a complete configuration from the vendor's file, the administrator's and the profiles of
 * both, or says why not. Does not log, and changes nothing that is in use. */
#include "config_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct main_reader {
    struct option_reader r; /* first member: named() gets a pointer to it */
    struct config *c;
    unsigned limit_line[KNOBS_MAX];
};

static const char *const main_sections[] = { "control", "policy", "safety", "emergency",
                                             "limits",  "store",  NULL };

static int on_limit(struct option_reader *r, const struct ini_place *at, const char *value)
{
    struct main_reader *m = (struct main_reader *)(void *)r;
    const struct knob_def *def = knob_find(at->key);
    struct option_why why = { "" };
    struct knob_range *limit;
    size_t i;

    if (!def) {
        const char *names[KNOBS_MAX];

        for (i = 0; i < knob_table_size && i < KNOBS_MAX; i++)
            names[i] = knob_table[i].name;
        return refuse_unknown(r, at, "knob", names, i);
    }
    i = (size_t)(def - knob_table);
    assert(i < KNOBS_MAX);
    if (m->limit_line[i] > 0)
        return refuse_twice(r, at, m->limit_line[i]);
    m->limit_line[i] = at->line;
    limit = &m->c->limit[i];
    if (range_set(def, value, limit, &why) < 0)
        return inifile_fail(r->err, at, "%s", why.text);
    (void)snprintf(limit->origin, sizeof limit->origin, "%.490s:%u", at->file, at->line);
    return 0;
}

/* Where the profile is named: file and line of the last one that did. */
struct named_profile {
    char file[CONFIG_TEXT_MAX];
    unsigned line;
};

/* 1: read; 0: not there. */
static int read_main(struct config *c, const char *path, bool trusted, struct named_profile *where,
                     struct config_error *err)
{
    struct main_reader m = {
        .r = { .options = config_options,
               .n_options = config_options_size,
               .base = c,
               .sections = main_sections,
               .err = err,
               .named = on_limit },
        .c = c,
    };
    int r = option_reader_file(&m.r, path, trusted);

    if (r <= 0)
        return r;
    for (size_t i = 0; i < config_options_size; i++) {
        if (config_options[i].offset != offsetof(struct config, profile) || m.r.line[i] == 0)
            continue;
        (void)copy_string(where->file, sizeof where->file, path);
        where->line = m.r.line[i];
    }
    (void)copy_string(c->path, sizeof c->path, path);
    return 1;
}

static void set_defaults(struct config *c)
{
    assert(knob_table_size <= KNOBS_MAX);
    options_default(config_options, config_options_size, c);
    for (size_t i = 0; i < knob_table_size; i++) {
        c->limit[i].def = &knob_table[i];
        c->limit[i].min = knob_table[i].safe_min;
        c->limit[i].max = knob_table[i].safe_max;
    }
}

/* Empty profiles have hidden what they had to hide. */
static void drop_empty(struct config *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_profiles; i++) {
        if (c->profiles[i].priority == UINT32_MAX)
            continue;
        if (n != i)
            c->profiles[n] = c->profiles[i];
        n++;
    }
    memset(&c->profiles[n], 0, (c->n_profiles - n) * sizeof c->profiles[0]);
    c->n_profiles = n;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct profile *)a)->name, ((const struct profile *)b)->name);
}

/* Ranges of profiles within [limits]. */
static int cut_ranges(struct config *c, struct config_error *err)
{
    for (size_t i = 0; i < c->n_profiles; i++) {
        struct profile *p = &c->profiles[i];

        for (size_t j = 0; j < p->n_knobs; j++) {
            struct knob_range *k = &p->knob[j];
            const struct knob_range *limit = &c->limit[k->def - knob_table];
            uint64_t min = k->min > limit->min ? k->min : limit->min;
            uint64_t max = k->max < limit->max ? k->max : limit->max;
            char mine[80], theirs[80];

            if (min > max) {
                struct ini_place at = { .file = k->origin,
                                        .section = "knobs",
                                        .key = k->def->name };
                return inifile_fail(
                    err, &at, "%s lies outside of %s of [limits]%s%s; change one of them",
                    range_format(k, mine, sizeof mine), range_format(limit, theirs, sizeof theirs),
                    *limit->origin ? " in " : "", limit->origin);
            }
            k->min = min;
            k->max = max;
        }
    }
    return 0;
}

static int finish(struct config *c, const struct named_profile *where, struct config_error *err)
{
    const char *names[CONFIG_PROFILES_MAX];
    char hint[600];

    drop_empty(c);
    qsort(c->profiles, c->n_profiles, sizeof c->profiles[0], by_name);
    if (strcmp(c->profile, "auto") != 0 && !config_profile(c, c->profile)) {
        struct ini_place at = { where->file, where->line, "control", "profile" };

        for (size_t i = 0; i < c->n_profiles; i++)
            names[i] = c->profiles[i].name;
        return inifile_fail(err, &at, "there is no profile '%s'; %s", c->profile,
                            c->n_profiles
                                ? names_hint(names, c->n_profiles, c->profile, hint, sizeof hint)
                                : "install one or write auto");
    }
    return cut_ranges(c, err);
}

struct source {
    const char *dir; /* NULL: none */
    bool trusted;
};

/* DIR/NAME; empty when there is no directory. */
static int join(char *path, size_t size, const struct source *s, const char *name,
                struct config_error *err)
{
    struct ini_place at = { .file = s->dir };

    if ((size_t)snprintf(path, size, "%s/%s", s->dir, name) < size)
        return 0;
    return inifile_fail(err, &at, "path of more than %zu bytes; use a shorter directory", size - 1);
}

static int load(struct config *c, const struct source source[2], const char *file,
                struct config_error *err)
{
    struct named_profile where = { "", 0 };
    char path[CONFIG_TEXT_MAX - 64];
    int r;

    if (file) {
        struct ini_place at = { .file = file };

        r = read_main(c, file, false, &where, err);
        if (r == 0) {
            (void)inifile_fail(err, &at, "cannot be read: %s; see the path", strerror(ENOENT));
            return -ENOENT;
        }
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < 2 && !file; i++) {
        r = source[i].dir ? join(path, sizeof path, &source[i], "tunerd.conf", err) : 0;
        if (r == 0 && source[i].dir)
            r = read_main(c, path, source[i].trusted, &where, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 2; i-- > 0;) { /* the administrator's first: what is there hides the vendor's */
        r = source[i].dir ? join(path, sizeof path, &source[i], "profiles", err) : 0;
        if (r == 0 && source[i].dir)
            r = profiles_read(c, path, source[i].trusted, err);
        if (r < 0)
            return r;
    }
    return finish(c, &where, err);
}

int config_load(const char *vendor_dir, const char *local_dir, const char *file,
                struct config **ret, struct config_error *err)
{
    /* What root reads by itself must be root's; what somebody names on a command line is theirs to
     * judge. */
    bool root = geteuid() == 0;
    const struct source source[2] = {
        { vendor_dir, root && vendor_dir && strcmp(vendor_dir, CONFIG_VENDOR_DIR) == 0 },
        { local_dir, root && local_dir && strcmp(local_dir, CONFIG_LOCAL_DIR) == 0 },
    };
    struct config *c = calloc(1, sizeof *c);
    int r;

    err->text[0] = '\0';
    if (!c) {
        (void)copy_string(err->text, sizeof err->text, "out of memory");
        return -ENOMEM;
    }
    set_defaults(c);
    r = load(c, source, file, err);
    if (r < 0) {
        config_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct config *config_free(struct config *c)
{
    free(c);
    return NULL;
}

const struct profile *config_profile(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_profiles; i++)
        if (strcmp(c->profiles[i].name, name) == 0)
            return &c->profiles[i];
    return NULL;
}
