/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors that stay open. Knows no formats, does not log. */
#include "kept.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>

int kept_open(struct kept *k, const struct sysio *io, const char *path)
{
    int fd = sysio_open(io, path, O_RDONLY);

    if (fd < 0)
        return fd;
    *k = (struct kept){ .fd = fd, .path = path };
    return 0;
}

void kept_close(struct kept *k)
{
    closep(&k->fd);
    k->fd = -1;
}

int kept_rewind(struct kept *k, const struct sysio *io)
{
    if (io->real)
        return lseek(k->fd, 0, SEEK_SET) < 0 ? -errno : 0;
    int fd = sysio_open(io, k->path, O_RDONLY);
    if (fd < 0)
        return fd;
    kept_close(k);
    k->fd = fd;
    return 0;
}

ssize_t kept_read(struct kept *k, const struct sysio *io, char *buf, size_t size)
{
    int r = kept_rewind(k, io);

    return r < 0 ? r : sysio_read_fd(k->fd, buf, size);
}
