#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `make install`: puts the built product below $DESTDIR. Needs nothing but a shell.
set -eu
b=$BUILD d=${DESTDIR:-} p=$PREFIX
put() { install -D -m "$1" "$2" "$d$3"; }

put 755 "$b/tunerd" "$p/sbin/tunerd"
put 755 "$b/tunectl" "$p/bin/tunectl"
[ ! -e "$b/tunesim" ] || put 755 "$b/tunesim" "$p/bin/tunesim"
for f in conf/tunerd.conf conf/profiles/*.conf; do put 644 "$f" "$p/share/tunerd/${f#conf/}"; done
install -d -m 755 "$d$SYSCONFDIR/tunerd" "$d$SYSCONFDIR/tunerd/profiles"

# The unit may write the knobs of the table and nothing else below /sys and /proc.
paths=$("$b/tunerd" --print-write-paths | tr '\n' ' ')
sed -e "s|@SBINDIR@|$p/sbin|g" -e "s|@BINDIR@|$p/bin|g" -e "s|@READWRITEPATHS@|$paths|g" \
    systemd/tunerd.service.in >"$b/tunerd.service"
put 644 "$b/tunerd.service" "$UNITDIR/tunerd.service"
put 644 systemd/tunerd.tmpfiles "$p/lib/tmpfiles.d/tunerd.conf"
put 644 systemd/org.tunerd.Tuner1.conf "$p/share/dbus-1/system.d/org.tunerd.Tuner1.conf"
put 644 systemd/org.tunerd.Tuner1.policy "$p/share/polkit-1/actions/org.tunerd.Tuner1.policy"
put 644 tunectl/completion.bash "$p/share/bash-completion/completions/tunectl"
for m in man/*.[1-8]; do [ ! -e "$m" ] || put 644 "$m" "$p/share/man/man${m##*.}/${m##*/}"; done
