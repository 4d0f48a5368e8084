#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The simulated host (build/demo-plant): its files are whole and well formed, its application answers to the knob as the table
# says, and it only reads the knobs.
set -u
BUILD=${BUILD:-build} SRC=${SRC:-.}
table=$SRC/tests/plants/kunpeng920-pgbench.csv
dir=$(mktemp -d "${TMPDIR:-/tmp}/tunerd-plant.XXXXXX")
plant=
trap 'stop; rm -rf "$dir"' EXIT
n=0
result() { # result STATUS TEXT
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}
start() { # start ARGUMENTS...: a tree of its own each time
    rm -rf "$dir/root"
    mkdir "$dir/root"
    "$BUILD/demo-plant" --root "$dir/root" --table "$table" --seed "${SEED:-1}" --window 50ms "$@" 2>"$dir/log" &
    plant=$!
    for _ in $(seq 100); do [ ! -s "$dir/root/run/transactions.prom" ] || return 0; sleep 0.05; done
    echo "Bail out! no simulated host: $(cat "$dir/log")"
    exit 1
}
stop() {
    [ -z "$plant" ] || { kill "$plant"; wait "$plant"; }
    plant=
}
sample() { awk '$1 == "transactions_total" {print $2, $3}' "$dir/root/run/transactions.prom"; }
rate() { # rate SECONDS: transactions per second over that time, by the file's own clock
    local a b
    a=$(sample); sleep "$1"; b=$(sample)
    awk -v a="$a" -v b="$b" 'BEGIN {split(a, x); split(b, y); print (y[1] - x[1]) / (y[2] - x[2]) * 1000}'
}
near() { # near VALUE WANT TEXT: within 2 %
    awk -v v="$1" -v w="$2" 'BEGIN {exit !(v > w * 0.98 && v < w * 1.02)}'
    result $? "$3 ($1 against $2)"
}
knob=$dir/root/sys/kernel/debug/sched/migration_cost_ns

start --sigma 0 --clients 256
awk '/^version/ {v = $2} /^cpu/ {c++; bad += NF != 10} /^domain/ {d++; bad += NF != 38} END {exit !(v == 15 && c == 8 && d == 8 && !bad)}' \
    "$dir/root/proc/schedstat"
result $? "schedstat is of version 15 with whole lines"

bad=0
for _ in $(seq 200); do
    s=$(<"$dir/root/proc/schedstat") p=$(<"$dir/root/proc/pressure/cpu") t=$(<"$dir/root/run/transactions.prom")
    [ "$(grep -c ^domain <<<"$s")" = 8 ] && [[ $p == some*full*total=* ]] && [[ $t == *clients\ 256 ]] || bad=$((bad + 1))
done
result $((bad > 0)) "no reader sees half of a file ($bad of 200)"

before=$(stat -c '%i %y' "$knob")
near "$(rate 1)" 57476.13 "the rate at the default is the table's"
[ "$(stat -c '%i %y' "$knob")" = "$before" ]; result $? "a knob is only read"
echo 10000 >"$knob"; sleep 0.6
near "$(rate 1)" 69437.05 "the knob acts, and has settled after some windows"
echo 100000 >"$knob"; sleep 0.6
near "$(rate 1)" 65645.83 "another measured point"
: >"$knob"; sleep 0.2; kill -0 "$plant"; result $? "an empty knob file does not stop it"
stop

start --sigma 0 --clients 256 --flip 144
echo 10000 >"$knob"; sleep 3
# 64851.23 / 76290.98 of one of 144 clients, at the level of 256
near "$(rate 1)" 48857.6 "the response flips once the knob has been away from its default"
grep -q 144 "$dir/log"; result $? "and says so"
stop

start --sigma 0.05 --clients 24
a=$(rate 0.3) b=$(rate 0.3)
[ "$a" != "$b" ]; result $? "there is noise ($a, $b)"
kill -TERM "$plant"; wait "$plant"; result $? "ends on SIGTERM"
plant=

refused() { # refused TEXT ARGUMENTS...
    local text=$1
    shift
    "$BUILD/demo-plant" "$@" >/dev/null 2>&1
    [ $? = 2 ]; result $? "$text is refused"
}
printf 'load,knob,value\n8,10000,100\n8,9000,90\n' >"$dir/falling.csv"
printf 'load,knob,value\n8,10000,many\n' >"$dir/text.csv"
: >"$dir/empty.csv"
for t in falling text empty absent; do refused "table $t" --root "$dir/root" --table "$dir/$t.csv"; done
refused "no table" --root "$dir/root"
refused "negative noise" --root "$dir/root" --table "$table" --sigma -1
refused "an unknown option" --root "$dir/root" --table "$table" --nosuch
echo "1..$n"
