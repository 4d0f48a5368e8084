/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who wrote a knob, as the kernel tells it (fanotify): at once and with the writer's pid. Where that is not to be had
 * (no privilege, a kernel without it) nothing is said and comparing values has to do. */
#pragma once

#include "knob.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

struct watch;

/* Watches every knob that has a home. For a write by another process foreign_pid (0: not told), foreign_comm and
 * foreign_unit are filled, then cb is called, once per knob and wakeup: the caller verifies. io and ks are borrowed until
 * watch_free. 0, also without fanotify; -errno is for memory and the event loop. *ret is owned by the caller. */
int watch_new(struct watch **ret, sd_event *e, const struct sysio *io, struct knobs *ks, void (*cb)(struct knob *k, void *u),
              void *u);
struct watch *watch_free(struct watch *w); /* returns NULL */

/* Does the kernel tell? `why`: a word for status when it does not. */
bool watch_is_active(const struct watch *w, const char **why);
