/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One question to org.freedesktop.PolicyKit1 for each message that is to change something. */
#include "polkit.h"

#include <errno.h>
#include <stdlib.h>

struct question {
    sd_bus_message *m; /* owned reference */
    const char *action;
    int (*allowed)(sd_bus_message *m, void *userdata);
    void *userdata;
};

static void question_free(void *p)
{
    struct question *q = p;

    (void)sd_bus_message_unref(q->m);
    free(q);
}

static int deny(const struct question *q)
{
    return sd_bus_reply_method_errorf(q->m, SD_BUS_ERROR_ACCESS_DENIED,
                                      "only root, or whom polkit allows %s, may change tunerd", q->action);
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *e)
{
    struct question *q = userdata;
    int allowed = 0, challenge = 0, r = -EACCES;

    (void)e;
    if (!sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_enter_container(reply, 'r', "bba{ss}") > 0)
        r = sd_bus_message_read(reply, "bb", &allowed, &challenge);
    r = r >= 0 && allowed ? q->allowed(q->m, q->userdata) : deny(q);
    if (r < 0)
        (void)sd_bus_reply_method_errno(q->m, r, NULL);
    return 0;
}

int polkit_ask(sd_bus *bus, sd_bus_message *m, const char *action, int (*allowed)(sd_bus_message *m, void *userdata),
               void *userdata)
{
    sd_bus_slot *slot = NULL;
    sd_bus_message *call = NULL;
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return -ENOMEM;
    *q = (struct question){ .m = sd_bus_message_ref(m), .action = action, .allowed = allowed, .userdata = userdata };
    int r = sd_bus_message_new_method_call(bus, &call, "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
                                           "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization");
    if (r >= 0)
        r = sd_bus_message_append(call, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s", sd_bus_message_get_sender(m), action,
                                  0, 1U /* allow interaction */, "");
    if (r >= 0)
        r = sd_bus_call_async(bus, &slot, call, on_answer, q, 60 * 1000000);
    (void)sd_bus_message_unref(call);
    if (r < 0) {
        question_free(q);
        return r;
    }
    (void)sd_bus_slot_set_destroy_callback(slot, question_free);
    (void)sd_bus_slot_set_floating(slot, 1);
    (void)sd_bus_slot_unref(slot);
    return 1;
}
