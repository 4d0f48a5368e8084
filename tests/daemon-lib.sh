# SPDX-License-Identifier: GPL-2.0-or-later
# A simulated host, a private bus and a daemon for shell tests; TAP lines. Sourced.
dir=$(mktemp -d "${TMPDIR:-/tmp}/tunerd-test.XXXXXX")
plant_pid= daemon_pid= bus_pid= tests=0
cleanup() {
    [ -z "$daemon_pid" ] || kill -9 "$daemon_pid" 2>/dev/null
    [ -z "$plant_pid" ] || kill "$plant_pid" 2>/dev/null
    [ -z "$bus_pid" ] || kill "$bus_pid" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT

result() { # result STATUS NAME
    tests=$((tests + 1))
    if [ "$1" = 0 ]; then echo "ok $tests - $2"; else echo "not ok $tests - $2"; fi
}
is() { # is NAME EXPECTED ACTUAL
    if [ "$2" = "$3" ]; then result 0 "$1"; else result 1 "$1"; printf '# expected: %s\n# got:      %s\n' "$2" "$3"; fi
}
ok() { # ok NAME COMMAND...
    local name=$1
    shift
    if "$@"; then result 0 "$name"; else result 1 "$name"; echo "# failed: $*"; tail -n 5 "$dir/log" | sed 's/^/# log: /'; fi
}
finish() {
    echo "1..$tests"
    exit 0
}
wait_for() { # wait_for COMMAND...: up to 15 s
    for _ in $(seq 300); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}

mkdir -p "$dir/root" "$dir/run" "$dir/state" "$dir/conf/profiles"
knob_file=$dir/root/sys/kernel/debug/sched/migration_cost_ns
daemon_args=(--root "$dir/root" --config-dir "$dir/conf" --runtime-dir "$dir/run" --state-dir "$dir/state")
ctl_args=("${daemon_args[@]}")

# The guard and the objective are those of the simulated application; windows are short, one quiet quad is enough.
write_config() { # write_config MODE
    cat >"$dir/conf/tunerd.conf" <<EOF
[control]
mode = $1
window = 100ms
profile = test
seed = ${SEED:-1}
[policy]
calibration_quads = 0
EOF
    cat >"$dir/conf/profiles/test.conf" <<EOF
[profile]
description = the simulated application
[objective]
type = file
measure = tps
file = /run/transactions.prom
file_metric = transactions_total
file_counter = yes
[knobs]
migration_cost_ns = 10us .. 5ms
EOF
}

start_plant() {
    "$BUILD/demo-plant" --root "$dir/root" --table "$SRC/tests/plants/kunpeng920-pgbench.csv" --seed "${SEED:-1}" --window 0.1s \
        "$@" >"$dir/plant.log" 2>&1 &
    plant_pid=$!
    wait_for test -s "$dir/root/proc/schedstat" || { echo "Bail out! the simulated host did not start"; cat "$dir/plant.log"; exit 1; }
    wait_for test -s "$knob_file"
}

start_bus() {
    sed "s|@DIR@|$dir|" "$SRC/demo/bus.conf" >"$dir/bus.conf"
    dbus-daemon --config-file="$dir/bus.conf" --nofork >"$dir/bus.log" 2>&1 &
    bus_pid=$!
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/bus
    wait_for test -S "$dir/bus"
}

start_daemon_deaf() {
    "$BUILD/tunerd" "${daemon_args[@]}" >"$dir/log" 2>&1 &
    daemon_pid=$!
    sleep 0.5
    kill -0 "$daemon_pid" 2>/dev/null
}
answers() { "$BUILD/tunectl" status --json >"$dir/status.json" 2>/dev/null; }
start_daemon() {
    "$BUILD/tunerd" "${daemon_args[@]}" >"$dir/log" 2>&1 &
    daemon_pid=$!
    wait_for answers || { result 1 "the daemon starts"; sed 's/^/# log: /' "$dir/log"; exit 1; }
}
stop_daemon() { # stop_daemon SIGNAL
    kill -"$1" "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null
    daemon_pid=
}
kill_daemon() {
    kill -9 "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null
    daemon_pid=
}
ctl() { "$BUILD/tunectl" "$@" >"$dir/ctl.out" 2>&1 || { result 1 "tunectl $*"; sed 's/^/# /' "$dir/ctl.out"; }; }

status() { answers && jq -r "$1" "$dir/status.json"; }
knob() { cat "$knob_file"; }
knob_state() { status '.knobs[] | select(.name == "migration_cost_ns") | .state'; }
knob_values() { (cd "$dir/root/sys/kernel/debug/sched" && for f in *_ns nr_migrate; do echo "$f=$(cat "$f")"; done) | tr '\n' ' '; }
candidate_in_force() { [ "$(knob)" != 500000 ] && [ -n "$(knob)" ]; }
status_equals_file() { [ "$(status '.knobs[] | select(.name == "migration_cost_ns") | .current')" = "$(knob)" ]; }
foreign_seen() { [ "$(knob_state)" = foreign ]; }
adopted_value() { status '.knobs[] | select(.name == "migration_cost_ns") | .ours'; }
journal_items() { if [ -e "$dir/run/undo" ]; then grep -c '^id=' "$dir/run/undo"; else echo 0; fi; }
journal_original() { grep -h 'migration_cost_ns' "$dir/run/undo" 2>/dev/null | grep -q 500000 && echo 500000; }

start_bus
start_plant
originals=$(knob_values)
