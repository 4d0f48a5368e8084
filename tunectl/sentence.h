/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One decision of the store as a sentence for people. */
#pragma once

#include <stddef.h>

#include "store.h"

/* "62.5us replaced 500us in postgresql/14: the test passed; +16.1 % (+5.1 % to +28.2 %), ...".
 * Returns buf. */
const char *sentence(char *buf, size_t size, const struct store_decision *d);
