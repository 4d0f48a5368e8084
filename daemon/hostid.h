/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which host and which boot this is: the key of what was learned and of the journal. */
#pragma once

#include "sysio.h"

/* CPU model, CPUs present, NUMA nodes, kernel release in one line: "model | cpus 0-3 | nodes 0-1 | 6.1.0-x".
 * What cannot be read is "unknown". 0, or -errno of the worst. */
int hostid_fingerprint(const struct sysio *io, char *buf, size_t size);
/* /proc/sys/kernel/random/boot_id; "" when unknown. */
int hostid_boot(const struct sysio *io, char *buf, size_t size);
/* /proc/sys/kernel/osrelease; "unknown" otherwise. */
int hostid_kernel(const struct sysio *io, char *buf, size_t size);
