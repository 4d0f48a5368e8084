/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the configuration for verbs that need it, and lists its profiles. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "text.h"

int settings_load(const struct ctl *c, struct config **ret)
{
    struct config_error e = { 0 };
    const char *vendor = c->config_dir ? c->config_dir : CONFIG_VENDOR_DIR;

    if (config_load(vendor, c->config_dir ? NULL : CONFIG_LOCAL_DIR, c->config, ret, &e) == 0)
        return CTL_OK;
    (void)fprintf(stderr, "tunectl: %s\n", e.text);
    return CTL_USAGE;
}

static void print_profile(const struct profile *p)
{
    char names[256] = "";

    for (size_t i = 0; i < p->n_match; i++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                       p->match_command[i]);
    }
    (void)printf("%-16s %s\n", p->name, p->description);
    (void)printf("%-16s runs: %s; objective %s; %zu knobs, %zu guards; priority %u; %s\n", "",
                 *names ? names : "any", p->objective, p->n_knobs, p->n_guards, p->priority,
                 p->path);
}

static struct json_object *describe_profile(const struct profile *p)
{
    struct json_object *o = json_object_new_object();
    struct json_object *knobs = json_object_new_array(), *commands = json_object_new_array();

    doc_add_text(o, "name", p->name);
    doc_add_text(o, "path", p->path);
    doc_add_text(o, "description", p->description);
    doc_add_number(o, "priority", p->priority);
    doc_add_text(o, "objective", p->objective);
    for (size_t i = 0; i < p->n_match; i++)
        (void)json_object_array_add(commands, json_object_new_string(p->match_command[i]));
    (void)json_object_object_add(o, "commands", commands);
    for (size_t i = 0; i < p->n_knobs; i++) {
        struct json_object *k = json_object_new_object();
        doc_add_text(k, "name", p->knob[i].def->name);
        doc_add_number(k, "min", (double)p->knob[i].min);
        doc_add_number(k, "max", (double)p->knob[i].max);
        (void)json_object_array_add(knobs, k);
    }
    (void)json_object_object_add(o, "knobs", knobs);
    return o;
}

int verb_profile_list(const struct ctl *c)
{
    struct config *config = NULL;
    _cleanup_doc_ struct json_object *doc = NULL;
    int code = settings_load(c, &config);

    if (code != CTL_OK)
        return code;
    if (c->json) {
        struct json_object *list = json_object_new_array();
        doc = json_object_new_object();
        for (size_t i = 0; i < config->n_profiles; i++)
            (void)json_object_array_add(list, describe_profile(&config->profiles[i]));
        (void)json_object_object_add(doc, "profiles", list);
        doc_print(doc);
    } else {
        for (size_t i = 0; i < config->n_profiles; i++)
            print_profile(&config->profiles[i]);
    }
    (void)config_free(config);
    return CTL_OK;
}
