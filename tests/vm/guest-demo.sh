#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The demonstration in a guest: what an administrator would type, and what he would see.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/guest-lib.sh"

say() { printf '\n$ %s\n' "$*"; "$@"; }
read_knobs
originals=$values
printf '[control]\nwindow = 2s\n[policy]\ncalibration_quads = 1\nclass_width = 3\n' >/etc/tunerd/tunerd.conf
say systemctl start tunerd
load_start -c 6 -j 2 -T 900
nap 20
say tunectl status
say tunectl tune
check "a value is tried" wait_moved 150
say tunectl status
judged() { snap && [ -n "$(s_proven)" ]; }
check "a trial is judged" wait_for 240 judged
say tunectl status
say tunectl history
say tunectl why migration_cost_ns
load_stop
say systemctl stop tunerd
check "the original values are back" is_original
echo "$values"
[ "$failures" = 0 ]
