/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions of the store, for the verbs that show them. */
#pragma once

#include "tunectl.h"

#include <json-c/json.h>

#include "store.h"

/* Opens STATE/state.db for reading. CTL_OK with *ret (NULL: there is none yet), or the reason on
 * stderr. */
int history_open(const struct ctl *c, struct store **ret);
/* One decision as in status.h. Owned by the caller. */
struct json_object *history_document(const struct store_decision *d);
/* ln units of the evidence as percent. */
double history_percent(double ln);
const char *history_unit(const char *knob); /* "ns" or "" */
/* "+4.3 % (+1.2 % to +7.5 %), E 120 of 50, 6 quads"; "" when there is no evidence. Returns buf. */
const char *history_evidence(char *buf, size_t size, const struct tuner_evidence *e);
/* "postgresql/24"; a class without a load bucket is its profile. Returns buf. */
const char *history_class(char *buf, size_t size, const char *profile, int32_t bucket);
