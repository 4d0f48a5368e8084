/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libinih with a reader of ours: every value and every error comes with its line, and what inih
 * would cut, join or guess is refused. Knows sections, keys and values, not what they mean. */
#pragma once

#include "config.h"
#include "util.h"

#include <stdio.h>

/* inih's own line buffer has 200 bytes, its section names 50: beyond that it cuts silently. */
enum { INIFILE_LINE_MAX = 197, INIFILE_SECTION_MAX = 49 };

struct ini_place {
    const char *file;    /* borrowed */
    unsigned line;       /* 0: the file as a whole */
    const char *section; /* borrowed; NULL or "": none yet */
    const char *key;     /* borrowed; NULL: none */
};

/* Both return 0, or a negative number after inifile_fail(); reading ends there. Strings live during
 * the call. */
struct inifile_ops {
    int (*section)(void *userdata, const struct ini_place *at);
    int (*value)(void *userdata, const struct ini_place *at, const char *value);
};

/* Reads to the end of f. 0, or what failed with *err filled: -EINVAL, -EIO, -EISDIR, ... Rules:
 * "[section]" and "key = value" start in the first column; # or ; as the first visible character,
 * or a ; after a blank anywhere, start a comment; the last line needs no newline; CRLF and a UTF-8
 * byte order mark are fine. */
int inifile_parse(FILE *f, const char *name, const struct inifile_ops *ops, void *userdata,
                  struct config_error *err);

/* Fills "FILE:LINE: [section] key: text" and returns -EINVAL. */
int inifile_fail(struct config_error *err, const struct ini_place *at, const char *fmt, ...)
    _printf_(3, 4);
