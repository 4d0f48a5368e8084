/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs are online, and how many packages and NUMA nodes they are in. A change disturbs the
 * window. */
#include "kept.h"
#include "procparse.h"
#include "sensor_impl.h"

#include <string.h>

#define ONLINE_PATH  "/sys/devices/system/cpu/online"
#define NODES_PATH   "/sys/devices/system/node/online"
#define PACKAGES_MAX 256

struct topology_sensor {
    struct kept online;
    struct cpuset cpus;
    bool started;
    struct topology facts;
};

/* Packages that have an online CPU. Firmware numbers them as it likes (-1 too), so their texts are
 * compared. */
static uint32_t count_packages(const struct sysio *io, const struct cpuset *cpus)
{
    char seen[PACKAGES_MAX][16];
    uint32_t n = 0, end = cpuset_end(cpus);

    for (uint32_t cpu = 0; cpu < end; cpu++) {
        char path[96], id[16];
        uint32_t i = 0;

        if (!cpuset_has(cpus, cpu))
            continue;
        (void)snprintf(path, sizeof path,
                       "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
        if (sysio_read_line(io, path, id, sizeof id) <= 0)
            continue;
        while (i < n && strcmp(seen[i], id) != 0)
            i++;
        if (i == n && n < PACKAGES_MAX)
            memcpy(seen[n++], id, sizeof id);
    }
    return n > 0 ? n : 1; /* a host that does not say has one */
}

/* A kernel without CONFIG_NUMA has no such directory: one node. */
static uint32_t count_nodes(const struct sysio *io)
{
    char text[1024];
    struct cpuset nodes;
    ssize_t n = sysio_read(io, NODES_PATH, text, sizeof text);

    if (n < 0 || cpulist_parse(text, (size_t)n, &nodes) < 0 || cpuset_count(&nodes) == 0)
        return 1;
    return cpuset_count(&nodes);
}

static int topology_open(struct sensor *s, const struct sysio *io)
{
    struct topology_sensor *t = s->private;
    int r;

    t->online.fd = -1;
    r = kept_open(&t->online, io, ONLINE_PATH);
    return r < 0 ? sensor_say_errno(s, r, ONLINE_PATH) : 0;
}

static void topology_close(struct sensor *s)
{
    struct topology_sensor *t = s->private;

    kept_close(&t->online);
}

static int topology_read(struct sensor *s, const struct sysio *io, struct window *w)
{
    struct topology_sensor *t = s->private;
    struct cpuset now;
    char text[4096];
    int r;

    ssize_t n = kept_read(&t->online, io, text, sizeof text);
    r = n < 0 ? (int)n : cpulist_parse(text, (size_t)n, &now);
    if (r < 0)
        return sensor_say_errno(s, r, ONLINE_PATH);
    if (!t->started || !cpuset_equal(&now, &t->cpus)) {
        if (t->started)
            window_disturb(w, "a CPU went online or offline");
        t->cpus = now;
        t->started = true;
        t->facts = (struct topology){
            .cpus_online = cpuset_count(&now),
            .packages = count_packages(io, &now),
            .nodes = count_nodes(io),
        };
        (void)cpulist_format(t->facts.online, sizeof t->facts.online, &now);
    }
    window_set(w, METRIC_CPUS_ONLINE, t->facts.cpus_online);
    (void)sensor_say(s, SENSOR_OK, 0, "%s", "");
    return 0;
}

void sensors_topology(const struct sensors *ss, struct topology *ret)
{
    struct topology facts = { 0 };

    for (size_t i = 0; i < ss->n; i++)
        if (ss->s[i].def == &sensor_topology)
            facts = ((const struct topology_sensor *)ss->s[i].private)->facts;
    *ret = facts;
}

const struct sensor_def sensor_topology = {
    .name = "topology",
    .what = "CPUs online, packages and NUMA nodes",
    .size = sizeof(struct topology_sensor),
    .open = topology_open,
    .read = topology_read,
    .close = topology_close,
};
