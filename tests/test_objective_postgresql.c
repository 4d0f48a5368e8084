/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objective `postgresql` against a real server of this machine's PostgreSQL in a private directory: what it counts,
 * and what it says when the server refuses, restarts, resets its statistics or hangs. */
#include "objective_env.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct server {
    char dir[64];
    char bin[128];
} server;

static void shell(const char *fmt, ...) _printf_(1, 2);
static void shell(const char *fmt, ...)
{
    char command[2048];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    assert_true(n > 0 && (size_t)n < sizeof command);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

static void sql(const char *db, const char *text)
{
    shell("%s/psql -X -q -v ON_ERROR_STOP=1 -h %s -U admin -d %s -c \"%s\" >>%s/log 2>&1", server.bin, server.dir, db, text,
          server.dir);
}

static void server_start(void)
{
    shell("%s/pg_ctl -s -w -D %s/data -l %s/server.log -o \"-k %s -c listen_addresses='' -c fsync=off "
          "-c autovacuum=off -c max_connections=20 -c shared_buffers=16MB\" start >>%s/log 2>&1",
          server.bin, server.dir, server.dir, server.dir, server.dir);
}

static void server_stop(void)
{
    shell("%s/pg_ctl -s -w -m fast -D %s/data stop >>%s/log 2>&1", server.bin, server.dir, server.dir);
}

static bool find_server(void)
{
    glob_t g;
    bool found = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &g) == 0 && geteuid() != 0;

    if (found)
        snprintf(server.bin, sizeof server.bin, "%.*s", (int)(strlen(g.gl_pathv[g.gl_pathc - 1]) - strlen("/initdb")),
                 g.gl_pathv[g.gl_pathc - 1]);
    else
        printf("# skipped: %s\n", geteuid() == 0 ? "PostgreSQL does not run as root" : "no PostgreSQL server here");
    globfree(&g);
    return found;
}

static int group_setup(void **state)
{
    (void)state;
    if (!find_server())
        return 0;
    strcpy(server.dir, "/tmp/tunerd-pg.XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    shell("%s/initdb -D %s/data -U admin -A trust --no-sync -E UTF8 --locale=C >%s/log 2>&1", server.bin, server.dir,
          server.dir);
    shell("printf 'local all admin trust\\nlocal all tunerd trust\\nlocal all absent trust\\n"
          "local all secret scram-sha-256\\nlocal all other peer\\n' >%s/data/pg_hba.conf", server.dir);
    server_start();
    sql("postgres", "CREATE ROLE tunerd LOGIN IN ROLE pg_monitor");
    sql("postgres", "CREATE ROLE secret LOGIN PASSWORD 'right'");
    sql("postgres", "CREATE ROLE other LOGIN");
    sql("postgres", "CREATE DATABASE bench");
    shell("%s/pgbench -q -i -s 1 -h %s -U admin bench >>%s/log 2>&1", server.bin, server.dir, server.dir);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    if (!server.dir[0])
        return 0;
    server_stop();
    shell("rm -rf %s", server.dir);
    return 0;
}

/* ---- windows --------------------------------------------------------------------------------- */

static void run_until(struct env *e, uint64_t until_ns, unsigned done)
{
    for (uint64_t now; e->done < done && (now = now_mono_ns()) < until_ns;)
        assert_true(sd_event_run(e->event, (until_ns - now) / 1000 + 1) >= 0);
}

/* Waits until the window that began at *start_ns ends, asks, evaluates. */
static struct window next_window(struct env *e, uint64_t *start_ns, uint64_t length_ns)
{
    struct window w = { .start_ns = *start_ns, .end_ns = *start_ns + length_ns };
    unsigned before = e->done;

    window_set(&w, METRIC_RUNNING, 2);
    window_set(&w, METRIC_WAITING, 3);
    run_until(e, w.end_ns, before + 1);
    assert_int_equal(e->done, before);
    objective_ask(&e->o, 800 * NSEC_PER_MSEC, on_done, &e->done);
    run_until(e, now_mono_ns() + 5 * NSEC_PER_SEC, before + 1);
    assert_int_equal(e->done, before + 1);
    objective_evaluate(&e->o, &w);
    *start_ns = now_mono_ns();
    return w;
}

/* Reads every 0.3 s until the state is there; at most 20 s. */
static void wait_for(struct env *e, enum objective_state want)
{
    uint64_t start_ns = now_mono_ns();

    for (int i = 0; i < 66; i++) {
        (void)next_window(e, &start_ns, 300 * NSEC_PER_MSEC);
        if (e->o.state == want)
            return;
    }
    fail_msg("state is %s (%s), not %s", objective_state_name(e->o.state), e->o.reason, objective_state_name(want));
}

static void open_as(struct env *e, const char *user, const char *more)
{
    if (!server.dir[0])
        skip();
    strcpy(e->p.objective, "postgresql");
    e->p.measure = MEASURE_SERVICE;
    snprintf(e->p.connection, sizeof e->p.connection, "host=%s user=%s %s", server.dir, user, more);
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), 0);
}

/* Mean tps over n windows of 1 s. */
static double mean_tps(struct env *e, unsigned n)
{
    uint64_t start_ns = now_mono_ns();
    double sum = 0;

    wait_for(e, OBJECTIVE_OK);
    start_ns = now_mono_ns();
    for (unsigned i = 0; i < n; i++) {
        struct window w = next_window(e, &start_ns, NSEC_PER_SEC);
        assert_int_equal(e->o.state, OBJECTIVE_OK);
        assert_true(window_has(&w, METRIC_TPS) && window_has(&w, METRIC_ACTIVE));
        assert_float_equal(window_get(&w, METRIC_OBJECTIVE), w.value[METRIC_TPS] / 5, 1e-6);
        sum += w.value[METRIC_TPS];
    }
    return sum / n;
}

static void load_start(double tps, unsigned seconds)
{
    shell("timeout 40 %s/pgbench -n -S -c 2 -R %g -T %u -h %s -U admin bench >>%s/log 2>&1 &", server.bin, tps, seconds,
          server.dir, server.dir);
    usleep(1200 * 1000);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void counts_transactions(void **state)
{
    struct env *e = *state;

    open_as(e, "tunerd", "");
    assert_string_equal(objective_unit(&e->o), "transactions per CPU-second");
    double idle = mean_tps(e, 3);
    assert_true(idle < 1); /* three queries of ours are not in it */
    load_start(200, 8);
    double busy = mean_tps(e, 4);
    printf("# idle %.2f tps, pgbench at 200 tps: %.1f\n", idle, busy);
    assert_true(busy > 160 && busy < 240);
}

static void one_database_or_several_clusters(void **state)
{
    struct env *e = *state;
    char both[200];

    open_as(e, "tunerd", "");
    load_start(200, 14);
    objective_close(&e->o);
    strcpy(e->p.database, "postgres"); /* pgbench works in another one */
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), 0);
    assert_true(mean_tps(e, 2) < 2);
    objective_close(&e->o);
    strcpy(e->p.database, "");
    snprintf(both, sizeof both, "host=%s user=tunerd ; host=%s user=tunerd dbname=bench", server.dir, server.dir);
    strcpy(e->p.connection, both);
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), 0);
    double sum = mean_tps(e, 3);
    assert_true(sum > 320 && sum < 480);
    objective_close(&e->o);
    snprintf(e->p.connection, sizeof e->p.connection, "host=%s user=tunerd ; host=%s/absent user=tunerd", server.dir,
             server.dir);
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), 0);
    wait_for(e, OBJECTIVE_UNREACHABLE); /* half a sum is none */
    objective_close(&e->o);
    strcpy(e->p.database, "absent");
    snprintf(e->p.connection, sizeof e->p.connection, "host=%s user=tunerd", server.dir);
    assert_int_equal(objective_open(&e->o, &e->p, &e->io, e->event), 0);
    wait_for(e, OBJECTIVE_UNREACHABLE);
    assert_non_null(strstr(e->o.reason, "absent"));
}

static void says_what_to_set_up(void **state)
{
    static const struct {
        const char *user, *more;
        bool role_help;
    } rows[] = {
        { "absent", "", true },                  { "other", "", true }, /* peer: other user */
        { "secret", "password=wr0ng", true },    { "secret", "", true },
        { "tunerd", "dbname=absent", false },
    };
    struct env *e = *state;

    for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
        uint64_t start_ns = now_mono_ns();
        open_as(e, rows[i].user, rows[i].more);
        struct window w = next_window(e, &start_ns, 10 * NSEC_PER_MSEC);
        printf("# %s: %s\n", objective_state_name(e->o.state), e->o.reason);
        assert_int_equal(e->o.state, OBJECTIVE_REFUSED);
        assert_false(window_has(&w, METRIC_TPS));
        assert_null(strstr(e->o.reason, "wr0ng"));
        assert_null(strstr(e->o.reason, "LOCATION"));
        if (rows[i].role_help) {
            assert_non_null(strstr(e->o.help, "LOGIN IN ROLE pg_monitor;\n"));
            assert_non_null(strstr(e->o.help, "pg_ident.conf:\n    tunerd  root  "));
            assert_non_null(strstr(e->o.help, "peer map=tunerd\n"));
        } else {
            assert_string_equal(e->o.help, "");
        }
        objective_close(&e->o);
    }
    open_as(e, "absent", "");
    wait_for(e, OBJECTIVE_REFUSED);
    sql("postgres", "CREATE ROLE absent LOGIN"); /* the administrator did it */
    wait_for(e, OBJECTIVE_OK);
    assert_string_equal(e->o.help, "");
    objective_close(&e->o);
    sql("postgres", "DROP ROLE absent");
}

static void statistics_are_reset(void **state)
{
    struct env *e = *state;
    uint64_t start_ns = now_mono_ns();

    open_as(e, "tunerd", "");
    wait_for(e, OBJECTIVE_OK);
    sql("bench", "SELECT pg_stat_reset()");
    start_ns = now_mono_ns();
    struct window w = next_window(e, &start_ns, 1200 * NSEC_PER_MSEC);
    assert_false(window_has(&w, METRIC_TPS));
    assert_int_equal(e->o.state, OBJECTIVE_STARTING);
    wait_for(e, OBJECTIVE_OK);
}

static void server_goes_and_comes(void **state)
{
    struct env *e = *state;

    open_as(e, "tunerd", "");
    wait_for(e, OBJECTIVE_OK);
    server_stop();
    wait_for(e, OBJECTIVE_UNREACHABLE);
    assert_true(e->o.reason[0] != '\0');
    server_start();
    wait_for(e, OBJECTIVE_OK);
    objective_close(&e->o);

    /* the same server as a standby */
    server_stop();
    shell("touch %s/data/standby.signal", server.dir);
    server_start();
    open_as(e, "tunerd", "");
    wait_for(e, OBJECTIVE_OK);
    assert_non_null(strstr(e->o.reason, "standby"));
    objective_close(&e->o);
    server_stop();
    shell("rm %s/data/standby.signal", server.dir);
    server_start();
}

static void server_hangs(void **state)
{
    struct env *e = *state;
    uint64_t start_ns = now_mono_ns();
    const char *find = "pid=$(%s/psql -XAtq -h %s -U admin -d postgres -c "
                       "\"SELECT pid FROM pg_stat_activity WHERE application_name='tunerd'\") && kill -%s $pid";

    open_as(e, "tunerd", "");
    wait_for(e, OBJECTIVE_OK);
    shell(find, server.bin, server.dir, "STOP");
    start_ns = now_mono_ns();
    struct window w = next_window(e, &start_ns, 100 * NSEC_PER_MSEC);
    uint64_t took_ns = now_mono_ns() - start_ns;
    assert_true(took_ns < 2 * NSEC_PER_SEC);
    assert_int_equal(e->o.state, OBJECTIVE_LATE);
    assert_false(window_has(&w, METRIC_TPS));
    shell(find, server.bin, server.dir, "CONT");
    wait_for(e, OBJECTIVE_OK);
    objective_close(&e->o);

    /* nobody takes connections: the kernel queues ours */
    shell("kill -STOP $(head -1 %s/data/postmaster.pid)", server.dir);
    open_as(e, "tunerd", "connect_timeout=1");
    start_ns = now_mono_ns();
    (void)next_window(e, &start_ns, NSEC_PER_MSEC);
    assert_int_equal(e->o.state, OBJECTIVE_LATE);
    shell("kill -CONT $(head -1 %s/data/postmaster.pid)", server.dir);
    wait_for(e, OBJECTIVE_OK);
}

/* `tunectl objective test`, with the sensors of this host. */
static int try(struct env *e, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    struct sysio real;

    assert_non_null(out);
    assert_int_equal(sysio_init(&real, "/"), 0);
    e->p.measure = MEASURE_TPS;
    int r = objective_test(&e->p, &real, 3, NSEC_PER_SEC, out);
    fclose(out);
    sysio_done(&real);
    return r;
}

static void tries_for_people(void **state)
{
    struct env *e = *state;
    char text[4096] = "";

    open_as(e, "tunerd", "");
    objective_close(&e->o);
    load_start(200, 6);
    assert_int_equal(try(e, text, sizeof text), 0);
    assert_non_null(strstr(text, "transactions per second over 3 windows, noise "));
    snprintf(e->p.connection, sizeof e->p.connection, "host=%s user=absent", server.dir);
    assert_int_equal(try(e, text, sizeof text), -EACCES);
    assert_non_null(strstr(text, "To set it up:\n"));
    assert_non_null(strstr(text, "CREATE ROLE absent LOGIN IN ROLE pg_monitor;"));
    snprintf(e->p.connection, sizeof e->p.connection, "host=%s/absent", server.dir);
    assert_int_equal(try(e, text, sizeof text), -ENODATA);
    assert_non_null(strstr(text, "no window could be measured: unreachable"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(counts_transactions), ROW(one_database_or_several_clusters), ROW(says_what_to_set_up),
        ROW(statistics_are_reset), ROW(server_goes_and_comes), ROW(server_hangs),
        ROW(tries_for_people),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
