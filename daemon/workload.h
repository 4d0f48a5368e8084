/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profile's workload is running here, told from the names of the processes. */
#pragma once

#include "config.h"
#include "sysio.h"

/* The matching profile of the highest priority (the first of equals), or NULL. A profile without [match] matches always.
 * *ret_pid: a process that made it match, 0 if none was needed; why: one sentence. Reads /proc/PID/comm of all. */
const struct profile *workload_match(const struct sysio *io, const struct config *c, int32_t *ret_pid, char *why, size_t size);

/* Cheap: is p still what workload_match() would say? True only when p has the highest priority of those that need a match and its
 * process is alive under its name. */
bool workload_still_there(const struct sysio *io, const struct config *c, const struct profile *p, int32_t pid);
