/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: one file each, from the vendor's directory or the administrator's, which overrides by
 * name. Does not choose among them and does not log. */
#include "config_table.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct profile_reader {
    struct option_reader r; /* first member: named() gets a pointer to it */
    struct profile *p;
    unsigned guard_line[METRIC_COUNT];
    unsigned knob_line[KNOBS_MAX];
};

static const char *const profile_sections[] = { "profile", "match", "objective",
                                                "guards",  "knobs", NULL };

static int on_guard(struct profile_reader *pr, const struct ini_place *at, const char *value)
{
    enum metric m = metric_find(at->key);
    struct profile_guard g = { .metric = m };
    struct option_why why = { "" };

    if (m == METRIC_COUNT) {
        const char *names[METRIC_COUNT];

        for (unsigned i = 0; i < METRIC_COUNT; i++)
            names[i] = metric_info[i].name;
        return refuse_unknown(&pr->r, at, "metric", names, METRIC_COUNT);
    }
    if (pr->guard_line[m] > 0)
        return refuse_twice(&pr->r, at, pr->guard_line[m]);
    if (pr->p->n_guards == PROFILE_GUARDS_MAX)
        return inifile_fail(pr->r.err, at, "more than %d guards; remove one", PROFILE_GUARDS_MAX);
    if (guard_set(value, &g, &why) < 0)
        return inifile_fail(pr->r.err, at, "%s", why.text);
    pr->guard_line[m] = at->line;
    pr->p->guard[pr->p->n_guards++] = g;
    return 0;
}

static int on_knob(struct profile_reader *pr, const struct ini_place *at, const char *value)
{
    const struct knob_def *def = knob_find(at->key);
    struct knob_range *k;
    struct option_why why = { "" };
    size_t i;

    if (!def) {
        const char *names[KNOBS_MAX];

        for (i = 0; i < knob_table_size && i < KNOBS_MAX; i++)
            names[i] = knob_table[i].name;
        return refuse_unknown(&pr->r, at, "knob", names, i);
    }
    i = (size_t)(def - knob_table);
    assert(i < KNOBS_MAX);
    if (pr->knob_line[i] > 0)
        return refuse_twice(&pr->r, at, pr->knob_line[i]);
    if (pr->p->n_knobs == PROFILE_KNOBS_MAX)
        return inifile_fail(pr->r.err, at, "more than %d knobs; one is tried at a time, leave some out", PROFILE_KNOBS_MAX);
    k = &pr->p->knob[pr->p->n_knobs];
    if (range_set(def, value, k, &why) < 0)
        return inifile_fail(pr->r.err, at, "%s", why.text);
    pr->knob_line[i] = at->line;
    (void)snprintf(k->origin, sizeof k->origin, "%.490s:%u", at->file, at->line);
    pr->p->n_knobs++;
    return 0;
}

static int on_named(struct option_reader *r, const struct ini_place *at, const char *value)
{
    struct profile_reader *pr = (struct profile_reader *)(void *)r;

    return strcmp(at->section, "guards") == 0 ? on_guard(pr, at, value) : on_knob(pr, at, value);
}

/* What can only be said of the whole. */
static int check_profile(struct profile_reader *pr)
{
    struct ini_place at = { .file = pr->p->path };

    for (size_t i = 0; i < profile_options_size; i++) {
        const struct option *o = &profile_options[i];

        at = (struct ini_place){ pr->p->path, pr->r.line[i], o->section, o->key };
        if (pr->r.line[i] > 0 && !option_belongs(o, pr->p->objective))
            return inifile_fail(pr->r.err, &at,
                                "has no meaning with type = %s; remove it or set type = %s",
                                pr->p->objective, o->only);
    }
    at = (struct ini_place){ .file = pr->p->path, .section = "objective", .key = "file" };
    if (strcmp(pr->p->objective, "file") == 0 && pr->p->file[0] != '/')
        return inifile_fail(pr->r.err, &at,
                            "type = file needs an absolute path; write file = /run/NAME");
    return 0;
}

/* 1: read; 0: an empty file, which only hides the vendor's. */
static int read_profile(const char *path, const char *name, bool trusted, struct profile *ret,
                        struct config_error *err)
{
    struct profile_reader pr = {
        .r = { .options = profile_options,
               .n_options = profile_options_size,
               .base = ret,
               .sections = profile_sections,
               .err = err,
               .named = on_named },
        .p = ret,
    };
    bool any = false;
    int r;

    memset(ret, 0, sizeof *ret);
    (void)copy_string(ret->name, sizeof ret->name, name);
    (void)copy_string(ret->path, sizeof ret->path, path);
    options_default(profile_options, profile_options_size, ret);
    r = option_reader_file(&pr.r, path, trusted);
    if (r <= 0)
        return r;
    for (size_t i = 0; profile_sections[i]; i++)
        any = any || pr.r.section_line[i] > 0;
    r = any ? check_profile(&pr) : 0;
    return r < 0 ? r : any;
}

/* "NAME.conf" -> NAME. 1: a profile; 0: nothing of ours (hidden, left by an editor or the package
 * manager). */
static int profile_name(const char *file, char *name, size_t size)
{
    size_t n = strlen(file);

    if (n <= 5 || strcmp(file + n - 5, ".conf") != 0 || strchr(".#", *file))
        return 0;
    if (n - 5 >= size)
        return -ENAMETOOLONG;
    memcpy(name, file, n - 5);
    name[n - 5] = '\0';
    for (const char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+", *p))
            return -EINVAL;
    return strcmp(name, "auto") == 0 ? -EINVAL : 1;
}

static int read_entry(struct config *c, const char *dir, const char *file, bool trusted,
                      struct config_error *err)
{
    char path[CONFIG_TEXT_MAX], name[CONFIG_NAME_MAX];
    struct ini_place at = { .file = path };
    int r = profile_name(file, name, sizeof name);

    if (r == 0)
        return 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, file) >= sizeof path)
        return inifile_fail(err, &at, "path of more than %zu bytes; use a shorter directory",
                            sizeof path - 1);
    if (r < 0)
        return inifile_fail(
            err, &at,
            "is no name for a profile; use up to %d letters, digits, - and _, and not 'auto'",
            CONFIG_NAME_MAX - 1);
    if (config_profile(c, name))
        return 0;
    if (c->n_profiles == CONFIG_PROFILES_MAX)
        return inifile_fail(err, &at, "more than %d profiles; remove one", CONFIG_PROFILES_MAX);
    r = read_profile(path, name, trusted, &c->profiles[c->n_profiles], err);
    if (r < 0)
        return r;
    /* An empty one keeps its place until all directories are read, so that it hides the vendor's.
     */
    c->profiles[c->n_profiles].priority = r > 0 ? c->profiles[c->n_profiles].priority : UINT32_MAX;
    c->n_profiles++;
    return 0;
}

int profiles_read(struct config *c, const char *dir, bool trusted, struct config_error *err)
{
    struct ini_place at = { .file = dir };
    struct dirent **entry = NULL;
    const char *distrust = NULL;
    struct stat st;
    int n, r = 0;

    n = scandir(dir, &entry, NULL, alphasort);
    if (n < 0 && errno == ENOENT)
        return 0;
    if (n < 0) {
        r = -errno;
        (void)inifile_fail(err, &at, "cannot be read: %s; see its owner and mode", strerror(-r));
        return r;
    }
    if (trusted)
        distrust = stat(dir, &st) < 0 ? "has gone away; try again" : config_distrust(&st);
    if (distrust)
        r = inifile_fail(err, &at, "%s", distrust);
    for (int i = 0; i < n; i++) {
        if (r >= 0)
            r = read_entry(c, dir, entry[i]->d_name, trusted, err);
        free(entry[i]);
    }
    free(entry);
    return r;
}
