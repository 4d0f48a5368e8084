/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Talking to the daemon, and knowing whether there is one. */
#pragma once

#include "tunectl.h"

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

/* A call takes at most this long; the second when polkit may ask a person (the daemon gives polkit
 * 60 s). */
#define CLIENT_TIMEOUT_US  (5 * UINT64_C(1000000))
#define CLIENT_PASSWORD_US (65 * UINT64_C(1000000))

/* Calls a method of the daemon on the system bus, arguments as for sd_bus_message_append. CTL_OK
 * with *ret owned by the caller; CTL_NO_DAEMON without a word on stderr (client_say_down() has
 * them); else the reason is on stderr. */
int client_call(sd_bus_message **ret, const char *method, const char *types, ...);

/* The daemon's document, text owned by the caller. Exit codes as client_call(). */
int client_status(char **ret);

/* Pid of the process that holds RUNTIME/lock, 0 when there is none. Takes no lock itself. */
pid_t client_lock_holder(const struct ctl *c);
/* Says on stderr that the daemon is not there, and what to do. */
void client_say_down(const struct ctl *c);
