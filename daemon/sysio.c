/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of /proc and /sys below a root directory. Knows nothing of formats, does not log. */
#include "sysio.h"

#include "util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

int sysio_init(struct sysio *io, const char *root)
{
    struct sysio n = { .root_fd = -1 };

    if (!root || !*root)
        root = "/";
    if (!copy_string(n.root, sizeof n.root, root))
        return -ENAMETOOLONG;
    n.real = strcmp(root, "/") == 0;
    n.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (n.root_fd < 0)
        return -errno;
    *io = n;
    return 0;
}

void sysio_done(struct sysio *io)
{
    if (io->root_fd >= 0)
        (void)close(io->root_fd);
    io->root_fd = -1;
}

static const char *below_root(const char *path)
{
    while (*path == '/')
        path++;
    return *path ? path : ".";
}

int sysio_open(const struct sysio *io, const char *path, int flags)
{
    int fd;

    do
        fd = openat(io->root_fd, below_root(path), flags | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

bool sysio_exists(const struct sysio *io, const char *path)
{
    return faccessat(io->root_fd, below_root(path), F_OK, 0) == 0;
}

/* To the end of the file: seq files give at most 4 KiB a call, whatever the buffer (fs/seq_file.c). */
static ssize_t read_to_end(int fd, char *buf, size_t size)
{
    size_t len = 0;

    for (;;) {
        if (len + 1 >= size) {
            char more;
            ssize_t n = read(fd, &more, 1);
            buf[len] = '\0';
            return n > 0 ? -EFBIG : n < 0 ? -errno : (ssize_t)len;
        }
        ssize_t n = read(fd, buf + len, size - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        len += (size_t)n;
        if (n == 0) {
            buf[len] = '\0';
            return (ssize_t)len;
        }
    }
}

ssize_t sysio_read_fd(int fd, char *buf, size_t size)
{
    if (size == 0)
        return -EINVAL;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    return read_to_end(fd, buf, size);
}

ssize_t sysio_read(const struct sysio *io, const char *path, char *buf, size_t size)
{
    _cleanup_close_ int fd = -1;

    if (size == 0)
        return -EINVAL;
    fd = sysio_open(io, path, O_RDONLY);
    if (fd < 0)
        return fd;
    return read_to_end(fd, buf, size);
}

ssize_t sysio_read_line(const struct sysio *io, const char *path, char *buf, size_t size)
{
    ssize_t n = sysio_read(io, path, buf, size);

    while (n > 0 && buf[n - 1] == '\n')
        buf[--n] = '\0';
    return n;
}

int sysio_write(const struct sysio *io, const char *path, const char *data, size_t len)
{
    _cleanup_close_ int fd = sysio_open(io, path, O_WRONLY | O_TRUNC);
    ssize_t n;

    if (fd < 0)
        return fd;
    do
        n = write(fd, data, len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return (size_t)n == len ? 0 : -EIO;
}

int sysio_try_write(const struct sysio *io, const char *path)
{
    _cleanup_close_ int fd = sysio_open(io, path, O_WRONLY);

    return fd < 0 ? fd : 0;
}

static void closedirp(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

int sysio_each(const struct sysio *io, const char *path, int (*f)(const char *name, void *userdata), void *userdata)
{
    _cleanup_(closedirp) DIR *d = NULL;
    int fd = sysio_open(io, path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    d = fdopendir(fd);
    if (!d) {
        int r = -errno;
        (void)close(fd);
        return r;
    }
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e)
            return -errno;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        int r = f(e->d_name, userdata);
        if (r != 0)
            return r;
    }
}
