/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which host and which boot this is, from a few files below the root. */
#include "hostid.h"

#include "util.h"

#include <errno.h>
#include <string.h>

/* The first of these keys that /proc/cpuinfo has; arm64 names implementer and part, no model. */
static const char *const cpu_keys[] = { "model name", "Model", "CPU part" };

static void cpu_model(const struct sysio *io, char *buf, size_t size)
{
    char text[4096];

    (void)copy_string(buf, size, "unknown CPU");
    (void)sysio_read(io, "/proc/cpuinfo", text, sizeof text); /* -EFBIG leaves the beginning, which is enough */
    for (size_t i = 0; i < ELEMENTSOF(cpu_keys); i++) {
        char *at = strstr(text, cpu_keys[i]), *value = at ? strchr(at, ':') : NULL;
        if (!value)
            continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        (void)copy_string(buf, size, value);
        return;
    }
}

int hostid_kernel(const struct sysio *io, char *buf, size_t size)
{
    ssize_t n = sysio_read_line(io, "/proc/sys/kernel/osrelease", buf, size);

    if (n <= 0)
        (void)copy_string(buf, size, "unknown");
    return n < 0 ? (int)n : 0;
}

int hostid_boot(const struct sysio *io, char *buf, size_t size)
{
    ssize_t n = sysio_read_line(io, "/proc/sys/kernel/random/boot_id", buf, size);

    if (n <= 0)
        buf[0] = '\0';
    return n < 0 ? (int)n : 0;
}

int hostid_fingerprint(const struct sysio *io, char *buf, size_t size)
{
    char model[128], present[64], nodes[64], kernel[80];

    cpu_model(io, model, sizeof model);
    int r = hostid_kernel(io, kernel, sizeof kernel);
    if (sysio_read_line(io, "/sys/devices/system/cpu/present", present, sizeof present) <= 0)
        (void)copy_string(present, sizeof present, "unknown");
    if (sysio_read_line(io, "/sys/devices/system/node/possible", nodes, sizeof nodes) <= 0)
        (void)copy_string(nodes, sizeof nodes, "0");
    (void)snprintf(buf, size, "%s | cpus %s | nodes %s | %s", model, present, nodes, kernel);
    return r;
}
