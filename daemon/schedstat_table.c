/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of the reading before, and the sums of what was added since. Does not log, allocates
 * on opening only. */
#include "schedstat_table.h"

#include <errno.h>
#include <string.h>

struct schedstat_cpu_before {
    uint32_t pass; /* of the reading that saw it; 0: none */
    uint32_t sched_count, sched_goidle, ttwu_count, ttwu_local;
    uint64_t rq_cpu_ns_total, run_delay_ns_total, pcount_total;
};
struct lb_before {
    uint32_t count, balanced, failed, gained, hot_gained;
};
struct schedstat_domain_before {
    uint64_t identity;
    uint32_t level;
    struct lb_before lb[SCHEDSTAT_IDLE_TYPES];
    uint32_t move_affine, wake_remote;
};

static void add64(uint64_t *sum, uint64_t before, uint64_t after, bool *reset)
{
    uint64_t d;

    if (counter_delta(before, after, 64, 0, &d) < 0)
        *reset = true;
    else
        *sum += d;
}

static void add32(uint64_t *sum, uint32_t before, uint32_t after, uint64_t max_step, bool *reset)
{
    uint64_t d;

    if (counter_delta(before, after, 32, max_step, &d) < 0)
        *reset = true;
    else
        *sum += d;
}

static int take_cpu(struct schedstat_table *t, const struct schedstat_row *row, uint64_t max_step,
                    struct schedstat_sums *s)
{
    struct schedstat_cpu_before *b;

    if (row->cpu >= t->cpu_room)
        return -ESTALE;
    b = &t->cpu[row->cpu];
    if (b->pass != 0 && b->pass == t->pass - 1) {
        add64(&s->run_ns, b->rq_cpu_ns_total, row->rq_cpu_ns_total, &s->cpu_reset);
        add64(&s->delay_ns, b->run_delay_ns_total, row->run_delay_ns_total, &s->cpu_reset);
        add64(&s->slices, b->pcount_total, row->pcount_total, &s->cpu_reset);
        add32(&s->sched, b->sched_count, row->sched_count, max_step, &s->cpu_reset);
        add32(&s->goidle, b->sched_goidle, row->sched_goidle, max_step, &s->cpu_reset);
        add32(&s->ttwu, b->ttwu_count, row->ttwu_count, max_step, &s->cpu_reset);
        add32(&s->ttwu_local, b->ttwu_local, row->ttwu_local, max_step, &s->cpu_reset);
    } else {
        s->cpus_changed = true;
    }
    *b = (struct schedstat_cpu_before){
        .pass = t->pass,
        .sched_count = row->sched_count,
        .sched_goidle = row->sched_goidle,
        .ttwu_count = row->ttwu_count,
        .ttwu_local = row->ttwu_local,
        .rq_cpu_ns_total = row->rq_cpu_ns_total,
        .run_delay_ns_total = row->run_delay_ns_total,
        .pcount_total = row->pcount_total,
    };
    s->cpus++;
    return 0;
}

/* What does not fit any more is counted with the last. */
static uint32_t find_level(struct schedstat_table *t, const struct schedstat_row *row)
{
    char name[sizeof t->level[0]];
    size_t i = 0;

    if (row->name_len > 0)
        (void)snprintf(name, sizeof name, "%.*s", (int)row->name_len, row->name);
    else
        (void)snprintf(name, sizeof name, "domain%u", row->domain);
    while (i < t->n_levels && strcmp(t->level[i], name) != 0)
        i++;
    if (i == SCHEDSTAT_LEVELS_MAX)
        return SCHEDSTAT_LEVELS_MAX - 1;
    if (i == t->n_levels)
        memcpy(t->level[t->n_levels++], name, sizeof name);
    return (uint32_t)i;
}

static int take_domain(struct schedstat_table *t, const struct schedstat_row *row,
                       uint64_t max_step, struct schedstat_sums *s)
{
    struct schedstat_domain_before *b;
    struct schedstat_level *l;
    bool *reset = &s->domain_reset;

    if (s->domains >= t->domain_room)
        return -ESTALE;
    b = &t->domain[s->domains++];
    if (b->identity != row->identity) {
        s->domains_changed = true;
        b->identity = row->identity;
        b->level = find_level(t, row);
    }
    l = &s->level[b->level];
    l->domains++;
    for (unsigned i = 0; i < SCHEDSTAT_IDLE_TYPES; i++) {
        const uint32_t *lb = row->lb[i];
        struct lb_before now = { lb[SCHEDSTAT_LB_COUNT], lb[SCHEDSTAT_LB_BALANCED],
                                 lb[SCHEDSTAT_LB_FAILED], lb[SCHEDSTAT_LB_GAINED],
                                 lb[SCHEDSTAT_LB_HOT_GAINED] };
        const struct lb_before *was = &b->lb[i];

        add32(&l->count[i], was->count, now.count, max_step, reset);
        add32(&l->balanced[i], was->balanced, now.balanced, max_step, reset);
        add32(&l->failed[i], was->failed, now.failed, max_step, reset);
        add32(&l->gained[i], was->gained, now.gained, max_step, reset);
        add32(&l->hot_gained[i], was->hot_gained, now.hot_gained, max_step, reset);
        b->lb[i] = now;
    }
    add32(&l->move_affine, b->move_affine, row->tail[SCHEDSTAT_TTWU_MOVE_AFFINE], max_step, reset);
    add32(&l->wake_remote, b->wake_remote, row->tail[SCHEDSTAT_TTWU_WAKE_REMOTE], max_step, reset);
    b->move_affine = row->tail[SCHEDSTAT_TTWU_MOVE_AFFINE];
    b->wake_remote = row->tail[SCHEDSTAT_TTWU_WAKE_REMOTE];
    return 0;
}

int schedstat_table_read(struct schedstat_table *t, const struct sysio *io, uint64_t max_step,
                         struct schedstat_sums *ret)
{
    struct schedstat_sums s = { 0 };
    struct schedstat_row row;
    int r = schedstat_rewind(&t->reader, io);

    if (r < 0)
        return r;
    t->pass++;
    while ((r = schedstat_read_row(&t->reader, &row)) > 0) {
        r = row.kind == SCHEDSTAT_CPU ? take_cpu(t, &row, max_step, &s)
                                      : take_domain(t, &row, max_step, &s);
        if (r < 0)
            break;
    }
    if (r < 0) {
        t->pass++; /* the table holds a mixture: no CPU was seen in the pass before the next */
        return r;
    }
    if (s.cpus != t->cpus)
        s.cpus_changed = true;
    if (s.domains != t->domains)
        s.domains_changed = true;
    t->cpus = s.cpus;
    t->domains = s.domains;
    *ret = s;
    return 0;
}

void schedstat_table_close(struct schedstat_table *t)
{
    schedstat_close(&t->reader);
    free(t->cpu);
    free(t->domain);
    t->cpu = NULL;
    t->domain = NULL;
}

static int make_room(struct schedstat_table *t, const struct sysio *io)
{
    struct schedstat_row row;
    struct cpuset possible;
    char text[4096];
    uint32_t domains_max = 1, rows = 0;
    int r;

    while ((r = schedstat_read_row(&t->reader, &row)) > 0) {
        if (row.cpu >= t->cpu_room)
            t->cpu_room = row.cpu + 1;
        if (row.kind != SCHEDSTAT_DOMAIN)
            continue;
        rows++;
        if (row.domain >= domains_max)
            domains_max = row.domain + 1;
    }
    if (r < 0)
        return r;
    ssize_t n = sysio_read(io, "/sys/devices/system/cpu/possible", text, sizeof text);
    if (n > 0 && cpulist_parse(text, (size_t)n, &possible) == 0 &&
        cpuset_end(&possible) > t->cpu_room)
        t->cpu_room = cpuset_end(&possible);
    t->domain_room = t->cpu_room * domains_max;
    if (t->domain_room < rows)
        t->domain_room = rows;
    t->cpu = calloc(t->cpu_room, sizeof *t->cpu);
    t->domain = calloc(t->domain_room, sizeof *t->domain);
    return t->cpu && t->domain ? 0 : -ENOMEM;
}

int schedstat_table_open(struct schedstat_table *t, const struct sysio *io)
{
    int r;

    t->reader.file.fd = -1;
    r = schedstat_open(&t->reader, io);
    if (r >= 0)
        r = make_room(t, io);
    if (r < 0)
        schedstat_table_close(t);
    return r;
}
