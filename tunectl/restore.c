/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the originals back: through the daemon when there is one, else from the journal alone. Must
 * not write while a daemon may. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "client.h"
#include "hostid.h"
#include "knob.h"
#include "settings.h"
#include "tunectl.h"
#include "undo.h"
#include "unitjob.h"
#include "util.h"

static bool wants_keep(const struct ctl *c)
{
    struct config *config = NULL;

    /* A configuration that cannot be read does not keep anything. */
    if (settings_load(c, &config) != CTL_OK)
        return false;
    bool keep = config->on_stop == ON_STOP_KEEP;
    (void)config_free(config);
    return keep;
}

/* ExecStopPost: true when the values stay, with a line that says why. Every doubt restores. */
static bool keeps_at_service_stop(const struct ctl *c)
{
    const char *result = getenv("SERVICE_RESULT");

    if (!result || strcmp(result, "success") != 0)
        return false;
    if (unit_is_restarting()) {
        (void)printf("restart: values stay, the next process adopts them\n");
        return true;
    }
    if (wants_keep(c)) {
        (void)printf("on_stop = keep: values stay; tunectl restore puts the originals back\n");
        return true;
    }
    return false;
}

/* Holds RUNTIME/lock so that no daemon starts meanwhile. CTL_OK with *ret_fd owned by the caller.
 */
static int take_lock(const struct ctl *c, int *ret_fd)
{
    char path[4096];

    if (snprintf(path, sizeof path, "%s/lock", c->runtime_dir) >= (int)sizeof path) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", c->runtime_dir, strerror(ENAMETOOLONG));
        return CTL_ERROR;
    }
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        (void)fprintf(stderr, "tunectl: %s: %s%s\n", path, strerror(errno),
                      errno == EACCES ? "; only root may restore, try sudo" : "");
        return CTL_ERROR;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        (void)fprintf(stderr,
                      "tunectl: a tunerd process (pid %d) holds %s but does not answer on the bus: "
                      "stop it first (systemctl stop tunerd), its stop restores\n",
                      (int)client_lock_holder(c), path);
        return CTL_ERROR;
    }
    *ret_fd = TAKE_FD(fd);
    return CTL_OK;
}

static int restore_from_journal(const struct ctl *c)
{
    _cleanup_close_ int lock = -1;
    char path[4096], boot_id[64];
    struct sysio io;

    (void)snprintf(path, sizeof path, "%s/undo", c->runtime_dir);
    if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        (void)printf("nothing to restore: there is no journal (%s)\n", path);
        return CTL_OK;
    }
    int r = take_lock(c, &lock);
    if (r != CTL_OK)
        return r;
    r = sysio_init(&io, c->root);
    if (r < 0) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", c->root, strerror(-r));
        return CTL_ERROR;
    }
    (void)hostid_boot(&io, boot_id, sizeof boot_id);
    r = knobs_restore_from_journal(&io, path, boot_id, stdout);
    sysio_done(&io);
    if (r < 0) {
        (void)fprintf(stderr, "tunectl: %s: %s\n", path, strerror(-r));
        return CTL_ERROR;
    }
    if (r > 0)
        (void)fprintf(stderr, "tunectl: %d could not be restored; %s still names the originals\n",
                      r, path);
    return r > 0 ? CTL_ERROR : CTL_OK;
}

int verb_restore(const struct ctl *c)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;
    uint32_t failed = 0;

    /* In ExecStopPost the daemon is gone, and a second one somewhere else is not ours to ask. */
    if (c->service_stop)
        return keeps_at_service_stop(c) ? CTL_OK : restore_from_journal(c);
    int code = client_call(&reply, "Restore", NULL);
    if (code == CTL_NO_DAEMON)
        return restore_from_journal(c);
    if (code != CTL_OK)
        return code;
    if (sd_bus_message_read(reply, "u", &failed) < 0) {
        (void)fprintf(stderr, "tunectl: cannot read the daemon's answer\n");
        return CTL_ERROR;
    }
    if (failed > 0) {
        (void)fprintf(stderr,
                      "tunectl: %u knobs could not be restored; tunectl verify shows which\n",
                      failed);
        return CTL_ERROR;
    }
    (void)printf("originals are in force; the daemon observes until reboot (tunectl tune allows "
                 "writes again)\n");
    return CTL_OK;
}
