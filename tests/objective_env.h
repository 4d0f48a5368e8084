/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the objectives share: a directory as the root, a profile, a loop, a counter of `done`. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "objective.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

struct env {
    struct sysio io;
    struct profile p;
    struct objective o;
    sd_event *event;
    unsigned done;
    char dir[64];
};

static int setup(void **state)
{
    struct env *e = calloc(1, sizeof *e);

    strcpy(e->dir, "/tmp/tunerd-test.XXXXXX");
    assert_non_null(mkdtemp(e->dir));
    assert_int_equal(sysio_init(&e->io, e->dir), 0);
    assert_true(sd_event_new(&e->event) >= 0);
    *state = e;
    return 0;
}
static int teardown(void **state)
{
    struct env *e = *state;
    char command[128];

    objective_close(&e->o);
    sd_event_unref(e->event);
    sysio_done(&e->io);
    snprintf(command, sizeof command, "rm -rf %s", e->dir);
    assert_int_equal(system(command), 0);
    free(e);
    return 0;
}

static void on_done(struct objective *o, void *userdata)
{
    (void)o;
    ++*(unsigned *)userdata;
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
