/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration: what is read from which file, and what overrides what. */
#include "config_fixture.h"

static void test_defaults(void **state)
{
    struct config *c = load_ok();

    (void)state;
    assert_int_equal(c->mode, MODE_OBSERVE);
    assert_int_equal(c->window_ns, 10 * NSEC_PER_SEC);
    assert_string_equal(c->profile, "auto");
    assert_string_equal(c->policy, "hillclimb");
    assert_int_equal(c->seed, 0);
    assert_true(c->alpha == 0.02 && c->min_gain == 0.01 && c->loss_budget == 30 &&
                c->loss_payback == 0.2);
    assert_true(c->class_width == 1.25 && c->block == 3 && c->settle == 1 &&
                c->calibration_quads == 5);
    assert_int_equal(c->on_stop, ON_STOP_RESTORE);
    assert_int_equal(c->on_start, ON_START_RESTORE);
    assert_true(c->emergency_psi_io_full == 50 && c->emergency_psi_memory_full == 20);
    assert_int_equal(c->store_keep_ns, 14 * 86400 * NSEC_PER_SEC);
    assert_int_equal(c->store_max_bytes, 200 << 20);
    for (size_t i = 0; i < knob_table_size; i++) {
        assert_ptr_equal(c->limit[i].def, &knob_table[i]);
        assert_int_equal(c->limit[i].min, knob_table[i].safe_min);
        assert_int_equal(c->limit[i].max, knob_table[i].safe_max);
    }
    assert_int_equal(c->n_profiles, 0);
    assert_string_equal(c->path, "");
    config_free(c);
    assert_null(config_free(NULL));
}

/* Every option set in tests/data/conf/full, looked at member by member. */
static void test_full(void **state)
{
    struct config_error err;
    struct config *c = NULL;
    const struct profile *p;

    (void)state;
    assert_int_equal(config_load(NULL, source_path("tests/data/conf/full"), NULL, &c, &err), 0);
    assert_int_equal(c->mode, MODE_TUNE);
    assert_int_equal(c->window_ns, 2500 * NSEC_PER_MSEC);
    assert_string_equal(c->profile, "app");
    assert_string_equal(c->policy, "fixed");
    assert_true(c->seed == UINT64_MAX);
    assert_true(c->alpha == 0.05 && c->min_gain == 0.7 / 100 && c->loss_budget == 12.5 &&
                c->loss_payback == 0.15);
    assert_true(c->class_width == 1.4 && c->block == 6 && c->settle == 2 &&
                c->calibration_quads == 0);
    assert_int_equal(c->on_stop, ON_STOP_KEEP);
    assert_int_equal(c->on_start, ON_START_ADOPT);
    assert_true(c->emergency_psi_io_full == 33.3 && c->emergency_psi_memory_full == 0);
    assert_int_equal(c->store_keep_ns, 36 * 3600 * NSEC_PER_SEC);
    assert_int_equal(c->store_max_bytes, UINT64_C(65) << 30);
    assert_int_equal(c->n_profiles, 2);
    p = config_profile(c, "app");
    assert_non_null(p);
    assert_string_equal(p->description, "an application of one's own");
    assert_int_equal(p->priority, 1000);
    assert_int_equal(p->n_match, 3);
    assert_string_equal(p->match_command[0], "worker");
    assert_string_equal(p->match_command[1], "a-name-of-15byt");
    assert_string_equal(p->match_command[2], "web");
    assert_string_equal(p->objective, "file");
    assert_string_equal(p->file, "/run/app/rate.prom");
    assert_string_equal(p->file_metric, "app_requests_total");
    assert_string_equal(p->file_load_metric, "app_busy");
    assert_true(p->file_counter);
    assert_int_equal(p->n_guards, 3);
    assert_int_equal(p->guard[0].metric, METRIC_RUNQ_WAIT_NS);
    assert_true(p->guard[0].relative && !p->guard[0].lower_is_worse && p->guard[0].bound == 0.125);
    assert_true(!p->guard[1].relative && !p->guard[1].lower_is_worse && p->guard[1].bound == 0.5);
    assert_true(p->guard[2].relative && p->guard[2].lower_is_worse && p->guard[2].bound == 0.99);
    /* In file order, and cut to [limits]. */
    assert_int_equal(p->n_knobs, 2);
    assert_string_equal(p->knob[0].def->name, "nr_migrate");
    assert_true(p->knob[0].min == 8 && p->knob[0].max == 64);
    assert_string_equal(p->knob[1].def->name, "migration_cost_ns");
    assert_true(p->knob[1].min == 1381000 && p->knob[1].max == 2000000);
    assert_non_null(strstr(p->knob[1].origin, "profiles/app.conf:19"));
    p = config_profile(c, "pg");
    assert_non_null(p);
    assert_int_equal(p->measure, MEASURE_LATENCY);
    assert_int_equal(p->priority, 10);
    assert_int_equal(p->n_match, 0);
    assert_string_equal(p->connection, "host=/run/a password='x;y' ; host=/run/b ; host=/run/c");
    assert_null(config_profile(c, "auto"));
    config_free(c);
}

static void test_override(void **state)
{
    struct config *c;
    const struct profile *p;

    (void)state;
    put(fx.vendor, "tunerd.conf",
        "[control]\nmode = tune\nwindow = 2s\n[limits]\nnr_migrate = 8 .. 64\n");
    put(fx.local, "tunerd.conf",
        "[control]\nwindow = 3s\n[limits]\nmigration_cost_ns = 1ms .. 2ms\n");
    put(fx.vendor, "profiles/a.conf",
        "[profile]\npriority = 1\ndescription = vendor\n[knobs]\nnr_migrate = 4 .. 32\n");
    put(fx.local, "profiles/a.conf", "[profile]\npriority = 2\n");
    put(fx.vendor, "profiles/b.conf", "[profile]\npriority = 3\n");
    put(fx.local, "profiles/c.conf", "[profile]\npriority = 4\n");
    /* A broken file that is overridden does no harm. */
    put(fx.vendor, "profiles/c.conf", "nonsense");
    /* What editors and the package manager leave, and what is no profile. */
    put(fx.local, "profiles/.d.conf", "nonsense");
    put(fx.local, "profiles/d.conf~", "nonsense");
    put(fx.local, "profiles/#d.conf#", "nonsense");
    put(fx.local, "profiles/.#d.conf", "nonsense");
    put(fx.local, "profiles/#d.conf", "nonsense");
    put(fx.local, "profiles/d.conf.dpkg-dist", "nonsense");
    put(fx.local, "profiles/d.conf.dpkg-old", "nonsense");
    put(fx.local, "profiles/d.conf.swp", "nonsense");
    put(fx.local, "profiles/README", "nonsense");
    put(fx.local, "profiles/.conf", "nonsense");
    c = load_ok();
    assert_int_equal(c->mode, MODE_TUNE);
    assert_int_equal(c->window_ns, 3 * NSEC_PER_SEC);
    assert_int_equal(c->limit[knob_find("nr_migrate") - knob_table].max, 64);
    assert_int_equal(c->limit[knob_find("migration_cost_ns") - knob_table].max, 2000000);
    assert_int_equal(c->n_profiles, 3);
    assert_true(strncmp(c->path, fx.local, strlen(fx.local)) == 0);
    p = config_profile(c, "a");
    assert_int_equal(p->priority, 2);
    assert_string_equal(p->description, "");
    assert_int_equal(p->n_knobs, 0);
    assert_int_equal(config_profile(c, "b")->priority, 3);
    assert_int_equal(config_profile(c, "c")->priority, 4);
    config_free(c);
    put(fx.local, "profiles/a b.conf", "");
    load_fails(-EINVAL, "@/local/profiles/a b.conf: is no name for a profile; use up to 63 "
                        "letters, digits, - and _, and not 'auto'");
}

static void test_hidden(void **state)
{
    struct config *c;

    (void)state;
    put(fx.vendor, "profiles/a.conf", "[profile]\npriority = 1\n");
    put(fx.vendor, "profiles/b.conf", "[profile]\npriority = 1\n");
    put(fx.local, "profiles/a.conf", "");
    c = load_ok();
    assert_int_equal(c->n_profiles, 1);
    assert_string_equal(c->profiles[0].name, "b");
    config_free(c);
}

static void test_shipped(void **state)
{
    struct config_error err;
    struct config *c = NULL;
    const struct profile *p;

    (void)state;
    assert_int_equal(config_load(source_path("conf"), NULL, NULL, &c, &err), 0);
    assert_int_equal(c->mode, MODE_OBSERVE);
    p = config_profile(c, "postgresql");
    assert_non_null(p);
    assert_string_equal(p->objective, "postgresql");
    assert_int_equal(p->measure, MEASURE_SERVICE);
    assert_string_equal(p->match_command[0], "postgres");
    assert_int_equal(p->n_guards, 4);
    assert_string_equal(p->knob[0].def->name, "migration_cost_ns");
    p = config_profile(c, "generic");
    assert_non_null(p);
    assert_int_equal(p->priority, 0);
    assert_int_equal(p->n_match, 0);
    assert_string_equal(p->objective, "sched");
    config_free(c);
}

static void test_modes(void **state)
{
    enum control_mode m = MODE_OBSERVE;

    (void)state;
    assert_string_equal(mode_name(MODE_PAUSE_BASELINE), "pause-baseline");
    assert_int_equal(mode_parse("pause-baseline", &m), 0);
    assert_int_equal(m, MODE_PAUSE_BASELINE);
    assert_int_equal(mode_parse("tune", &m), 0);
    assert_int_equal(mode_parse("", &m), -EINVAL);
    assert_int_equal(mode_parse("Tune", &m), -EINVAL);
    assert_int_equal(m, MODE_TUNE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_defaults), T(test_full),    T(test_override),
        T(test_hidden),   T(test_shipped), T(test_modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
