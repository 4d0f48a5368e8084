/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers triggers on pressure. Does not log. */
#include "psi_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util.h"

#define WINDOW_MIN_US UINT64_C(500000) /* up to 6.1; later kernels have no minimum */
#define WINDOW_MAX_US UINT64_C(10000000)
#define WINDOW_STEP_US                                                                             \
    UINT64_C(2000000) /* of the averages, on which triggers of the unprivileged ride */

static int try_open(const struct sysio *io, const struct psi_trigger *t)
{
    _cleanup_close_ int fd = sysio_open(io, t->path, O_RDWR | O_NONBLOCK);
    char text[64];
    ssize_t n;

    if (fd < 0)
        return fd;
    int len = snprintf(text, sizeof text, "%s %lu %lu", t->full ? "full" : "some", t->stall_us,
                       t->window_us);
    do
        n = write(fd, text, (size_t)len + 1);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return TAKE_FD(fd);
}

int psi_trigger_open(const struct sysio *io, struct psi_trigger *t)
{
    struct psi_trigger rounded = *t;
    int r;

    if (t->window_us < WINDOW_MIN_US || t->window_us > WINDOW_MAX_US || t->stall_us == 0 ||
        t->stall_us > t->window_us)
        return -ERANGE;
    r = try_open(io, t);
    if (r != -EINVAL || t->window_us % WINDOW_STEP_US == 0)
        return r;
    rounded.window_us = (t->window_us / WINDOW_STEP_US + 1) * WINDOW_STEP_US;
    rounded.stall_us = t->stall_us * rounded.window_us / t->window_us;
    r = try_open(io, &rounded);
    if (r >= 0)
        *t = rounded;
    return r;
}
