/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers on pressure: a descriptor that becomes ready (POLLPRI) when tasks have waited for longer
 * than a given time within a window. POLLERR: the source has gone. Registers, waits for nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sysio.h"

struct psi_trigger {
    const char *path;             /* "/proc/pressure/io", or a cgroup's file */
    bool full;                    /* all tasks at once; else at least one */
    uint64_t stall_us, window_us; /* window: 500 ms to 10 s */
};

/* A descriptor owned by the caller, or -errno. Where the kernel asks for a multiple of 2 s (without
 * CAP_SYS_RESOURCE), the window is rounded up and the stall with it; t then holds what is in force.
 * -EOPNOTSUPP, -ENOENT: no pressure here; -EACCES, -EPERM: before 6.1 this needs CAP_SYS_RESOURCE;
 * -EROFS: read-only, as cgroups are to a hardened unit; -ERANGE: such a window or stall is never
 * taken. */
int psi_trigger_open(const struct sysio *io, struct psi_trigger *t);
