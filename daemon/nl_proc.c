/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proc connector. Knows nothing of profiles or workloads, does not log. */
#include "nl_proc.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "util.h"

/* Forks come in thousands a second on a busy machine, and each is 76 bytes and some 700 in the
 * socket's account. */
#define BUFFER_BYTES (1 << 20)
#define ACK_WAIT_MS  250

/* From 6.6 on a subscription may name the events that are wanted; older kernels do not answer to
 * this size. */
struct filter {
    uint32_t op, events;
};
#define EVENTS (PROC_EVENT_FORK | PROC_EVENT_EXEC | PROC_EVENT_COMM | PROC_EVENT_EXIT)

struct nl_proc {
    struct nl_sock *sock; /* owned */
    uint32_t token;       /* of the last subscription */
    bool subscribed;
};

int nl_proc_decode(const void *data, size_t len, struct nl_proc_event *ret)
{
    struct nlmsghdr nl;
    struct cn_msg cn;
    struct proc_event ev = { 0 };
    const char *at = data;
    const size_t head = NLMSG_HDRLEN + sizeof cn;

    if (len < head)
        return -EBADMSG;
    memcpy(&nl, at, sizeof nl);
    memcpy(&cn, at + NLMSG_HDRLEN, sizeof cn);
    if (nl.nlmsg_len < head || nl.nlmsg_len > len)
        return -EBADMSG;
    if (cn.id.idx != CN_IDX_PROC || cn.id.val != CN_VAL_PROC)
        return 0;
    if (cn.len > nl.nlmsg_len - head ||
        cn.len < offsetof(struct proc_event, event_data) + sizeof ev.event_data.ack)
        return -EBADMSG;
    memcpy(&ev, at + head, cn.len < sizeof ev ? cn.len : sizeof ev);
    *ret = (struct nl_proc_event){ 0 };
    switch ((unsigned)ev.what) {
    case PROC_EVENT_NONE:
        ret->what = NL_PROC_ACK;
        ret->error = -(int)(ev.event_data.ack.err & INT32_MAX);
        ret->token = cn.ack - 1;
        return 1;
    case PROC_EVENT_FORK:
        ret->what = NL_PROC_FORK;
        ret->pid = ev.event_data.fork.child_tgid;
        ret->parent = ev.event_data.fork.parent_tgid;
        return ev.event_data.fork.child_pid == ev.event_data.fork.child_tgid;
    case PROC_EVENT_EXEC:
        ret->what = NL_PROC_EXEC;
        ret->pid = ev.event_data.exec.process_tgid;
        return 1;
    case PROC_EVENT_COMM:
        ret->what = NL_PROC_COMM;
        ret->pid = ev.event_data.comm.process_tgid;
        return ev.event_data.comm.process_pid == ev.event_data.comm.process_tgid;
    case PROC_EVENT_EXIT:
        ret->what = NL_PROC_EXIT;
        ret->pid = ev.event_data.exit.process_tgid;
        return ev.event_data.exit.process_pid == ev.event_data.exit.process_tgid;
    default:
        return 0;
    }
}

static int subscribe(struct nl_proc *p, const void *payload, size_t len)
{
    struct {
        struct nlmsghdr nl;
        char body[sizeof(struct cn_msg) + sizeof(struct filter)];
    } m = { 0 };
    struct cn_msg cn = { .id = { CN_IDX_PROC, CN_VAL_PROC },
                         .ack = ++p->token,
                         .len = (uint16_t)len };

    m.nl = (struct nlmsghdr){
        .nlmsg_len = (uint32_t)NLMSG_LENGTH(sizeof cn + len),
        .nlmsg_type = NLMSG_DONE,
        .nlmsg_pid = nl_socket_get_local_port(p->sock),
    };
    memcpy(m.body, &cn, sizeof cn);
    memcpy(m.body + sizeof cn, payload, len);
    return send(nl_socket_get_fd(p->sock), &m, m.nl.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* 1: a message of the kernel's; 0: none is there; -errno. */
static int receive(const struct nl_proc *p, struct nl_proc_event *ret)
{
    for (;;) {
        char buf[1024];
        struct sockaddr_nl from = { 0 };
        socklen_t from_len = sizeof from;
        ssize_t n = recvfrom(nl_socket_get_fd(p->sock), buf, sizeof buf, MSG_DONTWAIT,
                             (struct sockaddr *)&from, &from_len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        /* Only the kernel has port 0. */
        if (from.nl_pid == 0 && nl_proc_decode(buf, (size_t)n, ret) == 1)
            return 1;
    }
}

/* 0: taken; -ETIMEDOUT: no answer; -errno. */
static int wait_for_ack(const struct nl_proc *p)
{
    uint64_t until = now_mono_ns() + ACK_WAIT_MS * NSEC_PER_MSEC, now;

    while ((now = now_mono_ns()) < until) {
        struct pollfd pfd = { .fd = nl_socket_get_fd(p->sock), .events = POLLIN };
        struct nl_proc_event ev;
        int r;

        (void)poll(&pfd, 1, (int)((until - now) / NSEC_PER_MSEC) + 1);
        while ((r = receive(p, &ev)) > 0)
            if (ev.what == NL_PROC_ACK && ev.token == p->token)
                return ev.error;
        if (r < 0 && r != -ENOBUFS)
            return r;
    }
    return -ETIMEDOUT;
}

static int join(struct nl_proc *p)
{
    int bytes = BUFFER_BYTES, group = CN_IDX_PROC, fd;

    nl_socket_disable_seq_check(p->sock);
    nl_socket_disable_auto_ack(p->sock);
    if (nl_connect(p->sock, NETLINK_CONNECTOR) < 0)
        return errno == EPERM ? -EPERM : -EPROTONOSUPPORT;
    fd = nl_socket_get_fd(p->sock);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) < 0)
        return -errno;
    return 0;
}

int nl_proc_open(struct nl_proc **ret)
{
    const struct filter filter = { .op = PROC_CN_MCAST_LISTEN, .events = EVENTS };
    const uint32_t op = PROC_CN_MCAST_LISTEN;
    struct nl_proc *p = calloc(1, sizeof *p);
    int r;

    if (!p)
        return -ENOMEM;
    p->token = (uint32_t)now_mono_ns(); /* answers go to every subscriber: this tells ours */
    p->sock = nl_socket_alloc();
    r = p->sock ? join(p) : -ENOMEM;
    if (r >= 0 && (r = subscribe(p, &op, sizeof op)) >= 0)
        r = wait_for_ack(p);
    if (r < 0) {
        (void)nl_proc_free(p);
        return r == -ETIMEDOUT ? -EOPNOTSUPP : r;
    }
    p->subscribed = true;
    (void)subscribe(p, &filter, sizeof filter);
    *ret = p;
    return 0;
}

struct nl_proc *nl_proc_free(struct nl_proc *p)
{
    const uint32_t op = PROC_CN_MCAST_IGNORE;

    if (!p)
        return NULL;
    /* Before 6.6 the kernel counts subscriptions and does not see that one's socket closes: it
     * would go on making messages for nobody. */
    if (p->subscribed)
        (void)subscribe(p, &op, sizeof op);
    if (p->sock)
        nl_socket_free(p->sock);
    free(p);
    return NULL;
}

int nl_proc_fd(const struct nl_proc *p)
{
    return nl_socket_get_fd(p->sock);
}

int nl_proc_read(struct nl_proc *p, struct nl_proc_event *ret)
{
    struct nl_proc_event ev;
    int r;

    do
        r = receive(p, &ev);
    while (r > 0 && ev.what == NL_PROC_ACK);
    if (r > 0)
        *ret = ev;
    return r;
}
