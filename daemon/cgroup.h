/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the cgroup of a process is in the file system. Version 2 only, hybrid set-ups included. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sysio.h"

/* "/sys/fs/cgroup/system.slice/x.service" into dir. 0; -ENOENT: no such process, or cgroups of
 * version 1; -EXDEV: the root, which is the whole host; -ENAMETOOLONG; -EBADMSG: outside of this
 * namespace or removed. */
int cgroup_of(const struct sysio *io, int32_t pid, char *dir, size_t size);
