/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pressure beyond an emergency level, told by the kernel's PSI triggers between two windows. */
#pragma once

#include "metric.h"
#include "sysio.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

enum emergency_kind { EMERGENCY_IO, EMERGENCY_MEMORY, EMERGENCY_COUNT };

struct emergency; /* opaque */

/* floor_pct: share of 2 s in which all tasks wait; 0: off. cb is called from the loop when a trigger fires, with the
 * share since the last call of emergency_mark() in percent. Where triggers are not to be had nothing is called. 0, or
 * -errno (memory, loop). *ret is owned by the caller. */
int emergency_new(struct emergency **ret, sd_event *e, const struct sysio *io, const double floor_pct[EMERGENCY_COUNT],
                  void (*cb)(enum emergency_kind kind, double pct, void *u), void *u);
struct emergency *emergency_free(struct emergency *m); /* returns NULL */
/* A window has ended: shares count from here. */
void emergency_mark(struct emergency *m);
/* "io" or "memory". */
const char *emergency_name(enum emergency_kind kind);
/* Is a trigger in place? */
bool emergency_is_armed(const struct emergency *m, enum emergency_kind kind);
