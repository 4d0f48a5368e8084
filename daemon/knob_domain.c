/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A field of the scheduling domains of one name, in all of its copies: one for each CPU. Domains are found by their name,
 * never by their index, which changes when CPUs come and go. A knob of this kind has one value: where the copies
 * differ, it is left alone. */
#include "knob_impl.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct visit {
    const struct sysio *io;
    const struct knob *k;
    const char *cpu; /* borrowed during sysio_each */
    int (*f)(struct visit *v, const char *path);
    uint64_t value;  /* f's */
    const char *text;
    bool any;
    uint64_t sum;
};

static bool is_named(const struct visit *v, const char *dir)
{
    char path[200], name[32];

    (void)snprintf(path, sizeof path, "%s/name", dir);
    if (sysio_read_line(v->io, path, name, sizeof name) < 0)
        return false;
    for (const char *const *w = v->k->def->words; *w; w++)
        if (strcmp(*w, name) == 0)
            return true;
    return false;
}

static int on_domain(const char *name, void *userdata)
{
    struct visit *v = userdata;
    char dir[128], path[200];

    if (strncmp(name, "domain", 6) != 0)
        return 0;
    (void)snprintf(dir, sizeof dir, "%.60s/%.24s/%.24s", v->k->path, v->cpu, name);
    if (!is_named(v, dir))
        return 0;
    (void)snprintf(path, sizeof path, "%s/%s", dir, v->k->def->token);
    return v->f(v, path);
}

static int on_cpu(const char *name, void *userdata)
{
    struct visit *v = userdata;
    char dir[128];
    int r;

    if (strncmp(name, "cpu", 3) != 0)
        return 0;
    v->cpu = name;
    (void)snprintf(dir, sizeof dir, "%.60s/%.24s", v->k->path, name);
    r = sysio_each(v->io, dir, on_domain, v);
    /* The directory of a CPU that has just gone. */
    return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

/* f for each copy, until it returns non-zero. */
static int each_copy(struct visit *v)
{
    int r = sysio_each(v->io, v->k->path, on_cpu, v);

    /* A file of a domain that was rebuilt while we had it open. */
    return r == -EIO ? -EAGAIN : r < 0 ? r : v->any ? 0 : -ENODEV;
}

/* The less expected of two values. */
static uint64_t stranger(const struct knob *k, uint64_t a, uint64_t b)
{
    bool a_ours = k->has_ours && (a == k->ours || a == k->ours_asked);
    bool b_ours = k->has_ours && (b == k->ours || b == k->ours_asked);

    if (a_ours || (a == k->original && !b_ours))
        return b;
    return a;
}

static int read_copy(struct visit *v, const char *path)
{
    char text[64];
    uint64_t value;
    int r = knob_read_item(v->io, path, NULL, text, sizeof text);

    /* Rebuilt between two of our calls: the new one comes under another visit. */
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    if (parse_u64(text, &value) < 0)
        return -EBADMSG;
    if (v->any && value != v->value && !v->k->has_original)
        return -EXDEV;
    v->value = v->any ? stranger(v->k, v->value, value) : value;
    v->any = true;
    return 0;
}

int knob_domain_read(const struct sysio *io, const struct knob *k, uint64_t *ret)
{
    struct visit v = { .io = io, .k = k, .f = read_copy };
    int r = each_copy(&v);

    if (r == 0)
        *ret = v.value;
    return r;
}

bool knob_domain_is_uniform(const struct sysio *io, const struct knob *k)
{
    struct knob blank = { .def = k->def, .path = k->path };
    uint64_t value;

    return knob_domain_read(io, &blank, &value) == 0;
}

static int write_copy(struct visit *v, const char *path)
{
    int r = knob_write_text(v->io, path, v->text);

    v->any = v->any || r == 0;
    return r == -ENOENT ? 0 : r;
}

int knob_domain_write(const struct sysio *io, const struct knob *k, const char *text)
{
    struct visit v = { .io = io, .k = k, .f = write_copy, .text = text };

    return each_copy(&v);
}

static int return_copy(struct visit *v, const char *path)
{
    const struct knob *k = v->k;
    char text[64];
    uint64_t value;

    v->any = true;
    if (knob_read_item(v->io, path, NULL, text, sizeof text) < 0 || parse_u64(text, &value) < 0)
        return 0;
    return value == k->ours || value == k->ours_asked ? knob_write_text(v->io, path, v->text) : 0;
}

int knob_domain_return(const struct sysio *io, const struct knob *k)
{
    char text[KNOB_TEXT_MAX];
    struct visit v = { .io = io, .k = k, .f = return_copy, .text = text };

    knob_format(k, k->original, text, sizeof text);
    return each_copy(&v);
}

static int try_copy(struct visit *v, const char *path)
{
    int r = sysio_try_write(v->io, path);

    v->any = v->any || r == 0;
    return r == -ENOENT ? 0 : r;
}

int knob_domain_try_write(const struct sysio *io, const struct knob *k)
{
    struct visit v = { .io = io, .k = k, .f = try_copy };

    return each_copy(&v);
}

static int stamp_copy(struct visit *v, const char *path)
{
    _cleanup_close_ int fd = sysio_open(v->io, path, O_PATH);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0) {
        /* Order does not matter, neither do copies that appear twice cancel out. */
        v->sum += (uint64_t)st.st_ino * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)st.st_ino >> 7;
        v->any = true;
    }
    return 0;
}

uint64_t knob_domain_stamp(const struct sysio *io, const struct knob *k)
{
    struct visit v = { .io = io, .k = k, .f = stamp_copy };

    return each_copy(&v) == 0 ? v.sum : 0;
}
