/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration as the options of the command line choose it. */
#pragma once

#include "tunectl.h"

#include "config.h"

/* CTL_OK with *ret owned by the caller (config_free); CTL_USAGE with the reason on stderr. */
int settings_load(const struct ctl *c, struct config **ret);
