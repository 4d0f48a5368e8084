/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection to one PostgreSQL cluster, asynchronous on the event loop: connects, asks, reconnects with a growing
 * pause. Private to objective_postgresql.c and objective_pg.c. */
#pragma once

#include "objective.h"

#include <libpq-fe.h>

enum { PG_CLUSTERS_MAX = 8 };

enum pg_step {
    PG_DOWN,       /* no connection; none is tried before retry_ns */
    PG_CONNECTING, /* PQconnectPoll() */
    PG_PREPARING,
    PG_IDLE,
    PG_ASKED,      /* the query is under way; its answer may be unwanted by now */
};

struct pg_answer {
    double raw, work; /* as the server says; our own transactions subtracted */
    double active_s;
    bool has_active, standby;
    uint64_t epoch; /* hash of everything that tells one series of totals from another */
};

struct pg_cluster {
    struct objective *o;             /* borrowed: owner of all this */
    char *conninfo;                  /* owned; may hold a password: never printed */
    char *options;                   /* owned; startup options, ours added to the user's */
    bool default_user, default_db;   /* conninfo names none */
    uint64_t connect_max_ns;
    PGconn *conn;                    /* owned */
    sd_event_source *io;             /* owned; on the socket of conn */
    enum pg_step step;
    uint64_t since_ns;               /* of step */
    uint64_t retry_ns, pause_ns;     /* when to connect again; the pause before that */
    bool wanted;                     /* a reading waits for this cluster */
    bool answered;                   /* ... and got its part, in answer (the owner's) */
    bool stale;                      /* the query under way belongs to a reading that was given up */
    bool ok;                         /* the query under way has given an answer */
    bool counts_own;                 /* our own transactions are in `work` */
    double own, sent_own;            /* ... so many so far; when the query was sent */
    struct pg_answer answer;
    enum objective_state state;      /* why there is no answer */
    char reason[200];
    char help[900];
};

/* Takes one conninfo apart, the number-th of `connection`; no connection yet. 0, or -EINVAL (o->reason says why),
 * -ENOMEM; then nothing is to be freed. */
int pg_cluster_init(struct pg_cluster *c, struct objective *o, unsigned number, const char *conninfo);
void pg_cluster_done(struct pg_cluster *c);
/* A reading is wanted: pg_cluster_ended() follows, at once or later. */
void pg_cluster_ask(struct pg_cluster *c);
/* Nobody waits for it any longer; no pg_cluster_ended(). */
void pg_cluster_cancel(struct pg_cluster *c);

/* Implemented by the owner: this cluster's part of the reading is there (ok), or c->state and c->reason say why not. */
void pg_cluster_ended(struct pg_cluster *c, bool ok);

/* Fills state, reason and help of c from an error text of libpq in verbose form. No password gets into them. */
void pg_cluster_explain(struct pg_cluster *c, const char *error);
/* The SQLSTATE in such a text; false: none. */
bool pg_sqlstate(const char *error, char ret[6]);
