/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every kernel text format as a pure function of bytes: no I/O, no log, no allocation. Buffers need
 * no NUL, and nothing is assumed about what is in them. -EBADMSG: not this format (also: cut
 * short); -ERANGE: a number does not fit. Results are untouched on failure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

/* Counters. */

/* The increase of a kernel counter of 32 or 64 bits: the one place that knows about wrapping. A
 * 32-bit counter that went down has wrapped if that makes an increase of at most max_step, else it
 * was reset. max_step: what this counter can do in this time, 0 when that is not known (then half
 * the range). 0, or -ERANGE: reset. */
int counter_delta(uint64_t before, uint64_t after, unsigned bits, uint64_t max_step, uint64_t *ret);

/* Numbers. */

/* A decimal number and at most one newline after it. */
int number_parse(const char *buf, size_t len, uint64_t *ret);

/* The value of `key` among lines "key value" (cpu.stat, memory.events, ...). -ENOENT: no such key.
 */
int keyvalue_parse(const char *buf, size_t len, const char *key, uint64_t *ret);

/* Sets of CPUs. */

#define CPUSET_MAX 8192 /* NR_CPUS of the distributions' kernels */
struct cpuset {
    uint64_t word[CPUSET_MAX / 64];
};
static inline bool cpuset_has(const struct cpuset *s, uint32_t cpu)
{
    return cpu < CPUSET_MAX && (s->word[cpu / 64] >> (cpu % 64) & 1);
}
static inline void cpuset_add(struct cpuset *s, uint32_t cpu)
{
    if (cpu < CPUSET_MAX)
        s->word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}
uint32_t cpuset_count(const struct cpuset *s);
/* Highest member + 1; 0 when empty. */
uint32_t cpuset_end(const struct cpuset *s);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
/* "0-3,8" and a newline; no members is an empty line. */
int cpulist_parse(const char *buf, size_t len, struct cpuset *ret);
/* "00000000,000000ff": words of 32 bits, the highest first. */
int cpumask_parse(const char *buf, size_t len, struct cpuset *ret);
/* The text of cpulist_parse, cut with "..." when it does not fit. Returns buf. */
const char *cpulist_format(char *buf, size_t size, const struct cpuset *s);

/* Pressure. */

struct psi_line {
    bool present;
    double avg10_pct, avg60_pct, avg300_pct;
    uint64_t us_total;
};
struct psi {
    struct psi_line some, full;
};
/* A file of /proc/pressure or a cgroup's *.pressure; at least one of the two lines. */
int psi_parse(const char *buf, size_t len, struct psi *ret);

/* Small files. */

/* The line "cpu " of /proc/stat, in ticks; guest time is a part of user and not in the sum. */
struct stat_cpu {
    uint64_t sum_total, steal_total;
};
int stat_cpu_parse(const char *buf, size_t len, struct stat_cpu *ret);
/* The first number of /proc/loadavg. */
int loadavg_parse(const char *buf, size_t len, double *ret);
/* Which word stands in brackets: "none [integrity] confidentiality" is 1. */
int choice_parse(const char *buf, size_t len, const char *const *words, size_t n, size_t *ret);
/* The path of version 2 in /proc/PID/cgroup, borrowed from buf; "/" is the root. -ENOENT: version 1
 * only; -EBADMSG: also a cgroup that is outside of this namespace or was removed. */
int cgroup_parse(const char *buf, size_t len, const char **ret_path, size_t *ret_len);

/* /proc/schedstat, row by row. */

/* The three kinds of balancing; versions print them in different orders. */
enum schedstat_idle { SCHEDSTAT_BUSY, SCHEDSTAT_IDLE, SCHEDSTAT_NEWIDLE, SCHEDSTAT_IDLE_TYPES };
/* Counters of one kind. Up to version 16 there is one imbalance, here _LOAD; the other three are 0.
 */
enum schedstat_lb {
    SCHEDSTAT_LB_COUNT,
    SCHEDSTAT_LB_BALANCED,
    SCHEDSTAT_LB_FAILED,
    SCHEDSTAT_LB_IMBALANCE_LOAD,
    SCHEDSTAT_LB_IMBALANCE_UTIL,
    SCHEDSTAT_LB_IMBALANCE_TASK,
    SCHEDSTAT_LB_IMBALANCE_MISFIT,
    SCHEDSTAT_LB_GAINED,
    SCHEDSTAT_LB_HOT_GAINED,
    SCHEDSTAT_LB_NOBUSYQ,
    SCHEDSTAT_LB_NOBUSYG,
    SCHEDSTAT_LB_COUNTERS
};
/* The 12 numbers at the end of a domain line. */
enum schedstat_tail {
    SCHEDSTAT_ALB_COUNT,
    SCHEDSTAT_ALB_FAILED,
    SCHEDSTAT_ALB_PUSHED,
    SCHEDSTAT_SBE_COUNT,
    SCHEDSTAT_SBE_BALANCED,
    SCHEDSTAT_SBE_PUSHED,
    SCHEDSTAT_SBF_COUNT,
    SCHEDSTAT_SBF_BALANCED,
    SCHEDSTAT_SBF_PUSHED,
    SCHEDSTAT_TTWU_WAKE_REMOTE,
    SCHEDSTAT_TTWU_MOVE_AFFINE,
    SCHEDSTAT_TTWU_MOVE_BALANCE,
    SCHEDSTAT_TAIL_COUNTERS
};

enum schedstat_kind {
    SCHEDSTAT_CPU,
    SCHEDSTAT_DOMAIN,
};
struct schedstat_row {
    enum schedstat_kind kind;
    uint32_t cpu;
    /* CPU: the first five are 32 bits wide and stand still while kernel.sched_schedstats is 0. */
    uint32_t yld_count, sched_count, sched_goidle, ttwu_count, ttwu_local;
    uint64_t rq_cpu_ns_total, run_delay_ns_total, pcount_total;
    /* Domain: all counters are 32 bits wide. Texts are borrowed from the buffer given to
     * schedstat_next(). */
    uint32_t domain;
    const char *name; /* empty before version 17 */
    size_t name_len;
    const char *span; /* mask text */
    size_t span_len;
    uint64_t identity; /* hash of cpu, index, name and span; of the CPU number for a CPU */
    uint32_t lb[SCHEDSTAT_IDLE_TYPES][SCHEDSTAT_LB_COUNTERS];
    uint32_t tail[SCHEDSTAT_TAIL_COUNTERS];
};

struct schedstat_layout; /* static */
struct schedstat_parser {
    uint64_t version;
    uint64_t timestamp;                    /* jiffies */
    const struct schedstat_layout *layout; /* NULL: version not known, see below */
    uint32_t lines, cpus;
    uint32_t cpu; /* of the last CPU line */
};

/* No line is longer: a mask of 8192 CPUs is 2303 characters. */
#define SCHEDSTAT_LINE_MAX 4096

/* Takes the next row out of buf[0..len); to be called again from buf + *ret_used on, with more
 * bytes behind it after a 0. Starts from a zeroed parser. 1  row filled; for a version that is not
 * known (above 17) there are CPU rows only, with nothing but the fields 7 to 9 (run time, run
 * delay, timeslices), and parser->layout is NULL 0  no complete line is left -EBADMSG, -ERANGE;
 * -EPROTONOSUPPORT: a version before 15 The row is scratch space: it is written to in every case.
 */
int schedstat_next(struct schedstat_parser *p, const char *buf, size_t len, size_t *ret_used,
                   struct schedstat_row *ret_row);
/* After the last byte, with the number of bytes that were left over. 0; -EBADMSG: the text was cut
 * short. */
int schedstat_finish(const struct schedstat_parser *p, size_t left);
