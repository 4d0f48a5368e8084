/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The database file: opening it, moving a damaged one aside, batches, retention. The rows are store_rows.c's. */
#include "store.h"

#include "store_impl.h"
#include "util.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BATCH_NS (60 * NSEC_PER_SEC)

int store_errno(const struct store *s, int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EBADMSG;
    case SQLITE_CANTOPEN: {
        int e = s && s->db ? sqlite3_system_errno(s->db) : 0;
        return e > 0 ? -e : -ENOENT;
    }
    default:
        return -EIO;
    }
}

int store_run(struct store *s, sqlite3_stmt *st)
{
    int rc = sqlite3_step(st);

    (void)sqlite3_reset(st);
    (void)sqlite3_clear_bindings(st);
    if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB)
        s->damaged = true;
    return store_errno(s, rc);
}

static int exec(struct store *s, const char *sql)
{
    return store_errno(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

/* One column a metric, named as everywhere, so that the sqlite3 shell is a good reader too. */
static int make_windows(struct store *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return -ENOMEM;
    (void)fputs("CREATE TABLE IF NOT EXISTS windows (real_ns INTEGER NOT NULL, window INTEGER, length_s REAL, profile TEXT, bucket "
                "INTEGER, disturbed TEXT, event TEXT, reason TEXT, arm TEXT, knobs TEXT", f);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        (void)fprintf(f, ", \"%s\" REAL", metric_info[m].name);
    (void)fputs(")", f);
    int r = fclose(f) == 0 ? exec(s, text) : -ENOMEM;
    free(text);
    return r;
}

static const char schema[] =
    "CREATE INDEX IF NOT EXISTS windows_time ON windows (real_ns);"
    "CREATE TABLE IF NOT EXISTS decisions (real_ns INTEGER NOT NULL, window INTEGER, profile TEXT, bucket INTEGER, event TEXT, reason "
    "TEXT, knob TEXT, old REAL, new REAL, n INTEGER, mean REAL, se REAL, lo REAL, hi REAL, e REAL, bar REAL);"
    "CREATE TABLE IF NOT EXISTS classes (fingerprint TEXT, profile TEXT, bucket INTEGER, real_ns INTEGER, knobs TEXT, gain REAL, windows "
    "INTEGER, tests INTEGER, accepts INTEGER, rollbacks INTEGER, load_shift REAL, PRIMARY KEY (fingerprint, profile, bucket));"
    "CREATE TABLE IF NOT EXISTS noise (fingerprint TEXT, profile TEXT, weight REAL, sum REAL, quads INTEGER, PRIMARY KEY (fingerprint, "
    "profile));";

static int user_version(struct store *s, int *ret)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int(st, 0);
    (void)sqlite3_finalize(st);
    return store_errno(s, rc);
}

/* A small file is looked through at once; in a large one damage is found when a row is touched. */
static int quick_check(struct store *s)
{
    struct stat st;
    sqlite3_stmt *q = NULL;
    bool good = false;

    if (stat(s->path, &st) < 0 || st.st_size > 4 << 20)
        return 0;
    if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        good = strcmp((const char *)sqlite3_column_text(q, 0), "ok") == 0;
    (void)sqlite3_finalize(q);
    return good ? 0 : -EBADMSG;
}

/* A database of before a metric was known gets its column. */
static int metric_columns(struct store *s)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        char sql[160];
        if (sqlite3_table_column_metadata(s->db, NULL, "windows", metric_info[m].name, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK)
            continue;
        (void)snprintf(sql, sizeof sql, "ALTER TABLE windows ADD COLUMN \"%s\" REAL", metric_info[m].name);
        int r = exec(s, sql);
        if (r < 0)
            return r;
    }
    return 0;
}

static int prepare(struct store *s)
{
    static const char *const sql[ST_COUNT] = {
        [ST_BEGIN] = "BEGIN",
        [ST_COMMIT] = "COMMIT",
        [ST_DECISION] = "INSERT INTO decisions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        [ST_CLASS] = "INSERT OR REPLACE INTO classes VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        [ST_NOISE] = "INSERT OR REPLACE INTO noise VALUES (?,?,?,?,?)",
    };
    char text[2048] = "INSERT INTO windows (real_ns, window, length_s, profile, bucket, disturbed, event, reason, arm, knobs";
    int rc = SQLITE_OK;

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), ", \"%s\"", metric_info[m].name);
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), ") VALUES (?");
    for (unsigned m = 0; m < METRIC_COUNT + 9; m++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), ",?");
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), ")");
    for (int i = 0; i < ST_COUNT && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(s->db, sql[i] ? sql[i] : text, -1, SQLITE_PREPARE_PERSISTENT, &s->st[i], NULL);
    return store_errno(s, rc);
}

static void close_db(struct store *s)
{
    for (int i = 0; i < ST_COUNT; i++) {
        (void)sqlite3_finalize(s->st[i]);
        s->st[i] = NULL;
    }
    (void)sqlite3_close(s->db);
    s->db = NULL;
    s->in_transaction = false;
}

static int open_readable(struct store *s)
{
    char uri[4200];
    int version = 0;
    int rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY, NULL);
    int r = rc == SQLITE_OK ? user_version(s, &version) : store_errno(s, rc);

    /* Where the daemon does not run and the directory is not ours to write, there is no shared memory for the journal. */
    if (r == -EROFS || (r < 0 && r != -ENOENT && r != -EBADMSG)) {
        close_db(s);
        (void)snprintf(uri, sizeof uri, "file:%s?immutable=1", s->path);
        rc = sqlite3_open_v2(uri, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
        r = rc == SQLITE_OK ? user_version(s, &version) : store_errno(s, rc);
    }
    if (r < 0)
        return r;
    (void)sqlite3_busy_timeout(s->db, 1000);
    return version == STORE_SCHEMA ? 0 : -EPROTONOSUPPORT;
}

static int open_writable(struct store *s)
{
    int version = 0;
    int rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    int r = store_errno(s, rc);

    if (r >= 0) {
        (void)sqlite3_busy_timeout(s->db, 250); /* a reader may hold a tick up by this much, no more */
        r = user_version(s, &version);
    }
    if (r >= 0 && version > STORE_SCHEMA)
        r = -EPROTONOSUPPORT;
    if (r >= 0)
        r = quick_check(s);
    if (r >= 0)
        r = exec(s, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-512");
    if (r >= 0)
        r = make_windows(s);
    if (r >= 0)
        r = exec(s, schema);
    if (r >= 0)
        r = metric_columns(s);
    if (r >= 0 && version == 0)
        r = exec(s, "PRAGMA user_version=1");
    return r < 0 ? r : prepare(s);
}

/* The file and its journal leave together: a new file must not meet the old journal. */
static int move_aside(struct store *s, const char *why, char *note, size_t size)
{
    static const char *const parts[] = { "", "-wal", "-shm" };
    char to[4200], a[4300], b[4300];
    struct tm tm;
    time_t now = time(NULL);
    int r = 0;

    (void)gmtime_r(&now, &tm);
    size_t n = (size_t)snprintf(to, sizeof to, "%s.damaged-", s->path);
    (void)strftime(to + n, sizeof to - n, "%Y%m%dT%H%M%SZ", &tm);
    for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
        (void)snprintf(a, sizeof a, "%s%s", s->path, parts[i]);
        (void)snprintf(b, sizeof b, "%s%s", to, parts[i]);
        if (rename(a, b) < 0 && i == 0)
            r = -errno;
    }
    if (note)
        (void)snprintf(note, size, "the store was %s; moved aside to %s, a new one begins", why, to);
    return r;
}

static int open_or_replace(struct store *s, char *note, size_t size)
{
    int r = open_writable(s);

    if (r != -EBADMSG && r != -EPROTONOSUPPORT)
        return r;
    close_db(s);
    int e = move_aside(s, r == -EBADMSG ? "damaged" : "made by a newer version", note, size);
    return e < 0 ? e : open_writable(s);
}

int store_open(const char *path, bool read_only, struct store **ret, char *note, size_t note_size)
{
    struct store *s = calloc(1, sizeof *s);
    int r;

    if (note)
        note[0] = '\0';
    if (!s)
        return -ENOMEM;
    if (!copy_string(s->path, sizeof s->path, path)) {
        free(s);
        return -ENAMETOOLONG;
    }
    r = read_only ? open_readable(s) : open_or_replace(s, note, note_size);
    if (r < 0) {
        close_db(s);
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct store *store_close(struct store *s)
{
    if (!s)
        return NULL;
    (void)store_flush(s);
    close_db(s);
    free(s);
    return NULL;
}

int store_begin(struct store *s)
{
    int r = 0;

    if (s->damaged) { /* found while running: what can still be learned goes into a new file */
        s->damaged = false;
        close_db(s);
        r = move_aside(s, "damaged", NULL, 0);
        r = r < 0 ? r : open_writable(s);
    }
    if (r >= 0 && !s->db)
        r = -EIO;
    if (r < 0 || s->in_transaction)
        return r;
    r = store_run(s, s->st[ST_BEGIN]);
    if (r >= 0) {
        s->in_transaction = true;
        s->since_ns = now_mono_ns();
    }
    return r;
}

int store_flush(struct store *s)
{
    if (!s || !s->in_transaction)
        return 0;
    s->in_transaction = false;
    int r = store_run(s, s->st[ST_COMMIT]);
    if (r < 0)
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int store_add_window(struct store *s, const struct store_window *w)
{
    char values[1024];

    if (!s)
        return 0;
    int r = store_begin(s);
    if (r < 0)
        return r;
    sqlite3_stmt *st = s->st[ST_WINDOW];
    store_values_text(values, sizeof values, w->n_knobs, w->knob_names, w->values);
    (void)sqlite3_bind_int64(st, 1, (sqlite3_int64)w->window->real_ns);
    (void)sqlite3_bind_int64(st, 2, (sqlite3_int64)w->window->index);
    store_bind(st, 3, (double)(w->window->end_ns - w->window->start_ns) / 1e9);
    (void)sqlite3_bind_text(st, 4, w->profile, -1, SQLITE_TRANSIENT);
    if (w->bucket != INT32_MIN)
        (void)sqlite3_bind_int(st, 5, w->bucket);
    if (w->window->disturbed)
        (void)sqlite3_bind_text(st, 6, w->window->disturbance ? w->window->disturbance : "yes", -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 7, w->event, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 8, w->reason, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 9, w->arm, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 10, values, -1, SQLITE_TRANSIENT);
    for (int m = 0; m < METRIC_COUNT; m++)
        store_bind(st, 11 + m, window_get(w->window, (enum metric)m));
    r = store_run(s, st);
    return r < 0 || now_mono_ns() - s->since_ns < BATCH_NS ? r : store_flush(s);
}

static int size_of(struct store *s, uint64_t *ret)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, "
                                       "pragma_freelist_count, pragma_page_size", -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *ret = (uint64_t)sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return store_errno(s, rc);
}

int store_retain(struct store *s, uint64_t now_real_ns, uint64_t keep_ns, uint64_t max_bytes)
{
    char sql[200];
    uint64_t size = 0, oldest = now_real_ns > keep_ns ? now_real_ns - keep_ns : 0;
    int r = store_flush(s);

    if (!s || r < 0)
        return r;
    (void)snprintf(sql, sizeof sql, "DELETE FROM windows WHERE real_ns < %lu", oldest);
    r = exec(s, sql);
    /* Decisions are few and worth more: they stay ten times as long. */
    (void)snprintf(sql, sizeof sql, "DELETE FROM decisions WHERE real_ns < %lu",
                   now_real_ns > 10 * keep_ns ? now_real_ns - 10 * keep_ns : 0);
    r = r < 0 ? r : exec(s, sql);
    for (int i = 0; i < 40 && r >= 0; i++) {
        r = size_of(s, &size);
        if (r < 0 || size <= max_bytes)
            break;
        r = exec(s, "DELETE FROM windows WHERE rowid IN (SELECT rowid FROM windows ORDER BY real_ns LIMIT (SELECT 1 + count(*) / 10 "
                    "FROM windows))");
    }
    return r < 0 ? r : exec(s, "PRAGMA incremental_vacuum");
}
