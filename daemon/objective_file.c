/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that the application or its exporter keeps current: one number, or Prometheus text with a metric by name.
 * Whoever writes it should rename it into place; a file caught empty or half written is a missing reading, never zero. */
#include "objective.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* Older than this and nobody writes it any more. Prometheus' own textfile users write every 15 s. */
static const uint64_t STALE_NS = 30 * NSEC_PER_SEC;

enum { FILE_MAX = 256 * 1024 }; /* larger text is refused, it would be parsed every window */

struct file_state {
    char text[FILE_MAX];
    /* What was read last: the same again is no news. */
    uint64_t last_real_ns;
    ino_t last_ino;
};

/* One sample found in the text: sum over the label sets of the metric, newest time stamp. */
struct sample {
    unsigned n;
    double value;
    uint64_t stamp_ms; /* 0: the text has none */
};

static int file_open(struct objective *o)
{
    if (o->profile->file[0] != '/') {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "objective file needs file = /absolute/path");
        return -EINVAL;
    }
    if (o->profile->measure == MEASURE_LATENCY) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "a file does not tell active time: measure = service or tps");
        return -EINVAL;
    }
    return 0;
}

/* "name", "name{labels}", then blanks; on a match *s is behind them. A '}' inside a quoted label value counts not. */
static bool take_name(char **s, const char *name)
{
    size_t n = strlen(name);
    char *p = *s;
    bool quoted = false;

    if (strncmp(p, name, n) != 0)
        return false;
    p += n;
    if (*p == '{') {
        for (p++; *p && (quoted || *p != '}'); p++) {
            if (quoted && *p == '\\' && p[1])
                p++;
            else if (*p == '"')
                quoted = !quoted;
        }
        if (*p != '}')
            return false;
        p++;
    } else if (*p != ' ' && *p != '\t') {
        return false;
    }
    *s = p;
    return true;
}

/* "value [time stamp in ms]" up to the end of the line. */
static int take_value(char *s, struct sample *sample)
{
    char *save = NULL, *word = strtok_r(s, " \t\r", &save);
    uint64_t stamp = 0;
    double v;
    int r;

    if (!word)
        return -EINVAL;
    r = parse_double(word, &v);
    if (r < 0)
        return r;
    word = strtok_r(NULL, " \t\r", &save);
    if (word)
        r = parse_u64(word, &stamp);
    if (r < 0 || (word && strtok_r(NULL, " \t\r", &save)))
        return -EINVAL;
    sample->value += v;
    sample->n++;
    if (stamp > sample->stamp_ms)
        sample->stamp_ms = stamp;
    return 0;
}

/* Adds up the lines of `name` in text that ends in a newline; "" takes the whole text as one number. -ENOENT: none. */
static int find_sample(const char *text, const char *name, struct sample *ret)
{
    struct sample sample = { 0 };
    char line[1024];

    for (const char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
        size_t n = (size_t)(end - p);
        char *s = line;
        int r;

        if (n >= sizeof line || *p == '#' || n == 0)
            continue;
        memcpy(line, p, n);
        line[n] = '\0';
        if (*name && !take_name(&s, name))
            continue;
        r = take_value(s, &sample);
        if (r < 0)
            return r;
        if (!*name && sample.n > 1)
            return -EINVAL;
    }
    if (sample.n == 0)
        return -ENOENT;
    *ret = sample;
    return 0;
}

/* Reads the text; 0 with the time of its last change, or -errno after objective_trouble(). */
static int read_text(struct objective *o, struct stat *ret)
{
    struct file_state *f = o->private;
    const char *path = o->profile->file;
    _cleanup_close_ int fd = sysio_open(o->io, path, O_RDONLY | O_NONBLOCK);
    ssize_t n;

    if (fd < 0 || fstat(fd, ret) < 0) {
        int r = fd < 0 ? fd : -errno;
        objective_trouble(o, r == -EACCES ? OBJECTIVE_REFUSED : OBJECTIVE_UNREACHABLE, "%.200s: %s", path,
                          strerror(-r));
        return r;
    }
    if (!S_ISREG(ret->st_mode)) { /* a pipe or device could hang or never end */
        objective_trouble(o, OBJECTIVE_REFUSED, "%.200s: not a regular file", path);
        return -EINVAL;
    }
    n = sysio_read_fd(fd, f->text, sizeof f->text);
    if (n < 0) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "%.200s: %s", path, strerror((int)-n));
        return (int)n;
    }
    if (n == 0 || memchr(f->text, '\0', (size_t)n)) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "%.200s: %s", path, n ? "not text" : "empty");
        return -ENODATA;
    }
    if (f->text[n - 1] != '\n' && *o->profile->file_metric) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "%.200s: the last line has no end (half written)", path);
        return -ENODATA;
    }
    if (f->text[n - 1] != '\n' && (size_t)n + 1 < sizeof f->text)
        memcpy(f->text + n, "\n", 2);
    return 0;
}

/* Age of the reading; a clock that was set back makes it new. */
static int take_time(struct objective *o, const struct stat *st, uint64_t stamp_ms, struct objective_reading *b)
{
    struct file_state *f = o->private;
    uint64_t mono_ns = now_mono_ns(), real_ns = now_real_ns();
    uint64_t at_ns = stamp_ms ? stamp_ms * NSEC_PER_MSEC
                              : (uint64_t)st->st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)st->st_mtim.tv_nsec;
    uint64_t age_ns = at_ns < real_ns ? real_ns - at_ns : 0;

    if (age_ns > STALE_NS || age_ns > mono_ns) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "%.200s: stale, last written %.0f s ago", o->profile->file,
                          (double)age_ns / 1e9);
        return -ESTALE;
    }
    /* A gauge may well stand still between two windows; a total that nobody has written again is no news. */
    if (o->profile->file_counter && at_ns == f->last_real_ns && st->st_ino == f->last_ino) {
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "%.200s: not written since the last window", o->profile->file);
        return -ENODATA;
    }
    f->last_real_ns = at_ns;
    f->last_ino = st->st_ino;
    b->mono_ns = mono_ns - age_ns;
    return 0;
}

static int read_sample(struct objective *o, const char *name, struct sample *ret)
{
    const struct file_state *f = o->private;
    int r = find_sample(f->text, name, ret);

    if (r == -ENOENT)
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "%.160s: holds no %s", o->profile->file, *name ? name : "number");
    else if (r < 0)
        objective_trouble(o, OBJECTIVE_NONSENSE, "%.160s: %s is not a number", o->profile->file, *name ? name : "it");
    return r;
}

static int file_read(struct objective *o, struct objective_reading *b)
{
    const struct profile *p = o->profile;
    struct sample work = { 0 }, load = { 0 };
    struct stat st;
    int r = read_text(o, &st);

    if (r >= 0)
        r = read_sample(o, p->file_metric, &work);
    if (r >= 0 && p->file_load_metric[0])
        r = read_sample(o, p->file_load_metric, &load);
    if (r >= 0)
        r = take_time(o, &st, work.stamp_ms, b);
    if (r < 0)
        return r;
    b->has_work = p->file_counter;
    b->has_rate = !p->file_counter;
    b->work_total = b->has_work ? work.value : 0;
    b->rate = b->has_rate ? work.value : 0;
    b->has_load = load.n > 0;
    b->load = load.value;
    b->valid = true;
    return 0;
}

static void file_request(struct objective *o)
{
    struct objective_reading b = { 0 };

    if (file_read(o, &b) >= 0) {
        o->reason[0] = '\0';
        o->now = b;
    }
    objective_finish(o);
}

static void file_nothing(struct objective *o)
{
    (void)o;
}

const struct objective_def objective_file = {
    .name = "file",
    .what = "a number or a Prometheus text file that the application keeps current",
    .unit = { "units of work per CPU-second", "units of work per second", "not measured" },
    .text = { "work that the file counts per second of CPU time and run-queue wait",
              "work that the file counts per second", "not measured" },
    .size = sizeof(struct file_state),
    .open = file_open,
    .request = file_request,
    .cancel = file_nothing,
    .close = file_nothing,
};
