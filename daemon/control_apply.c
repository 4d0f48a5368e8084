/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the knobs what the decision says, and finds out when somebody else did. The writing itself is knobs.c. */
#include "control.h"

#include "log.h"

#include <errno.h>
#include <string.h>

static int tuner_index(const struct control *c, const struct knob *k)
{
    for (uint8_t i = 0; i < c->n_tuned; i++)
        if (c->tuned[i] == k)
            return i;
    return -1;
}

/* Ends what is being tried with this knob; what must be in force now is the tuner's answer. */
static const struct tuner_decision *take(struct control *c, const struct knob *k)
{
    int i = tuner_index(c, k);

    if (i < 0 || c->taken[i])
        return NULL;
    c->taken[i] = true;
    return tuner_take_knob(c->tuner, (uint8_t)i);
}

/* Into status and store; the log has it from knobs.c, which found it out. */
static void record_foreign(struct control *c, const struct knob *k)
{
    char old[40], new[40], who[160], text[480];
    double ours = (double)k->foreign_old;

    (void)control_value_text(k, ours, old, sizeof old);
    (void)control_value_text(k, (double)k->foreign_value, new, sizeof new);
    if (k->foreign_pid > 0)
        (void)snprintf(who, sizeof who, "process %d (%s%s%s)", k->foreign_pid, *k->foreign_comm ? k->foreign_comm : "exited",
                       *k->foreign_unit ? " of " : "", k->foreign_unit);
    else
        (void)snprintf(who, sizeof who, "somebody else");
    (void)snprintf(text, sizeof text, "%s wrote %s: %s -> %s; it is left alone until `tunectl release %s`", who,
                   k->def->name, old, new, k->def->name);
    control_record_event(c, "foreign", k, ours, (double)k->foreign_value, "foreign", text);
}

/* One knob could not be written. RETRY: the next window tries again; everything else takes the knob away. */
static const struct tuner_decision *write_failed(struct control *c, struct knob *k, int r)
{
    char text[320];

    if (r == -ESTALE) {
        record_foreign(c, k);
        return take(c, k);
    }
    if (knob_fate(-r) == KNOB_FATE_RETRY)
        return NULL;
    (void)snprintf(text, sizeof text, "%s cannot be written (%s); it is left alone", k->def->name,
                   *k->reason ? k->reason : strerror(-r));
    (void)log_errno(LOG_WARNING, r, "%s", text);
    control_record_event(c, "refused", k, NAN, NAN, "refused", text);
    return take(c, k);
}

/* Writes until the tuner and the knobs agree; each round takes at least one knob away, so it ends. */
void control_apply(struct control *c, const struct tuner_decision *d)
{
    if (control_is_at_baseline(c))
        return;
    for (const struct tuner_decision *again = d; again;) {
        d = again;
        again = NULL;
        for (uint8_t i = 0; i < c->n_tuned && !again; i++) {
            if (!isfinite(d->value[i]) || c->taken[i] || c->tuned[i]->state != KNOB_OK)
                continue;
            int r = knob_write(&c->knobs, c->tuned[i], (uint64_t)llround(d->value[i]), tuner_reason_name(d->reason));
            if (r < 0)
                again = write_failed(c, c->tuned[i], r);
        }
    }
}

/* A knob that was taken away because it could not be written, with a value of ours in it: every window tries again to get its
 * original back. */
static void retry_way_back(struct control *c)
{
    c->stuck = 0;
    for (size_t i = 0; i < c->knobs.n; i++) {
        struct knob *k = &c->knobs.k[i];
        if (k->has_ours && k->ours != k->original && (k->state == KNOB_DENIED || k->state == KNOB_BROKEN))
            c->stuck += knob_write(&c->knobs, k, k->original, "way back") < 0;
    }
}

void control_verify(struct control *c)
{
    uint64_t rescaled = 0, changed = knobs_verify(&c->knobs, &rescaled);

    for (size_t i = 0; i < c->knobs.n; i++) {
        struct knob *k = &c->knobs.k[i];
        if (rescaled >> i & 1)
            log_msg(LOG_INFO, "knob %s: the kernel recomputed it to %lu; it is applied again", k->def->name, k->current);
        if (!(changed >> i & 1))
            continue;
        record_foreign(c, k);
        const struct tuner_decision *d = c->tuner ? take(c, k) : NULL;
        if (d)
            control_apply(c, d);
    }
    retry_way_back(c);
}

int control_release(struct control *c, const char *name)
{
    struct knob *k = knobs_find(&c->knobs, name);
    char text[320], value[40];

    if (!k)
        return -ENOENT;
    int r = knob_release(&c->knobs, k);
    if (r < 0)
        return r;
    (void)snprintf(text, sizeof text, "%s may be tuned again; its baseline is now %s", k->def->name,
                   control_value_text(k, (double)k->original, value, sizeof value));
    control_record_event(c, "release", k, NAN, (double)k->original, "release", text);
    int i = tuner_index(c, k);
    if (i >= 0 && c->taken[i]) {
        c->taken[i] = false;
        control_apply(c, tuner_give_knob(c->tuner, (uint8_t)i, (double)k->original));
    }
    return 0;
}

int control_restore(struct control *c)
{
    int r = control_set_mode(c, MODE_OBSERVE, 0);

    return r < 0 ? r : (int)c->unrestored;
}
