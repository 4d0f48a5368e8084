/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The windows of the store as CSV: what a policy saw, to be fed to another one. */
#include "store.h"

#include "store_impl.h"
#include "util.h"

#include <errno.h>
#include <string.h>

enum { TRACE_KNOBS_MAX = 32 };

struct trace {
    size_t n_knobs;
    char knob[TRACE_KNOBS_MAX][48];
};

static void learn_names(struct trace *t, const char *text)
{
    for (const char *s = text; s && *s && t->n_knobs < TRACE_KNOBS_MAX; s = strchr(s, ' '), s = s ? s + 1 : NULL) {
        size_t n = strcspn(s, "="), i = 0;
        if (n == 0 || n >= sizeof t->knob[0])
            continue;
        while (i < t->n_knobs && (strncmp(t->knob[i], s, n) != 0 || t->knob[i][n] != '\0'))
            i++;
        if (i < t->n_knobs)
            continue;
        memcpy(t->knob[t->n_knobs], s, n);
        t->knob[t->n_knobs++][n] = '\0';
    }
}

static int find_names(struct store *s, struct trace *t)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT DISTINCT knobs FROM windows", -1, &st, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc == SQLITE_ROW && sqlite3_column_text(st, 0))
            learn_names(t, (const char *)sqlite3_column_text(st, 0));
    }
    (void)sqlite3_finalize(st);
    return store_errno(s, rc);
}

static void put_number(FILE *f, sqlite3_stmt *st, int at)
{
    if (sqlite3_column_type(st, at) != SQLITE_NULL)
        (void)fprintf(f, ",%.9g", sqlite3_column_double(st, at));
    else
        (void)fputs(",", f);
}

static void put_text(FILE *f, sqlite3_stmt *st, int at)
{
    const unsigned char *t = sqlite3_column_text(st, at);

    (void)fprintf(f, ",%s", t ? (const char *)t : "");
}

/* Columns of the query: 0 window, 1 real_ns, 2 objective, 3 load, 4 profile, 5 bucket, 6 disturbed, 7 event, 8 reason, 9 arm,
 * 10 knobs, 11... the other metrics. */
static void put_row(FILE *f, sqlite3_stmt *st, const struct trace *t)
{
    const unsigned char *values = sqlite3_column_text(st, 10);

    (void)fprintf(f, "%lld,%.3f", sqlite3_column_int64(st, 0), (double)(sqlite3_column_int64(st, 1) / 1000000) / 1e3);
    put_number(f, st, 2);
    put_number(f, st, 3);
    put_text(f, st, 4);
    put_text(f, st, 5);
    (void)fputs(sqlite3_column_type(st, 6) == SQLITE_NULL ? ",0" : ",1", f);
    for (int i = 7; i <= 9; i++)
        put_text(f, st, i);
    for (size_t i = 0; i < t->n_knobs; i++) {
        double v = values ? store_values_find((const char *)values, t->knob[i]) : (double)NAN;
        if (isfinite(v))
            (void)fprintf(f, ",%.17g", v);
        else
            (void)fputs(",", f);
    }
    for (int i = 11; i < sqlite3_column_count(st); i++)
        put_number(f, st, i);
    (void)fputs("\n", f);
}

static int query(struct store *s, size_t windows, sqlite3_stmt **ret)
{
    char *sql = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&sql, &size);

    if (!f)
        return -ENOMEM;
    (void)fputs("SELECT window, real_ns, objective, load, profile, bucket, disturbed, event, reason, arm, knobs", f);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (m != METRIC_OBJECTIVE && m != METRIC_LOAD)
            (void)fprintf(f, ", \"%s\"", metric_info[m].name);
    (void)fprintf(f, " FROM (SELECT rowid AS id, * FROM windows ORDER BY rowid DESC LIMIT %ld) ORDER BY id",
                  windows > 0 && windows < 1UL << 40 ? (long)windows : -1L);
    int r = fclose(f) != 0 ? -ENOMEM : store_errno(s, sqlite3_prepare_v2(s->db, sql, -1, ret, NULL));
    free(sql);
    return r;
}

int store_write_trace(struct store *s, size_t windows, FILE *f)
{
    sqlite3_stmt *st = NULL;
    struct trace t = { 0 };
    int r, rc = SQLITE_ROW;

    if (!s)
        return 0;
    r = find_names(s, &t);
    if (r >= 0)
        r = query(s, windows, &st);
    if (r < 0)
        return r;
    (void)fputs("window,real_time,objective,load,workload,bucket,disturbed,event,reason,arm", f);
    for (size_t i = 0; i < t.n_knobs; i++)
        (void)fprintf(f, ",%s", t.knob[i]);
    for (int i = 11; i < sqlite3_column_count(st); i++)
        (void)fprintf(f, ",%s", sqlite3_column_name(st, i));
    (void)fputs("\n", f);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW)
        put_row(f, st, &t);
    (void)sqlite3_finalize(st);
    return ferror(f) ? -EIO : store_errno(s, rc);
}
