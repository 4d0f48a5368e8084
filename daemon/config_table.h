/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option tables of tunerd.conf and of profiles, and what turns the text of a value into the
 * member and back. For the files that make up config.h and for tests; nobody else needs it. */
#pragma once

#include "config.h"
#include "inifile.h"

enum option_type {
    OPT_NS,         /* uint64_t: duration with unit */
    OPT_BYTES,      /* uint64_t: size with unit K, M, G */
    OPT_U64,        /* uint64_t */
    OPT_U32,        /* uint32_t */
    OPT_DOUBLE,     /* double */
    OPT_RATIO,      /* double: "1%" is 0.01 */
    OPT_PERCENT,    /* double: "1%" is 1 */
    OPT_BOOL,       /* bool */
    OPT_WORD,       /* enum: index of the word in .words */
    OPT_TEXT,       /* char[]: anything that fits; with .words: one of these */
    OPT_CONNECTION, /* char[]: conninfo texts separated by ';', kept as "A ; B" */
    OPT_COMMANDS,   /* char[][16] with a count: struct profile's match_command */
};

struct option {
    const char *section, *key;
    enum option_type type;
    size_t offset, size;      /* of the member, in struct config or struct profile */
    const char *text;         /* default, as it would stand in the file */
    double min, max;          /* in the member's unit */
    const char *const *words; /* NULL-terminated */
    const char *only;         /* profiles: objective types that it belongs to, "a or b"; NULL: any */
    const char *help;
};

extern const struct option config_options[];
extern const size_t config_options_size;
extern const struct option profile_options[];
extern const size_t profile_options_size;

/* Why a value is refused: "reason; what to do". */
struct option_why {
    char text[400];
};

/* Text into the member of *base. 0, or -EINVAL with *why filled and *base untouched. */
int option_set(const struct option *o, void *base, const char *text, struct option_why *why);
/* The member as text that option_set() reads back to the same. Returns buf. */
const char *option_format(const struct option *o, const void *base, char *buf, size_t size);
/* "100ms .. 10min", "observe | tune", or "" where there is nothing to say. Returns buf. */
const char *option_range(const struct option *o, char *buf, size_t size);

/* "MIN .. MAX" in the unit of the knob, within its hard bounds. */
int range_set(const struct knob_def *def, const char *text, struct knob_range *ret,
              struct option_why *why);
const char *range_format(const struct knob_range *r, char *buf, size_t size);
/* "-5%", "+25%", "+5 points": the sign is the bad direction. ->metric is left to the caller. */
int guard_set(const char *text, struct profile_guard *ret, struct option_why *why);
const char *guard_format(const struct profile_guard *g, char *buf, size_t size);

/* -EINVAL with why->text. */
int option_refuse(struct option_why *why, const char *fmt, ...) _printf_(2, 3);

/* The text of one number; what is said of an example is "write WHAT". */
int value_number(const char *text, const char *what, double *ret, struct option_why *why);
int value_percent(const char *text, double *ret, struct option_why *why); /* "5%" is 5; "0" */
int value_duration(const char *text, uint64_t *ret_ns, struct option_why *why);
int value_whole(const char *text, uint64_t *ret, struct option_why *why);
const char *format_number(char *buf, size_t size, double v, double scale);

/* K, M and G, largest first. */
struct byte_unit {
    const char *name;
    uint64_t factor;
};
extern const struct byte_unit byte_units[3];

/* "did you mean 'X'?" with the nearest of the names, or "known are: ...". Returns buf. */
const char *names_hint(const char *const *names, size_t n, const char *name, char *buf,
                       size_t size);

enum { OPTIONS_MAX = 32 };

/* One file on its way through a table. */
struct option_reader {
    const struct option *options; /* static */
    size_t n_options;
    void *base;                  /* borrowed: the structure that is filled */
    const char *const *sections; /* static, NULL-terminated: every known section */
    unsigned section_line[8];    /* 0: not seen yet */
    unsigned line[OPTIONS_MAX];  /* where each option stands; 0: nowhere */
    struct config_error *err;    /* borrowed */
    /* Sections whose keys are names of knobs or metrics. 0, or what inifile_fail() says. */
    int (*named)(struct option_reader *r, const struct ini_place *at, const char *value);
};

/* Opens and parses. 1: done; 0: there is no such file; -errno with r->err filled. trusted: the file
 * must belong to root and be written by nobody else. */
int option_reader_file(struct option_reader *r, const char *path, bool trusted);
/* Every option of the table to its default. */
void options_default(const struct option *options, size_t n, void *base);
/* A key that stands twice, on the line given first; and one that is not known among the names. */
int refuse_twice(struct option_reader *r, const struct ini_place *at, unsigned first);
int refuse_unknown(struct option_reader *r, const struct ini_place *at, const char *what,
                   const char *const *names, size_t n);

/* NULL: fine; else why a file or directory with these rights is not to be trusted. */
struct stat;
const char *config_distrust(const struct stat *st);

/* Reads DIR/profiles... into c: names that c has already stay, so the directory that overrides
 * comes first. */
int profiles_read(struct config *c, const char *dir, bool trusted, struct config_error *err);

/* Does the option mean something with this type of objective? */
bool option_belongs(const struct option *o, const char *objective);
