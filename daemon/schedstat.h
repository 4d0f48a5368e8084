/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/schedstat row by row through a small buffer: the file of 512 CPUs is close to 1 MB, and the
 * kernel gives it in pieces of at most 4 KiB. Allocates nothing. */
#pragma once

#include "kept.h"
#include "procparse.h"

#define SCHEDSTAT_PATH "/proc/schedstat"

struct schedstat_reader {
    struct kept file;
    struct schedstat_parser parser;
    size_t at, len; /* unread part of buf */
    char buf[2 * SCHEDSTAT_LINE_MAX];
};

/* 0 or -errno. */
int schedstat_open(struct schedstat_reader *r, const struct sysio *io);
void schedstat_close(struct schedstat_reader *r);
/* To the first row again. 0 or -errno. */
int schedstat_rewind(struct schedstat_reader *r, const struct sysio *io);
/* 1: a row, its texts borrowed until the next call; 0: the end; -errno, as schedstat_next(). */
int schedstat_read_row(struct schedstat_reader *r, struct schedstat_row *ret);
