/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the knobs share: a tree, a journal, faults under both, and a kernel that answers to writes. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "fixture.h"
#include "knob_impl.h"
#include "log.h"

#include "fault.h"

#include "../daemon/sysio.c"
#include "../daemon/undo.c"

#define DBG  "/sys/kernel/debug/sched/"
#define COST DBG "migration_cost_ns"
#define BASE DBG "base_slice_ns"
#define SCALING DBG "tunable_scaling"

static struct fixture fx;
static struct sysio io;
static struct undo u;
static struct knobs ks;

/* Files that hold more than what was written to them. */
static FIXTURE_UNUSED const char *kernel(const char *path, const char *text, const char *before)
{
    static char after[4096];
    size_t n = strlen(path), at = 0;
    char *state = NULL, list[4096];
    bool feature = n > 8 && strcmp(path + n - 8, "features") == 0, preempt = n > 8 && strcmp(path + n - 8, "/preempt") == 0, known = false;

    if (strcmp(path, DBG "verbose") == 0 && strcmp(text, "Y") == 0)
        fixture_domains(&fx, DBG "domains", 4, false);
    if (!feature && !preempt)
        return text;
    const char *base = strncmp(text, "NO_", 3) == 0 ? text + 3 : text;
    (void)snprintf(list, sizeof list, "%s", before);
    after[0] = '\0';
    for (char *w = strtok_r(list, " ()\n", &state); w; w = strtok_r(NULL, " ()\n", &state)) {
        bool hit = feature ? strcmp(strncmp(w, "NO_", 3) == 0 ? w + 3 : w, base) == 0 : strcmp(w, text) == 0;
        known = known || hit;
        at += (size_t)snprintf(after + at, sizeof after - at, !hit ? "%s " : feature ? "%s " : "(%s) ", hit ? text : w);
    }
    return known ? after : NULL;
}

static FIXTURE_UNUSED void start(void)
{
    (void)undo_load(&u, fx.undo, "boot-1");
    knobs_init(&ks, &io, &u, false);
}

static FIXTURE_UNUSED void begin(enum fixture_kernel generation)
{
    fault_reset();
    fault.kernel = kernel;
    fixture_new(&fx, generation);
    assert_int_equal(sysio_init(&io, fx.root), 0);
    start();
}

static FIXTURE_UNUSED void begin_bare(void)
{
    fault_reset();
    fixture_bare(&fx);
    assert_int_equal(sysio_init(&io, fx.root), 0);
    start();
}

static FIXTURE_UNUSED int teardown(void **state)
{
    (void)state;
    fault_reset();
    sysio_done(&io);
    fixture_free(&fx);
    return 0;
}

static FIXTURE_UNUSED struct knob *knob(const char *name)
{
    struct knob *k = knobs_find(&ks, name);

    assert_non_null(k);
    return k;
}

static FIXTURE_UNUSED uint64_t number(const char *path)
{
    uint64_t v = 0;

    assert_int_equal(parse_u64(fixture_read(&fx, path), &v), 0);
    return v;
}

static FIXTURE_UNUSED bool wrote(const char *path_and_text)
{
    for (size_t i = 0; i < fault.n_writes; i++)
        if (strcmp(fault.writes[i], path_and_text) == 0)
            return true;
    return false;
}

/* A legal value that is not the original. */
static FIXTURE_UNUSED uint64_t other_value(const struct knob *k)
{
    if (k->def->kind == KNOB_WORD)
        return k->original == 2 ? 3 : 2; /* not every word is on every kernel */
    return k->original == k->def->safe_max ? k->def->safe_min : k->def->safe_max;
}

/* Calls f before the n-th system call of the following write, for every n: true if f ran. */
static FIXTURE_UNUSED bool write_with(long n, void (*f)(void), uint64_t value, int *ret)
{
    fault.calls = 0;
    fault.at = n;
    fault.hook = f;
    *ret = knob_write(&ks, knob("migration_cost_ns"), value, "test");
    fault.at = 0;
    return fault.calls >= n;
}
