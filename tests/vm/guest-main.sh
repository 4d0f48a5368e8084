#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job in a guest: from the unit's start in observe mode to the last original back in
# force. Runs as root; behaviour is asserted, never speed.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/guest-lib.sh"

within_20_percent() { calc "$1 > 0 && $2 > 0 && $1 > $2 * 0.8 && $1 < $2 * 1.2"; }

# ---- before: what the machine is like -------------------------------------------------------
read_knobs
originals=$values
note "$(uname -r), originals $originals"
cat >/etc/tunerd/tunerd.conf <<'EOF'
# Short windows and blocks for a short test. Emulated CPUs make a noisy load: wide classes, and
# a budget that noise does not use up.
[control]
window = 2s
[policy]
calibration_quads = 1
class_width = 3
loss_budget = 1000
EOF
# Throughput and waits swing by several times in an emulated guest: with the shipped bounds every trial would end at once.
sed -e 's/^tps = .*/tps = -90%/' -e 's/^runq_wait_ns = .*/runq_wait_ns = +900%/' -e 's/^\(psi_[a-z_]*\) = .*/\1 = +90 points/' \
    /usr/share/tunerd/profiles/postgresql.conf >/etc/tunerd/profiles/postgresql.conf
tunectl status >/run/lab/status-before.txt 2>&1
check "status without the daemon exits 3" is $? 3

# ---- observe --------------------------------------------------------------------------------
phase "observe"
sample_start /run/lab/observe.samples
check "the unit starts under its hardening and reaches READY" unit_start
check "it is active" systemctl --quiet is-active tunerd
check "it answers" wait_for 10 answers || { journalctl -u tunerd; exit 1; }
check "it observes, as shipped" is "$(s_mode)" observe
compare closed-4 -c 4 -j 2 -T 28
check "closed loop: tps within 20 % of pgbench's" within_20_percent "$seen_tps" "$bench_tps"
load_4=$seen_load rate=$(awk "BEGIN { print int($bench_tps * 0.4) }")
check "the class is postgresql" is "$(s_profile)" postgresql
check "the objective is postgresql and works" is "$(s_objective)" "postgresql ok"
s_sensors | while read -r line; do note "sensor $line"; done
# The emulator has no counter hardware; everything else is there.
check "every sensor works under the unit" calc "$(s_sensors | grep -v '^perf-hw absent' | grep -cvE '^[^ ]+ (ok|partial)') == 0"
check "the sensors are there" calc "$(s_sensors | wc -l) >= 3"
for knob in "${knobs[@]}"; do
    if [ "$knob" = tunable_scaling ] || [ ! -e "$dir/$knob" ]; then continue; fi
    check "knob $knob can be written under the unit" is "$(s_knob "$knob" state)" ok
    check "knob $knob: status shows the file's value" is "$(s_knob "$knob" current)" "$(cat "$dir/$knob")"
done
compare closed-16 -c 16 -j 2 -T 28
check "load rises with the clients ($load_4, $seen_load)" calc "$seen_load > $load_4 * 1.5"
compare open-4 -c 4 -j 2 -T 28 -R "$rate"
check "open loop: tps within 20 % of pgbench's" within_20_percent "$seen_tps" "$bench_tps"
check "status is for everyone" runuser -u nobody -- tunectl status
runuser -u nobody -- tunectl tune >/dev/null 2>&1
check "changes are not" calc "$? != 0"
snap
check "observe mode writes nothing" is "$(s_writes)" 0
sample_stop
check "no knob changed in observe mode" is "$(wc -l </run/lab/observe.samples) $(cut -d ' ' -f 2- /run/lab/observe.samples)" "1 $originals"

# ---- tune: a candidate in force, a judgement ------------------------------------------------
phase "tune"
sample_start /run/lab/tune.samples
load_start -c 6 -j 2 -T 900
check "tunectl tune" tunectl tune
says_tune() { snap && is "$(s_mode)" tune; }
check "status says tune" wait_for 5 says_tune
shows_the_candidate() {
    local before i
    for i in 1 2 3 4 5; do
        read_knobs
        before=$values
        find_moved || { wait_moved 60 || return 1; continue; }
        snap
        read_knobs
        [ "$values" = "$before" ] || continue # it moved while we asked
        note "try $i: trial $(s_trial)"
        is "$(s_knob "$moved" current)" "$(at "$moved")"
        return
    done
    echo "no quiet moment"
    return 1
}
check "a candidate value comes in force" wait_moved 120
note "$moved at $(at "$moved")"
check "status shows the same value" shows_the_candidate
judged() { snap && [ -n "$(s_proven)" ]; }
harm_start
check "a harmful value is judged" wait_for 180 judged
harm_stop
note "decision: $(s_proven)"
check "history has the decision with its evidence" calc "$(history_proven | wc -c) > 1"
check "the journal has it with its fields" calc \
    "$(journalctl -u tunerd -o json TUNERD_KNOB=migration_cost_ns | grep -c MESSAGE_ID) > 0"
tunectl why migration_cost_ns >/run/lab/why.txt 2>&1
check "tunectl why" is $? 0
tunectl verify >/run/lab/verify.txt 2>&1
check "tunectl verify finds nothing" is $? 0

# ---- restart in mid-trial: no bounce --------------------------------------------------------
phase "restart"
# From "stopping" of the old process to READY of the new one nothing may change; the ticks before and after are its trial's.
logged() { # PATTERN SINCE_MICROSECONDS: when it was said, first
    journalctl -q -o short-unix -u tunerd --since "@$(($2 / 1000000))" | grep -m 1 "$1" | awk '{ printf "%.0f\n", $1 * 1000000 }'
}
no_bounce() {
    local from stop ready lines
    from=$(now)
    systemctl restart tunerd || return 1
    nap 2
    stop=$(logged 'stopping on SIGTERM' "$from")
    ready=$(logged 'Started tunerd' "$from")
    [ -n "$stop" ] && [ -n "$ready" ] || { echo "no stop or start in the journal: '$stop' '$ready'"; return 1; }
    values=$(awk -v stop="$stop" '$1 <= stop { line = $0 } END { sub(/^[0-9]+ /, "", line); print line }' /run/lab/tune.samples)
    find_moved || return 2
    held=$(at "$moved")
    note "$moved at $held from $stop to $ready"
    lines=$(awk -v from="$stop" -v until="$ready" '$1 > from && $1 < until' /run/lab/tune.samples)
    [ -z "$lines" ] || { echo "changed in the restart:"; echo "$lines"; return 1; }
}
for try in 1 2 3; do
    wait_moved 150
    no_bounce >/run/lab/bounce 2>&1
    bounce=$?
    cat /run/lab/bounce
    [ $bounce = 2 ] || break # the trial had gone back to the original when the unit stopped: once more
done
check "restart in mid-trial does not bounce the value" is $bounce 0
check "the new process is there" wait_for 30 answers
check "it knows the original" is "$(s_knob "${moved:-none}" original)" "$(values=$originals at "${moved:-none}")"
check "the mode outlives the restart" is "$(s_mode)" tune

# ---- kill -9 with a candidate in force ------------------------------------------------------
phase "kill -9"
if wait_moved 150; then
    read_knobs
    check "a candidate is in force before kill -9" find_moved
    kill -9 "$(main_pid)"
    check "kill -9: every knob has its original value" originals_within 60
    check "the unit starts again by itself" wait_for 90 systemctl --quiet is-active tunerd
else
    not_ok "kill -9: no candidate came"
fi

# ---- foreign write during a trial -----------------------------------------------------------
phase "foreign write"
knob=migration_cost_ns
in_trial() { snap && [ "$(s_trial)" != none ]; }
check "a trial is under way" wait_for 150 in_trial
note "trial $(s_trial)"
bash -c "echo 700000 >$dir/$knob; sleep 20" &
writer=$!
taken() { snap && is "$(s_foreign $knob)" "foreign 700000"; }
check "a foreign write is named in status" wait_for 12 taken
note "writer $writer, status says $(s_writer $knob)"
check "... and in the journal" calc "$(journalctl -u tunerd -b | grep -c "$knob.*700000") > 0"
nap 8
read_knobs
check "... and left alone" is "$(at $knob)" 700000

# ---- stop -----------------------------------------------------------------------------------
phase "stop"
original=$(values=$originals at $knob)
originals=${originals/"$knob=$original "/"$knob=700000 "}
if wait_moved 150; then
    note "$moved at $(at "$moved") when stopped"
else
    not_ok "stop: no candidate of another knob came"
fi
check "systemctl stop" systemctl stop tunerd
check "stop: every knob has its original value, the foreign one is left" is_original
originals=${originals/"$knob=700000 "/"$knob=$original "}
tunectl status >/run/lab/status-stopped.txt 2>&1
check "status without the daemon exits 3" is $? 3

# ---- tunectl restore without the daemon -----------------------------------------------------
phase "restore"
# The administrator puts it right and gives it back; the journal is the only way home.
echo "$original" >$dir/$knob
mkdir -p /run/systemd/system/tunerd.service.d
printf '[Service]\nExecStopPost=\nRestart=no\n' >/run/systemd/system/tunerd.service.d/lab.conf
systemctl daemon-reload
check "start" unit_start
wait_for 10 answers
tunectl release $knob >/run/lab/release.txt 2>&1
[ "$(s_mode)" = tune ] || tunectl tune
if wait_moved 150; then
    kill -9 "$(main_pid)"
    nap 2
    read_knobs
    check "the candidate outlives the daemon" find_moved
    tunectl verify >/run/lab/verify-killed.txt 2>&1
    note "verify exits $?"
    check "tunectl restore without the daemon" tunectl restore
    check "restore: every knob has its original value" is_original
else
    not_ok "restore: no candidate came"
fi
load_stop
sample_stop

# ---- the journal ----------------------------------------------------------------------------
errors=$(journalctl -q -o cat -p err -u tunerd)
check "the journal of the unit shows no error" is "$errors" ""
journalctl -o short-precise -u tunerd >/run/lab/tunerd.txt
cp /run/tunerd/undo /var/lib/tunerd/state.db /run/lab/ 2>/dev/null
phase "$number assertions, $failures failed"
[ "$failures" = 0 ]
