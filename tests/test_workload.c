/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sensors of a workload and of the host's state: cgroup, taskstats, steal, sched_ext, lockdown. */
#include <signal.h>
#include <sys/wait.h>

#include "procparse.h"
#include "sensor_host.h"

#define CG "/sys/fs/cgroup/system.slice/postgresql.service"

static void put_cgroup(struct host *h, uint64_t usage, uint64_t periods, uint64_t throttled,
                       uint64_t psi)
{
    fixture_put(&h->f, CG "/cpu.stat",
                "usage_usec %lu\nuser_usec 1\nsystem_usec 1\nnr_periods %lu\nnr_throttled "
                "%lu\nthrottled_usec 5\n",
                usage, periods, throttled);
    fixture_put(&h->f, CG "/cpu.pressure", "some " LINE "%lu\nfull " LINE "%lu\n", psi, psi / 2);
    fixture_put(&h->f, CG "/io.pressure", "some " LINE "%lu\nfull " LINE "0\n", psi);
    fixture_put(&h->f, CG "/memory.pressure", "some " LINE "%lu\nfull " LINE "0\n", psi);
}

static void put_process(struct host *h, const char *text)
{
    fixture_put(&h->f, "/proc/1234/cgroup", "%s", text);
    fixture_put(&h->f, "/sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
}

static void test_cgroup(void **state)
{
    struct host *h = *state;
    const struct sensor *s;
    struct window w;

    put_process(h, "12:cpu:/old\n0::/system.slice/postgresql.service\n");
    put_cgroup(h, 1000, 10, 0, 100);
    start(h);
    s = sensor(h, "cgroup");
    w = next(h);
    assert_int_equal(s->state, SENSOR_ABSENT);
    assert_string_equal(s->reason, "no workload is followed");
    NONE(CGROUP_RUNNING);
    sensors_follow(&h->ss, 1234);
    w = next(h);
    assert_int_equal(s->state, SENSOR_STARTING);
    NONE(CGROUP_RUNNING);
    put_cgroup(h, 1000 + 3000000, 30, 0, 100 + 400000);
    w = next(h);
    assert_int_equal(s->state, SENSOR_OK);
    NEAR(CGROUP_RUNNING, 1.5);
    NEAR(CGROUP_THROTTLED, 0);
    NEAR(CGROUP_PSI_CPU_SOME, 20);
    NEAR(CGROUP_PSI_CPU_FULL, 10);
    NEAR(CGROUP_PSI_IO_SOME, 20);
    NEAR(CGROUP_PSI_MEMORY_SOME, 20);
    put_cgroup(h, 4000000, 50, 5, 400100);
    w = next(h);
    NEAR(CGROUP_THROTTLED, 25);
    assert_int_equal(s->state, SENSOR_PARTIAL);
    assert_non_null(strstr(s->reason, "cpu.max"));
    /* cgroup.pressure = 0 hides the files. */
    fixture_remove(&h->f, CG "/cpu.pressure");
    w = next(h);
    NONE(CGROUP_PSI_CPU_SOME);
    NEAR(CGROUP_RUNNING, 0);
    assert_int_equal(s->state, SENSOR_PARTIAL);
    assert_non_null(strstr(s->reason, "cpu.pressure"));
    /* Without the cpu controller there is usage only. */
    fixture_put(&h->f, CG "/cpu.stat", "usage_usec 6000000\nuser_usec 1\n");
    w = next(h);
    NEAR(CGROUP_RUNNING, 1);
    NONE(CGROUP_THROTTLED);
    sensors_follow(&h->ss, 0);
    w = next(h);
    assert_int_equal(s->state, SENSOR_ABSENT);
}

static void test_cgroup_states(void **state)
{
    static const struct {
        const char *cgroup, *reason;
    } t[] = {
        { "0::/\n", "root cgroup" },
        { "5:cpu:/a\n4:memory:/a\n", "no cgroups of version 2" },
        { "0::/../outside\n", "not in a form" },
        { "0::/gone (deleted)\n", "not in a form" },
        { "0::/not-there\n", "cannot be read" },
    };
    struct host *h = *state;
    struct window w;

    start(h);
    for (size_t i = 0; i < ELEMENTSOF(t); i++) {
        put_process(h, t[i].cgroup);
        sensors_follow(&h->ss, 1234);
        w = next(h);
        NONE(CGROUP_RUNNING);
        assert_non_null(strstr(sensor(h, "cgroup")->reason, t[i].reason));
    }
    sensors_follow(&h->ss, 99999);
    w = next(h);
    assert_non_null(strstr(sensor(h, "cgroup")->reason, "99999 is gone"));
    assert_string_equal(sensor(h, "taskstats")->reason, "simulated host");
}

static void put_stat(struct host *h, uint64_t idle, uint64_t steal)
{
    fixture_put(&h->f, "/proc/stat", "cpu  10 0 20 %lu 0 0 0 %lu 5 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n",
                idle, steal);
}

static void test_host(void **state)
{
    struct host *h = *state;
    struct host_state st;
    struct window w;

    fixture_put(&h->f, "/proc/loadavg", "1.25 0.75 0.50 2/345 6789\n");
    fixture_put(&h->f, "/sys/kernel/sched_ext/state", "disabled\n");
    fixture_put(&h->f, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    put_stat(h, 1000, 50);
    start(h);
    put_stat(h, 1150, 100);
    w = next(h);
    NEAR(LOADAVG, 1.25);
    NEAR(STEAL, 25);
    assert_int_equal(sensor(h, "host")->state, SENSOR_OK);
    sensors_host(&h->ss, &st);
    assert_int_equal(st.lockdown, LOCKDOWN_INTEGRITY);
    assert_false(st.sched_ext);
    /* A BPF scheduler comes and goes. */
    fixture_put(&h->f, "/sys/kernel/sched_ext/state", "enabled\n");
    fixture_put(&h->f, "/sys/kernel/sched_ext/root/ops", "rusty_1.0\n");
    w = next(h);
    sensors_host(&h->ss, &st);
    assert_true(st.sched_ext);
    assert_string_equal(st.sched_ext_ops, "rusty_1.0");
    assert_int_equal(sensor(h, "host")->state, SENSOR_PARTIAL);
    assert_non_null(strstr(sensor(h, "host")->reason, "rusty_1.0"));
    fixture_put(&h->f, "/sys/kernel/sched_ext/state", "disabled\n");
    w = next(h);
    assert_int_equal(sensor(h, "host")->state, SENSOR_OK);
}

/* A host where nothing was stolen since its boot: no zero, and the large file is read every 60th
 * time. */
static void test_no_steal(void **state)
{
    struct host *h = *state;
    struct host_state st;
    struct window w;

    fixture_put(&h->f, "/proc/loadavg", "0.00 0.00 0.00 1/1 1\n");
    put_stat(h, 1000, 0);
    start(h);
    sensors_host(&h->ss, &st);
    assert_int_equal(st.lockdown, LOCKDOWN_UNKNOWN);
    w = next(h);
    NONE(STEAL);
    put_stat(h, 2000, 100);
    for (unsigned i = 0; i < 59; i++) {
        w = next(h);
        NONE(STEAL);
    }
    w = next(h); /* seen; rates from the next window on */
    NONE(STEAL);
    put_stat(h, 2900, 200);
    w = next(h);
    NEAR(STEAL, 10);
    put_stat(h, 2900, 150); /* goes back */
    w = next(h);
    NONE(STEAL);
}

static void test_small_formats(void **state)
{
    static const char *const bad_stat[] = { "",
                                            "cpu",
                                            "cpu  1 2 3\n",
                                            "cpu  1 2 3 4 5 6 7 8",
                                            "cpu0 1 2 3 4 5 6 7 8\n",
                                            "cpu  1 2 3 4 5 6 7 x\n" };
    static const char *const bad_load[] = { "",          "1.25",    "1 2 3\n", "1.2 0\n",
                                            "-1.25 0\n", ".25 0\n", "nan 0\n" };
    static const char *const words[] = { "none", "integrity" };
    const char *path;
    struct stat_cpu c;
    size_t n;
    double d;

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(bad_stat); i++)
        assert_int_equal(stat_cpu_parse(bad_stat[i], strlen(bad_stat[i]), &c), -EBADMSG);
    assert_int_equal(stat_cpu_parse("cpu  1 2 3 4 5 6 7 8\n", 21, &c),
                     0); /* before guest time was counted */
    assert_int_equal(c.sum_total, 36);
    assert_int_equal(c.steal_total, 8);
    for (size_t i = 0; i < ELEMENTSOF(bad_load); i++)
        assert_int_equal(loadavg_parse(bad_load[i], strlen(bad_load[i]), &d), -EBADMSG);
    assert_int_equal(choice_parse("none [integrity]\n", 17, words, 2, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(choice_parse("none integrity\n", 15, words, 2, &n), -EBADMSG);
    assert_int_equal(choice_parse("[other] none\n", 13, words, 2, &n), -EBADMSG);
    assert_int_equal(choice_parse("]none[", 6, words, 2, &n), -EBADMSG);
    assert_int_equal(cgroup_parse("0::/a/..b\n", 10, &path, &n), 0);
    assert_int_equal(cgroup_parse("0::/a/..\n", 9, &path, &n), -EBADMSG);
    assert_int_equal(cgroup_parse("0::a\n", 5, &path, &n), -EBADMSG);
    assert_int_equal(cgroup_parse("0::/a", 5, &path, &n), -ENOENT);
    assert_int_equal(cgroup_parse("", 0, &path, &n), -ENOENT);
}

/* A process that spins for half of the time, through the real taskstats. */
static void test_taskstats(void **state)
{
    struct host *h = *state;
    struct sysio real;
    struct window w;
    pid_t pid;

    assert_int_equal(sysio_init(&real, NULL), 0);
    assert_int_equal(sensors_init(&h->ss, &real), 0);
    const struct sensor *s = sensor(h, "taskstats");
    if (!s->is_open) {
        print_message("# skipped: taskstats: %s\n", s->reason);
        assert_true(s->reason[0] != '\0');
        sensors_done(&h->ss);
        sysio_done(&real);
        return;
    }
    pid = fork();
    if (pid == 0)
        for (;;) {
            uint64_t until = now_mono_ns() + 5 * NSEC_PER_MSEC;
            while (now_mono_ns() < until)
                ;
            (void)usleep(5000);
        }
    sensors_follow(&h->ss, pid);
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    (void)usleep(300000);
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    print_message("# running %.3f, waiting %.3f, %.0f voluntary switches/s\n",
                  window_get(&w, METRIC_WORKLOAD_RUNNING), window_get(&w, METRIC_WORKLOAD_WAITING),
                  window_get(&w, METRIC_WORKLOAD_VOLUNTARY_PER_S));
    assert_int_equal(s->state, SENSOR_OK);
    assert_true(w.value[METRIC_WORKLOAD_RUNNING] + w.value[METRIC_WORKLOAD_WAITING] > 0.2);
    assert_true(w.value[METRIC_WORKLOAD_VOLUNTARY_PER_S] > 10);
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    sensors_read(&h->ss, now_mono_ns(), 1, &w);
    if (s->state == SENSOR_ABSENT) /* it was alone; else its cgroup has others */
        NONE(WORKLOAD_RUNNING);
    sensors_done(&h->ss);
    sysio_done(&real);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_cgroup),   T(test_cgroup_states), T(test_host),
        T(test_no_steal), T(test_small_formats), T(test_taskstats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
