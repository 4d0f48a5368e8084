/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store in a temporary directory: what is written comes back, damage is moved aside, old rows go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

struct fx {
    char dir[64], path[96], note[400];
    struct store *s;
};

static int setup(void **state)
{
    struct fx *f = calloc(1, sizeof *f);

    snprintf(f->dir, sizeof f->dir, "%s/tunerd-store.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/state.db", f->dir);
    assert_int_equal(store_open(f->path, false, &f->s, f->note, sizeof f->note), 0);
    assert_string_equal(f->note, "");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fx *f = *state;
    char command[128];

    f->s = store_close(f->s);
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void again(struct fx *f)
{
    f->s = store_close(f->s);
    assert_int_equal(store_open(f->path, false, &f->s, f->note, sizeof f->note), 0);
}

static const char *const names[] = { "migration_cost_ns", "nr_migrate" };

static void add_window(struct fx *f, uint64_t i, uint64_t real_ns)
{
    struct window w = { .index = i, .start_ns = i * NSEC_PER_SEC, .end_ns = (i + 2) * NSEC_PER_SEC, .real_ns = real_ns };
    double values[] = { 62500, NAN };
    struct store_window sw = { .window = &w, .profile = "postgresql", .bucket = 14, .n_knobs = 2, .knob_names = names,
                               .values = values, .event = "none", .reason = "measuring", .arm = "candidate" };

    window_set(&w, METRIC_OBJECTIVE, 100.5 + (double)i);
    window_set(&w, METRIC_TPS, 1.0 / 3);
    window_set(&w, METRIC_LOAD, 25);
    assert_int_equal(store_add_window(f->s, &sw), 0);
}

static int count_decision(const struct store_decision *d, void *u)
{
    (void)d;
    ++*(int *)u;
    return 0;
}

static int keep_decision(const struct store_decision *d, void *u)
{
    *(struct store_decision *)u = *d;
    return 1;
}

static void decisions_come_back(void **state)
{
    struct fx *f = *state;
    struct store_decision d = { .real_ns = UINT64_C(1764542191123456789), .window = 7, .profile = "postgresql", .bucket = 14,
                                .event = "accept", .reason = "evidence", .knob = "migration_cost_ns", .old_value = 500000,
                                .new_value = 62500,
                                .evidence = { .n = 6, .mean = .043, .se = .01, .lo = .02, .hi = .06, .e = 81, .bar = 50 } };
    struct store_decision got = { 0 }, other = d;
    int n = 0;

    assert_int_equal(store_add_decision(f->s, &d), 0);
    other.real_ns++;
    other.bucket = INT32_MIN;
    other.old_value = other.new_value = NAN;
    other.evidence = (struct tuner_evidence){ 0 };
    other.knob[0] = '\0';
    assert_int_equal(store_add_decision(f->s, &other), 0);
    again(f);
    assert_int_equal(store_each_decision(f->s, 10, count_decision, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(store_each_decision(f->s, 1, keep_decision, &got), 1);
    assert_int_equal(got.real_ns, other.real_ns); /* newest first */
    assert_int_equal(got.bucket, INT32_MIN);
    assert_true(isnan(got.old_value) && got.evidence.n == 0);
    n = 0;
    assert_int_equal(store_each_decision(f->s, 1, count_decision, &n), 0);
    assert_int_equal(n, 1);
}

static int keep_class(const struct store_class *c, void *u)
{
    *(struct store_class *)u = *c;
    return 0;
}

static void classes_and_noise_come_back(void **state)
{
    struct fx *f = *state;
    struct store_class *c = calloc(1, sizeof *c), *got = calloc(1, sizeof *got);
    struct tuner_noise noise = { .weight = 40, .sum = .036, .quads = 12 }, n2;

    strcpy(c->profile, "postgresql");
    c->memory.bucket = 14;
    c->memory.value[0] = 62500;
    c->memory.value[1] = 32;
    c->memory.gain = .09;
    c->memory.load_shift = -.04;
    c->memory.windows = 1000;
    c->memory.tests = 3;
    c->n_knobs = 2;
    strcpy(c->knob_names[0], names[0]);
    strcpy(c->knob_names[1], names[1]);
    c->real_ns = 5;
    assert_int_equal(store_put_class(f->s, "host a", c), 0);
    c->memory.value[0] = 125000; /* the same class again replaces it */
    assert_int_equal(store_put_class(f->s, "host a", c), 0);
    assert_int_equal(store_put_noise(f->s, "host a", "postgresql", &noise), 0);
    again(f);
    assert_int_equal(store_each_class(f->s, "host b", keep_class, got), 0);
    assert_int_equal(got->n_knobs, 0); /* another host's is not returned */
    assert_int_equal(store_each_class(f->s, "host a", keep_class, got), 0);
    assert_int_equal(got->n_knobs, 2);
    assert_string_equal(got->knob_names[1], "nr_migrate");
    assert_true(got->memory.value[0] == 125000 && got->memory.value[1] == 32 && isnan(got->memory.value[2]));
    assert_int_equal(got->memory.windows, 1000);
    assert_true(got->memory.load_shift == c->memory.load_shift);
    assert_int_equal(store_get_noise(f->s, "host a", "postgresql", &n2), 0);
    assert_true(n2.weight == noise.weight && n2.sum == noise.sum && n2.quads == 12);
    assert_int_equal(store_get_noise(f->s, "host b", "postgresql", &n2), -ENOENT);
    free(c);
    free(got);
}

static void trace_is_csv(void **state)
{
    struct fx *f = *state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (uint64_t i = 0; i < 5; i++)
        add_window(f, i, i + 1);
    assert_int_equal(store_write_trace(f->s, 2, out), 0);
    fclose(out);
    assert_int_equal(strncmp(text, "window,real_time,objective,load,workload,bucket,disturbed,event,reason,arm,migration_cost_ns,", 92), 0);
    char *row = strchr(text, '\n') + 1;
    assert_int_equal(strncmp(row, "3,0.000,103.5,25,postgresql,14,0,none,measuring,candidate,62500,", 64), 0);
    assert_null(strstr(text, "nan"));
    int lines = 0;
    for (char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 3);
    free(text);
}

static int damaged_files(const struct fx *f)
{
    char pattern[128];
    glob_t g;

    snprintf(pattern, sizeof pattern, "%s/state.db.damaged-*Z", f->dir);
    int n = glob(pattern, 0, NULL, &g) == 0 ? (int)g.gl_pathc : 0;
    globfree(&g);
    return n;
}

static void damage_is_moved_aside(void **state)
{
    static const off_t offsets[] = { 0, 16, 100, 4096, 4200, 8192, 12300 };
    struct fx *f = *state;
    char junk[600], command[200];
    int moved = 0;

    memset(junk, 0x5a, sizeof junk);
    for (size_t i = 0; i < ELEMENTSOF(offsets); i++) {
        for (uint64_t w = 0; w < 200; w++)
            add_window(f, w, w + 1);
        f->s = store_close(f->s);
        int fd = open(f->path, O_RDWR);
        assert_int_equal(pwrite(fd, junk, sizeof junk, offsets[i]), sizeof junk);
        close(fd);
        assert_int_equal(store_open(f->path, false, &f->s, f->note, sizeof f->note), 0);
        if (damaged_files(f) > 0) {
            moved++;
            assert_non_null(strstr(f->note, "damaged"));
        }
        add_window(f, 1, 1); /* it works again, whatever the damage was */
        assert_int_equal(store_flush(f->s), 0);
        snprintf(command, sizeof command, "rm -f %s/state.db.damaged-*", f->dir);
        assert_int_equal(system(command), 0);
    }
    assert_true(moved >= 5);
}

static void future_is_moved_aside(void **state)
{
    struct fx *f = *state;
    uint32_t version = htobe32(99);

    f->s = store_close(f->s);
    int fd = open(f->path, O_RDWR);
    assert_int_equal(pwrite(fd, &version, 4, 60), 4); /* user_version of SQLite's header */
    close(fd);
    assert_int_equal(store_open(f->path, false, &f->s, f->note, sizeof f->note), 0);
    assert_non_null(strstr(f->note, "newer version"));
    assert_int_equal(damaged_files(f), 1);
}

static void not_to_be_had(void **state)
{
    struct fx *f = *state;
    struct store *s = NULL;

    assert_true(store_open("/nonexistent/state.db", false, &s, f->note, sizeof f->note) < 0);
    assert_null(s);
    assert_int_equal(store_open("/nonexistent/state.db", true, &s, NULL, 0), -ENOENT);
    assert_int_equal(store_add_window(NULL, NULL), 0); /* no store is no error */
    assert_int_equal(store_flush(NULL), 0);
    assert_null(store_close(NULL));
}

static void readers_see_what_is_committed(void **state)
{
    struct fx *f = *state;
    struct store_decision d = { .event = "reject", .old_value = NAN, .new_value = NAN };
    struct store *r = NULL;
    int n = 0;

    add_window(f, 1, 1); /* a batch is open */
    assert_int_equal(store_add_decision(f->s, &d), 0);
    add_window(f, 2, 2);
    assert_int_equal(store_open(f->path, true, &r, NULL, 0), 0);
    assert_int_equal(store_each_decision(r, 10, count_decision, &n), 0);
    assert_int_equal(n, 1);
    r = store_close(r);
    /* Without the daemon, in a directory that is not ours to write. */
    f->s = store_close(f->s);
    assert_int_equal(chmod(f->dir, 0555), 0);
    n = 0;
    assert_int_equal(store_open(f->path, true, &r, NULL, 0), 0);
    assert_int_equal(store_each_decision(r, 10, count_decision, &n), 0);
    assert_int_equal(n, 1);
    r = store_close(r);
    assert_int_equal(chmod(f->dir, 0755), 0);
}

static void old_rows_go(void **state)
{
    struct fx *f = *state;
    struct stat st;
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    uint64_t before = now_mono_ns();

    for (uint64_t i = 0; i < 20000; i++)
        add_window(f, i, i * NSEC_PER_SEC);
    double us = (double)(now_mono_ns() - before) / 20000 / 1e3;
    printf("# %.1f us a window\n", us);
    assert_int_equal(store_flush(f->s), 0);
    assert_int_equal(store_retain(f->s, 20000 * NSEC_PER_SEC, 5000 * NSEC_PER_SEC, 1 << 30), 0);
    out = open_memstream(&text, &size);
    assert_int_equal(store_write_trace(f->s, 0, out), 0);
    fclose(out);
    assert_int_equal(strncmp(strchr(text, '\n') + 1, "15000,", 6), 0);
    free(text);
    assert_int_equal(store_retain(f->s, 20000 * NSEC_PER_SEC, 20000 * NSEC_PER_SEC, 300000), 0);
    again(f);
    assert_int_equal(stat(f->path, &st), 0);
    printf("# %ld bytes after a cap of 300000\n", (long)st.st_size);
    assert_true(st.st_size < 600000);
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(decisions_come_back), ROW(classes_and_noise_come_back), ROW(trace_is_csv), ROW(damage_is_moved_aside),
        ROW(future_is_moved_aside), ROW(not_to_be_had), ROW(readers_see_what_is_committed), ROW(old_rows_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
