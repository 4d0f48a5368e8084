/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decision by decision on a recorded trace: the same value in force in every window as an
 * independent implementation, which does not have the refinements that are switched off here. */
#include "tuner_state.h"

#include "check.h"

#include <string.h>

static FILE *open_trace(const char *name)
{
    const char *dir = getenv("TESTS_DIR");
    char path[512];

    (void)snprintf(path, sizeof path, "%s/traces/%s", dir ? dir : "tests", name);
    return fopen(path, "re");
}

/* Without the refinements. */
static void tuner_plain(struct tuner *t)
{
    t->k.track_always = true;
    t->k.shift_z = 0.0;
    t->k.debt_tau = 0.0;
    t->k.check_first = 360;
    t->k.tests_ref = 12.0;
    t->k.tests_min = 3.0;
    t->k.futile_z = 1.0;
    t->k.retest_first = 1440;
    t->k.load_moved = 0.09;
    t->k.patience = 8;
    t->k.guard_dips = 1.0;
    t->k.load_moved_z = t->k.load_tolerance_z = t->load.config.noise_z = 0.0;
    t->k.settle_levels = 0;
    t->k.retest_rollback = 17280;
    t->k.rollback_quads = 1;
    t->k.settle_sent = false;
    t->k.level_known = false;
}

static struct tuner *start(uint64_t seed)
{
    struct tuner_config c = { .n_knobs = 1 };
    struct tuner *t = malloc(tuner_size());

    assert_non_null(t);
    tuner_params_default(&c.params);
    c.params.seed = seed;
    c.knobs[0] =
        (struct tuner_knob){ .scale = TUNER_SCALE_LOG, .baseline = 5e5, .min = 1e4, .max = 5e6 };
    assert_int_equal(tuner_init(t, policy_find("hillclimb"), &c), 0);
    tuner_plain(t);
    return t;
}

static void test_same_decisions(void **state)
{
    FILE *f = open_trace("jumps.csv");
    struct tuner *t = start(1900);
    char line[256];
    size_t n = 0, moves = 0;

    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct tuner_window w = { 0 };
        double window, value, disturbed;
        char *p = line;

        if (line[0] == '#' || line[0] == 'w')
            continue;
        window = strtod(p, &p);
        w.objective = strtod(p + 1, &p);
        w.load = strtod(p + 1, &p);
        w.workload = (uint32_t)strtod(p + 1, &p);
        disturbed = strtod(p + 1, &p);
        value = strtod(p + 1, &p);
        w.disturbed = disturbed > 0.0;
        if (fabs(tuner_step(t, &w)->value[0] / value - 1.0) > 1e-6) {
            printf("window %.0f: %.9g instead of %.9g\n", window, tuner_last(t)->value[0], value);
            fail();
        }
        moves += tuner_last(t)->event == TUNER_EVENT_ACCEPT ||
                 tuner_last(t)->event == TUNER_EVENT_ROLLBACK;
        n++;
    }
    fclose(f);
    assert_int_equal(n, 2400);
    assert_int_equal(moves, 3);
    assert_int_equal(tuner_moves(t), 3);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_decisions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
