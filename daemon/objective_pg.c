/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One asynchronous connection to one PostgreSQL cluster. Nothing here waits, with one exception inside libpq:
 * PQconnectStart() resolves a host name before it returns. A socket directory or hostaddr= needs no resolver. */
#include "objective_pg.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

static const uint64_t PAUSE_MIN_NS = 500 * NSEC_PER_MSEC, PAUSE_MAX_NS = 60 * NSEC_PER_SEC;
/* A query that is out for so long has lost its connection: the server itself ends it after 1 s. */
static const uint64_t ANSWER_MAX_NS = 10 * NSEC_PER_SEC;
static const uint64_t CONNECT_MAX_NS = 3 * NSEC_PER_SEC;

#define STARTUP_OPTIONS "-c statement_timeout=1000"
#define STATEMENT       "tunerd_read"

/* One statement is one transaction, and outside of an explicit one every statement sees the newest statistics. The row
 * of shared objects (datid 0) has no transactions of clients. The last column changes when the totals start anew or are
 * the sum over other databases. */
#define QUERY(active)                                                                              \
    "SELECT sum(xact_commit + xact_rollback)::float8, " active ", pg_is_in_recovery(), "           \
    "concat_ws(' ', pg_postmaster_start_time(), max(stats_reset), count(*), sum(datid::bigint)) "  \
    "FROM pg_stat_database WHERE datid <> 0 AND ($1::text = '' OR datname = $1)"
static const char query[] = QUERY("sum(active_time)::float8 / 1000");
static const char query_before_14[] = QUERY("NULL::float8");

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata);

static void set_step(struct pg_cluster *c, enum pg_step step)
{
    c->step = step;
    c->since_ns = now_mono_ns();
}

static void no_notice(void *arg, const char *message)
{
    (void)arg;
    (void)message; /* libpq would print it */
}

/* ---- connection text ---------------------------------------------------------------------- */

static const char *option(const PQconninfoOption *opts, const char *keyword)
{
    for (; opts->keyword; opts++)
        if (strcmp(opts->keyword, keyword) == 0)
            return opts->val;
    return NULL;
}

/* What our options add to the user's own; NULL: no memory. */
static char *startup_options(const char *users)
{
    char *text = NULL;

    if (asprintf(&text, "%s%s" STARTUP_OPTIONS, users ? users : "", users ? " " : "") < 0)
        return NULL;
    return text;
}

int pg_cluster_init(struct pg_cluster *c, struct objective *o, unsigned number, const char *conninfo)
{
    PQconninfoOption *opts = PQconninfoParse(conninfo, NULL);
    const char *timeout;
    uint64_t seconds;

    if (!opts) { /* libpq's own message quotes what it could not parse: that may be a password */
        objective_trouble(o, OBJECTIVE_UNREACHABLE, "connection: cluster %u is not a valid conninfo of libpq", number);
        return -EINVAL;
    }
    *c = (struct pg_cluster){ .o = o, .state = OBJECTIVE_UNREACHABLE, .connect_max_ns = CONNECT_MAX_NS };
    (void)snprintf(c->reason, sizeof c->reason, "not connected yet");
    timeout = option(opts, "connect_timeout");
    if (timeout && parse_u64(timeout, &seconds) >= 0 && seconds > 0 && seconds <= 600)
        c->connect_max_ns = seconds * NSEC_PER_SEC;
    c->default_user = !option(opts, "user") && !option(opts, "service");
    c->default_db = !option(opts, "dbname") && !option(opts, "service");
    c->conninfo = strdup(conninfo);
    c->options = startup_options(option(opts, "options"));
    PQconninfoFree(opts);
    if (c->conninfo && c->options)
        return 0;
    pg_cluster_done(c);
    return -ENOMEM;
}

void pg_cluster_done(struct pg_cluster *c)
{
    c->io = sd_event_source_disable_unref(c->io);
    PQfinish(TAKE_PTR(c->conn));
    free(TAKE_PTR(c->conninfo));
    free(TAKE_PTR(c->options));
}

/* ---- steps -------------------------------------------------------------------------------- */

static void ended(struct pg_cluster *c, bool ok)
{
    if (c->wanted)
        pg_cluster_ended(c, ok);
}

/* Gives the connection up; c->state and c->reason say why. The pause doubles, +-25 % so that many hosts do not come
 * back together. */
static void drop(struct pg_cluster *c)
{
    uint64_t now_ns = now_mono_ns();

    c->io = sd_event_source_disable_unref(c->io);
    PQfinish(TAKE_PTR(c->conn));
    set_step(c, PG_DOWN);
    c->stale = false;
    c->pause_ns = c->pause_ns == 0 ? PAUSE_MIN_NS : c->pause_ns * 2 > PAUSE_MAX_NS ? PAUSE_MAX_NS : c->pause_ns * 2;
    c->retry_ns = now_ns + c->pause_ns / 4 * 3 + (now_ns / NSEC_PER_USEC * 2654435761U >> 8) % (c->pause_ns / 2);
    ended(c, false);
}

static void drop_with_error(struct pg_cluster *c)
{
    pg_cluster_explain(c, c->conn ? PQerrorMessage(c->conn) : "out of memory");
    drop(c);
}

static void drop_silent_server(struct pg_cluster *c, const char *what)
{
    c->state = OBJECTIVE_LATE;
    c->help[0] = '\0';
    (void)snprintf(c->reason, sizeof c->reason, "the server is silent: %s", what);
    drop(c);
}

/* libpq may exchange the socket, or close it and get the same number again: a new source each time. */
static int watch_new_socket(struct pg_cluster *c, uint32_t events)
{
    int fd = PQsocket(c->conn), r;

    c->io = sd_event_source_disable_unref(c->io);
    if (fd < 0)
        return -EBADF;
    r = sd_event_add_io(c->o->event, &c->io, fd, events, on_io, c);
    return r < 0 ? r : 0;
}

/* Sends what is still to be sent, and waits for the rest. */
static int flush(struct pg_cluster *c)
{
    int r = PQflush(c->conn);

    if (r < 0)
        return -EIO;
    return sd_event_source_set_io_events(c->io, r > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void send_query(struct pg_cluster *c)
{
    const char *const values[] = { c->o->profile->database };

    c->ok = false;
    c->sent_own = c->own;
    if (!PQsendQueryPrepared(c->conn, STATEMENT, 1, values, NULL, NULL, 0) || flush(c) < 0) {
        drop_with_error(c);
        return;
    }
    set_step(c, PG_ASKED);
}

static void connected(struct pg_cluster *c)
{
    const char *text = PQserverVersion(c->conn) >= 140000 ? query : query_before_14;
    const char *database = c->o->profile->database;

    c->ok = false;
    c->counts_own = !*database || strcmp(database, PQdb(c->conn)) == 0;
    c->own += 1; /* the server looks up role and database in a transaction */
    if (PQsetnonblocking(c->conn, 1) < 0 || watch_new_socket(c, EPOLLIN) < 0 ||
        !PQsendPrepare(c->conn, STATEMENT, text, 1, NULL) || flush(c) < 0) {
        drop_with_error(c);
        return;
    }
    set_step(c, PG_PREPARING);
}

static void connect_poll(struct pg_cluster *c)
{
    int r = 0;

    switch (PQconnectPoll(c->conn)) {
    case PGRES_POLLING_READING:
        r = watch_new_socket(c, EPOLLIN);
        break;
    case PGRES_POLLING_WRITING:
        r = watch_new_socket(c, EPOLLOUT);
        break;
    case PGRES_POLLING_OK:
        connected(c);
        return;
    case PGRES_POLLING_FAILED:
    case PGRES_POLLING_ACTIVE:
        r = -EIO;
        break;
    }
    if (r < 0)
        drop_with_error(c);
}

static void connect_start(struct pg_cluster *c)
{
    const char *keys[6], *values[6];
    size_t n = 0;

    keys[n] = "fallback_application_name", values[n++] = "tunerd";
    keys[n] = "dbname", values[n++] = c->conninfo; /* the first dbname is taken as a conninfo, later ones as a name */
    keys[n] = "options", values[n++] = c->options;
    if (c->default_user)
        keys[n] = "user", values[n++] = "tunerd";
    if (c->default_db)
        keys[n] = "dbname", values[n++] = "postgres";
    keys[n] = values[n] = NULL;
    c->conn = PQconnectStartParams(keys, values, 1);
    set_step(c, PG_CONNECTING);
    if (!c->conn || PQstatus(c->conn) == CONNECTION_BAD) {
        drop_with_error(c);
        return;
    }
    (void)PQsetErrorVerbosity(c->conn, PQERRORS_VERBOSE); /* for the SQLSTATE */
    (void)PQsetNoticeProcessor(c->conn, no_notice, NULL);
    if (watch_new_socket(c, EPOLLOUT) < 0)
        drop_with_error(c);
}

/* ---- answers ------------------------------------------------------------------------------ */

static uint64_t hash(const char *s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h;
}

static bool get_double(const PGresult *res, int column, double *ret)
{
    return !PQgetisnull(res, 0, column) && parse_double(PQgetvalue(res, 0, column), ret) >= 0;
}

static void take_row(struct pg_cluster *c, const PGresult *res)
{
    struct pg_answer a = { 0 };

    if (PQntuples(res) != 1 || PQnfields(res) != 4 || !get_double(res, 0, &a.work)) {
        c->state = OBJECTIVE_UNREACHABLE;
        (void)snprintf(c->reason, sizeof c->reason, "no statistics: is there a database \"%.63s\"?",
                       c->o->profile->database);
        return;
    }
    a.has_active = get_double(res, 1, &a.active_s);
    a.standby = PQgetvalue(res, 0, 2)[0] == 't';
    a.epoch = hash(PQgetvalue(res, 0, 3));
    a.raw = a.work;
    if (c->counts_own)
        a.work = a.work > c->sent_own ? a.work - c->sent_own : 0;
    /* A backend hands its counts in at most once a second, ours too: until then we have subtracted too much. */
    if (a.epoch == c->answer.epoch && a.raw >= c->answer.raw && a.work < c->answer.work)
        a.work = c->answer.work;
    c->answer = a;
    c->ok = true;
}

static void take_result(struct pg_cluster *c, const PGresult *res)
{
    ExecStatusType status = PQresultStatus(res);

    if (status == PGRES_TUPLES_OK && c->step == PG_ASKED)
        take_row(c, res);
    else if (status == PGRES_COMMAND_OK && c->step == PG_PREPARING)
        c->ok = true;
    else
        pg_cluster_explain(c, PQresultErrorMessage(res));
}

static void command_end(struct pg_cluster *c)
{
    enum pg_step step = c->step;

    if (step == PG_IDLE)
        return;
    c->own += 1;
    if (step == PG_PREPARING && !c->ok) {
        drop(c);
        return;
    }
    set_step(c, PG_IDLE);
    if (step == PG_ASKED && c->ok)
        c->pause_ns = 0;
    if (c->wanted && (step == PG_PREPARING || c->stale)) {
        c->stale = false;
        send_query(c);
        return;
    }
    c->stale = false;
    if (step == PG_ASKED)
        ended(c, c->ok);
}

static void receive(struct pg_cluster *c)
{
    if (!PQconsumeInput(c->conn) || flush(c) < 0) {
        drop_with_error(c);
        return;
    }
    while (!PQisBusy(c->conn)) {
        PGresult *res = PQgetResult(c->conn);
        if (!res) {
            command_end(c);
            return;
        }
        take_result(c, res);
        PQclear(res);
        if (PQstatus(c->conn) == CONNECTION_BAD) { /* the server said why, and hung up */
            drop(c);
            return;
        }
    }
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct pg_cluster *c = userdata;

    (void)source;
    (void)fd;
    (void)revents;
    if (c->step == PG_CONNECTING)
        connect_poll(c);
    else if (c->step != PG_DOWN)
        receive(c);
    return 0;
}

/* ---- requests ----------------------------------------------------------------------------- */

void pg_cluster_ask(struct pg_cluster *c)
{
    uint64_t now_ns = now_mono_ns(), in_step_ns = now_ns - c->since_ns;

    switch (c->step) {
    case PG_DOWN:
        if (now_ns < c->retry_ns)
            ended(c, false);
        else
            connect_start(c);
        return;
    case PG_CONNECTING:
    case PG_PREPARING:
        if (in_step_ns > c->connect_max_ns)
            drop_silent_server(c, "no connection in time");
        return;
    case PG_IDLE:
        send_query(c);
        return;
    case PG_ASKED:
        if (in_step_ns > ANSWER_MAX_NS)
            drop_silent_server(c, "no answer to a query");
        return;
    }
}

void pg_cluster_cancel(struct pg_cluster *c)
{
    if (c->wanted && c->step == PG_ASKED)
        c->stale = true;
    c->wanted = false;
}
