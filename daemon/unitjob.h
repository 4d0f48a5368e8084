/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the service manager about to start this unit again? Asked when stopping, to tell a restart from a stop. */
#pragma once

#include <stdbool.h>

/* True when the unit ($TUNERD_UNIT or tunerd.service) has a pending job of type restart or try-restart (systemd 252 keeps it
 * through ExecStop and ExecStopPost). False without a bus, without a job, or on any error: then restoring is right. */
bool unit_is_restarting(void);
