/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches profiles against the processes below /proc. Never called in a tick: it reads one small file a process. */
#include "workload.h"

#include "util.h"

#include <string.h>

static bool matches(const struct profile *p, const char *comm)
{
    for (size_t i = 0; i < p->n_match; i++)
        if (strcmp(p->match_command[i], comm) == 0)
            return true;
    return false;
}

struct scan {
    const struct sysio *io;
    const struct config *config;
    int32_t pid[CONFIG_PROFILES_MAX]; /* first process found for each profile */
};

static ssize_t read_comm(const struct sysio *io, const char *pid, char *comm, size_t size)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    return sysio_read_line(io, path, comm, size);
}

static int scan_process(const char *name, void *userdata)
{
    struct scan *s = userdata;
    char comm[64];
    uint64_t pid;

    if (parse_u64(name, &pid) < 0 || pid > INT32_MAX || read_comm(s->io, name, comm, sizeof comm) <= 0)
        return 0;
    for (size_t i = 0; i < s->config->n_profiles; i++)
        if (s->pid[i] == 0 && matches(&s->config->profiles[i], comm))
            s->pid[i] = (int32_t)pid;
    return 0;
}

const struct profile *workload_match(const struct sysio *io, const struct config *c, int32_t *ret_pid, char *why, size_t size)
{
    struct scan s = { .io = io, .config = c };
    const struct profile *best = NULL;
    int32_t pid = 0;

    (void)sysio_each(io, "/proc", scan_process, &s);
    for (size_t i = 0; i < c->n_profiles; i++) {
        const struct profile *p = &c->profiles[i];
        if (p->n_match > 0 && s.pid[i] == 0)
            continue;
        if (!best || p->priority > best->priority) {
            best = p;
            pid = s.pid[i];
        }
    }
    if (best && pid > 0) {
        char number[16], comm[64] = "";
        (void)snprintf(number, sizeof number, "%d", pid);
        (void)read_comm(io, number, comm, sizeof comm);
        (void)snprintf(why, size, "command %s is running (process %d)", comm, pid);
    } else if (best) {
        (void)snprintf(why, size, "no other profile matches what is running");
    } else {
        (void)snprintf(why, size, "no profile matches what is running");
    }
    *ret_pid = pid;
    return best;
}

bool workload_still_there(const struct sysio *io, const struct config *c, const struct profile *p, int32_t pid)
{
    char number[16], comm[64];

    if (pid == 0)
        return false;
    for (size_t i = 0; i < c->n_profiles; i++)
        if (c->profiles[i].n_match > 0 && c->profiles[i].priority > p->priority)
            return false;
    (void)snprintf(number, sizeof number, "%d", pid);
    return read_comm(io, number, comm, sizeof comm) > 0 && matches(p, comm);
}
