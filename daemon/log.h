/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line per event, to the journal with fields when the service manager gave us one, else to stderr. */
#pragma once

#include <stdint.h>
#include <syslog.h>

#include "util.h"

/* Most verbose level that is printed; default LOG_INFO. Also decides journal or stderr (JOURNAL_STREAM). */
void log_init(int max_level);

void log_msg(int level, const char *fmt, ...) _printf_(2, 3);
/* Logs with "%m" of -r (r is 0 or -errno) and returns r. */
int log_errno(int level, int r, const char *fmt, ...) _printf_(3, 4);

/* A decision or a write: message and structured fields. `id` is one of the 128-bit ids below as 32 hex digits;
 * NULL members are left out. */
struct log_event {
    const char *id;
    const char *knob, *old_value, *new_value, *reason, *trial, *class_;
};
void log_event(int level, const struct log_event *e, const char *fmt, ...) _printf_(3, 4);

#define LOG_ID_WRITE    "6f0b1c5e2a9d4c54b1d9a3f4c0e7a101" /* a knob was written */
#define LOG_ID_DECISION "6f0b1c5e2a9d4c54b1d9a3f4c0e7a102" /* accept, reject, abort, rollback, keep */
#define LOG_ID_FOREIGN  "6f0b1c5e2a9d4c54b1d9a3f4c0e7a103" /* somebody else wrote a knob */
#define LOG_ID_RESTORE  "6f0b1c5e2a9d4c54b1d9a3f4c0e7a104" /* an original was put back */
#define LOG_ID_MODE     "6f0b1c5e2a9d4c54b1d9a3f4c0e7a105" /* mode changed */
