/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching over what was written and putting it back: by the daemon, or from the journal alone. What somebody else wrote
 * is never touched. */
#include "knob_impl.h"

#include "log.h"
#include "util.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* One knob of knobs_verify: did it change hands (return value), did the kernel recompute it? */
static bool verify_one(struct knobs *ks, struct knob *k, bool *ret_rescaled)
{
    uint64_t current;
    int r;

    *ret_rescaled = false;
    if (!k->path || !k->has_original)
        return false;
    /* Files by the CPU: read where something of ours is in them; a write compares first anyway. */
    if (k->def->kind == KNOB_DOMAIN && !k->has_ours)
        return false;
    r = knob_read(ks, k, &current);
    if (r < 0) {
        if (k->state == KNOB_OK)
            knob_failed(k, r, false);
        return false;
    }
    k->current = current;
    if (k->state == KNOB_FOREIGN) {
        k->foreign_value = current;
        return false;
    }
    switch (knob_owner(ks, k, current)) {
    case KNOB_ALIEN:
        knob_lost(ks, k, current);
        return true;
    case KNOB_RESCALED:
        *ret_rescaled = k->has_ours;
        if (!k->has_ours && !undo_find(ks->undo, k->id)) {
            k->original = k->original_found = current;
            k->original_scale = knob_scale_read(ks->io, k->commit_path);
        } else {
            knob_refresh_original(ks, k);
        }
        return false;
    case KNOB_MINE:
        /* A write of the original's value by others before we wrote anything changes nothing. */
        if (!k->has_ours)
            k->foreign_pid = 0;
        else
            knob_refresh_original(ks, k);
        return false;
    }
    return false;
}

uint64_t knobs_verify(struct knobs *ks, uint64_t *ret_rescaled)
{
    uint64_t lost = 0, all_rescaled = 0;

    for (size_t i = 0; i < ks->n; i++) {
        bool rescaled;
        if (verify_one(ks, &ks->k[i], &rescaled))
            lost |= UINT64_C(1) << i;
        if (rescaled)
            all_rescaled |= UINT64_C(1) << i;
    }
    if (ret_rescaled)
        *ret_rescaled = all_rescaled;
    return lost;
}

/* ---- restore ---- */

static void report(FILE *f, const char *fmt, ...) _printf_(2, 3);
static void report(FILE *f, const char *fmt, ...)
{
    va_list ap;

    if (!f)
        return;
    va_start(ap, fmt);
    (void)vfprintf(f, fmt, ap);
    va_end(ap);
    (void)fputc('\n', f);
}

static int restored(struct knobs *ks, struct knob *k)
{
    int r = ks->dry_run ? 0 : undo_forget(ks->undo, k->id);

    k->has_ours = k->adopted = k->uncommitted = false;
    k->note[0] = '\0';
    /* An item whose original is in force is done, whether or not its line is gone. */
    if (r < 0)
        (void)log_errno(LOG_WARNING, r, "knob %s: the journal cannot be written: %m", k->def->name);
    return 0;
}

static int failed(const struct knobs *ks, const struct knob *k, int r, FILE *f)
{
    const struct undo_item *i = undo_find(ks->undo, k->id);
    const char *original = i ? i->original : "original";

    report(f, "%s: could not be restored to %s: %s", k->def->name, original, strerror(-r));
    return log_errno(LOG_ERR, r, "knob %s: its original %s could not be put back: %m", k->def->name, original);
}

static void left_alone(const struct knob *k, FILE *f)
{
    char now[KNOB_TEXT_MAX], original[KNOB_TEXT_MAX];

    knob_format(k, k->current, now, sizeof now);
    knob_format(k, k->original, original, sizeof original);
    report(f, "%s: left at %s, which somebody else wrote (original %s)", k->def->name, now, original);
}

/* 0: the original is there, or the knob is not ours to restore; -errno. */
static int restore_knob(struct knobs *ks, struct knob *k, const char *why, FILE *f)
{
    char was[KNOB_TEXT_MAX], is[KNOB_TEXT_MAX];
    uint64_t current, original;
    int r;

    if (!k->has_original)
        knob_probe(ks, k);
    if (k->state == KNOB_FOREIGN) {
        left_alone(k, f);
        return 0;
    }
    r = k->has_original ? knob_read(ks, k, &current) : k->error;
    if (r == -ENODEV && k->def->kind == KNOB_DOMAIN) {
        report(f, "%s: the kernel dropped these domains and what was written to them", k->def->name);
        return restored(ks, k);
    }
    if (r < 0)
        return failed(ks, k, r, f);
    k->current = current;
    knob_refresh_original(ks, k);
    original = k->original;
    knob_format(k, current, was, sizeof was);
    knob_format(k, original, is, sizeof is);
    if (current == original && knob_is_whole(ks, k)) {
        report(f, "%s: has its original %s", k->def->name, is);
        return restored(ks, k);
    }
    if (knob_owner(ks, k, current) == KNOB_ALIEN) {
        knob_lost(ks, k, current);
        left_alone(k, f);
        return 0;
    }
    if (ks->dry_run) {
        knob_log_dry_run(k, original, why);
        return 0;
    }
    r = knob_put(ks, k, original, LOG_ID_RESTORE, why);
    if (r == -ESTALE) {
        left_alone(k, f);
        return 0;
    }
    if (r < 0)
        return failed(ks, k, r, f);
    report(f, "%s: %s restored to its original %s", k->def->name, was, is);
    return restored(ks, k);
}

static bool is_row(const struct knobs *ks, const char *id)
{
    for (size_t i = 0; i < ks->n; i++)
        if (ks->k[i].path && strcmp(ks->k[i].id, id) == 0)
            return true;
    return false;
}

/* An item that no row stands for: a commit file, or a knob of another version or whose home is gone. */
static int restore_item(struct knobs *ks, const struct undo_item *i, const char *why, FILE *f)
{
    char now[UNDO_TEXT_MAX], path[UNDO_ID_MAX];
    int r;

    (void)copy_string(path, sizeof path, i->id);
    char *part = strchr(path, '#');
    const char *token = part ? part + 1 : NULL;
    if (part)
        *part = '\0';
    if (i->foreign) {
        report(f, "%s: left alone, somebody else wrote it", i->id);
        return 0;
    }
    if (strstr(i->id, "/../") || (strncmp(i->id, "/sys/", 5) != 0 && strncmp(i->id, "/proc/sys/", 10) != 0))
        return -EINVAL;
    r = knob_read_item(ks->io, path, token, now, sizeof now);
    if (r < 0)
        return r;
    if (strcmp(now, i->original) != 0 && !undo_is_ours(i, now)) {
        report(f, "%s: left at %s, which somebody else wrote (original %s)", i->id, now, i->original);
        return undo_set_foreign(ks->undo, i->id, true);
    }
    if (strcmp(now, i->original) != 0) {
        r = knob_write_text(ks->io, path, i->original);
        if (r == 0)
            r = knob_read_item(ks->io, path, token, now, sizeof now);
        if (r == 0 && strcmp(now, i->original) != 0)
            r = -EIO;
        if (r < 0)
            return r;
        log_event(LOG_INFO, &(struct log_event){ .id = LOG_ID_RESTORE, .knob = i->id, .new_value = i->original, .reason = why },
                  "%s: original %s restored (%s)", i->id, i->original, why);
        report(f, "%s: restored to its original %s", i->id, i->original);
    }
    (void)undo_forget(ks->undo, i->id);
    return 0;
}

/* A commit file that is a row, too: putting slices back left it a line. */
static bool is_done(const struct knobs *ks, const struct undo_item *i)
{
    char now[UNDO_TEXT_MAX];

    return !i->foreign && !strchr(i->id, '#') && knob_read_item(ks->io, i->id, NULL, now, sizeof now) == 0 &&
           strcmp(now, i->original) == 0;
}

static int restore_all(struct knobs *ks, const char *why, FILE *f)
{
    int bad = 0;

    for (size_t i = 0; i < ks->n; i++) {
        struct knob *k = &ks->k[i];
        if (k->path && (k->has_ours || undo_find(ks->undo, k->id)))
            bad += restore_knob(ks, k, why, f) < 0;
    }
    if (ks->dry_run)
        return bad;
    /* Backwards: what is done leaves the list. */
    for (size_t n = ks->undo->n; n-- > 0;) {
        const struct undo_item i = ks->undo->item[n];
        if (is_row(ks, i.id)) {
            if (is_done(ks, &i))
                (void)undo_forget(ks->undo, i.id);
            continue;
        }
        int r = restore_item(ks, &i, why, f);
        if (r < 0) {
            report(f, "%s: could not be restored to %s: %s", i.id, i.original, strerror(-r));
            bad++;
            (void)log_errno(LOG_ERR, r, "%s: the original %s could not be put back: %m", i.id, i.original);
        }
    }
    return bad;
}

int knobs_restore(struct knobs *ks, const char *why)
{
    return restore_all(ks, why, NULL);
}

int knobs_restore_from_journal(const struct sysio *io, const char *undo_path, const char *boot_id, FILE *f)
{
    _cleanup_free_ struct undo *u = malloc(sizeof *u);
    _cleanup_free_ struct knobs *ks = malloc(sizeof *ks);
    int r;

    if (!u || !ks)
        return -ENOMEM;
    r = undo_load(u, undo_path, boot_id);
    if (r < 0 && r != -EBADMSG)
        return r;
    if (r == -EBADMSG)
        report(f, "%s is damaged; what can be read of it is used, a copy is in %s.damaged", undo_path, undo_path);
    if (u->n == 0) {
        report(f, "nothing to restore");
        return 0;
    }
    knobs_init(ks, io, u, false);
    return restore_all(ks, "restore from the journal", f);
}

int knob_release(struct knobs *ks, struct knob *k)
{
    uint64_t current;
    int r;

    if (k->state != KNOB_FOREIGN)
        return -EINVAL;
    r = knob_read(ks, k, &current);
    if (r < 0)
        return r;
    r = knob_try_write(ks, k);
    if (r < 0)
        return r;
    r = ks->dry_run ? 0 : undo_forget(ks->undo, k->id);
    if (r < 0)
        return r;
    k->state = KNOB_OK;
    k->error = 0;
    k->reason[0] = k->note[0] = k->foreign_comm[0] = k->foreign_unit[0] = '\0';
    k->foreign_pid = 0;
    k->foreign_value = k->foreign_real_ns = 0;
    k->has_ours = k->adopted = k->uncommitted = false;
    k->has_original = true;
    k->current = k->original = k->original_found = current;
    k->original_scale = k->def->scaled ? knob_scale_read(ks->io, k->commit_path) : (struct knob_scale){ .mode = -1 };
    log_msg(LOG_NOTICE, "knob %s: released; its original is now %lu", k->def->name, current);
    return 0;
}
