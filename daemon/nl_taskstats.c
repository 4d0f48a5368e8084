/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks taskstats. libnl resolves the family and builds the request once; asking sends that request
 * with another number in it and reads the answer into a buffer of ours, because nl_recvmsgs()
 * allocates. Does not log. */
#include "nl_taskstats.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "util.h"

#define VERSION_LAST 17

struct nl_taskstats {
    struct nl_sock *sock; /* owned */
    /* The same question about a process and about a thread; owned. */
    struct nl_msg *process, *thread;
    uint32_t seq;
    union {
        struct nlmsghdr header; /* for its alignment */
        char bytes[4096];
    } answer;
};

int taskstats_decode(const void *data, size_t len, struct task_usage *ret)
{
    struct taskstats ts = { 0 };

    if (len < sizeof ts.version)
        return -EBADMSG;
    memcpy(&ts.version, data, sizeof ts.version);
    /* 15 put fields in the middle, 16 moved them to the end: up to 14, 16 and 17 begin alike. */
    if (ts.version == 0 || ts.version == 15 || ts.version > VERSION_LAST)
        return -EPROTONOSUPPORT;
    if (len < offsetof(struct taskstats, nivcsw) + sizeof ts.nivcsw)
        return -EBADMSG;
    memcpy(&ts, data, len < sizeof ts ? len : sizeof ts);
    *ret = (struct task_usage){
        .run_ns_total = ts.cpu_run_virtual_total,
        .delay_ns_total = ts.cpu_delay_total,
        .slices_total = ts.cpu_count,
        .voluntary_total = ts.nvcsw,
        .involuntary_total = ts.nivcsw,
    };
    return 0;
}

static struct nl_msg *make_request(struct nl_sock *sock, int family, int attribute)
{
    struct nl_msg *m = nlmsg_alloc();

    if (!m)
        return NULL;
    if (!genlmsg_put(m, nl_socket_get_local_port(sock), NL_AUTO_SEQ, family, 0, NLM_F_REQUEST,
                     TASKSTATS_CMD_GET, TASKSTATS_GENL_VERSION) ||
        nla_put_u32(m, attribute, 0) < 0) {
        nlmsg_free(m);
        return NULL;
    }
    return m;
}

struct nl_taskstats *nl_taskstats_free(struct nl_taskstats *t)
{
    if (!t)
        return NULL;
    if (t->process)
        nlmsg_free(t->process);
    if (t->thread)
        nlmsg_free(t->thread);
    if (t->sock)
        nl_socket_free(t->sock);
    free(t);
    return NULL;
}

int nl_taskstats_open(struct nl_taskstats **ret)
{
    struct nl_taskstats *t = calloc(1, sizeof *t);
    int family = -1;

    if (!t)
        return -ENOMEM;
    t->sock = nl_socket_alloc();
    if (t->sock && genl_connect(t->sock) == 0)
        family = genl_ctrl_resolve(t->sock, TASKSTATS_GENL_NAME);
    if (family < 0) {
        /* libnl's error numbers are lossy; a socket that works and no such family is the usual
         * case. */
        int r = !t->sock ? -ENOMEM : nl_socket_get_fd(t->sock) < 0 ? -EAFNOSUPPORT : -ENOENT;
        (void)nl_taskstats_free(t);
        return r;
    }
    t->process = make_request(t->sock, family, TASKSTATS_CMD_ATTR_TGID);
    t->thread = make_request(t->sock, family, TASKSTATS_CMD_ATTR_PID);
    if (!t->process || !t->thread) {
        (void)nl_taskstats_free(t);
        return -ENOMEM;
    }
    *ret = t;
    return 0;
}

/* The struct taskstats inside an answer. 0 or -errno. */
static int find_stats(struct nlmsghdr *h, struct task_usage *ret)
{
    struct nlattr *outer[TASKSTATS_TYPE_MAX + 1], *inner[TASKSTATS_TYPE_MAX + 1], *aggregate;

    if (h->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *e = nlmsg_data(h);
        if (nlmsg_datalen(h) < (int)sizeof e->error)
            return -EBADMSG;
        return e->error < 0 ? e->error : -EBADMSG;
    }
    if (genlmsg_parse(h, 0, outer, TASKSTATS_TYPE_MAX, NULL) < 0)
        return -EBADMSG;
    aggregate = outer[TASKSTATS_TYPE_AGGR_TGID] ? outer[TASKSTATS_TYPE_AGGR_TGID]
                                                : outer[TASKSTATS_TYPE_AGGR_PID];
    if (!aggregate || nla_parse_nested(inner, TASKSTATS_TYPE_MAX, aggregate, NULL) < 0 ||
        !inner[TASKSTATS_TYPE_STATS])
        return -EBADMSG;
    return taskstats_decode(nla_data(inner[TASKSTATS_TYPE_STATS]),
                            (size_t)nla_len(inner[TASKSTATS_TYPE_STATS]), ret);
}

static int ask(struct nl_taskstats *t, struct nl_msg *request, pid_t pid, struct task_usage *ret)
{
    struct nlmsghdr *h = nlmsg_hdr(request);
    uint32_t id = (uint32_t)pid;
    int fd = nl_socket_get_fd(t->sock);
    ssize_t n;

    memcpy(nla_data(genlmsg_attrdata(genlmsg_hdr(h), 0)), &id, sizeof id);
    h->nlmsg_seq = ++t->seq;
    do
        n = send(fd, h, h->nlmsg_len, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    /* The kernel answers before send() returns. What belongs to another question is passed over. */
    for (;;) {
        struct sockaddr_nl from = { 0 };
        socklen_t from_len = sizeof from;

        n = recvfrom(fd, t->answer.bytes, sizeof t->answer.bytes, MSG_DONTWAIT,
                     (struct sockaddr *)&from, &from_len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? -EIO : -errno;
        if (from.nl_pid == 0 && nlmsg_ok(&t->answer.header, (int)n) &&
            t->answer.header.nlmsg_seq == t->seq)
            return find_stats(&t->answer.header, ret);
    }
}

int nl_taskstats_process(struct nl_taskstats *t, pid_t tgid, struct task_usage *ret)
{
    return ask(t, t->process, tgid, ret);
}

int nl_taskstats_thread(struct nl_taskstats *t, pid_t tid, struct task_usage *ret)
{
    return ask(t, t->thread, tid, ret);
}
