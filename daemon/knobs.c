/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading, writing and watching over knobs. The only place that writes one: never without the journal, never over the
 * value of somebody else, never beyond the bounds. */
#include "knob_impl.h"

#include "log.h"
#include "util.h"

#include <errno.h>
#include <string.h>

static const struct {
    int error;
    enum knob_fate fate;
} fates[] = {
    { EBUSY, KNOB_FATE_RETRY },    { EAGAIN, KNOB_FATE_RETRY },   { EINTR, KNOB_FATE_RETRY },
    { ENOMEM, KNOB_FATE_RETRY },   { EINVAL, KNOB_FATE_REFUSED }, { ERANGE, KNOB_FATE_REFUSED },
    { ENOENT, KNOB_FATE_GONE },    { ENODEV, KNOB_FATE_GONE },    { ENXIO, KNOB_FATE_GONE },
    { ENOTDIR, KNOB_FATE_GONE },   { EPERM, KNOB_FATE_DENIED },   { EACCES, KNOB_FATE_DENIED },
    { EROFS, KNOB_FATE_DENIED },
};

enum knob_fate knob_fate(int error)
{
    for (size_t i = 0; i < ELEMENTSOF(fates); i++)
        if (fates[i].error == (error < 0 ? -error : error))
            return fates[i].fate;
    return KNOB_FATE_BROKEN;
}

int knob_write_text(const struct sysio *io, const char *path, const char *text)
{
    char line[UNDO_TEXT_MAX + 2];
    int n = snprintf(line, sizeof line, "%s\n", text);

    if (n < 0 || (size_t)n >= sizeof line)
        return -EINVAL;
    return sysio_write(io, path, line, (size_t)n);
}

static int write_value(const struct knobs *ks, const struct knob *k, const char *text)
{
    return k->def->kind == KNOB_DOMAIN ? knob_domain_write(ks->io, k, text) : knob_write_text(ks->io, k->path, text);
}

int knob_try_write(const struct knobs *ks, const struct knob *k)
{
    return k->def->kind == KNOB_DOMAIN ? knob_domain_try_write(ks->io, k) : sysio_try_write(ks->io, k->path);
}

bool knob_is_whole(const struct knobs *ks, const struct knob *k)
{
    return k->def->kind != KNOB_DOMAIN || knob_domain_is_uniform(ks->io, k);
}

/* ---- judging ---- */

void knob_failed(struct knob *k, int error, bool writing)
{
    enum knob_fate fate = knob_fate(error);
    enum knob_state before = k->state;

    if (fate == KNOB_FATE_RETRY || (writing && fate == KNOB_FATE_REFUSED))
        return;
    k->state = fate == KNOB_FATE_GONE ? KNOB_ABSENT
               : error == -EROFS      ? KNOB_READONLY
               : fate == KNOB_FATE_DENIED ? KNOB_DENIED
                                          : KNOB_BROKEN;
    k->error = error;
    (void)snprintf(k->reason, sizeof k->reason, "cannot be %s: %s", writing ? "written" : "read",
                   error == -EBADMSG ? "it does not hold a number" : strerror(-error));
    if (before != k->state)
        log_msg(LOG_WARNING, "knob %s: %s", k->def->name, k->reason);
}

static struct knob_scale scale_now(const struct knobs *ks, const struct knob *k)
{
    return k->def->scaled ? knob_scale_read(ks->io, k->commit_path) : (struct knob_scale){ .mode = -1 };
}

void knob_refresh_original(const struct knobs *ks, struct knob *k)
{
    k->original = k->def->scaled ? knob_scale_value(k->original_found, k->original_scale, scale_now(ks, k))
                                 : k->original_found;
}

enum knob_owner knob_owner(const struct knobs *ks, const struct knob *k, uint64_t current)
{
    struct knob_scale now;

    if (!k->has_ours && knob_same(k, current, k->original))
        return KNOB_MINE;
    /* The kernel told of another writer: what is there is theirs, even where it equals ours. */
    if (k->has_ours && k->foreign_pid != 0)
        return KNOB_ALIEN;
    if (k->has_ours && (knob_same(k, current, k->ours) || knob_same(k, current, k->ours_asked)))
        return KNOB_MINE;
    /* A rebuild of the domains made new files with the kernel's defaults, which may be others with other CPUs. */
    if (k->def->kind == KNOB_DOMAIN && (!k->has_ours || current == k->original) &&
        (k->stamp == 0 || k->stamp != knob_domain_stamp(ks->io, k)))
        return KNOB_RESCALED;
    if (!k->def->scaled)
        return KNOB_ALIEN;
    now = scale_now(ks, k);
    if (!k->has_ours)
        return knob_scale_explains(k->original_found, k->original_scale, now, current) ? KNOB_RESCALED : KNOB_ALIEN;
    if (knob_scale_explains(k->ours, k->ours_scale, now, current) ||
        knob_scale_explains(k->ours_asked, k->ours_scale, now, current))
        return KNOB_RESCALED;
    if (k->uncommitted && knob_scale_explains(k->original_found, k->original_scale, now, current))
        return KNOB_RESCALED;
    return KNOB_ALIEN;
}

void knob_lost(struct knobs *ks, struct knob *k, uint64_t current)
{
    char was[KNOB_TEXT_MAX], is[KNOB_TEXT_MAX], original[KNOB_TEXT_MAX], scale[UNDO_SCALE_MAX], by[128] = "somebody else";
    int r = 0;

    knob_format(k, k->has_ours ? k->ours : k->original, was, sizeof was);
    knob_format(k, current, is, sizeof is);
    knob_format(k, k->original_found, original, sizeof original);
    knob_scale_format(scale, sizeof scale, k->original_scale);
    if (k->foreign_pid != 0)
        (void)snprintf(by, sizeof by, "pid %d (%s%s%s)", k->foreign_pid, *k->foreign_comm ? k->foreign_comm : "exited",
                       *k->foreign_unit ? ", " : "", k->foreign_unit);
    /* They wrote some CPUs' copies: the others still hold what is ours to take back. */
    if (k->def->kind == KNOB_DOMAIN && k->has_ours && !ks->dry_run)
        (void)knob_domain_return(ks->io, k);
    k->foreign_old = k->has_ours ? k->ours : k->original;
    k->state = KNOB_FOREIGN;
    k->error = -ESTALE;
    k->current = k->foreign_value = current;
    k->foreign_real_ns = now_real_ns();
    k->has_ours = false;
    (void)snprintf(k->reason, sizeof k->reason, "%.80s wrote it; left alone until `tunectl release %s`", by, k->def->name);
    log_event(LOG_NOTICE,
              &(struct log_event){ .id = LOG_ID_FOREIGN, .knob = k->def->name, .old_value = was, .new_value = is, .reason = by },
              "knob %s: %s → %s, written by %s; left alone until `tunectl release %s`", k->def->name, was, is, by,
              k->def->name);
    if (!ks->dry_run)
        r = undo_add_foreign(ks->undo, k->id, original, scale);
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "knob %s: the journal cannot be written, a restart will not know whose value this is: %m",
                        k->def->name);
}

/* ---- writing ---- */

/* After it, every value that the file can hold until the next step is in the journal. */
static int journal_before(struct knobs *ks, struct knob *k, uint64_t current, const char *intended)
{
    char original[KNOB_TEXT_MAX], now[KNOB_TEXT_MAX], scale0[UNDO_SCALE_MAX], scale[UNDO_SCALE_MAX];
    const struct undo_item *i = undo_find(ks->undo, k->id);
    int r;

    knob_format(k, k->original_found, original, sizeof original);
    knob_format(k, current, now, sizeof now);
    knob_scale_format(scale0, sizeof scale0, k->original_scale);
    knob_scale_format(scale, sizeof scale, scale_now(ks, k));
    /* What is in the file may be known only as `intended` or as a rescaled value: `intended` is needed now. */
    if (i && strcmp(i->confirmed, now) != 0 && strcmp(i->original, now) != 0) {
        r = undo_confirm(ks->undo, k->id, now);
        if (r < 0)
            return r;
    }
    return undo_intend_scaled(ks->undo, k->id, original, intended, scale0, scale);
}

/* The write failed: the journal shall say what is there, if that can be told. */
static void journal_after_failure(struct knobs *ks, struct knob *k, uint64_t before)
{
    uint64_t current;
    char now[KNOB_TEXT_MAX];

    if (knob_read(ks, k, &current) < 0 || current != before || !knob_is_whole(ks, k))
        return;
    knob_format(k, current, now, sizeof now);
    if (k->has_ours || current != k->original_found)
        (void)undo_confirm(ks->undo, k->id, now);
    else
        (void)undo_forget(ks->undo, k->id);
}

/* tunable_scaling is written with the value that it has: its original is always what it holds now, unless we hold it. */
static int journal_commit(struct knobs *ks, const char *path, const char *mode)
{
    const struct undo_item *i = undo_find(ks->undo, path);
    int r;

    if (i && i->foreign)
        return 0;
    if (i && strcmp(i->original, mode) != 0 && !undo_is_ours(i, mode)) {
        r = undo_forget(ks->undo, path);
        if (r < 0)
            return r;
        i = NULL;
    }
    return i && strcmp(i->confirmed, mode) == 0 ? 0 : undo_intend(ks->undo, path, mode, mode);
}

/* Up to 6.5 the commit divides by min_granularity_ns. */
static bool commit_would_oops(const struct knobs *ks)
{
    for (size_t i = 0; i < ks->n; i++) {
        uint64_t v;
        if (strcmp(ks->k[i].def->name, "min_granularity_ns") == 0 && ks->k[i].path)
            return knob_read(ks, &ks->k[i], &v) < 0 || v == 0;
    }
    return false;
}

/* Makes a slice last over CPU hotplug. 0 or -errno: then it is in force until the next one. */
static int commit(struct knobs *ks, struct knob *k)
{
    char mode[UNDO_TEXT_MAX];
    const char *path = k->commit_path;
    ssize_t n;
    int r;

    n = sysio_read_line(ks->io, path, mode, sizeof mode);
    if (n < 0)
        return (int)n;
    if (n != 1 || mode[0] < '0' || mode[0] > '2')
        return -ERANGE;
    if (commit_would_oops(ks))
        return -ECANCELED;
    r = journal_commit(ks, path, mode);
    if (r < 0)
        return r;
    r = knob_write_text(ks->io, path, mode);
    /* 5.13 and 5.14 read on behind what was written: give them an end. Only to them, others keep it as text. */
    if (r == -EINVAL && strncmp(path, "/sys/", 5) == 0)
        r = sysio_write(ks->io, path, (const char[]){ mode[0], '\n', '\0' }, 3);
    (void)undo_confirm(ks->undo, path, mode);
    return r;
}

static void commit_and_note(struct knobs *ks, struct knob *k)
{
    int r = k->commit_path ? commit(ks, k) : 0;

    k->uncommitted = r < 0;
    k->note[0] = '\0';
    if (r < 0)
        (void)snprintf(k->note, sizeof k->note, "in force, but not kept over CPU hotplug: %s",
                       r == -ECANCELED ? "min_granularity_ns is 0 and tunable_scaling must not be written then"
                                       : strerror(-r));
}

/* Some copies may hold the new value, others what was there. */
static void expect_either(struct knob *k, uint64_t value)
{
    k->ours_asked = k->has_ours ? k->ours : value;
    k->ours = value;
    k->has_ours = true;
    k->stamp = 0;
}

/* What the file holds after the write. 0 when it is what we wrote; else the journal and the state are right already. */
static int read_back(struct knobs *ks, struct knob *k, uint64_t before, uint64_t value)
{
    uint64_t now;
    int r = knob_read(ks, k, &now);

    if (r == 0)
        k->current = now;
    if (r == 0 && !knob_is_whole(ks, k)) {
        expect_either(k, value);
        return -EAGAIN; /* a rebuild came in between */
    }
    if (r == 0 && knob_same(k, now, value))
        return 0;
    if (r == 0 && k->def->scaled && knob_scale_explains(value, k->ours_scale, scale_now(ks, k), now))
        return 0;
    if (r == 0 && now == before) {
        journal_after_failure(ks, k, before);
        r = -EIO;
    } else if (r == 0) {
        knob_lost(ks, k, now);
        return -ESTALE;
    } else {
        /* Not known whether it took: the journal keeps both, and so do we. */
        k->has_ours = true;
        k->ours = k->ours_asked = value;
    }
    knob_failed(k, r, true);
    return r;
}

int knob_put(struct knobs *ks, struct knob *k, uint64_t value, const char *id, const char *why)
{
    char old_text[KNOB_TEXT_MAX], new_text[KNOB_TEXT_MAX];
    const uint64_t current = k->current;
    int r;

    knob_format(k, current, old_text, sizeof old_text);
    knob_format(k, value, new_text, sizeof new_text);
    r = journal_before(ks, k, current, new_text);
    if (r < 0)
        return log_errno(LOG_ERR, r, "knob %s: not written, the journal %s cannot be: %m", k->def->name, ks->undo->path);
    r = write_value(ks, k, new_text);
    if (r < 0) {
        journal_after_failure(ks, k, current);
        if (k->def->kind == KNOB_DOMAIN)
            expect_either(k, value);
        knob_failed(k, r, true);
        return log_errno(LOG_WARNING, r, "knob %s: %s → %s failed: %m", k->def->name, old_text, new_text);
    }
    k->ours_scale = scale_now(ks, k);
    commit_and_note(ks, k);
    r = read_back(ks, k, current, value);
    if (r < 0)
        return r;
    k->has_ours = true;
    k->ours = k->current;
    k->ours_asked = value;
    k->stamp = k->def->kind == KNOB_DOMAIN ? knob_domain_stamp(ks->io, k) : 0;
    k->writes++;
    k->state = KNOB_OK;
    k->error = 0;
    k->reason[0] = '\0';
    knob_format(k, k->current, new_text, sizeof new_text);
    r = undo_confirm(ks->undo, k->id, new_text);
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "knob %s: the journal cannot be written: %m", k->def->name);
    log_event(LOG_INFO,
              &(struct log_event){ .id = id, .knob = k->def->name, .old_value = old_text, .new_value = new_text, .reason = why },
              "knob %s: %s → %s (%s)%s%s", k->def->name, old_text, new_text, why, *k->note ? "; " : "", k->note);
    return 1;
}

void knob_log_dry_run(const struct knob *k, uint64_t value, const char *why)
{
    char old_text[KNOB_TEXT_MAX], new_text[KNOB_TEXT_MAX];

    knob_format(k, k->current, old_text, sizeof old_text);
    knob_format(k, value, new_text, sizeof new_text);
    log_msg(LOG_INFO, "knob %s: %s → %s (%s): dry run, not written", k->def->name, old_text, new_text, why);
}

static bool in_bounds(const struct knob *k, uint64_t value)
{
    if (k->has_original && value == k->original)
        return true;
    return value >= k->def->hard_min && value <= k->def->hard_max && value >= k->limit_min && value <= k->limit_max;
}

int knob_write(struct knobs *ks, struct knob *k, uint64_t value, const char *why)
{
    uint64_t current;
    int r;

    if (k->state == KNOB_FOREIGN)
        return -ESTALE;
    /* The way back stays open, whatever went wrong. */
    if (k->state != KNOB_OK && !(k->has_ours && value == k->original))
        return k->error < 0 ? k->error : -ENODEV;
    r = knob_read(ks, k, &current);
    if (r < 0) {
        knob_failed(k, r, false);
        return r;
    }
    k->current = current;
    enum knob_owner owner = knob_owner(ks, k, current);
    if (owner == KNOB_ALIEN) {
        knob_lost(ks, k, current);
        return -ESTALE;
    }
    if (!k->has_ours)
        k->foreign_pid = 0; /* of a write that changed nothing */
    if (!k->has_ours && owner == KNOB_RESCALED && k->def->kind == KNOB_DOMAIN) {
        r = ks->dry_run ? 0 : undo_forget(ks->undo, k->id);
        if (r < 0)
            return r;
        k->original = k->original_found = current;
    }
    knob_refresh_original(ks, k);
    if (!in_bounds(k, value))
        return -ERANGE;
    if ((current == value && knob_is_whole(ks, k)) || (value != k->original && owner == KNOB_MINE && knob_same(k, current, value)))
        return 0;
    if (ks->dry_run) {
        knob_log_dry_run(k, value, why);
        return 0;
    }
    return knob_put(ks, k, value, LOG_ID_WRITE, why);
}
