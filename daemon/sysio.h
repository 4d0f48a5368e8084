/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only code that opens files of /proc and /sys, always below a root directory ("/" on a real host, a
 * fixture tree in tests).  It knows nothing of their formats and does not log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sysio {
    int root_fd; /* owned; O_PATH of the root */
    bool real;   /* root is "/" */
    char root[4096];
};

/* 0 or -errno. NULL or "" means "/". */
int sysio_init(struct sysio *io, const char *root);
void sysio_done(struct sysio *io);

/* Opens an absolute path below the root; flags as open(2), O_CLOEXEC and O_NOCTTY added; never creates.
 * fd (owned by the caller) or -errno. */
int sysio_open(const struct sysio *io, const char *path, int flags);
bool sysio_exists(const struct sysio *io, const char *path);

/* Reads the whole file into buf and terminates it with NUL. Length, or -errno; -EFBIG when it does not fit
 * (buf then holds the first size - 1 bytes). EINTR is retried. */
ssize_t sysio_read(const struct sysio *io, const char *path, char *buf, size_t size);
/* The same on a descriptor that stays open: lseek to 0, read to the end. Not for debugfs numbers, which give
 * their value once per open and cannot seek (-ESPIPE). */
ssize_t sysio_read_fd(int fd, char *buf, size_t size);
/* As sysio_read on the text of a small file, trailing newline removed. */
ssize_t sysio_read_line(const struct sysio *io, const char *path, char *buf, size_t size);

/* One open(O_WRONLY|O_TRUNC), one write(2) of all bytes, close. 0 or -errno; a short write is -EIO. O_TRUNC has no meaning
 * to the kernel's files and keeps fixture trees right. */
int sysio_write(const struct sysio *io, const char *path, const char *data, size_t len);
/* Can it be opened for writing?  Opens O_WRONLY and closes, writes nothing. 0 or -errno. */
int sysio_try_write(const struct sysio *io, const char *path);

/* Calls f for each entry of a directory (no "." and ".."), until it returns non-zero, which is returned. */
int sysio_each(const struct sysio *io, const char *path, int (*f)(const char *name, void *userdata), void *userdata);
