/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the store: decisions, classes, noise, and the trace of windows. */
#include "store.h"

#include "store_impl.h"
#include "util.h"

#include <errno.h>
#include <string.h>

void store_bind(sqlite3_stmt *st, int at, double v)
{
    if (isfinite(v))
        (void)sqlite3_bind_double(st, at, v);
}

double store_column(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(st, at);
}

static void column_text(sqlite3_stmt *st, int at, char *buf, size_t size)
{
    const unsigned char *t = sqlite3_column_text(st, at);

    (void)copy_string(buf, size, t ? (const char *)t : "");
}

void store_values_text(char *buf, size_t size, size_t n, const char *const *names, const double *values)
{
    size_t len = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]) || len + 1 >= size)
            continue;
        int r = snprintf(buf + len, size - len, "%s%s=%.17g", len ? " " : "", names[i], values[i]);
        len += r > 0 ? (size_t)r : 0;
    }
}

double store_values_find(const char *text, const char *name)
{
    size_t n = strlen(name);
    char number[40];
    double v;

    for (const char *s = text; s && *s; s = strchr(s, ' '), s = s ? s + 1 : NULL) {
        if (strncmp(s, name, n) != 0 || s[n] != '=')
            continue;
        size_t len = strcspn(s + n + 1, " ");
        if (len >= sizeof number)
            return (double)NAN;
        memcpy(number, s + n + 1, len);
        number[len] = '\0';
        return parse_double(number, &v) < 0 ? (double)NAN : v;
    }
    return (double)NAN;
}

int store_add_decision(struct store *s, const struct store_decision *d)
{
    if (!s)
        return 0;
    int r = store_begin(s);
    if (r < 0)
        return r;
    sqlite3_stmt *st = s->st[ST_DECISION];
    (void)sqlite3_bind_int64(st, 1, (sqlite3_int64)d->real_ns);
    (void)sqlite3_bind_int64(st, 2, (sqlite3_int64)d->window);
    (void)sqlite3_bind_text(st, 3, d->profile, -1, SQLITE_TRANSIENT);
    if (d->bucket != INT32_MIN)
        (void)sqlite3_bind_int(st, 4, d->bucket);
    (void)sqlite3_bind_text(st, 5, d->event, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 6, d->reason, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 7, d->knob, -1, SQLITE_TRANSIENT);
    store_bind(st, 8, d->old_value);
    store_bind(st, 9, d->new_value);
    (void)sqlite3_bind_int64(st, 10, d->evidence.n);
    if (d->evidence.n > 0) {
        const double e[] = { d->evidence.mean, d->evidence.se, d->evidence.lo, d->evidence.hi, d->evidence.e, d->evidence.bar };
        for (int i = 0; i < 6; i++)
            store_bind(st, 11 + i, e[i]);
    }
    r = store_run(s, st);
    return r < 0 ? r : store_flush(s); /* tunectl history sees it at once */
}

static double finite_or_zero(double v)
{
    return isfinite(v) ? v : 0;
}

static void read_decision(sqlite3_stmt *st, struct store_decision *d)
{
    *d = (struct store_decision){ .real_ns = (uint64_t)sqlite3_column_int64(st, 0),
                                  .window = (uint64_t)sqlite3_column_int64(st, 1) };
    column_text(st, 2, d->profile, sizeof d->profile);
    d->bucket = sqlite3_column_type(st, 3) == SQLITE_NULL ? INT32_MIN : sqlite3_column_int(st, 3);
    column_text(st, 4, d->event, sizeof d->event);
    column_text(st, 5, d->reason, sizeof d->reason);
    column_text(st, 6, d->knob, sizeof d->knob);
    d->old_value = store_column(st, 7);
    d->new_value = store_column(st, 8);
    d->evidence.n = (uint32_t)sqlite3_column_int64(st, 9);
    d->evidence.mean = finite_or_zero(store_column(st, 10));
    d->evidence.se = finite_or_zero(store_column(st, 11));
    d->evidence.lo = finite_or_zero(store_column(st, 12));
    d->evidence.hi = finite_or_zero(store_column(st, 13));
    d->evidence.e = finite_or_zero(store_column(st, 14));
    d->evidence.bar = finite_or_zero(store_column(st, 15));
}

int store_each_decision(struct store *s, size_t limit, int (*f)(const struct store_decision *d, void *u), void *u)
{
    sqlite3_stmt *st = NULL;
    struct store_decision d;
    int r = 0, rc;

    if (!s)
        return 0;
    rc = sqlite3_prepare_v2(s->db, "SELECT * FROM decisions ORDER BY real_ns DESC, rowid DESC LIMIT ?", -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(st, 1, (sqlite3_int64)limit);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        read_decision(st, &d);
        r = f(&d, u);
        if (r != 0)
            break;
    }
    (void)sqlite3_finalize(st);
    return r != 0 ? r : store_errno(s, rc);
}

int store_put_class(struct store *s, const char *fingerprint, const struct store_class *c)
{
    const char *names[TUNER_KNOBS_MAX];
    char values[1024];

    if (!s)
        return 0;
    int r = store_begin(s);
    if (r < 0)
        return r;
    for (size_t i = 0; i < c->n_knobs; i++)
        names[i] = c->knob_names[i];
    store_values_text(values, sizeof values, c->n_knobs, names, c->memory.value);
    sqlite3_stmt *st = s->st[ST_CLASS];
    (void)sqlite3_bind_text(st, 1, fingerprint, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 2, c->profile, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int(st, 3, c->memory.bucket); /* part of the key: INT32_MIN stands for no load */
    (void)sqlite3_bind_int64(st, 4, (sqlite3_int64)c->real_ns);
    (void)sqlite3_bind_text(st, 5, values, -1, SQLITE_TRANSIENT);
    store_bind(st, 6, c->memory.gain);
    (void)sqlite3_bind_int64(st, 7, (sqlite3_int64)c->memory.windows);
    (void)sqlite3_bind_int64(st, 8, c->memory.tests);
    (void)sqlite3_bind_int64(st, 9, c->memory.accepts);
    (void)sqlite3_bind_int64(st, 10, c->memory.rollbacks);
    store_bind(st, 11, c->memory.load_shift);
    return store_run(s, st);
}

/* Names and values of one class from their text. */
static void read_values(const char *text, struct store_class *c)
{
    for (const char *s = text; s && *s && c->n_knobs < TUNER_KNOBS_MAX; s = strchr(s, ' '), s = s ? s + 1 : NULL) {
        size_t n = strcspn(s, "=");
        char *name = c->knob_names[c->n_knobs];
        if (n == 0 || n >= sizeof c->knob_names[0])
            continue;
        memcpy(name, s, n);
        name[n] = '\0';
        c->memory.value[c->n_knobs++] = store_values_find(text, name);
    }
}

static void read_class(sqlite3_stmt *st, struct store_class *c)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < TUNER_KNOBS_MAX; i++)
        c->memory.value[i] = (double)NAN;
    column_text(st, 0, c->profile, sizeof c->profile);
    c->memory.bucket = sqlite3_column_int(st, 1);
    c->real_ns = (uint64_t)sqlite3_column_int64(st, 2);
    const unsigned char *values = sqlite3_column_text(st, 3);
    read_values(values ? (const char *)values : "", c);
    c->memory.gain = finite_or_zero(store_column(st, 4));
    c->memory.windows = (uint64_t)sqlite3_column_int64(st, 5);
    c->memory.tests = (uint32_t)sqlite3_column_int64(st, 6);
    c->memory.accepts = (uint32_t)sqlite3_column_int64(st, 7);
    c->memory.rollbacks = (uint32_t)sqlite3_column_int64(st, 8);
    c->memory.load_shift = finite_or_zero(store_column(st, 9));
}

int store_each_class(struct store *s, const char *fingerprint, int (*f)(const struct store_class *c, void *u), void *u)
{
    sqlite3_stmt *st = NULL;
    struct store_class *c;
    int r = 0, rc;

    if (!s)
        return 0;
    c = malloc(sizeof *c);
    if (!c)
        return -ENOMEM;
    rc = sqlite3_prepare_v2(s->db, "SELECT profile, bucket, real_ns, knobs, gain, windows, tests, accepts, rollbacks, load_shift FROM classes WHERE "
                                   "fingerprint = ? ORDER BY real_ns", -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 1, fingerprint, -1, SQLITE_TRANSIENT);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        read_class(st, c);
        r = f(c, u);
        if (r != 0)
            break;
    }
    (void)sqlite3_finalize(st);
    free(c);
    return r != 0 ? r : store_errno(s, rc);
}

int store_put_noise(struct store *s, const char *fingerprint, const char *profile, const struct tuner_noise *n)
{
    if (!s)
        return 0;
    int r = store_begin(s);
    if (r < 0)
        return r;
    sqlite3_stmt *st = s->st[ST_NOISE];
    (void)sqlite3_bind_text(st, 1, fingerprint, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(st, 2, profile, -1, SQLITE_TRANSIENT);
    store_bind(st, 3, n->weight);
    store_bind(st, 4, n->sum);
    (void)sqlite3_bind_int64(st, 5, n->quads);
    return store_run(s, st);
}

int store_get_noise(struct store *s, const char *fingerprint, const char *profile, struct tuner_noise *ret)
{
    sqlite3_stmt *st = NULL;
    int rc;

    if (!s)
        return -ENOENT;
    rc = sqlite3_prepare_v2(s->db, "SELECT weight, sum, quads FROM noise WHERE fingerprint = ? AND profile = ?", -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 1, fingerprint, -1, SQLITE_TRANSIENT);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 2, profile, -1, SQLITE_TRANSIENT);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *ret = (struct tuner_noise){ .weight = finite_or_zero(store_column(st, 0)), .sum = finite_or_zero(store_column(st, 1)),
                                     .quads = (uint32_t)sqlite3_column_int64(st, 2) };
    (void)sqlite3_finalize(st);
    return rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? -ENOENT : store_errno(s, rc);
}
