/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the store. */
#pragma once

#include "store.h"

#include <sqlite3.h>

enum { STORE_SCHEMA = 1 };

enum store_statement { ST_BEGIN, ST_COMMIT, ST_WINDOW, ST_DECISION, ST_CLASS, ST_NOISE, ST_COUNT };

struct store {
    sqlite3 *db;                       /* owned */
    sqlite3_stmt *st[ST_COUNT];        /* owned */
    bool in_transaction;
    uint64_t since_ns;                 /* start of the open transaction, CLOCK_MONOTONIC */
    bool damaged;                      /* SQLite found the file to be damaged */
    char path[4096];
};

/* SQLite's code as -errno. */
int store_errno(const struct store *s, int rc);
/* Steps a statement without rows to its end and resets it. 0 or -errno. */
int store_run(struct store *s, sqlite3_stmt *st);
/* NaN is NULL, both ways. */
void store_bind(sqlite3_stmt *st, int at, double v);
double store_column(sqlite3_stmt *st, int at);
/* Opens the batch if none is open. */
int store_begin(struct store *s);
/* "name=value name=value", value NaN left out. */
void store_values_text(char *buf, size_t size, size_t n, const char *const *names, const double *values);
/* The value of `name` in such a text; NaN when it is not there. */
double store_values_find(const char *text, const char *name);
