/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/pressure as percent of time, from the totals. Sets no triggers. */
#include "kept.h"
#include "procparse.h"
#include "sensor_impl.h"

#include <errno.h>
#include <string.h>

#define PSI_DIR "/proc/pressure"

static const struct psi_source {
    const char *name, *path;
    enum metric some, full; /* METRIC_COUNT: not kept */
} sources[] = {
    /* System-wide, `full` of cpu is a constant 0, and 5.10 does not print it. */
    { "cpu", PSI_DIR "/cpu", METRIC_PSI_CPU_SOME, METRIC_COUNT },
    { "io", PSI_DIR "/io", METRIC_PSI_IO_SOME, METRIC_PSI_IO_FULL },
    { "memory", PSI_DIR "/memory", METRIC_PSI_MEMORY_SOME, METRIC_PSI_MEMORY_FULL },
};

struct psi_sensor {
    struct kept file[ELEMENTSOF(sources)];
    bool open[ELEMENTSOF(sources)];
    bool started[ELEMENTSOF(sources)];
    struct psi before[ELEMENTSOF(sources)];
};

/* There is no /proc/pressure: has somebody switched it off, or can this kernel not do it? */
static int psi_missing(struct sensor *s, const struct sysio *io)
{
    char line[4096];
    ssize_t n = sysio_read_line(io, "/proc/cmdline", line, sizeof line);

    for (char *at = line, *word; n > 0 && (word = strsep(&at, " "));)
        if (strcmp(word, "psi=0") == 0 || strcmp(word, "psi=off") == 0)
            return sensor_say(s, SENSOR_DISABLED, -ENOENT,
                              "%s is on the kernel command line: take it away or boot with psi=1",
                              word);
    return sensor_say(
        s, SENSOR_ABSENT, -ENOENT,
        "no %s: boot with psi=1 on the kernel command line; a kernel without CONFIG_PSI cannot",
        PSI_DIR);
}

static int psi_trouble(struct sensor *s, int error, const char *path)
{
    if (error == -EOPNOTSUPP)
        return sensor_say(
            s, SENSOR_DISABLED, error,
            "pressure stall information is off: boot with psi=1 on the kernel command line");
    return sensor_say_errno(s, error, path);
}

static void psi_close(struct sensor *s)
{
    struct psi_sensor *p = s->private;

    for (size_t i = 0; i < ELEMENTSOF(sources); i++) {
        if (p->open[i])
            kept_close(&p->file[i]);
        p->open[i] = false;
    }
}

static int psi_open(struct sensor *s, const struct sysio *io)
{
    struct psi_sensor *p = s->private;
    size_t n = 0;
    int r, last = -ENOENT;
    const char *path = PSI_DIR;

    for (size_t i = 0; i < ELEMENTSOF(sources); i++) {
        r = kept_open(&p->file[i], io, sources[i].path);
        p->open[i] = r >= 0;
        n += r >= 0;
        if (r < 0 && r != -ENOENT) {
            last = r;
            path = sources[i].path;
        }
    }
    if (n > 0)
        return 0;
    return last == -ENOENT ? psi_missing(s, io) : psi_trouble(s, last, path);
}

/* Puts what one source says into w. 0; -errno: the source could not be read. `gap` gets what it
 * cannot say. */
static int psi_read_one(struct psi_sensor *p, size_t i, const struct sysio *io, struct window *w,
                        const char **gap)
{
    char text[512];
    struct psi now;
    bool dead;
    int r;

    ssize_t n = kept_read(&p->file[i], io, text, sizeof text);
    r = n < 0 ? (int)n : psi_parse(text, (size_t)n, &now);
    if (r < 0) {
        p->started[i] = false;
        return r;
    }
    /* Every machine has made tasks wait for a CPU while it booted; tasks need not have waited for a
     * disk. */
    dead = sources[i].some == METRIC_PSI_CPU_SOME && now.some.present && now.some.us_total == 0;
    if (dead)
        *gap = "has been 0 since the boot: it does not count here";
    else if (!now.some.present || (!now.full.present && sources[i].full != METRIC_COUNT))
        *gap = now.some.present ? "has no line `full`" : "has no line `some`";
    if (p->started[i] && !dead) {
        window_set_psi(w, sources[i].some, &p->before[i].some, &now.some);
        window_set_psi(w, sources[i].full, &p->before[i].full, &now.full);
    }
    p->before[i] = now;
    p->started[i] = true;
    return 0;
}

static int psi_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct psi_sensor *p = s->private;
    bool starting = true;
    const char *gap = NULL, *gap_path = NULL;
    int error = 0;
    size_t failed = 0;

    for (size_t i = 0; i < ELEMENTSOF(sources); i++)
        starting = starting && !p->started[i];
    for (size_t i = 0; i < ELEMENTSOF(sources); i++) {
        const char *g = NULL;
        int r = p->open[i] ? psi_read_one(p, i, io, w, &g) : -ENOENT;

        if (r < 0) {
            error = r;
            failed++;
            g = p->open[i] ? "cannot be read" : "does not exist here";
        }
        if (g && !gap) {
            gap = g;
            gap_path = sources[i].path;
        }
    }
    if (failed == ELEMENTSOF(sources))
        return psi_trouble(s, error, sources[0].path);
    if (gap)
        (void)sensor_say(s, SENSOR_PARTIAL, error, "%s %s", gap_path, gap);
    else
        (void)sensor_say(s, starting ? SENSOR_STARTING : SENSOR_OK, 0, "%s", "");
    return 0;
}

const struct sensor_def sensor_psi = {
    .name = "psi",
    .what = "pressure: time lost waiting for CPU, I/O and memory, from /proc/pressure",
    .size = sizeof(struct psi_sensor),
    .open = psi_open,
    .read = psi_read,
    .close = psi_close,
};
