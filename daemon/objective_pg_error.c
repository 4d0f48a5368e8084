/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an error of PostgreSQL means for the objective, and what an administrator has to set up. Only text: no
 * connection is touched. Servers translate their messages, so only the SQLSTATE decides. */
#include "objective_pg.h"

#include <ctype.h>
#include <string.h>

/* In verbose form: "FATAL:  28000: role ..."; the last one counts, for several hosts give several lines. */
static const char *find_sqlstate(const char *error)
{
    const char *found = NULL;

    for (const char *p = error; (p = strstr(p, ":  ")); p++) {
        size_t n = 0;
        while (n < 5 && (isdigit((unsigned char)p[3 + n]) || isupper((unsigned char)p[3 + n])))
            n++;
        if (n == 5 && p[8] == ':' && p[9] == ' ')
            found = p + 3;
    }
    return found;
}

bool pg_sqlstate(const char *error, char ret[6])
{
    const char *p = find_sqlstate(error);

    if (p) {
        memcpy(ret, p, 5);
        ret[5] = '\0';
    }
    return p;
}

/* One line, ASCII, without the code and the source position. */
static void tidy(char *dst, size_t size, const char *error)
{
    const char *code = find_sqlstate(error), *end = strstr(error, "\nLOCATION:");
    size_t n = 0;

    for (const char *p = error; *p && p != end && n + 1 < size; p++) {
        unsigned char ch = (unsigned char)*p;
        if (p == code)
            p += sizeof "28000: " - 1, ch = (unsigned char)*p;
        if (ch == '\n' || ch == '\t' || ch == ' ') {
            if (n > 0 && dst[n - 1] != ' ')
                dst[n++] = ' ';
        } else {
            dst[n++] = ch > ' ' && ch < 0x7f ? (char)ch : '?';
        }
    }
    while (n > 0 && dst[n - 1] == ' ')
        n--;
    dst[n] = '\0';
}

/* libpq does not print passwords; should a server quote one, it stops here. */
static void hide(char *text, const char *secret)
{
    size_t n = secret ? strlen(secret) : 0;

    for (char *p = text; n > 0 && (p = strstr(p, secret)); p += n)
        memset(p, '*', n);
}

static void help_socket(struct pg_cluster *c, const char *user, const char *db)
{
    (void)snprintf(c->help, sizeof c->help,
                   "as the user postgres, in psql:\n"
                   "    CREATE ROLE %s LOGIN IN ROLE pg_monitor;\n"
                   "in /etc/postgresql/VERSION/main/pg_ident.conf:\n"
                   "    tunerd  root  %s\n"
                   "in /etc/postgresql/VERSION/main/pg_hba.conf, above the other lines that begin with local:\n"
                   "    local  %s  %s  peer map=tunerd\n"
                   "then, in psql:\n"
                   "    SELECT pg_reload_conf();\n",
                   user, user, db, user);
}

static void help_host(struct pg_cluster *c, const char *user, const char *db)
{
    (void)snprintf(c->help, sizeof c->help,
                   "as the user postgres, in psql:\n"
                   "    CREATE ROLE %s LOGIN IN ROLE pg_monitor;\n"
                   "    \\password %s\n"
                   "in /etc/postgresql/VERSION/main/pg_hba.conf:\n"
                   "    host  %s  %s  ADDRESS/32  scram-sha-256\n"
                   "then, in psql:\n"
                   "    SELECT pg_reload_conf();\n"
                   "and in connection = ... passfile=/etc/tunerd/pgpass, a file of mode 0600 with one line:\n"
                   "    HOST:PORT:%s:%s:PASSWORD\n",
                   user, user, db, user, db, user);
}

static void set_help(struct pg_cluster *c)
{
    const char *user = c->conn ? PQuser(c->conn) : NULL, *db = c->conn ? PQdb(c->conn) : NULL;
    const char *host = c->conn ? PQhost(c->conn) : NULL;

    user = user && *user ? user : "tunerd";
    db = db && *db ? db : "postgres";
    if (host && *host && *host != '/' && *host != '@')
        help_host(c, user, db);
    else
        help_socket(c, user, db);
}

void pg_cluster_explain(struct pg_cluster *c, const char *error)
{
    char state[6] = "", text[sizeof c->reason];
    const char *password = c->conn ? PQpass(c->conn) : NULL;
    bool access;

    (void)pg_sqlstate(error, state);
    access = strncmp(state, "28", 2) == 0 || (c->conn && PQconnectionNeedsPassword(c->conn));
    c->help[0] = '\0';
    if (access || strcmp(state, "3D000") == 0 || strcmp(state, "42501") == 0)
        c->state = OBJECTIVE_REFUSED;
    else if (strcmp(state, "57014") == 0)
        c->state = OBJECTIVE_LATE; /* our statement_timeout */
    else
        c->state = OBJECTIVE_UNREACHABLE;
    if (access)
        set_help(c);
    tidy(text, sizeof text, error);
    hide(text, password);
    (void)copy_string(c->reason, sizeof c->reason, *text ? text : "the connection was lost");
}
