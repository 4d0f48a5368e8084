/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sd-bus calls to the daemon with errors in words. Decides nothing about what is asked. */
#include "client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "bus.h"
#include "util.h"

/* Errors that mean: nobody has the name, or nobody answers for it. */
static const char *const down_errors[] = {
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Disconnected",
    "org.freedesktop.DBus.Error.NoServer",
};
static const char *const denied_errors[] = {
    "org.freedesktop.DBus.Error.AccessDenied",
    "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
    "org.freedesktop.DBus.Error.AuthFailed",
};

static bool is_one_of(const sd_bus_error *e, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sd_bus_error_has_name(e, names[i]))
            return true;
    return false;
}

/* polkit may have to ask a person for a password before a change. */
static uint64_t timeout_us(const char *method)
{
    return geteuid() == 0 || strcmp(method, "GetStatus") == 0 ? CLIENT_TIMEOUT_US
                                                              : CLIENT_PASSWORD_US;
}

static int explain(const char *method, const sd_bus_error *e, int r)
{
    if (is_one_of(e, down_errors, ELEMENTSOF(down_errors)))
        return CTL_NO_DAEMON;
    if (is_one_of(e, denied_errors, ELEMENTSOF(denied_errors)) || r == -EACCES || r == -EPERM) {
        (void)fprintf(stderr, "tunectl: only root (or who polkit allows) may do this; try sudo\n");
        return CTL_ERROR;
    }
    if (r == -ETIMEDOUT) {
        (void)fprintf(stderr,
                      "tunectl: the daemon has the bus name but did not answer %s within %lu s\n",
                      method, timeout_us(method) / 1000000);
        return CTL_ERROR;
    }
    (void)fprintf(stderr, "tunectl: %s\n", e->message ? e->message : strerror(-r));
    /* Wrong arguments and wrong configuration are the caller's to mend. */
    if (sd_bus_error_has_name(e, BUS_INTERFACE ".Error.Configuration") ||
        sd_bus_error_has_name(e, BUS_INTERFACE ".Error.NoSuchKnob") ||
        sd_bus_error_has_name(e, "org.freedesktop.DBus.Error.InvalidArgs"))
        return CTL_USAGE;
    return CTL_ERROR;
}

int client_call(sd_bus_message **ret, const char *method, const char *types, ...)
{
    __attribute__((cleanup(sd_bus_flush_close_unrefp))) sd_bus *bus = NULL;
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *m = NULL, *reply = NULL;
    __attribute__((cleanup(sd_bus_error_free))) sd_bus_error e = SD_BUS_ERROR_NULL;
    va_list ap;

    /* Without a bus nobody can be asked: for the caller the same as no daemon. */
    if (sd_bus_open_system(&bus) < 0)
        return CTL_NO_DAEMON;
    int r = sd_bus_message_new_method_call(bus, &m, BUS_NAME, BUS_PATH, BUS_INTERFACE, method);
    if (r >= 0)
        r = sd_bus_message_set_auto_start(m, false);
    if (r >= 0 && types) {
        va_start(ap, types);
        r = sd_bus_message_appendv(m, types, ap);
        va_end(ap);
    }
    if (r < 0)
        return explain(method, &e, r);
    r = sd_bus_call(bus, m, timeout_us(method), &e, &reply);
    if (r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE)
        return CTL_NO_DAEMON;
    if (r < 0)
        return explain(method, &e, r);
    *ret = TAKE_PTR(reply);
    return CTL_OK;
}

int client_status(char **ret)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;
    const char *text = NULL;

    int code = client_call(&reply, "GetStatus", NULL);
    if (code != CTL_OK)
        return code;
    int r = sd_bus_message_read(reply, "s", &text);
    if (r < 0) {
        (void)fprintf(stderr, "tunectl: cannot read the daemon's answer: %s\n", strerror(-r));
        return CTL_ERROR;
    }
    char *copy = strdup(text);
    if (!copy) {
        (void)fprintf(stderr, "tunectl: out of memory\n");
        return CTL_ERROR;
    }
    *ret = copy;
    return CTL_OK;
}

pid_t client_lock_holder(const struct ctl *c)
{
    _cleanup_fclose_ FILE *f = NULL;
    char path[4096], line[256], want[64];
    struct stat st;
    pid_t holder = 0;

    if (snprintf(path, sizeof path, "%s/lock", c->runtime_dir) >= (int)sizeof path ||
        stat(path, &st) < 0)
        return 0;
    /* "1: FLOCK  ADVISORY  WRITE 1234 08:01:42 0 EOF": asking here disturbs nobody, taking the lock
     * would. */
    (void)snprintf(want, sizeof want, "%02x:%02x:%lu", major(st.st_dev), minor(st.st_dev),
                   (unsigned long)st.st_ino);
    f = fopen("/proc/locks", "re");
    while (f && fgets(line, sizeof line, f)) {
        char kind[16], device[64];
        int pid;
        if (sscanf(line, "%*s %15s %*s %*s %d %63s", kind, &pid, device) == 3 &&
            strcmp(kind, "FLOCK") == 0 && strcmp(device, want) == 0 && pid > 0)
            holder = (pid_t)pid;
    }
    return holder;
}

void client_say_down(const struct ctl *c)
{
    pid_t pid = client_lock_holder(c);

    if (pid > 0)
        (void)fprintf(stderr,
                      "tunectl: tunerd runs (pid %d) but cannot be reached on the system bus; is "
                      "dbus running?\n",
                      (int)pid);
    else
        (void)fprintf(
            stderr, "tunectl: tunerd does not run. Start it with: systemctl enable --now tunerd\n");
}
