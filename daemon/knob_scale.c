/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the kernel rescales slices: at CPU hotplug and domain rebuild it sets value = factor * normalized; writing
 * tunable_scaling sets normalized = value / factor and leaves the value. This file computes, it writes nothing. */
#include "knob_impl.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { SCALE_CPUS_MAX = 8, /* get_update_sysctl_factor() counts no more */
       SCALE_NONE = 0, SCALE_LOG = 1, SCALE_LINEAR = 2 };

/* "0-3,6" -> 5; 0 when it is not such a list. */
static unsigned int count_cpus(const char *list)
{
    unsigned long n = 0;

    while (*list) {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (end == list)
            return 0;
        if (*end == '-') {
            list = end + 1;
            last = strtoul(list, &end, 10);
            if (end == list)
                return 0;
        }
        if (last < first || last > 1000000 || (*end != ',' && *end != '\0'))
            return 0;
        n += last - first + 1;
        list = *end == ',' ? end + 1 : end;
    }
    return (unsigned int)n;
}

struct knob_scale knob_scale_read(const struct sysio *io, const char *commit_path)
{
    struct knob_scale s = { .mode = -1 };
    char buf[4096];
    uint64_t mode;

    if (!commit_path || sysio_read_line(io, commit_path, buf, sizeof buf) < 0 || parse_u64(buf, &mode) < 0 ||
        mode > SCALE_LINEAR)
        return s;
    if (sysio_read_line(io, "/sys/devices/system/cpu/online", buf, sizeof buf) < 0)
        return s;
    s.cpus = count_cpus(buf);
    if (s.cpus > 0)
        s.mode = (int)mode;
    return s;
}

static uint64_t factor(int mode, unsigned int cpus)
{
    uint64_t f = 1;

    if (cpus > SCALE_CPUS_MAX)
        cpus = SCALE_CPUS_MAX;
    if (mode == SCALE_LINEAR)
        return cpus;
    if (mode == SCALE_LOG)
        for (; cpus > 1; cpus /= 2)
            f++;
    return f;
}

uint64_t knob_scale_value(uint64_t value, struct knob_scale from, struct knob_scale to)
{
    /* A change of the mode leaves the value as it is until the next hotplug, and takes it for the new norm. */
    if (from.mode < 0 || from.mode != to.mode)
        return value;
    uint64_t a = factor(from.mode, from.cpus), b = factor(to.mode, to.cpus);
    return a == b ? value : value / a * b;
}

bool knob_scale_explains(uint64_t value, struct knob_scale at, struct knob_scale now, uint64_t current)
{
    if (now.mode < 0)
        return false;
    /* While a CPU goes down, the kernel counts it for the last time. */
    for (unsigned int n = now.cpus; n <= now.cpus + (at.cpus != now.cpus); n++) {
        uint64_t f = factor(now.mode, n);
        if (at.mode == now.mode) {
            if (value / factor(at.mode, at.cpus) * f == current)
                return true;
            continue;
        }
        for (unsigned int c = 1; c <= SCALE_CPUS_MAX; c++)
            if (value / factor(now.mode, c) * f == current)
                return true;
    }
    return false;
}

void knob_scale_format(char *buf, size_t size, struct knob_scale s)
{
    if (s.mode < 0)
        (void)copy_string(buf, size, "");
    else
        (void)snprintf(buf, size, "%d/%u", s.mode, s.cpus);
}

struct knob_scale knob_scale_parse(const char *s)
{
    struct knob_scale none = { .mode = -1 };
    uint64_t cpus;

    if (s[0] < '0' || s[0] > '2' || s[1] != '/' || parse_u64(s + 2, &cpus) < 0 || cpus == 0 || cpus > 1000000)
        return none;
    return (struct knob_scale){ .mode = s[0] - '0', .cpus = (unsigned int)cpus };
}

bool knob_same(const struct knob *k, uint64_t a, uint64_t b)
{
    uint64_t apart = a > b ? a - b : b - a;

    return apart == 0 || (k->def->scaled && apart < SCALE_CPUS_MAX);
}
