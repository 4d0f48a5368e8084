/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sensors, and one reading of all of them per window. Does not know what any of them
 * reads. */
#include "sensor.h"

#include "sensor_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define RETRY_WINDOWS                                                                              \
    60 /* a source that is not there: modules come, administrators boot nothing in between */
#define FAILURES_MAX  3 /* readings in a row, then the source is closed and counts as not there */
#define WINDOW_MIN_NS NSEC_PER_MSEC

const struct sensor_def *const sensor_table[] = {
    &sensor_schedstat, &sensor_psi,      &sensor_perf,
    &sensor_perf_hw,   &sensor_topology, &sensor_cgroup,
    &sensor_taskstats, &sensor_host,     NULL,
};
_Static_assert(ELEMENTSOF(sensor_table) - 1 <= SENSORS_MAX, "struct sensors is too small");

const char *sensor_state_name(enum sensor_state s)
{
    static const char *const name[] = {
        [SENSOR_STARTING] = "starting", [SENSOR_OK] = "ok",
        [SENSOR_PARTIAL] = "partial",   [SENSOR_ABSENT] = "absent",
        [SENSOR_DISABLED] = "disabled", [SENSOR_DENIED] = "denied",
        [SENSOR_FORMAT] = "format",     [SENSOR_FAILED] = "failed",
    };

    return (size_t)s < ELEMENTSOF(name) ? name[s] : "unknown";
}

int sensor_say(struct sensor *s, enum sensor_state state, int error, const char *fmt, ...)
{
    va_list ap;

    s->state = state;
    s->error = error;
    va_start(ap, fmt);
    (void)vsnprintf(s->reason, sizeof s->reason, fmt, ap);
    va_end(ap);
    return error;
}

int sensor_say_errno(struct sensor *s, int error, const char *path)
{
    switch (error) {
    case -ENOENT:
        return sensor_say(s, SENSOR_ABSENT, error, "%s does not exist here", path);
    case -EACCES:
    case -EPERM:
        return sensor_say(s, SENSOR_DENIED, error, "no permission to read %s", path);
    case -EOPNOTSUPP:
        return sensor_say(s, SENSOR_DISABLED, error, "%s is switched off in this kernel", path);
    case -EBADMSG:
    case -ERANGE:
        return sensor_say(s, SENSOR_FORMAT, error, "%s is not in a form that is known", path);
    case -EFBIG:
        return sensor_say(s, SENSOR_FORMAT, error, "%s is larger than it ever should be", path);
    default:
        return sensor_say(s, SENSOR_FAILED, error, "%s: %s", path, strerrordesc_np(-error));
    }
}

void window_disturb(struct window *w, const char *why)
{
    if (!w->disturbed)
        w->disturbance = why;
    w->disturbed = true;
}

void window_set_psi(struct window *w, enum metric m, const struct psi_line *before,
                    const struct psi_line *now)
{
    uint64_t us;
    double pct;

    if (m == METRIC_COUNT || !before->present || !now->present ||
        counter_delta(before->us_total, now->us_total, 64, 0, &us) < 0)
        return;
    /* The kernel's clock and ours are read at slightly different times. */
    pct = (double)us / 1e6 / window_seconds(w) * 100;
    window_set(w, m, pct > 100 ? 100 : pct);
}

static void sensor_open(struct sensor *s, const struct sysio *io, int32_t workload)
{
    memset(s->private, 0, s->def->size);
    s->state = SENSOR_STARTING;
    s->reason[0] = '\0';
    s->error = 0;
    s->failures = 0;
    int r = s->def->open(s, io);
    s->is_open = r >= 0;
    s->retry_in = r < 0 ? RETRY_WINDOWS : 0;
    if (r < 0)
        s->error = r;
    else if (s->def->follow)
        s->def->follow(s, io, workload);
}

static void sensor_close(struct sensor *s, uint32_t retry_in)
{
    if (s->is_open)
        s->def->close(s);
    s->is_open = false;
    s->retry_in = retry_in;
}

static void sensor_read(struct sensor *s, const struct sysio *io, int32_t workload,
                        struct window *w)
{
    uint64_t valid = w->valid;

    if (!s->is_open) {
        if (s->retry_in > 0)
            s->retry_in--;
        if (s->retry_in == 0)
            sensor_open(s, io, workload);
        if (!s->is_open)
            return;
    }
    int r = s->def->read(s, io, w);
    if (r >= 0) {
        s->failures = 0;
        return;
    }
    w->valid = valid; /* a reading that broke off says nothing */
    s->error = r;
    /* -ESTALE: there is more than there was room for; open() makes room. */
    if (r == -ESTALE)
        sensor_close(s, 0);
    else if (++s->failures >= FAILURES_MAX)
        sensor_close(s, RETRY_WINDOWS);
}

int sensors_init(struct sensors *ss, const struct sysio *io)
{
    *ss = (struct sensors){ .io = io };
    for (; sensor_table[ss->n]; ss->n++) {
        struct sensor *s = &ss->s[ss->n];

        s->def = sensor_table[ss->n];
        s->private = calloc(1, s->def->size);
        if (!s->private) {
            sensors_done(ss);
            return -ENOMEM;
        }
    }
    for (size_t i = 0; i < ss->n; i++)
        sensor_open(&ss->s[i], io, 0);
    return 0;
}

void sensors_done(struct sensors *ss)
{
    for (size_t i = 0; i < ss->n; i++) {
        sensor_close(&ss->s[i], 0);
        free(ss->s[i].private);
    }
    *ss = (struct sensors){ 0 };
}

void sensors_follow(struct sensors *ss, int32_t pid)
{
    ss->workload = pid;
    for (size_t i = 0; i < ss->n; i++)
        if (ss->s[i].is_open && ss->s[i].def->follow)
            ss->s[i].def->follow(&ss->s[i], ss->io, pid);
}

void sensors_read(struct sensors *ss, uint64_t now_ns, uint64_t real_ns, struct window *ret)
{
    struct window w = {
        .index = ss->index, .start_ns = ss->last_ns, .end_ns = now_ns, .real_ns = real_ns
    };
    bool first = ss->last_ns == 0;

    if (first)
        w.start_ns = now_ns;
    /* Too short for a rate: nothing is read, the counters run on into the next window. */
    if (!first && (now_ns < ss->last_ns || now_ns - ss->last_ns < WINDOW_MIN_NS)) {
        *ret = w;
        return;
    }
    for (size_t i = 0; i < ss->n; i++)
        sensor_read(&ss->s[i], ss->io, ss->workload, &w);
    if (first)
        w.valid = 0;
    ss->last_ns = now_ns;
    ss->index++;
    *ret = w;
}
