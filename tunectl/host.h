/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this host offers, found without the daemon and without writing anything. */
#pragma once

#include "tunectl.h"

#include <json-c/json.h>
#include <stdio.h>

#include "knob.h"

struct host; /* opaque, owned by the caller */

/* CTL_OK with *ret, or the reason on stderr. */
int host_probe(const struct ctl *c, struct host **ret);
struct host *host_free(struct host *h); /* returns NULL; NULL is fine */

struct knob *host_knob(struct host *h, const char *name); /* borrowed; NULL: unknown */
const struct undo *host_undo(const struct host *h);       /* borrowed */
/* 0, or -errno when the journal could not be read (whole); this is on stderr already. */
int host_journal_error(const struct host *h);
const struct sysio *host_io(const struct host *h); /* borrowed */
bool host_is_tunable(const struct host *h);
/* Why nothing can be written, for people; "" when something can. Borrowed. */
const char *host_why_not(const struct host *h);

/* Tables of knobs and sensors. CTL_OK, CTL_NO_KNOB. */
int host_print(struct host *h, FILE *f, size_t width, bool colour);
/* The same as JSON: members host, knobs and sensors as in status.h. Owned by the caller. */
struct json_object *host_document(struct host *h);
