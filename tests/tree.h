/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory with files of /proc and /sys that a test writes, as the root for a struct sysio. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sysio.h"

struct fixture {
    char dir[128];
    struct sysio io;
};

static inline void fixture_init(struct fixture *f)
{
    const char *tmp = getenv("TMPDIR");

    (void)snprintf(f->dir, sizeof f->dir, "%s/tunerd-test.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f->dir) || sysio_init(&f->io, f->dir) < 0)
        abort();
}

static inline void fixture_done(struct fixture *f)
{
    char command[256];

    sysio_done(&f->io);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
    if (system(command) != 0)
        abort();
}

/* Replaces the file, as the kernel's files are replaced as a whole. */
static inline void __attribute__((format(printf, 3, 4)))
fixture_put(struct fixture *f, const char *path, const char *fmt, ...)
{
    char full[512], part[520];
    va_list ap;

    (void)snprintf(full, sizeof full, "%s%s", f->dir, path);
    for (char *p = full + strlen(f->dir) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (mkdir(full, 0755) < 0 && errno != EEXIST)
            abort();
        *p = '/';
    }
    (void)snprintf(part, sizeof part, "%s.part", full);
    FILE *out = fopen(part, "we");
    if (!out)
        abort();
    va_start(ap, fmt);
    (void)vfprintf(out, fmt, ap);
    va_end(ap);
    if (fclose(out) != 0 || rename(part, full) != 0)
        abort();
}

static inline void fixture_remove(struct fixture *f, const char *path)
{
    char full[512];

    (void)snprintf(full, sizeof full, "%s%s", f->dir, path);
    if (unlink(full) != 0)
        abort();
}
