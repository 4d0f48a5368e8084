/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that begin, change their program and end, from the proc connector (libnl for the
 * socket). Reading allocates nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum nl_proc_what {
    NL_PROC_FORK, /* a new process; threads are not told */
    NL_PROC_EXEC,
    NL_PROC_COMM, /* its first thread has changed its name */
    NL_PROC_EXIT, /* its first thread has ended */
    NL_PROC_ACK,  /* answer to a subscription, seen by nl_proc_decode() only */
};
struct nl_proc_event {
    enum nl_proc_what what;
    pid_t pid;      /* of the process */
    pid_t parent;   /* FORK: of the parent; else 0 */
    int error;      /* ACK: 0 or -errno */
    uint32_t token; /* ACK: of the subscription */
};

struct nl_proc; /* opaque */

/* Subscribes and waits for the kernel's word that it took it. 0 with *ret owned by the caller;
 * -EPERM: before 6.6 this needs CAP_NET_ADMIN; -ECONNREFUSED: not in this network namespace;
 * -EOPNOTSUPP: no answer, as in a container; -EPROTONOSUPPORT: a kernel without the connector. */
int nl_proc_open(struct nl_proc **ret);
struct nl_proc *nl_proc_free(struct nl_proc *p); /* returns NULL; NULL is fine */
int nl_proc_fd(const struct nl_proc *p);         /* to wait on for reading; borrowed */

/* 1: an event; 0: nothing more now; -ENOBUFS: some were lost, so look through /proc (what follows
 * is fine); -errno. */
int nl_proc_read(struct nl_proc *p, struct nl_proc_event *ret);

/* One message as it comes, at any alignment. 1: an event; 0: one that nobody here wants; -EBADMSG.
 * Pure. */
int nl_proc_decode(const void *data, size_t len, struct nl_proc_event *ret);
