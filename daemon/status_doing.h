/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sentence: what the daemon is doing, and why. */
#pragma once

#include <stddef.h>

struct control;
void status_doing(const struct control *c, char *buf, size_t size);
