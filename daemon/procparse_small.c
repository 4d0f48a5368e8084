/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of a line or a few: /proc/stat, /proc/loadavg, /proc/PID/cgroup, lists with a choice.
 * Pure. */
#include "procparse.h"

#include <errno.h>
#include <string.h>

/* The line that begins with `start`, behind it, without its newline. NULL: none that is complete.
 */
static const char *find_line(const char *buf, size_t len, const char *start, size_t *ret_len)
{
    const char *at = buf, *end = buf + len, *newline;
    size_t n = strlen(start);

    for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        if ((size_t)(newline - at) < n || memcmp(at, start, n) != 0)
            continue;
        *ret_len = (size_t)(newline - at) - n;
        return at + n;
    }
    return NULL;
}

int stat_cpu_parse(const char *buf, size_t len, struct stat_cpu *ret)
{
    /* user nice system idle iowait irq softirq steal; what follows is counted in them already */
    uint64_t field[8] = { 0 };
    struct stat_cpu s = { 0 };
    size_t n, i = 0;
    const char *at = find_line(buf, len, "cpu ", &n), *end;

    if (!at)
        return -EBADMSG;
    for (end = at + n; i < ELEMENTSOF(field); i++) {
        const char *word;
        int r;

        while (at < end && *at == ' ')
            at++;
        for (word = at; at < end && *at != ' ';)
            at++;
        r = number_parse(word, (size_t)(at - word), &field[i]);
        if (r < 0)
            return r;
        if (__builtin_add_overflow(s.sum_total, field[i], &s.sum_total))
            return -ERANGE;
    }
    s.steal_total = field[7];
    *ret = s;
    return 0;
}

int loadavg_parse(const char *buf, size_t len, double *ret)
{
    const char *blank = memchr(buf, ' ', len), *point;
    uint64_t whole, hundredths;
    int r;

    if (!blank || !(point = memchr(buf, '.', (size_t)(blank - buf))) || blank - point != 3)
        return -EBADMSG;
    if ((r = number_parse(buf, (size_t)(point - buf), &whole)) < 0 ||
        (r = number_parse(point + 1, 2, &hundredths)) < 0)
        return r;
    *ret = (double)whole + (double)hundredths / 100;
    return 0;
}

int choice_parse(const char *buf, size_t len, const char *const *words, size_t n, size_t *ret)
{
    const char *open = memchr(buf, '[', len), *close;

    if (!open || !(close = memchr(open, ']', len - (size_t)(open - buf))))
        return -EBADMSG;
    for (size_t i = 0; i < n; i++) {
        size_t word = strlen(words[i]);

        if ((size_t)(close - open) - 1 == word && memcmp(open + 1, words[i], word) == 0) {
            *ret = i;
            return 0;
        }
    }
    return -EBADMSG;
}

int cgroup_parse(const char *buf, size_t len, const char **ret_path, size_t *ret_len)
{
    static const char gone[] = " (deleted)";
    size_t n, g = sizeof gone - 1;
    const char *path = find_line(buf, len, "0::", &n);

    if (!path)
        return -ENOENT;
    if (n == 0 || path[0] != '/' || memchr(path, '\0', n) ||
        (n >= g && memcmp(path + n - g, gone, g) == 0))
        return -EBADMSG;
    /* The kernel prints "/.." for what lies above the root of this namespace. */
    for (size_t i = 0; i + 3 <= n; i++)
        if (memcmp(path + i, "/..", 3) == 0 && (i + 3 == n || path[i + 3] == '/'))
            return -EBADMSG;
    *ret_path = path;
    *ret_len = n;
    return 0;
}
