/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One file through an option table: known sections, known keys, nothing twice, every error with its
 * place. Does not know which tables there are, and does not log. */
#include "config_table.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMES_MAX = 64 };

int refuse_twice(struct option_reader *r, const struct ini_place *at, unsigned first)
{
    return inifile_fail(r->err, at, "is set on line %u already; keep one of them", first);
}

int refuse_unknown(struct option_reader *r, const struct ini_place *at, const char *what,
                   const char *const *names, size_t n)
{
    char hint[500];

    return inifile_fail(r->err, at, "unknown %s; %s", what,
                        names_hint(names, n, at->key, hint, sizeof hint));
}

static int on_section(void *userdata, const struct ini_place *at)
{
    struct option_reader *r = userdata;
    char hint[300];
    size_t n = 0;

    for (; r->sections[n]; n++) {
        if (strcmp(r->sections[n], at->section) != 0)
            continue;
        if (r->section_line[n] > 0)
            return inifile_fail(r->err, at,
                                "begins on line %u already; put its keys together there",
                                r->section_line[n]);
        r->section_line[n] = at->line;
        return 0;
    }
    return inifile_fail(r->err, at, "unknown section; %s",
                        names_hint(r->sections, n, at->section, hint, sizeof hint));
}

/* The key is in no row of its section: one of another section, or a slip? */
static int refuse_key(struct option_reader *r, const struct ini_place *at)
{
    const char *names[NAMES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < r->n_options; i++) {
        const struct option *o = &r->options[i];

        if (strcmp(o->section, at->section) == 0)
            names[n++] = o->key;
        else if (strcmp(o->key, at->key) == 0)
            return inifile_fail(r->err, at, "is not of this section; put it below [%s]",
                                o->section);
    }
    return refuse_unknown(r, at, "key", names, n);
}

static int on_value(void *userdata, const struct ini_place *at, const char *value)
{
    struct option_reader *r = userdata;
    struct option_why why = { "" };
    bool known_section = false;

    for (size_t i = 0; i < r->n_options; i++) {
        const struct option *o = &r->options[i];

        if (strcmp(o->section, at->section) != 0)
            continue;
        known_section = true;
        if (strcmp(o->key, at->key) != 0)
            continue;
        if (r->line[i] > 0)
            return refuse_twice(r, at, r->line[i]);
        r->line[i] = at->line;
        if (option_set(o, r->base, value, &why) < 0)
            return inifile_fail(r->err, at, "%s", why.text);
        return 0;
    }
    return known_section ? refuse_key(r, at) : r->named(r, at, value);
}

const char *config_distrust(const struct stat *st)
{
    if (st->st_uid != 0)
        return "does not belong to root; chown root";
    if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "can be written by others than root; chmod go-w";
    return NULL;
}

int option_reader_file(struct option_reader *r, const char *path, bool trusted)
{
    static const struct inifile_ops ops = { .section = on_section, .value = on_value };
    struct ini_place at = { .file = path };
    _cleanup_fclose_ FILE *f = NULL;
    const char *distrust = NULL;
    struct stat st;
    int fd, error;

    assert(r->n_options <= OPTIONS_MAX);
    /* O_NONBLOCK: a FIFO must not stop us. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0 || !(f = fdopen(fd, "re"))) {
        error = errno;
        if (fd >= 0)
            (void)close(fd);
        if (error == ENOENT)
            return 0;
        (void)inifile_fail(r->err, &at, "cannot be read: %s; see its owner and mode",
                           strerror(error));
        return -error;
    }
    if (S_ISDIR(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
        (void)inifile_fail(r->err, &at, "is not a file; put a text file there or remove it");
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    }
    if (trusted)
        distrust = config_distrust(&st);
    if (distrust)
        return inifile_fail(r->err, &at, "%s", distrust);
    error = inifile_parse(f, path, &ops, r, r->err);
    return error < 0 ? error : 1;
}

void options_default(const struct option *options, size_t n, void *base)
{
    for (size_t i = 0; i < n; i++) {
        struct option_why why = { "" };
        int r = option_set(&options[i], base, options[i].text, &why);

        /* A default that its own row refuses is a mistake in the table, which the tests find. */
        assert(r == 0);
        (void)r;
    }
}
