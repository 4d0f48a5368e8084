/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of controllers and the loop that runs one against a plant.
 * Must not contain a controller. */
#include "ctl.h"

#include "tuner_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct ctl *const ctls[] = {
    &ctl_hillclimb, &ctl_fixed, &ctl_static, &ctl_oracle, &ctl_naive, &ctl_welch, &ctl_bandit, NULL,
};

const char *ctl_words(void)
{
    return "hillclimb, fixed, static:VALUE, oracle, naive, welch, bandit";
}

const struct ctl *ctl_find(const char *name, const char **ret_arg)
{
    size_t n = strcspn(name, ":");

    for (size_t i = 0; ctls[i]; i++) {
        if (strlen(ctls[i]->name) != n || strncmp(ctls[i]->name, name, n) != 0)
            continue;
        if ((name[n] == ':') != (ctls[i] == &ctl_static))
            return NULL;
        *ret_arg = name[n] ? name + n + 1 : NULL;
        return ctls[i];
    }
    return NULL;
}

size_t ctl_arms(const struct tuner_knob *knob, double *ret, size_t *ret_base)
{
    struct knob_arms arms;

    if (arms_init(&arms, knob) < 0)
        return 0;
    memcpy(ret, arms.value, sizeof arms.value);
    *ret_base = arms.base;
    return arms.n;
}

static int prepare(struct run *r, uint32_t n)
{
    if (r->n == n)
        return 0;
    run_done(r);
    r->relative = calloc(n, sizeof *r->relative);
    r->value = calloc(n, sizeof *r->value);
    r->objective = calloc(n, sizeof *r->objective);
    if (!r->relative || !r->value || !r->objective) {
        run_done(r);
        return -ENOMEM;
    }
    r->n = n;
    return 0;
}

void run_done(struct run *r)
{
    free(r->relative);
    free(r->value);
    free(r->objective);
    memset(r, 0, sizeof *r);
}

int ctl_run(struct plant *p, const struct ctl *c, const struct ctl_setup *setup, struct run *ret)
{
    struct tuner_window w = { 0 };
    void *ctl;
    int r = prepare(ret, p->n);

    if (r < 0)
        return r;
    ctl = c->new (setup);
    if (!ctl)
        return -EINVAL;
    ret->writes = 0;
    plant_rewind(p);
    for (uint32_t t = 0; t < p->n; t++) {
        ret->value[t] = p->value;
        plant_window(p, &w, &ret->relative[t]);
        ret->objective[t] = w.objective;
        ret->writes += plant_write(p, c->step(ctl, &w));
    }
    ret->moves = c->moves ? c->moves(ctl) : ret->writes;
    c->free(ctl);
    return 0;
}
