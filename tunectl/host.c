/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes knobs and sensors as the daemon does at its start, and describes them in the daemon's
 * words. Writes nothing, neither knobs nor the journal. */
#include "host.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "doc.h"
#include "hostid.h"
#include "render.h"
#include "sensor.h"
#include "text.h"
#include "util.h"

struct host {
    struct sysio io;
    struct undo undo;
    int journal_error; /* 0 or -errno */
    struct knobs knobs;
    struct sensors sensors;
    struct topology topology;
    struct window window;
    char kernel[128];
    char why_not[256];
};

static void load_journal(const struct ctl *c, struct host *h)
{
    char path[4096], boot_id[64];

    (void)hostid_boot(&h->io, boot_id, sizeof boot_id);
    (void)snprintf(path, sizeof path, "%s/undo", c->runtime_dir);
    if (access(path, R_OK) == 0)
        h->journal_error = undo_load(&h->undo, path, boot_id);
    else if (errno != ENOENT && errno != ENOTDIR)
        h->journal_error = -errno;
    if (h->journal_error < 0)
        (void)fprintf(stderr, "tunectl: %s: %s%s\n", path, strerror(-h->journal_error),
                      h->journal_error == -EACCES ? "; try sudo" : "");
    /* The journal belongs to the daemon: what the probe learns stays in memory, no file can be made
     * here. */
    (void)copy_string(h->undo.path, sizeof h->undo.path, "/dev/null/undo");
}

int host_probe(const struct ctl *c, struct host **ret)
{
    struct host *h = calloc(1, sizeof *h);
    const struct timespec between = { .tv_nsec = 100 * 1000 * 1000 };

    if (!h) {
        (void)fprintf(stderr, "tunectl: out of memory\n");
        return CTL_ERROR;
    }
    int r = sysio_init(&h->io, c->root);
    if (r < 0) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", c->root, strerror(-r));
        free(h);
        return CTL_ERROR;
    }
    load_journal(c, h);
    knobs_init(&h->knobs, &h->io, &h->undo, true);
    (void)knobs_why_not(&h->knobs, &h->io, h->why_not, sizeof h->why_not);
    (void)hostid_kernel(&h->io, h->kernel, sizeof h->kernel);
    /* Rates need two readings. */
    (void)sensors_init(&h->sensors, &h->io);
    sensors_read(&h->sensors, now_mono_ns(), now_real_ns(), &h->window);
    (void)nanosleep(&between, NULL);
    sensors_read(&h->sensors, now_mono_ns(), now_real_ns(), &h->window);
    sensors_topology(&h->sensors, &h->topology);
    *ret = h;
    return CTL_OK;
}

struct host *host_free(struct host *h)
{
    if (h) {
        sensors_done(&h->sensors);
        sysio_done(&h->io);
        free(h);
    }
    return NULL;
}

struct knob *host_knob(struct host *h, const char *name)
{
    return knobs_find(&h->knobs, name);
}

const struct undo *host_undo(const struct host *h)
{
    return &h->undo;
}

int host_journal_error(const struct host *h)
{
    return h->journal_error;
}

const struct sysio *host_io(const struct host *h)
{
    return &h->io;
}

bool host_is_tunable(const struct host *h)
{
    return h->why_not[0] == '\0';
}

const char *host_why_not(const struct host *h)
{
    return host_is_tunable(h) ? "" : h->why_not;
}

static struct json_object *describe_foreign(const struct knob *k)
{
    struct json_object *o = json_object_new_object();

    doc_add_number(o, "value", (double)k->foreign_value);
    doc_add_number(o, "when", k->foreign_real_ns ? (double)k->foreign_real_ns / 1e9 : NAN);
    doc_add_number(o, "pid", k->foreign_pid > 0 ? (double)k->foreign_pid : NAN);
    doc_add_text(o, "comm", *k->foreign_comm ? k->foreign_comm : NULL);
    return o;
}

static struct json_object *describe_knob(const struct knob *k)
{
    struct json_object *o = json_object_new_object();
    bool there = k->state != KNOB_ABSENT && k->has_original;

    doc_add_text(o, "name", k->def->name);
    doc_add_text(o, "what", k->def->what);
    doc_add_text(o, "path", k->path);
    doc_add_text(o, "unit", k->def->unit);
    doc_add_text(o, "state", knob_state_name(k->state));
    doc_add_text(o, "reason", k->reason);
    doc_add_number(o, "original", there ? (double)k->original : NAN);
    doc_add_number(o, "current", there ? (double)k->current : NAN);
    doc_add_number(o, "ours", k->has_ours ? (double)k->ours : NAN);
    doc_add_number(o, "kernel_default", k->def->kernel_default > 0 ? k->def->kernel_default : NAN);
    doc_add_number(o, "min", (double)k->def->safe_min);
    doc_add_number(o, "max", (double)k->def->safe_max);
    (void)json_object_object_add(o, "foreign",
                                 k->state == KNOB_FOREIGN ? describe_foreign(k) : NULL);
    return o;
}

static struct json_object *describe_sensor(const struct sensor *s)
{
    struct json_object *o = json_object_new_object();

    doc_add_text(o, "name", s->def->name);
    doc_add_text(o, "what", s->def->what);
    doc_add_text(o, "state", sensor_state_name(s->state));
    doc_add_text(o, "reason", s->reason);
    return o;
}

static struct json_object *describe_host(const struct host *h)
{
    struct json_object *o = json_object_new_object();
    bool tunable = host_is_tunable(h);

    doc_add_text(o, "kernel", *h->kernel ? h->kernel : NULL);
    doc_add_number(o, "cpus", h->topology.cpus_online);
    doc_add_text(o, "online", h->topology.online);
    doc_add_number(o, "packages", h->topology.packages);
    doc_add_number(o, "nodes", h->topology.nodes);
    (void)json_object_object_add(o, "tunable", json_object_new_boolean(tunable));
    doc_add_text(o, "why_not", tunable ? NULL : h->why_not);
    return o;
}

struct json_object *host_document(struct host *h)
{
    struct json_object *doc = json_object_new_object();
    struct json_object *knobs = json_object_new_array(), *sensors = json_object_new_array();

    doc_add_text(doc, "version", TUNERD_VERSION);
    doc_add_number(doc, "schema", 1);
    (void)json_object_object_add(doc, "daemon", json_object_new_boolean(false));
    (void)json_object_object_add(doc, "host", describe_host(h));
    for (size_t i = 0; i < h->knobs.n; i++)
        (void)json_object_array_add(knobs, describe_knob(&h->knobs.k[i]));
    (void)json_object_object_add(doc, "knobs", knobs);
    for (size_t i = 0; i < h->sensors.n; i++)
        (void)json_object_array_add(sensors, describe_sensor(&h->sensors.s[i]));
    (void)json_object_object_add(doc, "sensors", sensors);
    return doc;
}

int host_print(struct host *h, FILE *f, size_t width, bool colour)
{
    struct render r = { .out = f, .width = width, .colour = colour };
    _cleanup_doc_ struct json_object *doc = host_document(h);

    render_host(&r, doc);
    (void)fputc('\n', f);
    render_knobs(&r, doc);
    (void)fputc('\n', f);
    render_sensors(&r, doc);
    if (host_is_tunable(h))
        return CTL_OK;
    if (geteuid() != 0)
        (void)fprintf(f, "\nOnly root can look into debugfs; as root this may show more.\n");
    return CTL_NO_KNOB;
}

int verb_probe(const struct ctl *c)
{
    struct host *h = NULL;
    int code = host_probe(c, &h);

    if (code == CTL_OK && c->json) {
        _cleanup_doc_ struct json_object *doc = host_document(h);
        doc_print(doc);
        code = host_is_tunable(h) ? CTL_OK : CTL_NO_KNOB;
    } else if (code == CTL_OK) {
        code = host_print(h, stdout, text_width(), text_colour());
    }
    (void)host_free(h);
    return code;
}
