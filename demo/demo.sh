#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on a simulated host: the real daemon and the real tunectl, on a tree of files that a plant process keeps moving.
# Shows a trial, an acceptance with its numbers, a rollback, and the original values back. Fails unless all were seen.
# Usage: demo.sh --build DIR [--seed N]
set -u
build=build seed=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    *) echo "usage: demo.sh --build DIR [--seed N]" >&2; exit 2 ;;
    esac
done
seed=${seed:-$((RANDOM + 1))}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/tunerd-demo.XXXXXX")
plant= daemon= bus=
cleanup() {
    for p in $daemon $plant $bus; do kill "$p" 2>/dev/null; done
    wait 2>/dev/null
    [ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

until_true() { # until_true SECONDS COMMAND...
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}
knobs() { (cd "$dir/root/sys/kernel/debug/sched" && for f in *_ns nr_migrate; do printf '  %-24s %s\n' "$f" "$(cat "$f")"; done); }

mkdir -p "$dir/root" "$dir/run" "$dir/state" "$dir/conf/profiles"
cp "$here/profile.conf" "$dir/conf/profiles/demo.conf"
sed "s|@SEED@|$seed|" "$here/tunerd.conf" >"$dir/conf/tunerd.conf"
args=(--root "$dir/root" --config-dir "$dir/conf" --runtime-dir "$dir/run" --state-dir "$dir/state")

echo "A simulated host of 8 CPUs under 256 clients; its application answers to migration_cost_ns as measured on a Kunpeng 920."
echo "seed $seed (make demo SEED=$seed tells the same story)"
"$build/demo-plant" --root "$dir/root" --table "$here/../tests/plants/kunpeng920-pgbench.csv" --window 0.15s --sigma 0.01 \
    --flip 144 --seed "$seed" 2>"$dir/plant.log" &
plant=$!
until_true 5 test -s "$dir/root/run/transactions.prom" || { cat "$dir/plant.log"; exit 1; }
knobs >"$dir/before"

sed "s|@DIR@|$dir|" "$here/bus.conf" >"$dir/bus.conf"
dbus-daemon --config-file="$dir/bus.conf" --nofork 2>"$dir/bus.log" &
bus=$!
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/bus
until_true 5 test -S "$dir/bus"

: >"$dir/log"
"$build/tunerd" "${args[@]}" >>"$dir/log" 2>&1 &
daemon=$!
tail -n +1 -f "$dir/log" --pid=$daemon | sed -u 's/^/  log: /' &
status() { "$build/tunectl" status --json 2>/dev/null >"$dir/status.json" && [ -s "$dir/status.json" ]; }
until_true 10 status || { echo "the daemon does not answer"; exit 1; }

journal=no trial=no accepted=no rolled_back=no
begin=$SECONDS shown=0
while [ $((SECONDS - begin)) -lt 60 ] && [ "$accepted$rolled_back" != yesyes ]; do
    sleep 0.3
    status || break
    [ "$journal" = yes ] || ! grep -q migration_cost_ns "$dir/run/undo" 2>/dev/null || journal=yes
    [ "$trial" = yes ] || [ "$(jq -r '.trial.kind' "$dir/status.json")" != test ] || trial=yes
    [ "$accepted" = yes ] || ! grep -q ' accept migration_cost_ns' "$dir/log" || accepted=yes
    [ "$rolled_back" = yes ] || ! grep -q ' rollback migration_cost_ns' "$dir/log" || rolled_back=yes
    if [ $((SECONDS - shown)) -ge 3 ]; then
        shown=$SECONDS
        jq -r '"\(.window.index) windows | \(.knobs[] | select(.name == "migration_cost_ns") | .current) ns | \(.objective.tps // 0 | floor) tps | \(.doing)"' \
            "$dir/status.json"
    fi
done

echo; echo "== tunectl status"
"$build/tunectl" "${args[@]}" status
echo; echo "== the journal of originals, before the stop"
grep -v '^#' "$dir/run/undo" 2>/dev/null
kill "$daemon"; wait "$daemon"; left=$?
daemon=
echo; echo "== tunectl history"
"$build/tunectl" "${args[@]}" history 12
knobs >"$dir/after"
echo; echo "== the knobs, before and after"
paste "$dir/before" "$dir/after"
restored=no; cmp -s "$dir/before" "$dir/after" && restored=yes
echo
echo "journal written: $journal, trial: $trial, acceptance: $accepted, rollback: $rolled_back, originals back: $restored, after $((SECONDS - begin)) s"
[ "$journal$trial$accepted$rolled_back$restored$left" = yesyesyesyesyes0 ]
