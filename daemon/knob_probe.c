/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be tuned on this host: finds each knob's home, tells why one cannot be written, and takes up what the journal
 * knows of it. It opens for writing and writes nothing. */
#include "knob_impl.h"

#include "log.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define DEBUGFS_DIR "/sys/kernel/debug"
#define SCHED_DIR   DEBUGFS_DIR "/sched"
#define VERBOSE     SCHED_DIR "/verbose"

/* 0 when there is such a file, whether or not it can be opened; -ENOENT, -EACCES... */
static int look(const struct sysio *io, const char *path)
{
    _cleanup_close_ int fd = sysio_open(io, path, O_PATH);

    return fd < 0 ? fd : 0;
}

static int stop_at_first(const char *name, void *userdata)
{
    (void)name;
    (void)userdata;
    return 1;
}

/* An empty directory is a mount point without its file system. */
static bool is_mounted(const struct sysio *io, const char *dir)
{
    return sysio_each(io, dir, stop_at_first, NULL) == 1;
}

/* "integrity" or "confidentiality", what is in brackets; "" when there is no lockdown or it cannot be read. */
static void read_lockdown(const struct sysio *io, char *buf, size_t size)
{
    char text[128], *from, *to;

    buf[0] = '\0';
    if (sysio_read_line(io, "/sys/kernel/security/lockdown", text, sizeof text) < 0)
        return;
    from = strchr(text, '[');
    to = from ? strchr(from, ']') : NULL;
    if (!to)
        return;
    *to = '\0';
    if (strcmp(from + 1, "none") != 0)
        (void)copy_string(buf, size, from + 1);
}

static void say_why_absent(const struct sysio *io, struct knob *k)
{
    const char *why = "this kernel has no such knob";

    if (k->def->kind == KNOB_DOMAIN && look(io, DEBUGFS_DIR) == 0 && look(io, VERBOSE) == 0)
        why = k->path ? "this host has no such scheduling domain"
                      : "the kernel shows its domains only while " SCHED_DIR "/verbose is Y";
    else if (look(io, DEBUGFS_DIR) == -ENOENT)
        why = "not found, and there is no debugfs, where it may be (debugfs=off)";
    else if (!is_mounted(io, DEBUGFS_DIR))
        why = "not found, and debugfs, where it may be, is not mounted";
    k->state = KNOB_ABSENT;
    k->error = -ENOENT;
    k->path = k->commit_path = NULL;
    (void)copy_string(k->reason, sizeof k->reason, why);
}

static void say_why_denied(const struct sysio *io, struct knob *k, int error)
{
    char lockdown[32];

    k->state = error == -EROFS || error == -EXDEV ? KNOB_READONLY : knob_fate(error) == KNOB_FATE_DENIED ? KNOB_DENIED : KNOB_BROKEN;
    k->error = error;
    read_lockdown(io, lockdown, sizeof lockdown);
    if (error == -EPERM && *lockdown)
        (void)snprintf(k->reason, sizeof k->reason, "kernel lockdown (%s) forbids it", lockdown);
    else if (error == -EPERM)
        (void)snprintf(k->reason, sizeof k->reason, "kernel lockdown or a security module forbids it");
    else if (error == -EACCES)
        (void)snprintf(k->reason, sizeof k->reason, "no permission: only root may");
    else if (error == -EROFS)
        (void)snprintf(k->reason, sizeof k->reason, "mounted read-only: a container, or the sandbox of the service");
    else if (error == -EBADMSG)
        (void)snprintf(k->reason, sizeof k->reason, "holds a value of an unknown form");
    else if (error == -EXDEV)
        (void)snprintf(k->reason, sizeof k->reason, "the values of the CPUs differ: left as they are");
    else
        (void)snprintf(k->reason, sizeof k->reason, "%s", strerror(-error));
}

/* The first home that is there; a directory that hides what it holds counts when no other home is found. */
static void find_home(const struct sysio *io, struct knob *k)
{
    int hidden = 0;

    for (size_t i = 0; k->def->paths[i]; i++) {
        int r = look(io, k->def->paths[i]);
        if (r == -ENOENT || r == -ENOTDIR)
            continue;
        if (r < 0) {
            hidden = r;
            continue;
        }
        k->path = k->def->paths[i];
        k->commit_path = i < ELEMENTSOF(k->def->commit_path) ? k->def->commit_path[i] : NULL;
        if (k->commit_path && look(io, k->commit_path) < 0)
            k->commit_path = NULL;
        return;
    }
    if (hidden < 0)
        say_why_denied(io, k, hidden);
    else
        say_why_absent(io, k);
}

/* The journal knows this knob: the original is what it says; what is in force is ours, the original, or foreign. */
static void take_up(struct knobs *ks, struct knob *k, const struct undo_item *i)
{
    char confirmed[KNOB_TEXT_MAX];
    uint64_t original, v;

    if (knob_parse(k->def, i->original, &original) < 0) {
        k->state = KNOB_FOREIGN;
        k->error = -ESTALE;
        k->foreign_value = k->current;
        k->foreign_real_ns = i->real_ns;
        (void)snprintf(k->reason, sizeof k->reason, "its original was lost in a damaged journal; left alone until `tunectl release %s`",
                       k->def->name);
        return;
    }
    k->original_found = original;
    k->original_scale = knob_scale_parse(i->original_scale);
    knob_refresh_original(ks, k);
    if (i->foreign) {
        k->state = KNOB_FOREIGN;
        k->error = -ESTALE;
        k->foreign_value = k->current;
        k->foreign_real_ns = i->real_ns;
        (void)snprintf(k->reason, sizeof k->reason, "somebody else wrote it; left alone until `tunectl release %s`", k->def->name);
        return;
    }
    if (k->current == k->original && knob_is_whole(ks, k))
        return;
    const char *const left[] = { i->confirmed, i->intended };
    k->ours_scale = knob_scale_parse(i->scale);
    for (size_t n = 0; n < ELEMENTSOF(left); n++) {
        if (!*left[n] || knob_parse(k->def, left[n], &v) < 0)
            continue;
        k->has_ours = true;
        k->ours = k->ours_asked = v;
        if (knob_owner(ks, k, k->current) != KNOB_ALIEN)
            break;
        k->has_ours = false;
    }
    if (!k->has_ours) {
        if (knob_owner(ks, k, k->current) == KNOB_ALIEN)
            knob_lost(ks, k, k->current);
        return;
    }
    k->adopted = true;
    k->stamp = 0; /* which files were written is not known any more */
    knob_format(k, k->ours, confirmed, sizeof confirmed);
    /* Copies may hold either. */
    if (k->def->kind == KNOB_DOMAIN && knob_parse(k->def, i->intended, &k->ours_asked) == 0)
        return;
    if (*i->intended && !ks->dry_run)
        (void)undo_confirm(ks->undo, k->id, confirmed);
}

static void make_id(struct knob *k)
{
    switch (k->def->kind) {
    case KNOB_NUMBER:
    case KNOB_BOOL:
    case KNOB_WORD:
        (void)snprintf(k->id, sizeof k->id, "%s", k->path);
        return;
    case KNOB_FEATURE:
        (void)snprintf(k->id, sizeof k->id, "%s#%s", k->path, k->def->token);
        return;
    case KNOB_DOMAIN:
        (void)snprintf(k->id, sizeof k->id, "%s#%s/%s", k->path, k->def->words[0], k->def->token);
        return;
    }
}

/* The first reading. Copies of a domain that differ are expected where the journal knows of a write. */
static int read_first(struct knobs *ks, struct knob *k, const struct undo_item *i)
{
    int r = knob_read(ks, k, &k->current);

    if (r == -EXDEV && i && !i->foreign)
        r = knob_parse(k->def, *i->confirmed ? i->confirmed : i->intended, &k->current) < 0 ? -EXDEV : 0;
    return r;
}

void knob_probe(struct knobs *ks, struct knob *k)
{
    const struct undo_item *i;
    int r;

    find_home(ks->io, k);
    if (!k->path)
        return;
    make_id(k);
    i = undo_find(ks->undo, k->id);
    r = read_first(ks, k, i);
    if (r == -ENODEV || (r == -ENOENT && k->def->kind == KNOB_FEATURE)) {
        say_why_absent(ks->io, k);
        return;
    }
    if (r < 0) {
        say_why_denied(ks->io, k, r);
        return;
    }
    k->state = KNOB_OK;
    k->error = 0;
    k->reason[0] = '\0';
    k->has_original = true;
    k->original = k->original_found = k->current;
    if (k->def->scaled)
        k->original_scale = knob_scale_read(ks->io, k->commit_path);
    if (k->def->kind == KNOB_DOMAIN)
        k->stamp = knob_domain_stamp(ks->io, k);
    if (i)
        take_up(ks, k, i);
    if (k->state != KNOB_OK)
        return;
    r = knob_try_write(ks, k);
    if (r < 0)
        say_why_denied(ks->io, k, r);
    if (r == 0 && k->original == 0 && k->def->step == KNOB_LOG) {
        /* Steps are ratios: none leads to 0 or away from it. Somebody meant it. */
        k->state = KNOB_READONLY;
        k->error = -ERANGE;
        (void)snprintf(k->reason, sizeof k->reason, "it is 0, a value outside of any range: left as it is");
    }
}

void knobs_init(struct knobs *ks, const struct sysio *io, struct undo *undo, bool dry_run)
{
    *ks = (struct knobs){ .io = io, .undo = undo, .dry_run = dry_run, .n = knob_table_size };
    for (size_t i = 0; i < ks->n; i++) {
        ks->k[i].def = &knob_table[i];
        ks->k[i].limit_min = knob_table[i].safe_min;
        ks->k[i].limit_max = knob_table[i].safe_max;
        ks->k[i].original_scale.mode = ks->k[i].ours_scale.mode = -1;
        knob_probe(ks, &ks->k[i]);
    }
}

int knobs_show_domains(struct knobs *ks, const char *why)
{
    char now[UNDO_TEXT_MAX];
    int r;

    if (look(ks->io, SCHED_DIR "/domains") == 0)
        return 0;
    r = knob_read_item(ks->io, VERBOSE, NULL, now, sizeof now);
    if (r < 0)
        return r;
    if (ks->dry_run || strcmp(now, "Y") == 0)
        return 0;
    r = undo_intend(ks->undo, VERBOSE, now, "Y");
    if (r < 0)
        return r;
    r = knob_write_text(ks->io, VERBOSE, "Y");
    if (r < 0) {
        (void)undo_forget(ks->undo, VERBOSE);
        return r;
    }
    (void)undo_confirm(ks->undo, VERBOSE, "Y");
    log_event(LOG_INFO,
              &(struct log_event){ .id = LOG_ID_WRITE, .knob = "verbose", .old_value = now, .new_value = "Y", .reason = why },
              VERBOSE ": %s → Y (%s)", now, why);
    for (size_t i = 0; i < ks->n; i++)
        if (ks->k[i].def->kind == KNOB_DOMAIN && !ks->k[i].has_ours && ks->k[i].state != KNOB_FOREIGN)
            knob_probe(ks, &ks->k[i]);
    return 1;
}

struct knob *knobs_find(struct knobs *ks, const char *name)
{
    for (size_t i = 0; i < ks->n; i++)
        if (strcmp(ks->k[i].def->name, name) == 0)
            return &ks->k[i];
    return NULL;
}

/* ---- the host ---- */

static bool in_container(const struct sysio *io)
{
    return sysio_exists(io, "/run/systemd/container") || sysio_exists(io, "/.dockerenv") || sysio_exists(io, "/run/.containerenv");
}

/* Files were found, but none can be written. */
static int why_denied(const struct sysio *io, int error, char *buf, size_t size)
{
    char lockdown[32];

    read_lockdown(io, lockdown, sizeof lockdown);
    if (error == -EPERM)
        (void)snprintf(buf, size, "kernel lockdown%s%s%s keeps everybody from the scheduler's knobs in debugfs (Secure Boot switches it on)",
                       *lockdown ? " (" : " or a security module", lockdown, *lockdown ? ")" : "");
    else if (error == -EACCES)
        (void)snprintf(buf, size, "no permission to write the scheduler's knobs: only root may");
    else if (error == -EROFS && in_container(io))
        (void)snprintf(buf, size, "this is a container, in which the scheduler's knobs are read-only: run tunerd on its host");
    else if (error == -EROFS)
        (void)snprintf(buf, size, "the scheduler's knobs are mounted read-only: see ReadWritePaths= of the service");
    else
        (void)snprintf(buf, size, "the scheduler's knobs cannot be written: %s", strerror(-error));
    return error;
}

static int why_absent(const struct sysio *io, char *buf, size_t size)
{
    if (in_container(io))
        (void)snprintf(buf, size, "this is a container, which does not show the scheduler's knobs: run tunerd on its host");
    else if (look(io, DEBUGFS_DIR) == -ENOENT)
        (void)snprintf(buf, size, "the kernel offers no debugfs, where the scheduler's knobs are (debugfs=off on its command line, or built without it)");
    else if (!is_mounted(io, DEBUGFS_DIR))
        (void)snprintf(buf, size, "debugfs is not mounted: systemctl start sys-kernel-debug.mount, or mount -t debugfs none " DEBUGFS_DIR);
    else if (look(io, SCHED_DIR) == -ENOENT)
        (void)snprintf(buf, size, "this kernel has no scheduler knobs: it was built without CONFIG_SCHED_DEBUG");
    else
        (void)snprintf(buf, size, "this kernel has none of the knobs that tunerd knows");
    return -ENOENT;
}

int knobs_why_not(const struct knobs *ks, const struct sysio *io, char *buf, size_t size)
{
    /* What forbids comes before what is odd. */
    static const int weight[] = { EPERM, EACCES, EROFS };
    int found = 0;

    if (size > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < ks->n; i++) {
        const struct knob *k = &ks->k[i];
        if (k->def->aside)
            continue;
        if (k->state == KNOB_OK || k->state == KNOB_FOREIGN)
            return 0;
        if (k->state != KNOB_ABSENT)
            found = k->error;
    }
    for (size_t w = 0; w < ELEMENTSOF(weight); w++)
        for (size_t i = 0; i < ks->n; i++)
            if (!ks->k[i].def->aside && ks->k[i].error == -weight[w])
                return why_denied(io, -weight[w], buf, size);
    return found < 0 ? why_denied(io, found, buf, size) : why_absent(io, buf, size);
}
