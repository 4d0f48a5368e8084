/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --dump-config, --dump-defaults and the words of the modes. Everything that is printed reads back.
 */
#include "config_table.h"

#include <errno.h>
#include <string.h>

enum { WIDTH = 100 };

static int finish(FILE *f)
{
    return fflush(f) == 0 && !ferror(f) ? 0 : -EIO;
}

/* Text as comment lines of at most WIDTH columns. */
static void put_comment(FILE *f, const char *text)
{
    while (*text) {
        size_t n = strlen(text);

        if (n > WIDTH - 2)
            for (n = WIDTH - 2; n > 1 && text[n] != ' '; n--)
                ;
        (void)fprintf(f, "# %.*s\n", (int)n, text);
        for (text += n; *text == ' '; text++)
            ;
    }
}

static const char *section_text(const char *section)
{
    static const struct {
        const char *section, *text;
    } texts[] = {
        { "control", "What the daemon does and how often." },
        { "policy", "How a trial is judged. The defaults were chosen by simulation; most hosts "
                    "need no other." },
        { "safety", "What happens to the knobs when the daemon stops and starts." },
        { "emergency", "Pressure that ends a trial between two windows." },
        { "limits", "Bounds of every knob on this host, whatever a profile says. The value found "
                    "at boot may be outside; "
                    "it is put back as it was." },
        { "store", "/var/lib/tunerd/state.db" },
    };

    for (size_t i = 0; i < ELEMENTSOF(texts); i++)
        if (strcmp(texts[i].section, section) == 0)
            return texts[i].text;
    return "";
}

static void put_limits(FILE *f, const struct config *c)
{
    char text[100], line[120];

    (void)fprintf(f, "\n[limits]\n");
    if (!c)
        put_comment(f, section_text("limits"));
    for (size_t i = 0; i < knob_table_size; i++) {
        const struct knob_def *def = &knob_table[i];
        struct knob_range range = { .def = def, .min = def->safe_min, .max = def->safe_max };
        struct knob_range hard = { .def = def, .min = def->hard_min, .max = def->hard_max };

        if (c) {
            (void)fprintf(f, "%s = %s\n", def->name, range_format(&c->limit[i], text, sizeof text));
            continue;
        }
        (void)fputc('\n', f);
        put_comment(f, def->what);
        (void)snprintf(line, sizeof line, "at most %s", range_format(&hard, text, sizeof text));
        put_comment(f, line);
        (void)fprintf(f, "#%s = %s\n", def->name, range_format(&range, text, sizeof text));
    }
}

int config_dump_defaults(FILE *f)
{
    const char *section = "";
    char range[100];

    put_comment(f, "SPDX-License-Identifier: GPL-2.0-or-later");
    put_comment(f, "tunerd.conf: every option with its default. A value here overrides that of the "
                   "vendor's tunerd.conf, "
                   "option by option. See tunerd.conf(5).");
    put_comment(f, "# or ; as the first visible character starts a comment, and so does a ; after "
                   "a blank. Lines have at "
                   "most 197 bytes and begin in the first column. Times need a unit: ns, us, ms, "
                   "s, min, h, d.");
    for (size_t i = 0; i < config_options_size; i++) {
        const struct option *o = &config_options[i];

        if (strcmp(section, o->section) != 0) {
            if (strcmp(o->section, "store") == 0)
                put_limits(f, NULL);
            section = o->section;
            (void)fprintf(f, "\n[%s]\n", section);
            put_comment(f, section_text(section));
        }
        (void)fputc('\n', f);
        put_comment(f, o->help);
        if (*option_range(o, range, sizeof range))
            put_comment(f, range);
        (void)fprintf(f, "#%s = %s\n", o->key, o->text);
    }
    return finish(f);
}

static void put_options(FILE *f, const struct option *options, size_t n, const void *base,
                        const char *objective)
{
    const char *section = "";
    char text[CONFIG_TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        const struct option *o = &options[i];

        if (!option_belongs(o, objective))
            continue;
        (void)option_format(o, base, text, sizeof text);
        if (!*text) /* empty is the default of every text */
            continue;
        if (strcmp(section, o->section) != 0)
            (void)fprintf(f, "%s[%s]\n", i ? "\n" : "", o->section);
        section = o->section;
        (void)fprintf(f, "%s = %s\n", o->key, text);
    }
}

int config_dump_profile(const struct profile *p, FILE *f)
{
    char text[100];

    put_options(f, profile_options, profile_options_size, p, p->objective);
    (void)fprintf(f, "\n[guards]\n");
    for (size_t i = 0; i < p->n_guards; i++)
        (void)fprintf(f, "%s = %s\n", metric_info[p->guard[i].metric].name,
                      guard_format(&p->guard[i], text, sizeof text));
    (void)fprintf(f, "\n[knobs]\n");
    for (size_t i = 0; i < p->n_knobs; i++)
        (void)fprintf(f, "%s = %s\n", p->knob[i].def->name,
                      range_format(&p->knob[i], text, sizeof text));
    return finish(f);
}

/* A profile as comments, so that the whole is still a tunerd.conf. */
static int put_profile_comment(const struct profile *p, FILE *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *m = open_memstream(&text, &size);
    int r;

    if (!m)
        return -ENOMEM;
    r = config_dump_profile(p, m);
    if (fclose(m) != 0)
        r = -ENOMEM;
    if (r == 0) {
        (void)fprintf(f, "\n# profile %s: %s\n", p->name, p->path);
        for (char *line = text, *end; *line; line = end + (*end != '\0')) {
            end = line + strcspn(line, "\n");
            (void)fprintf(f, "#%s%.*s\n", end > line ? " " : "", (int)(end - line), line);
        }
    }
    free(text);
    return r;
}

int config_dump(const struct config *c, FILE *f)
{
    int r = 0;

    (void)fprintf(f, "# The configuration in force; read last: %s\n",
                  *c->path ? c->path : "built-in defaults");
    put_options(f, config_options, config_options_size, c, "");
    put_limits(f, c);
    for (size_t i = 0; i < c->n_profiles && r == 0; i++)
        r = put_profile_comment(&c->profiles[i], f);
    return r < 0 ? r : finish(f);
}

static const char *const mode_names[] = {
    [MODE_OBSERVE] = "observe",
    [MODE_TUNE] = "tune",
    [MODE_PAUSE] = "pause",
    [MODE_PAUSE_BASELINE] = "pause-baseline",
};

const char *mode_name(enum control_mode m)
{
    return mode_names[m];
}

int mode_parse(const char *s, enum control_mode *ret)
{
    for (unsigned i = 0; i < ELEMENTSOF(mode_names); i++) {
        if (strcmp(mode_names[i], s) == 0) {
            *ret = (enum control_mode)i;
            return 0;
        }
    }
    return -EINVAL;
}
