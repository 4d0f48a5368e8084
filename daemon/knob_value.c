/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values and the kernel's texts of them: numbers, Y and N, a word of a list, a token of `features`. The text of a value
 * is what is written to the file and kept in the journal. This file reads, it writes nothing. */
#include "knob_impl.h"

#include "util.h"

#include <errno.h>
#include <string.h>

/* Sysctls before 5.13 show 2^32-1 as -1 and take only that. */
static int parse_number(const char *text, uint64_t *ret)
{
    uint64_t v;
    int r;

    if (text[0] != '-')
        return parse_u64(text, ret);
    r = parse_u64(text + 1, &v);
    if (r == 0 && (v == 0 || v > (uint64_t)INT32_MAX + 1))
        r = -ERANGE;
    if (r == 0)
        *ret = (uint64_t)UINT32_MAX + 1 - v;
    return r;
}

int knob_parse(const struct knob_def *d, const char *text, uint64_t *ret)
{
    switch (d->kind) {
    case KNOB_NUMBER:
    case KNOB_DOMAIN:
        return parse_number(text, ret);
    case KNOB_BOOL:
        if (strcmp(text, "Y") != 0 && strcmp(text, "N") != 0)
            return -EINVAL;
        *ret = text[0] == 'Y';
        return 0;
    case KNOB_WORD:
        for (size_t i = 0; d->words[i]; i++)
            if (strcmp(d->words[i], text) == 0) {
                *ret = i;
                return 0;
            }
        return -EINVAL;
    case KNOB_FEATURE:
        if (strcmp(text, d->token) == 0)
            *ret = 1;
        else if (strncmp(text, "NO_", 3) == 0 && strcmp(text + 3, d->token) == 0)
            *ret = 0;
        else
            return -EINVAL;
        return 0;
    }
    return -EINVAL;
}

void knob_format(const struct knob *k, uint64_t value, char *buf, size_t size)
{
    bool is_int = k->path && strncmp(k->path, "/proc/sys/", strlen("/proc/sys/")) == 0;

    switch (k->def->kind) {
    case KNOB_NUMBER:
    case KNOB_DOMAIN:
        if (is_int && value > INT32_MAX && value <= UINT32_MAX)
            (void)snprintf(buf, size, "-%lu", (uint64_t)UINT32_MAX + 1 - value);
        else
            (void)snprintf(buf, size, "%lu", value);
        return;
    case KNOB_BOOL:
        (void)snprintf(buf, size, "%s", value ? "Y" : "N");
        return;
    case KNOB_WORD:
        for (size_t i = 0; k->def->words[i]; i++)
            if (i == value)
                (void)snprintf(buf, size, "%s", k->def->words[i]);
        return;
    case KNOB_FEATURE:
        (void)snprintf(buf, size, "%s%s", value ? "" : "NO_", k->def->token);
        return;
    }
}

/* The token of a list of words that is about `token`: itself or its NO_. */
static char *find_token(char *text, const char *token)
{
    char *state = NULL;

    for (char *w = strtok_r(text, " \n", &state); w; w = strtok_r(NULL, " \n", &state))
        if (strcmp(w, token) == 0 || (strncmp(w, "NO_", 3) == 0 && strcmp(w + 3, token) == 0))
            return w;
    return NULL;
}

/* "none (voluntary) full" -> "voluntary". */
static char *find_chosen(char *text)
{
    char *from = strchr(text, '('), *to = from ? strchr(from, ')') : NULL;

    if (to)
        *to = '\0';
    return to ? from + 1 : text;
}

int knob_read_item(const struct sysio *io, const char *path, const char *token, char *buf, size_t size)
{
    char text[4096], *found = text;
    ssize_t n = sysio_read_line(io, path, text, sizeof text);

    if (n < 0)
        return (int)n;
    if (token)
        found = find_token(text, token);
    if (!found)
        return -ENOENT;
    return copy_string(buf, size, found) ? 0 : -EFBIG;
}

int knob_read(const struct knobs *ks, const struct knob *k, uint64_t *ret)
{
    char text[256];
    int r;

    if (!k->path)
        return -ENOENT;
    if (k->def->kind == KNOB_DOMAIN)
        return knob_domain_read(ks->io, k, ret);
    r = knob_read_item(ks->io, k->path, k->def->token, text, sizeof text);
    if (r < 0)
        return r == -EFBIG ? -EBADMSG : r;
    return knob_parse(k->def, k->def->kind == KNOB_WORD ? find_chosen(text) : text, ret) < 0 ? -EBADMSG : 0;
}
