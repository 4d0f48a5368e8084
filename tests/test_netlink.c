/* SPDX-License-Identifier: GPL-2.0-or-later */
/* taskstats and the proc connector: messages as bytes, and the kernel's own where this user may ask
 * for them. */
#include "nl_proc.h"
#include "nl_taskstats.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "random.h"
#include "util.h"

/* Versions and sizes as kernels print them; 688 is more than this header knows. */
static void test_taskstats_versions(void **state)
{
    static const struct {
        uint16_t version;
        size_t len;
        int r;
    } t[] = {
        { 10, 352, 0 },
        { 13, 416, 0 },
        { 14, 432, 0 },
        { 15, 560, -EPROTONOSUPPORT },
        { 16, 560, 0 },
        { 17, 688, 0 },
        { 18, 688, -EPROTONOSUPPORT },
        { 0, 416, -EPROTONOSUPPORT },
        { 13, 1, -EBADMSG },
        { 13, 0, -EBADMSG },
        { 13, 80, -EBADMSG },
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(t); i++) {
        /* At an address that is a multiple of 4 only, as the kernel gives it; nothing behind the
         * end. */
        char *room = calloc(1, 4 + (t[i].len ? t[i].len : 1));
        struct taskstats ts = { .version = t[i].version,
                                .cpu_run_virtual_total = 1111,
                                .cpu_delay_total = 222,
                                .cpu_count = 33,
                                .nvcsw = 4,
                                .nivcsw = 5 };
        struct task_usage u = { .slices_total = 99 };

        memcpy(room + 4, &ts, t[i].len < sizeof ts ? t[i].len : sizeof ts);
        int r = taskstats_decode(room + 4, t[i].len, &u);
        free(room);
        assert_int_equal(r, t[i].r);
        assert_int_equal(u.slices_total, r == 0 ? 33 : 99);
        if (r < 0)
            continue;
        assert_int_equal(u.run_ns_total, 1111);
        assert_int_equal(u.delay_ns_total, 222);
        assert_int_equal(u.voluntary_total, 4);
        assert_int_equal(u.involuntary_total, 5);
    }
}

static void test_taskstats_self(void **state)
{
    struct nl_taskstats *t = NULL;
    struct task_usage a = { 0 }, b = { 0 }, thread = { 0 };
    int r = nl_taskstats_open(&t);

    (void)state;
    if (r == 0)
        r = nl_taskstats_process(t, getpid(), &a);
    if (r < 0) {
        /* Told apart: no such family, or no permission. */
        assert_true(r == -ENOENT || r == -EPERM || r == -EAFNOSUPPORT);
        print_message("# skipped: taskstats: %s\n", strerror(-r));
        (void)nl_taskstats_free(t);
        return;
    }
    uint64_t until = now_mono_ns() + 50 * NSEC_PER_MSEC;
    while (now_mono_ns() < until)
        ;
    for (unsigned i = 0; i < 20; i++)
        (void)usleep(100);
    assert_int_equal(nl_taskstats_process(t, getpid(), &b), 0);
    print_message("# %.1f ms of run time, %lu slices, %lu voluntary switches\n",
                  (double)(b.run_ns_total - a.run_ns_total) / 1e6, b.slices_total - a.slices_total,
                  b.voluntary_total - a.voluntary_total);
    /* On a busy machine some of the 50 ms went to others, which then is our delay. */
    assert_true(b.run_ns_total - a.run_ns_total + b.delay_ns_total - a.delay_ns_total >
                40 * NSEC_PER_MSEC);
    assert_true(b.run_ns_total > a.run_ns_total);
    assert_true(b.voluntary_total - a.voluntary_total >= 20);
    assert_true(b.slices_total - a.slices_total >= 20);
    assert_int_equal(nl_taskstats_thread(t, getpid(), &thread), 0);
    assert_true(thread.run_ns_total >= b.run_ns_total);
    assert_int_equal(nl_taskstats_process(t, 0x3ffffffe, &a), -ESRCH);
    assert_int_equal(nl_taskstats_process(t, getpid(), &a), 0); /* and it goes on */
    assert_null(nl_taskstats_free(t));
    assert_null(nl_taskstats_free(NULL));
}

/* One message: 16 bytes of netlink, 20 of the connector, then the event. */
struct message {
    struct nlmsghdr nl;
    char cn[sizeof(struct cn_msg)];
    char event[sizeof(struct proc_event)];
};

static size_t make(struct message *m, const struct proc_event *ev)
{
    struct cn_msg cn = {
        .id = { CN_IDX_PROC, CN_VAL_PROC }, .seq = 3, .ack = 8, .len = sizeof *ev
    };

    memset(m, 0, sizeof *m);
    m->nl.nlmsg_len = NLMSG_HDRLEN + sizeof cn + sizeof *ev;
    m->nl.nlmsg_type = NLMSG_DONE;
    memcpy(m->cn, &cn, sizeof cn);
    memcpy(m->event, ev, sizeof *ev);
    return m->nl.nlmsg_len;
}

static void test_proc_decode(void **state)
{
    struct proc_event fork_ = { .what = PROC_EVENT_FORK, .event_data.fork = { 10, 9, 20, 20 } };
    struct proc_event thread = { .what = PROC_EVENT_FORK, .event_data.fork = { 10, 9, 21, 20 } };
    struct proc_event exec_ = { .what = PROC_EVENT_EXEC, .event_data.exec = { 20, 20 } };
    struct proc_event exit_ = { .what = PROC_EVENT_EXIT,
                                .event_data.exit = { .process_pid = 20, .process_tgid = 20 } };
    struct proc_event ack = { .what = PROC_EVENT_NONE, .event_data.ack.err = EPERM };
    struct proc_event uid = { .what = PROC_EVENT_UID };
    struct nl_proc_event ev;
    struct message m;
    size_t n;

    (void)state;
    n = make(&m, &fork_);
    assert_int_equal(nl_proc_decode(&m, n, &ev), 1);
    assert_true(ev.what == NL_PROC_FORK && ev.pid == 20 && ev.parent == 9);
    n = make(&m, &thread);
    assert_int_equal(nl_proc_decode(&m, n, &ev), 0);
    n = make(&m, &exec_);
    assert_int_equal(nl_proc_decode(&m, n, &ev), 1);
    assert_true(ev.what == NL_PROC_EXEC && ev.pid == 20);
    n = make(&m, &exit_);
    assert_int_equal(nl_proc_decode(&m, n, &ev), 1);
    assert_true(ev.what == NL_PROC_EXIT && ev.pid == 20);
    n = make(&m, &uid);
    assert_int_equal(nl_proc_decode(&m, n, &ev), 0);
    n = make(&m, &ack);
    assert_int_equal(nl_proc_decode(&m, n, &ev), 1);
    assert_true(ev.what == NL_PROC_ACK && ev.error == -EPERM && ev.token == 7);
    m.cn[0] = 99; /* of another user of the connector */
    assert_int_equal(nl_proc_decode(&m, n, &ev), 0);
    for (size_t len = 0; len < n; len++) {
        char *cut = malloc(len ? len : 1);

        memcpy(cut, &m, len);
        assert_int_equal(nl_proc_decode(cut, len, &ev), -EBADMSG);
        free(cut);
    }
}

static void test_proc_hostile(void **state)
{
    struct rnd rnd = rnd_init("proc connector");
    struct nl_proc_event ev;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct proc_event e = { .what = (unsigned)rnd_below(&rnd, 3) };
        struct message m;
        size_t n = make(&m, &e), len = rnd_below(&rnd, n + 1);
        char *bytes = (char *)&m, *cut = malloc(len ? len : 1);

        for (uint64_t k = rnd_below(&rnd, 4); k > 0; k--)
            bytes[rnd_below(&rnd, n)] = (char)rnd_next(&rnd);
        memcpy(cut, bytes, len);
        int r = nl_proc_decode(cut, len, &ev);
        free(cut);
        assert_true(r == 0 || r == 1 || r == -EBADMSG);
    }
}

/* NULL after a line that says why. */
static struct nl_proc *open_or_skip(void)
{
    struct nl_proc *p = NULL;
    int r = nl_proc_open(&p);

    if (r == 0)
        return p;
    assert_true(r == -EPERM || r == -ECONNREFUSED || r == -EOPNOTSUPP || r == -EPROTONOSUPPORT);
    print_message("# skipped: proc connector: %s\n", strerror(-r));
    return NULL;
}

static pid_t run_true(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    return pid;
}

static void test_proc_events(void **state)
{
    struct nl_proc *p = open_or_skip();
    unsigned seen = 0;
    pid_t pid;

    (void)state;
    if (!p)
        return;
    pid = run_true();
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (unsigned i = 0; i < 100 && seen != 7; i++) {
        struct pollfd pfd = { .fd = nl_proc_fd(p), .events = POLLIN };
        struct nl_proc_event ev;

        (void)poll(&pfd, 1, 20);
        while (nl_proc_read(p, &ev) > 0) {
            if (ev.pid != pid)
                continue;
            /* In this order. */
            if (ev.what == NL_PROC_FORK && ev.parent == getpid() && seen == 0)
                seen |= 1;
            if (ev.what == NL_PROC_EXEC && (seen & 1))
                seen |= 2;
            if (ev.what == NL_PROC_EXIT && (seen & 2))
                seen |= 4;
        }
    }
    assert_int_equal(seen, 7);
    assert_null(nl_proc_free(p));
    assert_null(nl_proc_free(NULL));
}

/* More than the socket holds: told, and it goes on. */
static void test_proc_overflow(void **state)
{
    struct nl_proc *p = open_or_skip();
    struct nl_proc_event ev;
    unsigned lost = 0, events = 0;
    int small = 4096, r;

    (void)state;
    if (!p)
        return;
    assert_int_equal(setsockopt(nl_proc_fd(p), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    for (unsigned i = 0; i < 50; i++) {
        pid_t pid = run_true();
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    while ((r = nl_proc_read(p, &ev)) != 0) {
        assert_true(r > 0 || r == -ENOBUFS);
        lost += r == -ENOBUFS;
        events += r > 0;
    }
    print_message("# %u events, %u times lost\n", events, lost);
    assert_true(lost > 0);
    assert_true(events > 0);
    pid_t pid = run_true(), got = 0;
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (unsigned i = 0; i < 50 && got != pid; i++) {
        while (nl_proc_read(p, &ev) > 0)
            got = ev.pid == pid ? pid : got;
        (void)usleep(2000);
    }
    assert_int_equal(got, pid);
    (void)nl_proc_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taskstats_versions), cmocka_unit_test(test_taskstats_self),
        cmocka_unit_test(test_proc_decode),        cmocka_unit_test(test_proc_hostile),
        cmocka_unit_test(test_proc_events),        cmocka_unit_test(test_proc_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
