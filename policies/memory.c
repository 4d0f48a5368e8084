/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is remembered per class: incumbents, effects, back-offs, unfinished tests.
 * Must not decide; a table with eviction of what was not seen for longest. */
#include "tuner_state.h"

#include "stat.h"

#include <math.h>
#include <string.h>

struct class_memory *memory_find(struct tuner *t, uint32_t workload, int32_t bucket)
{
    for (size_t i = 0; i < TUNER_CLASSES_MAX; i++) {
        struct class_memory *c = &t->class[i];

        if (c->used && c->workload == workload && c->bucket == bucket)
            return c;
    }
    return NULL;
}

static struct class_memory *free_slot(struct tuner *t)
{
    struct class_memory *oldest = NULL;

    for (size_t i = 0; i < TUNER_CLASSES_MAX; i++) {
        struct class_memory *c = &t->class[i];

        if (!c->used)
            return c;
        if (c != t->active && (!oldest || c->seen_at < oldest->seen_at))
            oldest = c;
    }
    return oldest;
}

static void add_hints(struct tuner *t, struct class_memory *c, int32_t bucket)
{
    struct class_memory *near = memory_find(t, c->workload, bucket);

    if (!near)
        return;
    for (uint8_t i = 0; i < t->n_knobs; i++) {
        struct knob_memory *k = &c->knob[i];

        if (near->knob[i].incumbent != t->arms[i].base)
            k->hint[k->n_hints++] = near->knob[i].incumbent;
    }
}

struct class_memory *memory_new(struct tuner *t, uint32_t workload, int32_t bucket)
{
    struct class_memory *c = free_slot(t);

    memset(c, 0, sizeof *c);
    c->workload = workload;
    c->bucket = bucket;
    c->seen_at = t->now;
    for (uint8_t i = 0; i < t->n_knobs; i++) {
        c->knob[i].incumbent = t->arms[i].base;
        c->knob[i].down_first = stat_uniform(&t->rng) < 0.5;
        for (size_t j = 0; j < TUNER_ARMS_MAX; j++)
            c->knob[i].arm[j].against = TUNER_NO_ARM;
    }
    for (size_t i = 0; i < TUNER_GUARDS_MAX; i++)
        c->guard_ref[i] = NAN;
    if (bucket != LOAD_UNKNOWN) {
        add_hints(t, c, bucket - 1);
        add_hints(t, c, bucket + 1);
    }
    c->used = true;
    return c;
}

struct open_test *memory_test(struct tuner *t, struct class_memory *c, uint8_t knob,
                              uint8_t candidate)
{
    uint8_t incumbent = c->knob[knob].incumbent;
    struct open_test *slot = NULL;

    for (size_t i = 0; i < TUNER_OPEN_TESTS; i++) {
        struct open_test *o = &c->test[i];

        if (o->used && o->knob == knob && o->candidate == candidate && o->incumbent == incumbent) {
            o->at = t->now;
            return o;
        }
        if (!slot || (slot->used && (!o->used || o->at < slot->at)))
            slot = o;
    }
    *slot = (struct open_test){
        .used = true,
        .knob = knob,
        .candidate = candidate,
        .incumbent = incumbent,
        .at = t->now,
    };
    return slot;
}

void memory_close(struct class_memory *c, uint8_t knob, uint8_t candidate, uint8_t incumbent)
{
    for (size_t i = 0; i < TUNER_OPEN_TESTS; i++) {
        struct open_test *o = &c->test[i];

        if (o->knob == knob && o->candidate == candidate && o->incumbent == incumbent)
            o->used = false;
    }
}

void memory_backoff(struct tuner *t, struct class_memory *c, uint8_t knob, uint8_t arm)
{
    struct arm_record *a = &c->knob[knob].arm[arm];
    uint32_t last = a->backoff > 0 ? a->backoff : t->k.retest_first / 2;

    a->backoff = last > t->k.retest_max / 2 ? t->k.retest_max : 2 * last;
    a->ok_at = t->now + (uint64_t)(a->backoff * (0.8 + 0.4 * stat_uniform(&t->rng)));
}

/* A value that was proved before returns sooner than a rejected one: a disturbance may have cost it
 * its place. It has to pass a whole test again.  Without a load signal nothing tells a disturbance
 * from another load. */
void memory_return(struct tuner *t, struct class_memory *c, uint8_t knob, uint8_t arm)
{
    struct arm_record *a = &c->knob[knob].arm[arm];
    uint32_t again = c->n_rollbacks > 0 ? c->n_rollbacks - 1u : 0;

    if (t->k.retest_rollback >= t->k.retest_first || c->bucket == LOAD_UNKNOWN) {
        memory_backoff(t, c, knob, arm);
        return;
    }
    a->backoff = t->k.retest_rollback << (2 * again);
    a->ok_at = t->now + (uint64_t)(a->backoff * (0.8 + 0.4 * stat_uniform(&t->rng)));
}

/* The knob is somebody else's, or has another baseline: what was known about it is void. */
void memory_forget_knob(struct tuner *t, struct class_memory *c, uint8_t knob)
{
    struct knob_memory *k = &c->knob[knob];
    bool moved = k->incumbent != t->arms[knob].base, down_first = k->down_first;

    memset(k, 0, sizeof *k);
    k->incumbent = t->arms[knob].base;
    k->down_first = down_first;
    for (size_t j = 0; j < TUNER_ARMS_MAX; j++)
        k->arm[j].against = TUNER_NO_ARM;
    memset(c->test, 0, sizeof c->test); /* the others were measured beside it */
    if (!moved)
        return;
    c->joint_due = false;
    c->load_shift = 0.0; /* the next check tells */
    if (arms_is_baseline(t, c))
        c->gain = 0.0;
    else
        c->check_at = t->now;
}
