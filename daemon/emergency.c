/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PSI triggers on /proc/pressure/{io,memory}: "full" beyond a share of 2 s. Decides nothing. */
#include "emergency.h"

#include "kept.h"
#include "procparse.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

/* Windows of a multiple of 2 s ride on the kernel's own averaging and need no privilege (kernel/sched/psi.c). */
#define TRIGGER_US 2000000.0
/* Shorter than this, a share is mostly chance. */
#define SPAN_MIN_NS (NSEC_PER_SEC / 4)

struct source {
    struct emergency *m;
    sd_event_source *event;  /* owned; owns the descriptor */
    struct kept file;        /* for its totals: a trigger's own descriptor is the trigger's */
    uint64_t mark_ns, mark_us;
};

struct emergency {
    const struct sysio *io;  /* borrowed */
    void (*cb)(enum emergency_kind kind, double pct, void *u);
    void *userdata;
    struct source source[EMERGENCY_COUNT];
};

static const struct {
    const char *name, *path;
} kinds[EMERGENCY_COUNT] = {
    [EMERGENCY_IO] = { "io", "/proc/pressure/io" },
    [EMERGENCY_MEMORY] = { "memory", "/proc/pressure/memory" },
};

const char *emergency_name(enum emergency_kind kind)
{
    return kinds[kind].name;
}

static int read_total(struct emergency *m, enum emergency_kind kind, uint64_t *ret_us)
{
    char text[512];
    struct psi psi;
    ssize_t n = kept_read(&m->source[kind].file, m->io, text, sizeof text);
    int r = n < 0 ? (int)n : psi_parse(text, (size_t)n, &psi);

    if (r < 0)
        return r;
    if (!psi.full.present)
        return -ENODATA;
    *ret_us = psi.full.us_total;
    return 0;
}

static int on_trigger(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    struct source *src = userdata;
    struct emergency *m = src->m;
    enum emergency_kind kind = (enum emergency_kind)(src - m->source);
    uint64_t now = now_mono_ns(), total_us;

    (void)fd;
    if (events & EPOLLERR) /* pressure accounting was switched off */
        return sd_event_source_set_enabled(s, SD_EVENT_OFF);
    if (now - src->mark_ns < SPAN_MIN_NS || read_total(m, kind, &total_us) < 0 || total_us < src->mark_us)
        return 0; /* the kernel tells again in its next window */
    m->cb(kind, 100.0 * (double)(total_us - src->mark_us) * 1e3 / (double)(now - src->mark_ns), m->userdata);
    return 0;
}

static int arm(struct emergency *m, enum emergency_kind kind, sd_event *e, double floor_pct)
{
    struct source *src = &m->source[kind];
    _cleanup_close_ int fd = -1;
    char text[64];

    if (!(floor_pct > 0) || !m->io->real)
        return 0;
    fd = sysio_open(m->io, kinds[kind].path, O_RDWR | O_NONBLOCK);
    int n = snprintf(text, sizeof text, "full %.0f %.0f", floor_pct / 100 * TRIGGER_US, TRIGGER_US);
    if (fd < 0 || write(fd, text, (size_t)n + 1) < 0)
        return 0; /* not to be had here: guards at the end of the window remain */
    int r = kept_open(&src->file, m->io, kinds[kind].path);
    if (r < 0)
        return 0;
    r = sd_event_add_io(e, &src->event, fd, EPOLLPRI, on_trigger, src);
    if (r < 0)
        return r;
    r = sd_event_source_set_io_fd_own(src->event, 1);
    if (r >= 0)
        (void)TAKE_FD(fd);
    return r < 0 ? r : sd_event_source_set_priority(src->event, SD_EVENT_PRIORITY_IMPORTANT);
}

int emergency_new(struct emergency **ret, sd_event *e, const struct sysio *io, const double floor_pct[EMERGENCY_COUNT],
                  void (*cb)(enum emergency_kind kind, double pct, void *u), void *u)
{
    struct emergency *m = calloc(1, sizeof *m);
    int r = 0;

    if (!m)
        return -ENOMEM;
    m->io = io;
    m->cb = cb;
    m->userdata = u;
    for (unsigned i = 0; i < EMERGENCY_COUNT; i++) {
        m->source[i].m = m;
        m->source[i].file.fd = -1;
    }
    for (unsigned i = 0; i < EMERGENCY_COUNT && r >= 0; i++)
        r = arm(m, (enum emergency_kind)i, e, floor_pct[i]);
    if (r < 0) {
        (void)emergency_free(m);
        return r;
    }
    emergency_mark(m);
    *ret = m;
    return 0;
}

struct emergency *emergency_free(struct emergency *m)
{
    if (!m)
        return NULL;
    for (unsigned i = 0; i < EMERGENCY_COUNT; i++) {
        m->source[i].event = sd_event_source_disable_unref(m->source[i].event);
        kept_close(&m->source[i].file);
    }
    free(m);
    return NULL;
}

void emergency_mark(struct emergency *m)
{
    uint64_t now = now_mono_ns();

    for (unsigned i = 0; m && i < EMERGENCY_COUNT; i++) {
        struct source *s = &m->source[i];
        if (s->event && read_total(m, (enum emergency_kind)i, &s->mark_us) >= 0)
            s->mark_ns = now;
    }
}

bool emergency_is_armed(const struct emergency *m, enum emergency_kind kind)
{
    return m && m->source[kind].event;
}
