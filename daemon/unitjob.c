/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One question to org.freedesktop.systemd1. */
#include "unitjob.h"

#include "util.h"

#include <string.h>
#include <systemd/sd-bus.h>

#define MANAGER "org.freedesktop.systemd1"

static bool pending_job(sd_bus *bus, const char *unit, char *job, size_t size)
{
    _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *p = NULL;
    const char *path;
    uint32_t id;

    if (sd_bus_call_method(bus, MANAGER, "/org/freedesktop/systemd1", MANAGER ".Manager", "GetUnit", NULL, &m, "s", unit) < 0 ||
        sd_bus_message_read(m, "o", &path) < 0)
        return false;
    if (sd_bus_get_property(bus, MANAGER, path, MANAGER ".Unit", "Job", NULL, &p, "(uo)") < 0 ||
        sd_bus_message_read(p, "(uo)", &id, &path) < 0 || id == 0)
        return false;
    return copy_string(job, size, path);
}

bool unit_is_restarting(void)
{
    _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
    _cleanup_free_ char *type = NULL;
    const char *unit = getenv("TUNERD_UNIT");
    char job[256];

    if (sd_bus_open_system(&bus) < 0)
        return false;
    (void)sd_bus_set_method_call_timeout(bus, 2 * NSEC_PER_SEC / NSEC_PER_USEC);
    if (!pending_job(bus, unit ? unit : "tunerd.service", job, sizeof job))
        return false;
    if (sd_bus_get_property_string(bus, MANAGER, job, MANAGER ".Job", "JobType", NULL, &type) < 0)
        return false;
    return strcmp(type, "restart") == 0 || strcmp(type, "try-restart") == 0;
}
