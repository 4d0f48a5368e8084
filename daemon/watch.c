/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fanotify on the knobs' files: who wrote. It finds the writer and tells the caller; it judges nothing and writes nothing. */
#include "watch.h"

#include "log.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/stat.h>

struct watch {
    const struct sysio *io; /* borrowed */
    struct knobs *ks;       /* borrowed */
    void (*cb)(struct knob *k, void *u);
    void *u;
    int fd;                   /* owned; -1: no fanotify */
    sd_event_source *source;  /* owned */
    const char *why;          /* static */
    struct {
        bool marked;
        dev_t dev;
        ino_t ino;
    } file[KNOBS_MAX];
};

/* "0::/system.slice/ssh.service/x" -> "ssh.service"; the innermost unit. */
static void unit_of_cgroup(const char *text, char *buf, size_t size)
{
    static const char *const kinds[] = { ".service", ".scope", ".slice" };
    const char *line = strstr(text, "0::");
    char path[512], *state = NULL;

    buf[0] = '\0';
    if (!line)
        return;
    (void)copy_string(path, sizeof path, line + 3);
    path[strcspn(path, "\n")] = '\0';
    for (char *p = strtok_r(path, "/", &state); p; p = strtok_r(NULL, "/", &state))
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
            size_t n = strlen(p), m = strlen(kinds[i]);
            if (n > m && strcmp(p + n - m, kinds[i]) == 0)
                (void)copy_string(buf, size, p);
        }
}

/* Names come from others: what is not printable is not passed on. */
static void make_printable(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f)
            *s = '?';
}

/* A short-lived writer is gone by now; then only its pid is known. */
static void describe(const struct sysio *io, struct knob *k, int32_t pid)
{
    char path[64], text[1024];

    k->foreign_pid = pid;
    k->foreign_comm[0] = k->foreign_unit[0] = '\0';
    if (pid <= 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/%d/comm", pid);
    if (sysio_read_line(io, path, text, sizeof text) > 0)
        (void)copy_string(k->foreign_comm, sizeof k->foreign_comm, text);
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    if (sysio_read_line(io, path, text, sizeof text) > 0)
        unit_of_cgroup(text, k->foreign_unit, sizeof k->foreign_unit);
    make_printable(k->foreign_comm);
    make_printable(k->foreign_unit);
}

/* Index of the knob, or -1. */
static int which(const struct watch *w, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -1;
    for (size_t i = 0; i < w->ks->n; i++)
        if (w->file[i].marked && w->file[i].dev == st.st_dev && w->file[i].ino == st.st_ino)
            return (int)i;
    return -1;
}

/* The writers of one bufferful: the last one of each knob. Returns the knobs that others wrote. */
static uint64_t take_events(const struct watch *w, const char *buf, ssize_t n, int32_t pids[static KNOBS_MAX])
{
    const struct fanotify_event_metadata *e = (const void *)buf;
    uint64_t written = 0;

    for (; FAN_EVENT_OK(e, n); e = FAN_EVENT_NEXT(e, n)) {
        if (e->vers != FANOTIFY_METADATA_VERSION)
            break;
        if (e->mask & FAN_Q_OVERFLOW) {
            written = UINT64_MAX;
            continue;
        }
        int i = e->fd >= 0 ? which(w, e->fd) : -1;
        if (e->fd >= 0)
            (void)close(e->fd);
        if (i < 0 || e->pid == getpid())
            continue;
        written |= UINT64_C(1) << i;
        pids[i] = e->pid;
    }
    return written;
}

static int on_events(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct watch *w = userdata;
    _Alignas(struct fanotify_event_metadata) char buf[4096];
    int32_t pids[KNOBS_MAX] = { 0 };
    uint64_t written;
    ssize_t n;

    (void)revents;
    n = read(fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0) {
        /* An event whose file cannot be opened is lost, the next may be well (fanotify(7)). */
        bool go_on = errno == EPERM || errno == EACCES || errno == ENODEV || errno == EROFS || errno == ETXTBSY ||
                     errno == EMFILE || errno == ENFILE;
        (void)log_errno(LOG_DEBUG, -errno, "watching the knobs: %m");
        if (!go_on) {
            w->why = "fanotify failed";
            (void)sd_event_source_set_enabled(s, SD_EVENT_OFF);
        }
    }
    written = n < 0 ? UINT64_MAX : take_events(w, buf, n, pids);
    for (size_t i = 0; i < w->ks->n; i++) {
        if (!(written & (UINT64_C(1) << i)) || !w->file[i].marked)
            continue;
        if (pids[i] != 0)
            describe(w->io, &w->ks->k[i], pids[i]);
        w->cb(&w->ks->k[i], w->u);
    }
    return 0;
}

static int mark(struct watch *w, size_t i)
{
    const char *path = w->ks->k[i].path;
    _cleanup_close_ int fd = -1;
    struct stat st;

    /* The files of domains come and go. */
    if (!path || w->ks->k[i].def->kind == KNOB_DOMAIN)
        return 0;
    fd = sysio_open(w->io, path, O_PATH);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || fanotify_mark(w->fd, FAN_MARK_ADD, FAN_MODIFY, w->io->root_fd, path + strspn(path, "/")) < 0)
        return -errno;
    w->file[i].marked = true;
    w->file[i].dev = st.st_dev;
    w->file[i].ino = st.st_ino;
    return 0;
}

static int start(struct watch *w, sd_event *e)
{
    int r;

    w->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC | O_LARGEFILE);
    if (w->fd < 0) {
        w->why = errno == EPERM ? "not permitted" : "the kernel has no fanotify";
        return 0;
    }
    for (size_t i = 0; i < w->ks->n; i++) {
        r = mark(w, i);
        if (r < 0)
            (void)log_errno(LOG_DEBUG, r, "knob %s: cannot be watched: %m", w->ks->k[i].def->name);
    }
    w->why = NULL;
    return sd_event_add_io(e, &w->source, w->fd, EPOLLIN, on_events, w);
}

int watch_new(struct watch **ret, sd_event *e, const struct sysio *io, struct knobs *ks, void (*cb)(struct knob *k, void *u),
              void *u)
{
    struct watch *w = calloc(1, sizeof *w);
    int r;

    if (!w)
        return -ENOMEM;
    *w = (struct watch){ .io = io, .ks = ks, .cb = cb, .u = u, .fd = -1 };
    r = start(w, e);
    if (r < 0) {
        (void)watch_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

struct watch *watch_free(struct watch *w)
{
    if (!w)
        return NULL;
    sd_event_source_disable_unref(w->source);
    if (w->fd >= 0)
        (void)close(w->fd);
    free(w);
    return NULL;
}

bool watch_is_active(const struct watch *w, const char **why)
{
    if (why)
        *why = w->why;
    return !w->why;
}
