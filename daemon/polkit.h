/* SPDX-License-Identifier: GPL-2.0-or-later */
/* May the sender of a bus message do this?  Asked of polkit, without waiting. */
#pragma once

#include <systemd/sd-bus.h>

/* Asks, and later calls `allowed` with m, or answers m with AccessDenied: also where there is no polkit. Returns what a
 * method handler returns: 1 (answered later) or -errno. userdata: borrowed until then. */
int polkit_ask(sd_bus *bus, sd_bus_message *m, const char *action, int (*allowed)(sd_bus_message *m, void *userdata),
               void *userdata);
