/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store remembers of this host's classes. */
#pragma once

#include "tunectl.h"

#include "store.h"

/* Calls f for each class learned on the host below c->root, until it returns non-zero. s may be
 * NULL. 0 or -errno. */
int learned_each(const struct ctl *c, struct store *s,
                 int (*f)(const struct store_class *k, void *u), void *u);
/* "62.5us in postgresql/14 (gain +16.1 %), ..."; "" when nothing is known. 0 or -errno. */
int learned_of_knob(const struct ctl *c, struct store *s, const char *knob, char *buf, size_t size);
