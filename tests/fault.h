/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults under sysio.c and undo.c, which a test includes after this file: errors by path, a call before the n-th system
 * call, death at it, and a record of what was written. An emptied file is emptied at the write, as the kernel's are. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum fault_op { FAULT_OPEN, FAULT_OPEN_WRITE, FAULT_READ, FAULT_WRITE, FAULT_FSYNC, FAULT_RENAME };
enum { FAULT_MAX = 8, FAULT_WRITES_MAX = 256, FAULT_KILLED = 99 };

static struct {
    struct {
        enum fault_op op;
        const char *path; /* the end of the path; after '*' any part of it */
        int error;
        int skip;         /* this many go well before */
        int times;        /* 0: always */
    } fault[FAULT_MAX];
    size_t n;
    long calls, at; /* at the at-th call: */
    void (*hook)(void); /* ... this, or death */
    bool truncate[1024];
    /* What the kernel makes of a write, where it is not the text itself: the text that the file holds then, or NULL. */
    const char *(*kernel)(const char *path, const char *text, const char *before);
    size_t n_writes;
    char writes[FAULT_WRITES_MAX][300]; /* "path=text" of all writes below /sys/ and /proc/sys */
} fault;

static void fault_reset(void)
{
    memset(&fault, 0, sizeof fault);
}

static void fault_add(enum fault_op op, const char *path, int error, int skip, int times)
{
    fault.fault[fault.n].op = op;
    fault.fault[fault.n].path = path;
    fault.fault[fault.n].error = error;
    fault.fault[fault.n].skip = skip;
    fault.fault[fault.n++].times = times;
}

static int fault_check(enum fault_op op, const char *path)
{
    for (size_t i = 0; i < fault.n; i++) {
        const char *wanted = fault.fault[i].path;
        size_t a = strlen(path), b = strlen(wanted);
        if (fault.fault[i].op != op)
            continue;
        if (wanted[0] == '*' ? !strstr(path, wanted + 1) : a < b || strcmp(path + a - b, wanted) != 0)
            continue;
        if (fault.fault[i].skip-- > 0 || fault.fault[i].times < 0)
            return 0;
        if (fault.fault[i].times > 0 && --fault.fault[i].times == 0)
            fault.fault[i].times = -1;
        return fault.fault[i].error;
    }
    return 0;
}

static void fault_step(void)
{
    if (++fault.calls != fault.at)
        return;
    if (!fault.hook)
        _exit(FAULT_KILLED);
    void (*hook)(void) = fault.hook;
    hook();
}

static const char *fault_name(int fd, char *buf, size_t size)
{
    char link[64];
    ssize_t n;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, buf, size - 1);
    buf[n < 0 ? 0 : n] = '\0';
    return buf;
}

static int fault_openat(int dir, const char *path, int flags, ...)
{
    va_list ap;
    int e, fd;

    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    fault_step();
    e = flags & O_PATH ? 0 : fault_check(FAULT_OPEN, path);
    if (e == 0 && (flags & O_ACCMODE) != O_RDONLY)
        e = fault_check(FAULT_OPEN_WRITE, path);
    if (e != 0) {
        errno = e;
        return -1;
    }
    fd = openat(dir, path, flags & ~O_TRUNC, mode);
    if (fd >= 0)
        fault.truncate[fd] = (flags & O_TRUNC) != 0;
    return fd;
}

static ssize_t fault_read(int fd, void *buf, size_t n)
{
    char name[PATH_MAX];
    int e;

    fault_step();
    e = fault_check(FAULT_READ, fault_name(fd, name, sizeof name));
    if (e != 0) {
        errno = e;
        return -1;
    }
    return read(fd, buf, n);
}

static void fault_record(const char *name, const char *text, size_t n)
{
    const char *below = strstr(name, "/root/");

    if (below && fault.n_writes < FAULT_WRITES_MAX)
        (void)snprintf(fault.writes[fault.n_writes++], sizeof fault.writes[0], "%s=%.*s", below + 5, (int)strnlen(text, n), text);
}

static ssize_t fault_kernel_write(int fd, const char *name, const char *buf, size_t n)
{
    char before[4096] = "", text[64];
    int in = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    ssize_t len = in < 0 ? -1 : read(in, before, sizeof before - 1);

    if (in >= 0)
        (void)close(in);
    before[len < 0 ? 0 : len] = '\0';
    (void)snprintf(text, sizeof text, "%.*s", (int)strnlen(buf, n), buf);
    text[strcspn(text, "\n")] = '\0';
    fault_record(name, buf, n);
    const char *after = fault.kernel(strstr(name, "/root/") + 5, text, before);
    if (!after) {
        errno = EINVAL;
        return -1;
    }
    char line[4096];
    int l = snprintf(line, sizeof line, "%s\n", after);
    if (ftruncate(fd, 0) < 0 || write(fd, line, (size_t)l) != l)
        return -1;
    return (ssize_t)n;
}

static ssize_t fault_write(int fd, const void *buf, size_t n)
{
    char name[PATH_MAX];
    int e;

    fault_step();
    e = fault_check(FAULT_WRITE, fault_name(fd, name, sizeof name));
    if (e != 0) {
        errno = e;
        return -1;
    }
    if (fault.truncate[fd] && fault.kernel && strstr(name, "/root/"))
        return fault_kernel_write(fd, name, buf, n);
    if (fault.truncate[fd] && ftruncate(fd, 0) < 0)
        return -1;
    fault_record(name, buf, n);
    /* The kernel's files take a text to its NUL. */
    size_t text = fault.truncate[fd] ? strnlen(buf, n) : n;
    ssize_t r = write(fd, buf, text);
    return r == (ssize_t)text ? (ssize_t)n : r;
}

static int fault_fsync(int fd)
{
    char name[PATH_MAX];
    int e;

    fault_step();
    e = fault_check(FAULT_FSYNC, fault_name(fd, name, sizeof name));
    errno = e;
    return e != 0 ? -1 : fsync(fd);
}

static int fault_rename(const char *from, const char *to)
{
    int e;

    fault_step();
    e = fault_check(FAULT_RENAME, to);
    errno = e;
    return e != 0 ? -1 : rename(from, to);
}

static int fault_unlink(const char *path)
{
    fault_step();
    return unlink(path);
}

#define openat(...)     fault_openat(__VA_ARGS__)
#define open(...)       fault_openat(AT_FDCWD, __VA_ARGS__)
#define read(fd, b, n)  fault_read(fd, b, n)
#define write(fd, b, n) fault_write(fd, b, n)
#define fsync(fd)       fault_fsync(fd)
#define rename(a, b)    fault_rename(a, b)
#define unlink(p)       fault_unlink(p)
