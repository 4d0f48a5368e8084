/* SPDX-License-Identifier: GPL-2.0-or-later */
/* org.tunerd.Tuner1 on the system bus. The daemon works without a bus and keeps trying to get one.
 *
 *  bus name org.tunerd.Tuner1, object /org/tunerd/Tuner1, interface org.tunerd.Tuner1
 *  methods, for everyone:   GetStatus() -> s JSON (status.h)      Dump() -> s that JSON, a newline, the configuration
 *  methods, uid 0 or polkit action org.tunerd.Tuner1.change:
 *    Tune(t seconds)  Observe(t seconds)  Pause(t seconds, b baseline)     seconds 0: until reboot
 *    Resume()         end of a pause: back to the mode before it
 *    Restore() -> u   originals back now, mode observe until reboot; number of knobs that could not be restored
 *    Release(s knob)  a foreign knob may be tuned again; its value now is its new original
 *    Reload()         configuration anew; on error org.tunerd.Tuner1.Error.Configuration with file:line text, the old one stays
 *  errors: org.freedesktop.DBus.Error.AccessDenied, org.freedesktop.DBus.Error.InvalidArgs, org.tunerd.Tuner1.Error.*
 *  properties, with change signals: Mode s, Class s, Doing s, Objective d, Load d, Moves t; constant: Version s */
#pragma once

#define BUS_NAME      "org.tunerd.Tuner1"
#define BUS_PATH      "/org/tunerd/Tuner1"
#define BUS_INTERFACE "org.tunerd.Tuner1"

struct bus;
struct control;

#include <systemd/sd-event.h>

/* Connects (system bus) and takes the name; without a bus it tries again every 5 s from the loop. 0 or -errno (memory
 * only). *ret owned by the caller. */
int bus_new(struct bus **ret, struct control *c, sd_event *event);
struct bus *bus_free(struct bus *b); /* returns NULL */
/* After a tick: sends change signals for properties that changed. */
void bus_changed(struct bus *b);
