/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run time, waiting time and switches of a process with all its threads, through taskstats over
 * generic netlink (libnl). Needs CAP_NET_ADMIN. Asking allocates nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nl_taskstats; /* opaque */

struct task_usage {
    uint64_t run_ns_total;   /* on a CPU */
    uint64_t delay_ns_total; /* runnable and waiting for one */
    uint64_t slices_total;
    uint64_t voluntary_total, involuntary_total; /* switches */
};

/* 0 with *ret owned by the caller; -ENOENT: a kernel without CONFIG_TASKSTATS; -errno of sockets.
 * Permission shows at the first question only. */
int nl_taskstats_open(struct nl_taskstats **ret);
struct nl_taskstats *nl_taskstats_free(struct nl_taskstats *t); /* returns NULL; NULL is fine */

/* Of the thread group `tgid`: live threads and those that have left. 0; -ESRCH: no such process;
 * -EPERM: needs CAP_NET_ADMIN; as taskstats_decode(). */
int nl_taskstats_process(struct nl_taskstats *t, pid_t tgid, struct task_usage *ret);
/* Of one thread. */
int nl_taskstats_thread(struct nl_taskstats *t, pid_t tid, struct task_usage *ret);

/* struct taskstats as it comes from the kernel, at any alignment. -EPROTONOSUPPORT: version 15,
 * where fields moved, or one above 17; -EBADMSG: too short. Pure. */
int taskstats_decode(const void *data, size_t len, struct task_usage *ret);
