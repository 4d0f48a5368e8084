/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of processes inside the taskstats sensor against a plain list, over random comings and
 * goings. */
#include "sensor_taskstats.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "random.h"

#define PIDS 3000

static void test_table(void **state)
{
    struct rnd rnd = rnd_init("table of processes");
    struct taskstats_sensor t = { .slot = calloc(SLOTS, sizeof *t.slot) };
    static bool alive[PIDS];
    uint32_t n = 0;

    (void)state;
    for (t.pass = 1; t.pass <= 300; t.pass++) {
        /* From almost empty to full and back. */
        uint64_t churn = rnd_below(&rnd, 200);

        for (uint64_t i = 0; i < churn; i++) {
            pid_t pid = 1 + (pid_t)rnd_below(&rnd, PIDS - 1);

            if (!alive[pid] && n >= PROCESSES_MAX)
                continue;
            alive[pid] = t.pass % 100 < 60 ? true : rnd_below(&rnd, 3) == 0;
            n = 0;
            for (unsigned k = 0; k < PIDS; k++)
                n += alive[k];
        }
        for (pid_t pid = 1; pid < PIDS; pid++) {
            struct process *p;

            if (!alive[pid])
                continue;
            p = find_slot(&t, pid * 64); /* so that many fall on the same slot */
            assert_true(p->pid == 0 || p->pid == pid * 64);
            t.n += p->pid == 0;
            *p = (struct process){ .pid = pid * 64,
                                   .pass = t.pass,
                                   .usage.run_ns_total = (uint64_t)pid };
        }
        sweep(&t);
        assert_int_equal(t.n, n);
        for (pid_t pid = 1; pid < PIDS; pid++) {
            const struct process *p = find_slot(&t, pid * 64);

            assert_int_equal(p->pid, alive[pid] ? pid * 64 : 0);
            if (alive[pid])
                assert_int_equal(p->usage.run_ns_total, pid);
        }
    }
    free(t.slot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
