/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds cgroups, reads nothing in them. */
#include "cgroup.h"

#include <errno.h>
#include <stdio.h>

#include "procparse.h"

int cgroup_of(const struct sysio *io, int32_t pid, char *dir, size_t size)
{
    static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
    char text[8192], file[64];
    const char *path;
    size_t len;
    int r;

    (void)snprintf(file, sizeof file, "/proc/%d/cgroup", pid);
    ssize_t n = sysio_read(io, file, text, sizeof text);
    if (n < 0)
        return n == -ESRCH ? -ENOENT : (int)n;
    r = cgroup_parse(text, (size_t)n, &path, &len);
    if (r < 0)
        return r;
    if (len == 1)
        return -EXDEV;
    for (size_t i = 0; i < ELEMENTSOF(mounts); i++) {
        char control[64];

        (void)snprintf(control, sizeof control, "%s/cgroup.controllers", mounts[i]);
        if (!sysio_exists(io, control))
            continue;
        int full = snprintf(dir, size, "%s%.*s", mounts[i], (int)len, path);
        return full >= 0 && (size_t)full < size ? 0 : -ENAMETOOLONG;
    }
    return -ENOENT;
}
