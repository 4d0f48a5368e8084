/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions of PostgreSQL: the sum over all clusters of the profile's `connection`. A reading is valid only when
 * every cluster has answered. Knows no protocol, see objective_pg.c. */
#include "objective_pg.h"

#include <errno.h>
#include <string.h>

struct pg {
    size_t n;
    struct pg_cluster c[PG_CLUSTERS_MAX];
};

static const char default_connection[] = "host=/run/postgresql dbname=postgres user=tunerd";

static void pg_close(struct objective *o)
{
    struct pg *pg = o->private;

    for (size_t i = 0; i < pg->n; i++)
        pg_cluster_done(&pg->c[i]);
    pg->n = 0;
}

/* `connection` is cut at ";" between blanks: a ";" may be part of a password. */
static int pg_open_clusters(struct objective *o)
{
    struct pg *pg = o->private;
    const char *s = o->profile->connection[0] ? o->profile->connection : default_connection;

    while (s) {
        const char *end = strstr(s, " ; ");
        size_t n = end ? (size_t)(end - s) : strlen(s);
        _cleanup_free_ char *conninfo = NULL;
        int r;

        if (pg->n == PG_CLUSTERS_MAX) {
            objective_trouble(o, OBJECTIVE_UNREACHABLE, "connection: more than %d clusters", PG_CLUSTERS_MAX);
            return -EINVAL;
        }
        conninfo = strndup(s, n);
        if (!conninfo)
            return -ENOMEM;
        r = pg_cluster_init(&pg->c[pg->n], o, (unsigned)pg->n + 1, conninfo);
        if (r < 0)
            return r;
        pg->n++;
        s = end ? end + 3 : NULL;
    }
    return 0;
}

static int pg_open(struct objective *o)
{
    int r;

    if (!o->event)
        return -EINVAL;
    r = pg_open_clusters(o);
    if (r < 0)
        pg_close(o);
    return r;
}

static void pg_request(struct objective *o)
{
    struct pg *pg = o->private;

    for (size_t i = 0; i < pg->n; i++)
        pg->c[i].wanted = true;
    for (size_t i = 0; i < pg->n; i++)
        pg_cluster_ask(&pg->c[i]);
}

static void pg_cancel(struct objective *o)
{
    struct pg *pg = o->private;

    for (size_t i = 0; i < pg->n; i++)
        pg_cluster_cancel(&pg->c[i]);
}

static bool is_measurable(struct objective *o, const struct objective_reading *b)
{
    if (o->profile->measure != MEASURE_LATENCY || b->has_active)
        return true;
    objective_trouble(o, OBJECTIVE_REFUSED, "measure = latency needs the active_time of PostgreSQL 14 or newer");
    return false;
}

/* All clusters have ended: one reading of them. */
static void pg_sum(struct objective *o)
{
    struct pg *pg = o->private;
    struct objective_reading b = { .valid = true, .has_work = true, .has_active = true, .mono_ns = now_mono_ns() };
    bool standby = false;

    for (size_t i = 0; i < pg->n; i++) {
        const struct pg_cluster *c = &pg->c[i];

        if (!c->answered) {
            objective_trouble(o, c->state, "%s", c->reason);
            (void)copy_string(o->help, sizeof o->help, c->help);
            objective_finish(o);
            return;
        }
        b.work_total += c->answer.work;
        b.active_s_total += c->answer.active_s;
        b.has_active = b.has_active && c->answer.has_active;
        b.epoch = b.epoch * UINT64_C(0x100000001b3) ^ c->answer.epoch;
        standby = standby || c->answer.standby;
    }
    if (is_measurable(o, &b)) {
        o->now = b;
        (void)copy_string(o->reason, sizeof o->reason, standby ? "a standby (in recovery): it only reads" : "");
    }
    objective_finish(o);
}

void pg_cluster_ended(struct pg_cluster *c, bool ok)
{
    struct objective *o = c->o;
    const struct pg *pg = o->private;

    c->wanted = false;
    c->answered = ok;
    for (size_t i = 0; i < pg->n; i++)
        if (pg->c[i].wanted)
            return;
    pg_sum(o);
}

const struct objective_def objective_postgresql = {
    .name = "postgresql",
    .what = "transactions of PostgreSQL from pg_stat_database",
    .unit = { "transactions per CPU-second", "transactions per second", "transactions per active second" },
    .text = { "transactions of PostgreSQL per second of CPU time and run-queue wait",
              "transactions of PostgreSQL per second",
              "transactions of PostgreSQL per second of active sessions (1 / mean active time)" },
    .size = sizeof(struct pg),
    .open = pg_open,
    .request = pg_request,
    .cancel = pg_cancel,
    .close = pg_close,
};
