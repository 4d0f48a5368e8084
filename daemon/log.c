/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line per event, to the journal with fields where stderr is the journal, else to stderr. */
#include "log.h"

#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

static int log_max = LOG_INFO;
static bool log_journal;

/* systemd.exec(5): JOURNAL_STREAM holds device:inode of the stream that was connected to the journal. */
static bool stderr_is_journal(void)
{
    const char *e = getenv("JOURNAL_STREAM");
    struct stat st;
    unsigned long dev, ino;

    if (!e || fstat(STDERR_FILENO, &st) < 0)
        return false;
    return sscanf(e, "%lu:%lu", &dev, &ino) == 2 && dev == st.st_dev && ino == st.st_ino;
}

void log_init(int max_level)
{
    log_max = max_level;
    log_journal = stderr_is_journal();
}

static void field(struct iovec *v, int *n, char *buf, size_t size, const char *name, const char *value)
{
    if (!value)
        return;
    (void)snprintf(buf, size, "%s=%s", name, value);
    v[(*n)++] = (struct iovec){ .iov_base = buf, .iov_len = strlen(buf) };
}

static void emit(int level, const struct log_event *e, const char *text)
{
    if (!log_journal) {
        (void)fprintf(stderr, "%s\n", text);
        return;
    }
    char message[1100], priority[16], f[7][256];
    struct iovec v[9];
    int n = 0;

    (void)snprintf(message, sizeof message, "MESSAGE=%s", text);
    v[n++] = (struct iovec){ .iov_base = message, .iov_len = strlen(message) };
    (void)snprintf(priority, sizeof priority, "PRIORITY=%d", level);
    v[n++] = (struct iovec){ .iov_base = priority, .iov_len = strlen(priority) };
    if (e) {
        field(v, &n, f[0], sizeof f[0], "MESSAGE_ID", e->id);
        field(v, &n, f[1], sizeof f[1], "TUNERD_KNOB", e->knob);
        field(v, &n, f[2], sizeof f[2], "TUNERD_OLD", e->old_value);
        field(v, &n, f[3], sizeof f[3], "TUNERD_NEW", e->new_value);
        field(v, &n, f[4], sizeof f[4], "TUNERD_REASON", e->reason);
        field(v, &n, f[5], sizeof f[5], "TUNERD_TRIAL", e->trial);
        field(v, &n, f[6], sizeof f[6], "TUNERD_CLASS", e->class_);
    }
    if (sd_journal_sendv(v, n) < 0)
        (void)fprintf(stderr, "<%d>%s\n", level, text);
}

static void vlog(int level, const struct log_event *e, const char *fmt, va_list ap) _printf_(3, 0);
static void vlog(int level, const struct log_event *e, const char *fmt, va_list ap)
{
    char text[1024];
    int saved = errno;

    if (level > log_max)
        return;
    (void)vsnprintf(text, sizeof text, fmt, ap);
    emit(level, e, text);
    errno = saved;
}

void log_msg(int level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vlog(level, NULL, fmt, ap);
    va_end(ap);
}

int log_errno(int level, int r, const char *fmt, ...)
{
    va_list ap;
    int saved = errno;

    errno = -r;
    va_start(ap, fmt);
    vlog(level, NULL, fmt, ap);
    va_end(ap);
    errno = saved;
    return r;
}

void log_event(int level, const struct log_event *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vlog(level, e, fmt, ap);
    va_end(ap);
}
