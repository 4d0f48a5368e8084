/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two ways of showing sensors share. */
#pragma once

#include <json.h>

#include "sysio.h"

/* The counters of one reading, exactly as read: see sensors_raw.c. Owned by the caller. */
struct json_object *sensors_raw(const struct sysio *io);
