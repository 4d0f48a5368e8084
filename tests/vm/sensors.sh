#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest, as root: the sensors against a real kernel. Beside this script: tunectl and the tests of the sensors.
# Shows what each metric says under a known load, that hotplug and sched_schedstats are noticed, and that perf's events
# count on after a CPU was away.
set -u
cd "$(dirname "$0")" || exit 1
chmod +x tunectl test_* 2>/dev/null
export CMOCKA_MESSAGE_OUTPUT=tap SRC=$PWD
[ -d lib ] && export LD_LIBRARY_PATH=$PWD/lib
n=0
check() { # NAME, status
    n=$((n + 1))
    if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
# value of a metric or "null" in a line of `tunectl sensors --json`
metric() { printf '%s\n' "$2" | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"; }
# is A within LO..HI
within() { awk -v a="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(a != "null" && a != "" && a + 0 >= lo && a + 0 <= hi) }'; }
last() { ./tunectl sensors --count "${2:-1}" --interval "$1" --json | tail -n 1; }

for t in test_perf test_netlink test_workload test_psi test_sensors; do
    if [ ! -e "$t" ]; then continue; fi
    ./"$t" >"$t.log" 2>&1
    r=$?
    grep '^# skipped' "$t.log" | sed "s/^/# $t: /"
    [ $r = 0 ] && ! grep -q '^not ok' "$t.log"
    check "$t on this kernel" $?
    [ $r = 0 ] || sed 's/^/# /' "$t.log"
done

# What is in the file is what --raw says, line for line.
cpus=$(grep -c '^cpu' /proc/schedstat)
domains=$(grep -c '^domain' /proc/schedstat)
raw=$(./tunectl sensors --raw | tr -d ' \n')
[ "$(printf '%s' "$raw" | grep -o '"cpu":[0-9]' | wc -l)" = "$cpus" ] &&
    [ "$(printf '%s' "$raw" | grep -o '"span":' | wc -l)" = "$domains" ] &&
    printf '%s' "$raw" | grep -q "\"version\":$(sed -n '1s/version //p' /proc/schedstat),"
check "raw: $cpus CPUs, $domains domains, version" $?

sysctl -q kernel.sched_schedstats=0
w=$(last 1s 3)
[ "$(metric newidle_per_s "$w")" = null ] && [ "$(metric wakeups_per_s "$w")" = null ] &&
    [ "$(metric runq_wait_ns "$w")" != null ] && printf '%s' "$w" | grep -q 'sched_schedstats is 0'
check "sched_schedstats=0: no balance metrics, and a reason" $?

# Two loops that never sleep on four CPUs; four more that wake up often.
for _ in 1 2; do (while :; do :; done) & done
for _ in 1 2 3 4; do (while :; do sleep 0.01; done) & done
trap 'kill $(jobs -p) 2>/dev/null' EXIT
sleep 1
w=$(last 3s)
echo "# running $(metric running "$w") waiting $(metric waiting "$w") switches/s $(metric switches_per_s "$w") slices/s $(metric timeslices_per_s "$w")"
# The kernel books run time when a thread leaves its CPU: a window may hold some of the one before.
within "$(metric running "$w")" 1.7 6
check "running: two loops and a little" $?
# A timeslice of a task is a switch to it; switches to idle come on top.
within "$(metric switches_per_s "$w")" "$(awk -v s="$(metric timeslices_per_s "$w")" 'BEGIN { print s * 0.8 }')" \
    "$(awk -v s="$(metric timeslices_per_s "$w")" 'BEGIN { print s * 2.5 }')"
check "perf's switches agree with schedstat's timeslices" $?
within "$(metric psi_cpu_some "$w")" 0 100
check "pressure of the CPUs" $?

sysctl -q kernel.sched_schedstats=1
w=$(last 1s 4)
echo "# wakeups/s $(metric wakeups_per_s "$w") newidle/s $(metric newidle_per_s "$w") affine/s $(metric affine_per_s "$w")"
within "$(metric wakeups_per_s "$w")" 10 1000000 && within "$(metric newidle_per_s "$w")" 0 1000000
check "sched_schedstats=1: wake-ups and balancing" $?
printf '%s' "$w" | grep -q '"domains":\[{"name":"[A-Za-z0-9]*"'
check "balancing by level" $?

# A CPU goes and comes between windows of one run.
lines() { while [ "$(wc -l <hotplug.json)" -lt "$1" ]; do sleep 0.2; done; }
./tunectl sensors --count 10 --interval 2s --json >hotplug.json &
p=$!
lines 2
echo 0 >/sys/devices/system/cpu/cpu2/online
lines 5
echo 1 >/sys/devices/system/cpu/cpu2/online
wait $p
sed 's/.*"disturbance":\([^,]*\).*"switches_per_s":\([^,]*\).*"cpus_online":\([^,]*\).*/# \1 switches \2 cpus \3/' hotplug.json
[ "$(grep -c '"disturbance":"a CPU went online or offline"' hotplug.json)" -ge 2 ]
check "hotplug disturbs its windows, both ways" $?
[ "$(grep -c '"disturbance":null' hotplug.json)" -ge 5 ]
check "... and no others" $?
w=$(tail -n 1 hotplug.json)
[ "$(metric switches_per_s "$w")" != null ] && [ "$(metric newidle_per_s "$w")" != null ] && [ "$(metric cpus_online "$w")" = "$(nproc)" ]
check "everything counts again on all CPUs" $?

./tunectl sensors --count 3 --interval 1s
echo "1..$n"
