/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of the configuration: a directory of the vendor and one of the administrator,
 * filled by the test. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config_table.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fixture {
    char dir[64], vendor[80], local[80];
} fx;

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline int setup(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(fx.dir, sizeof fx.dir, "%.30s/tunerd-config.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(fx.dir))
        return -1;
    snprintf(fx.vendor, sizeof fx.vendor, "%s/vendor", fx.dir);
    snprintf(fx.local, sizeof fx.local, "%s/local", fx.dir);
    for (int i = 0; i < 2; i++) {
        char path[120];
        mkdir(i ? fx.local : fx.vendor, 0755);
        snprintf(path, sizeof path, "%s/profiles", i ? fx.local : fx.vendor);
        mkdir(path, 0755);
    }
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    return nftw(fx.dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *source_path(const char *name)
{
    static char path[4096];
    const char *src = getenv("SRC");

    snprintf(path, sizeof path, "%s/%s", src ? src : ".", name);
    return path;
}

static inline void put_bytes(const char *dir, const char *name, const void *data, size_t n)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void put(const char *dir, const char *name, const char *text)
{
    put_bytes(dir, name, text, strlen(text));
}

static inline struct config *load_ok(void)
{
    struct config_error err = { "" };
    struct config *c = NULL;
    int r = config_load(fx.vendor, fx.local, NULL, &c, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    assert_string_equal(err.text, "");
    return c;
}

/* Loading fails with `want`, in which @ stands for the test's directory, and leaves the result
 * alone. */
static inline void load_fails(int error, const char *want)
{
    struct config_error err = { "" };
    struct config *untouched = (struct config *)&err, *c = untouched;
    char text[1200] = "", *out = text;

    if (config_load(fx.vendor, fx.local, NULL, &c, &err) != error)
        fail_msg("another result than expected: %s; wanted: %s", err.text, want);
    assert_ptr_equal(c, untouched);
    for (const char *p = err.text; *p; p++) {
        if (strncmp(p, fx.dir, strlen(fx.dir)) == 0) {
            *out++ = '@';
            p += strlen(fx.dir) - 1;
        } else {
            *out++ = *p;
        }
    }
    *out = '\0';
    assert_string_equal(text, want);
}

/* Paths aside, two configurations are the same, byte for byte. */
static inline void assert_same(struct config *a, struct config *b)
{
    struct config *both[2] = { a, b };

    for (size_t i = 0; i < 2; i++) {
        memset(both[i]->path, 0, sizeof both[i]->path);
        for (size_t j = 0; j < KNOBS_MAX; j++)
            memset(both[i]->limit[j].origin, 0, sizeof both[i]->limit[j].origin);
        for (size_t j = 0; j < both[i]->n_profiles; j++) {
            memset(both[i]->profiles[j].path, 0, sizeof both[i]->profiles[j].path);
            for (size_t k = 0; k < both[i]->profiles[j].n_knobs; k++)
                memset(both[i]->profiles[j].knob[k].origin, 0, CONFIG_TEXT_MAX);
        }
    }
    assert_memory_equal(a, b, sizeof *a);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
