/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measured table: reading it, and its values between the measured points. */
#include "plant.h"

#include "util.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static struct plant_row *row_of(struct plant *p, double load)
{
    if (p->n_rows > 0 && p->row[p->n_rows - 1].load == load)
        return &p->row[p->n_rows - 1];
    if (p->n_rows == PLANT_LOADS_MAX || (p->n_rows > 0 && p->row[p->n_rows - 1].load > load))
        return NULL;
    p->row[p->n_rows].load = load;
    return &p->row[p->n_rows++];
}

static int add(struct plant *p, double load, double knob, double value)
{
    struct plant_row *r = load > 0 && knob > 0 && value > 0 ? row_of(p, load) : NULL;

    if (!r || r->n == PLANT_KNOBS_MAX || (r->n > 0 && r->knob[r->n - 1] >= knob))
        return -EINVAL;
    r->knob[r->n] = knob;
    r->value[r->n++] = value;
    return 0;
}

static int read_row(struct plant *p, char *line)
{
    double v[3];
    char *rest = line;

    for (size_t i = 0; i < ELEMENTSOF(v); i++) {
        const char *field = strsep(&rest, ",");
        if (!field || parse_double(field, &v[i]) < 0)
            return -EINVAL;
    }
    return rest ? -EINVAL : add(p, v[0], v[1], v[2]);
}

int plant_read_table(struct plant *p, const char *path)
{
    _cleanup_fclose_ FILE *f = fopen(path, "re");
    char line[256];
    unsigned n = 0;

    if (!f) {
        (void)fprintf(stderr, "demo-plant: cannot read %s: %s\n", path, strerror(errno));
        return -EINVAL;
    }
    while (fgets(line, sizeof line, f)) {
        n++;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0' || strcmp(line, "load,knob,value") == 0)
            continue;
        if (read_row(p, line) < 0) {
            (void)fprintf(stderr, "demo-plant: %s:%u: not a row load,knob,value in rising order\n", path, n);
            return -EINVAL;
        }
    }
    if (p->n_rows > 0)
        return 0;
    (void)fprintf(stderr, "demo-plant: %s: no rows\n", path);
    return -EINVAL;
}

/* Index and weight of x between the n rising points at(i). */
static size_t locate(const double *x, size_t n, double at, double *weight)
{
    size_t i = 0;

    *weight = 0;
    if (n < 2 || at <= x[0])
        return 0;
    if (at >= x[n - 1]) {
        *weight = 1;
        return n - 2;
    }
    while (at > x[i + 1])
        i++;
    *weight = (log(at) - log(x[i])) / (log(x[i + 1]) - log(x[i]));
    return i;
}

static double row_ln(const struct plant_row *r, double knob)
{
    double w;
    size_t i = locate(r->knob, r->n, knob, &w);

    return r->n < 2 ? log(r->value[0]) : (1 - w) * log(r->value[i]) + w * log(r->value[i + 1]);
}

static double table_ln(const struct plant *p, double load, double knob)
{
    double loads[PLANT_LOADS_MAX] = { 0 }, w;

    for (size_t i = 0; i < p->n_rows; i++)
        loads[i] = p->row[i].load;
    size_t i = locate(loads, p->n_rows, load, &w);
    return p->n_rows < 2 ? row_ln(&p->row[0], knob) : (1 - w) * row_ln(&p->row[i], knob) + w * row_ln(&p->row[i + 1], knob);
}

double plant_effect(const struct plant *p, double load, double knob)
{
    return table_ln(p, load, knob) - table_ln(p, load, PLANT_DEFAULT_NS);
}

double plant_level(const struct plant *p, double load)
{
    return exp(table_ln(p, load, PLANT_DEFAULT_NS));
}
