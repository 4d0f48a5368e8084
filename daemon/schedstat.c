/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds /proc/schedstat to its parser. Knows nothing of what the rows mean, does not log. */
#include "schedstat.h"

#include <errno.h>
#include <string.h>

int schedstat_open(struct schedstat_reader *r, const struct sysio *io)
{
    int ret = kept_open(&r->file, io, SCHEDSTAT_PATH);

    if (ret < 0)
        return ret;
    r->parser = (struct schedstat_parser){ 0 };
    r->at = r->len = 0;
    return 0;
}

void schedstat_close(struct schedstat_reader *r)
{
    kept_close(&r->file);
}

int schedstat_rewind(struct schedstat_reader *r, const struct sysio *io)
{
    r->parser = (struct schedstat_parser){ 0 };
    r->at = r->len = 0;
    return kept_rewind(&r->file, io);
}

int schedstat_read_row(struct schedstat_reader *r, struct schedstat_row *ret)
{
    for (;;) {
        size_t used = 0;
        int got = schedstat_next(&r->parser, r->buf + r->at, r->len - r->at, &used, ret);

        r->at += used;
        if (got != 0)
            return got;
        memmove(r->buf, r->buf + r->at, r->len - r->at);
        r->len -= r->at;
        r->at = 0;
        /* What is left is less than a line, so that there is room for a page. */
        ssize_t n = read(r->file.fd, r->buf + r->len,
                         SCHEDSTAT_LINE_MAX < sizeof r->buf - r->len ? SCHEDSTAT_LINE_MAX
                                                                     : sizeof r->buf - r->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return schedstat_finish(&r->parser, r->len);
        r->len += (size_t)n;
    }
}
