/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks an objective for a few windows, so that a set-up can be tried before the daemon uses it. */
#include "objective.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"
#include "tunectl.h"
#include "util.h"

/* PostgreSQL publishes its counters at most once a second: shorter windows than 2 s would show
 * that, not the load. */
enum { TEST_WINDOWS = 5 };
#define TEST_WINDOW_NS (2 * NSEC_PER_SEC)

/* The profile of the command line, of the configuration, or the only one that names an application.
 */
static const struct profile *choose(const struct ctl *c, const struct config *config)
{
    if (c->n_words > 0)
        return config_profile(config, c->words[0]);
    if (strcmp(config->profile, "auto") != 0)
        return config_profile(config, config->profile);
    const struct profile *best = NULL;
    for (size_t i = 0; i < config->n_profiles; i++)
        if (!best || config->profiles[i].priority > best->priority)
            best = &config->profiles[i];
    return best;
}

int verb_objective_test(const struct ctl *c)
{
    struct config *config = NULL;
    struct sysio io;
    int code = settings_load(c, &config);

    if (code != CTL_OK)
        return code;
    const struct profile *p = choose(c, config);
    int r = sysio_init(&io, c->root);
    if (!p) {
        (void)fprintf(stderr,
                      "tunectl: there is no profile %.60s; tunectl profile list shows them\n",
                      c->n_words > 0 ? c->words[0] : "at all");
        code = CTL_USAGE;
    } else if (r < 0) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", c->root, strerror(-r));
        code = CTL_ERROR;
    } else {
        uint64_t window_ns =
            config->window_ns < TEST_WINDOW_NS ? config->window_ns : TEST_WINDOW_NS;
        (void)printf("profile %s, objective %s\n", p->name, p->objective);
        (void)fflush(stdout);
        /* What went wrong is in its output already. */
        code = objective_test(p, &io, TEST_WINDOWS, window_ns, stdout) < 0 ? CTL_ERROR : CTL_OK;
    }
    if (r == 0)
        sysio_done(&io);
    (void)config_free(config);
    return code;
}
