/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The originals journal: a small text file that is replaced as a whole, so that every crash leaves the old or the new
 * one. It knows ids and texts, nothing of knobs, and does not log.
 *
 *  tunerd-undo 1
 *  id=/sys/...<TAB>original=500000<TAB>confirmed=...<TAB>intended=...<TAB>time=...<TAB>foreign=0<TAB>scale0=<TAB>scale=
 *  <TAB>boot=...<TAB>sum=........                                  (one line; sum is FNV-1a of all before "sum=") */
#include "undo.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define HEADER "tunerd-undo 1"
enum { UNDO_LINE_MAX = 1024, UNDO_FILE_MAX = UNDO_ITEMS_MAX * UNDO_LINE_MAX };

static uint32_t checksum(const char *s, size_t n)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h;
}

/* A text that cannot break the format. */
static bool is_plain(const char *s, size_t size)
{
    size_t n = strlen(s);

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
            return false;
    return n < size;
}

/* ---- reading ---- */

static bool take_field(struct undo_item *i, char *boot, size_t boot_size, const char *key, const char *value)
{
    const struct {
        const char *key;
        char *to;
        size_t size;
    } texts[] = {
        { "id", i->id, sizeof i->id },
        { "original", i->original, sizeof i->original },
        { "confirmed", i->confirmed, sizeof i->confirmed },
        { "intended", i->intended, sizeof i->intended },
        { "scale0", i->original_scale, sizeof i->original_scale },
        { "scale", i->scale, sizeof i->scale },
        { "boot", boot, boot_size },
    };

    for (size_t t = 0; t < ELEMENTSOF(texts); t++)
        if (strcmp(key, texts[t].key) == 0)
            return copy_string(texts[t].to, texts[t].size, value);
    if (strcmp(key, "time") == 0)
        return parse_u64(value, &i->real_ns) == 0;
    if (strcmp(key, "foreign") == 0) {
        i->foreign = strcmp(value, "0") != 0;
        return true;
    }
    return true; /* a newer version's */
}

/* The line without its newline; it is cut up. 0, or -EBADMSG: then only ret->id may be there. */
static int parse_line(char *line, struct undo_item *ret, char *boot, size_t boot_size)
{
    char *sum = strstr(line, "\tsum="), *state = NULL, expected[16];
    struct undo_item i = { 0 };
    bool good = false;

    if (sum) {
        (void)snprintf(expected, sizeof expected, "%08x", checksum(line, (size_t)(sum + 1 - line)));
        good = strcmp(sum + 5, expected) == 0;
        *sum = '\0';
    }
    for (char *f = strtok_r(line, "\t", &state); f; f = strtok_r(NULL, "\t", &state)) {
        char *eq = strchr(f, '=');
        if (!eq) {
            good = false;
            continue;
        }
        *eq = '\0';
        if (!take_field(&i, boot, boot_size, f, eq + 1))
            good = false;
    }
    good = good && *i.id && (*i.original || i.foreign);
    *ret = i;
    return good ? 0 : -EBADMSG;
}

static ssize_t read_file(const char *path, char *buf, size_t size)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t len = 0;
    ssize_t n;

    if (fd < 0)
        return -errno;
    while (len + 1 < size) {
        n = read(fd, buf + len, size - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    buf[len] = '\0';
    return (ssize_t)len;
}

/* All lines into u. -EBADMSG: some were damaged, the others are there. *ret_stale: items of another boot were left out. */
static int parse_all(struct undo *u, char *text, size_t len, bool *ret_stale)
{
    bool damaged = memchr(text, '\0', len) != NULL || (len > 0 && text[len - 1] != '\n');
    char *state = NULL;
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state), n++) {
        struct undo_item i;
        char boot[sizeof u->boot_id] = "";

        if (n == 0 && strcmp(line, HEADER) == 0)
            continue;
        int r = parse_line(line, &i, boot, sizeof boot);
        if (r == 0 && *boot && *u->boot_id && strcmp(boot, u->boot_id) != 0) {
            *ret_stale = true;
            continue;
        }
        if (r < 0) {
            damaged = true;
            if (i.id[0] != '/')
                continue;
            /* What the line said cannot be trusted, but the item was ours: leave it alone rather than take the
             * value of today for the original. */
            struct undo_item lost = { .foreign = true };
            memcpy(lost.id, i.id, sizeof lost.id);
            i = lost;
        }
        if (u->n == UNDO_ITEMS_MAX || undo_find(u, i.id)) {
            damaged = true;
            continue;
        }
        u->item[u->n++] = i;
    }
    return damaged || n == 0 ? -EBADMSG : 0;
}

/* ---- writing ---- */

static size_t format_item(char *buf, size_t size, const struct undo_item *i, const char *boot)
{
    int n = snprintf(buf, size,
                     "id=%s\toriginal=%s\tconfirmed=%s\tintended=%s\ttime=%lu\tforeign=%d\tscale0=%s\tscale=%s\tboot=%s\t",
                     i->id, i->original, i->confirmed, i->intended, i->real_ns, i->foreign, i->original_scale,
                     i->scale, boot);
    size_t len = (size_t)n;

    return len + (size_t)snprintf(buf + len, size - len, "sum=%08x\n", checksum(buf, len));
}

static int write_all(int fd, const char *buf, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, buf, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        buf += n;
        len -= (size_t)n;
    }
    return 0;
}

static int write_items(const struct undo *u, int fd)
{
    char line[UNDO_LINE_MAX] = HEADER "\n";
    int r = write_all(fd, line, strlen(line));

    for (size_t i = 0; r == 0 && i < u->n; i++)
        r = write_all(fd, line, format_item(line, sizeof line, &u->item[i], u->boot_id));
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    return r;
}

static int sync_directory(const char *path)
{
    char dir[4096];
    _cleanup_close_ int fd = -1;
    char *slash;

    (void)copy_string(dir, sizeof dir, path);
    slash = strrchr(dir, '/');
    if (!slash)
        (void)copy_string(dir, sizeof dir, ".");
    else
        slash[slash == dir] = '\0';
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    /* Some file systems cannot; the rename is ordered there as far as it can be. */
    return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

/* Until the rename the old journal stands, after it the new one: both describe the knobs, because nothing is written
 * to a knob in between. */
static int save(const struct undo *u)
{
    char tmp[sizeof u->path + 8];
    _cleanup_close_ int fd = -1;
    int r;

    (void)snprintf(tmp, sizeof tmp, "%s.tmp", u->path);
    (void)unlink(tmp);
    fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    r = write_items(u, fd);
    if (r == 0 && rename(tmp, u->path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(tmp);
        return r;
    }
    return sync_directory(u->path);
}

/* ---- the interface ---- */

static int copy_damaged(const char *path, const char *text, size_t len)
{
    char to[4096 + 16];
    _cleanup_close_ int fd = -1;

    (void)snprintf(to, sizeof to, "%s.damaged", path);
    (void)unlink(to);
    fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : write_all(fd, text, len);
}

int undo_load(struct undo *u, const char *path, const char *boot_id)
{
    _cleanup_free_ char *text = malloc(UNDO_FILE_MAX), *whole = NULL;
    char old[sizeof u->path + 8];
    bool stale = false;
    ssize_t len;
    int r;

    *u = (struct undo){ 0 };
    if (!text)
        return -ENOMEM;
    if (!copy_string(u->path, sizeof u->path, path) || !copy_string(u->boot_id, sizeof u->boot_id, boot_id))
        return -ENAMETOOLONG;
    len = read_file(path, text, UNDO_FILE_MAX);
    if (len < 0)
        return len == -ENOENT ? 0 : (int)len;
    whole = malloc((size_t)len + 1);
    if (!whole)
        return -ENOMEM;
    memcpy(whole, text, (size_t)len);
    r = parse_all(u, text, (size_t)len, &stale);
    if (r < 0)
        (void)copy_damaged(path, whole, (size_t)len);
    if (stale && u->n == 0) {
        (void)snprintf(old, sizeof old, "%s.old", path);
        if (rename(path, old) < 0)
            return -errno;
    }
    return r;
}

struct undo_item *undo_find(struct undo *u, const char *id)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->item[i].id, id) == 0)
            return &u->item[i];
    return NULL;
}

/* The item of that id, new with `original` where there was none. NULL: full, or a text that does not fit. */
static struct undo_item *find_or_add(struct undo *u, const char *id, const char *original, const char *original_scale)
{
    struct undo_item *i = undo_find(u, id);

    if (i)
        return i;
    if (u->n == UNDO_ITEMS_MAX || id[0] != '/' || !is_plain(id, sizeof i->id) || !*original ||
        !is_plain(original, sizeof i->original) || !is_plain(original_scale, sizeof i->original_scale))
        return NULL;
    i = &u->item[u->n++];
    *i = (struct undo_item){ 0 };
    (void)copy_string(i->id, sizeof i->id, id);
    (void)copy_string(i->original, sizeof i->original, original);
    (void)copy_string(i->original_scale, sizeof i->original_scale, original_scale);
    return i;
}

int undo_intend_scaled(struct undo *u, const char *id, const char *original, const char *intended, const char *original_scale,
                       const char *scale)
{
    struct undo_item *i, before;
    size_t n = u->n;
    int r;

    if (!*intended || !is_plain(intended, sizeof i->intended) || !is_plain(scale, sizeof i->scale))
        return -EINVAL;
    i = find_or_add(u, id, original, original_scale);
    if (!i)
        return n == UNDO_ITEMS_MAX ? -ENOSPC : -EINVAL;
    before = *i;
    (void)copy_string(i->intended, sizeof i->intended, intended);
    (void)copy_string(i->scale, sizeof i->scale, scale);
    i->real_ns = now_real_ns();
    r = save(u);
    if (r < 0) {
        *i = before;
        u->n = n;
    }
    return r;
}

int undo_intend(struct undo *u, const char *id, const char *original, const char *intended)
{
    return undo_intend_scaled(u, id, original, intended, "", "");
}

int undo_confirm(struct undo *u, const char *id, const char *value)
{
    struct undo_item *i = undo_find(u, id);

    if (!i)
        return -ENOENT;
    if (!is_plain(value, sizeof i->confirmed))
        return -EINVAL;
    (void)copy_string(i->confirmed, sizeof i->confirmed, value);
    i->intended[0] = '\0';
    i->real_ns = now_real_ns();
    return save(u);
}

int undo_set_foreign(struct undo *u, const char *id, bool foreign)
{
    struct undo_item *i = undo_find(u, id);

    if (!i)
        return -ENOENT;
    i->foreign = foreign;
    i->real_ns = now_real_ns();
    return save(u);
}

int undo_add_foreign(struct undo *u, const char *id, const char *original, const char *original_scale)
{
    if (!find_or_add(u, id, original, original_scale))
        return u->n == UNDO_ITEMS_MAX ? -ENOSPC : -EINVAL;
    return undo_set_foreign(u, id, true);
}

int undo_forget(struct undo *u, const char *id)
{
    struct undo_item *i = undo_find(u, id);

    if (!i)
        return 0;
    memmove(i, i + 1, (size_t)(&u->item[--u->n] - i) * sizeof *i);
    return save(u);
}

bool undo_is_ours(const struct undo_item *i, const char *current)
{
    return *current && (strcmp(i->confirmed, current) == 0 || strcmp(i->intended, current) == 0);
}
