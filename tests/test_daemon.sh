#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tunerd and tunectl as processes, on a simulated host (build/demo-plant) and a private message bus: what is written, what is
# left alone, and what is back afterwards. Runs as any user.
set -u
BUILD=${BUILD:-build} SRC=${SRC:-$(cd "$(dirname "$0")/.." && pwd)}
. "$SRC/tests/daemon-lib.sh"

# ---- observe: the shipped mode writes nothing ------------------------------------------------
write_config observe
start_daemon
is "the mode is observe" observe "$(status .mode)"
is "nothing was journaled" 0 "$(journal_items)"
sleep 2
is "observe leaves every knob alone" "$originals" "$(knob_values)"
ok "windows are measured" test "$(status .counters.windows)" -gt 5
ok "the objective is measured" test "$(status '.objective.value != null')" = true
ok "the load is known" test "$(status '.load.value != null')" = true

# ---- tune: a candidate, journaled first, shown as it is --------------------------------------
ctl tune
is "the mode is tune" tune "$(status .mode)"
ok "a candidate comes into force" wait_for candidate_in_force
is "its original is in the journal" 500000 "$(journal_original)"
ok "status shows the value of the file" wait_for status_equals_file
ok "a trial is under way" test "$(status '.trial.kind')" = test

# ---- pause holds, pause --baseline restores, resume goes on ----------------------------------
wait_for candidate_in_force
ctl pause
held=$(knob)
sleep 1
is "pause moves nothing" "$held" "$(knob)"
ctl pause --baseline
is "pause --baseline puts the originals back" "$originals" "$(knob_values)"
ctl resume
is "resume goes back to tune" tune "$(status .mode)"

# ---- a second daemon is refused ---------------------------------------------------------------
"$BUILD/tunerd" "${daemon_args[@]}" >"$dir/second.log" 2>&1
is "a second tunerd does not start" 1 $?
ok "and says why" grep -q "another tunerd runs" "$dir/second.log"

# ---- reload: a bad file changes nothing --------------------------------------------------------
cp "$dir/conf/tunerd.conf" "$dir/good.conf"
echo "windwo = 5s" >>"$dir/conf/tunerd.conf"
"$BUILD/tunectl" reload >"$dir/out" 2>&1
is "reload of a bad file fails" 2 $?
ok "naming file and line" grep -Eq "tunerd.conf:[0-9]+: .*windwo" "$dir/out"
is "the old configuration stays" 0.1 "$(status .window.length_s)"
cp "$dir/good.conf" "$dir/conf/tunerd.conf"
"$BUILD/tunectl" reload >"$dir/out" 2>&1
is "reload of the good file works" 0 $?
is "and keeps what tunectl set" tune "$(status .mode)"

# ---- a foreign write is left alone and named, over a restart, until it is released ----------------
ok "a candidate is in force again" wait_for candidate_in_force
echo 700000 >"$knob_file"
ok "the foreign write is noticed" wait_for foreign_seen
is "its value is named" 700000 "$(status '.knobs[] | select(.name == "migration_cost_ns") | .foreign.value')"
sleep 1
is "and left alone" 700000 "$(knob)"
stop_daemon TERM
is "stop leaves it too" 700000 "$(knob)"
start_daemon
ok "a restart remembers it" wait_for foreign_seen
ctl release migration_cost_ns
is "release gives it back" ok "$(knob_state)"
is "with the value found as its original" 700000 "$(status '.knobs[] | select(.name == "migration_cost_ns") | .original')"
stop_daemon TERM
is "stop restores" 700000 "$(knob)"
echo 500000 >"$knob_file"

# ---- SIGTERM restores ----------------------------------------------------------------------------
start_daemon
ok "tune is remembered over a restart" test "$(status .mode)" = tune
ok "a candidate is in force before SIGTERM" wait_for candidate_in_force
stop_daemon TERM
is "SIGTERM puts the originals back" "$originals" "$(knob_values)"
is "and empties the journal" 0 "$(journal_items)"

# ---- kill -9: the next start, or tunectl restore, puts the originals back -------------------------
start_daemon
ok "a candidate is in force before kill -9" wait_for candidate_in_force
kill_daemon
ok "kill -9 leaves it" test "$(knob)" != 500000
"$BUILD/tunectl" "${ctl_args[@]}" verify >"$dir/out" 2>&1
is "verify finds the difference" 4 $?
"$BUILD/tunectl" "${ctl_args[@]}" status >"$dir/out" 2>&1
is "status without a daemon leaves with 3" 3 $?
"$BUILD/tunectl" "${ctl_args[@]}" restore >"$dir/out" 2>&1
is "restore works without a daemon" 0 $?
is "the originals are back" "$originals" "$(knob_values)"
"$BUILD/tunectl" "${ctl_args[@]}" verify >"$dir/out" 2>&1
is "verify finds nothing" 0 $?

start_daemon
ok "a candidate is in force once more" wait_for candidate_in_force
kill_daemon
write_config observe
rm -f "$dir/run/mode"
start_daemon
is "the next start puts the originals back" "$originals" "$(knob_values)"

# ---- handed over: the next process adopts -----------------------------------------------------------
ctl tune
ok "a candidate is in force before the handover" wait_for candidate_in_force
kill_daemon
: >"$dir/run/handover"
before=$(knob)
start_daemon
is "a handed over value is adopted" "$before" "$(adopted_value)"
ok "and its original still known" test "$(journal_original)" = 500000
stop_daemon TERM
is "stop after an adoption restores" "$originals" "$(knob_values)"

# ---- restore through the daemon ------------------------------------------------------------------------
start_daemon
ok "a candidate is in force before restore" wait_for candidate_in_force
ctl restore
is "restore puts the originals back" "$originals" "$(knob_values)"
is "and observes from then on" observe "$(status .mode)"

# ---- what was learned is there afterwards ------------------------------------------------------------
"$BUILD/tunectl" "${ctl_args[@]}" history --json >"$dir/out" 2>&1
is "history works" 0 $?
ok "history has decisions" test "$(jq '.decisions | length' "$dir/out")" -gt 0
stop_daemon TERM
"$BUILD/tunectl" "${ctl_args[@]}" history >"$dir/out" 2>&1
is "history works without a daemon" 0 $?

# ---- without a bus --------------------------------------------------------------------------------------
DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/none start_daemon_deaf
is "no bus: the daemon runs" 0 $?
ok "and says so" wait_for grep -q 'no message bus' "$dir/log"
sleep 1
is "once" 1 "$(grep -c 'no message bus' "$dir/log")"
stop_daemon TERM

# ---- bad configuration -----------------------------------------------------------------------------------
echo "[control]
window = 5" >"$dir/conf/tunerd.conf"
"$BUILD/tunerd" "${daemon_args[@]}" >"$dir/out" 2>&1
is "a missing unit is exit 2" 2 $?
ok "with file, line and key" grep -Eq "tunerd.conf:2: .*window" "$dir/out"
"$BUILD/tunerd" --nonsense >"$dir/out" 2>&1
is "an unknown option is exit 2" 2 $?

finish
