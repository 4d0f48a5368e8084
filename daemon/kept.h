/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of /proc or /sys that is read again and again through one descriptor. Below a fixture root
 * it is opened anew each time: there a file may have been replaced by another of the same name. */
#pragma once

#include "sysio.h"

struct kept {
    int fd;           /* owned; -1: closed */
    const char *path; /* borrowed while open */
};

/* 0 or -errno. */
int kept_open(struct kept *k, const struct sysio *io, const char *path);
void kept_close(struct kept *k);
/* Back to the beginning. 0 or -errno. */
int kept_rewind(struct kept *k, const struct sysio *io);
/* The whole file from the beginning, with a NUL behind it: length or -errno; as sysio_read_fd(). */
ssize_t kept_read(struct kept *k, const struct sysio *io, char *buf, size_t size);
