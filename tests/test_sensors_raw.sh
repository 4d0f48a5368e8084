#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tunectl sensors: jq prints the kernel's text again from --raw, for every capture, byte for byte; and the options.
set -u
tunectl=$BUILD/tunectl
data=${SRC:-.}/tests/data/schedstat
root=$(mktemp -d "${TMPDIR:-/tmp}/tunerd-raw.XXXXXX")
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/proc/pressure"
n=0
check() { # NAME, status of the line before
    n=$((n + 1))
    if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

# The order of kinds and numbers, by version, independent of the product's own table.
# shellcheck disable=SC2016
again='
def lb: [.lb_count, .lb_balanced, .lb_failed]
    + (if has("lb_imbalance") then [.lb_imbalance]
       else [.lb_imbalance_load, .lb_imbalance_util, .lb_imbalance_task, .lb_imbalance_misfit] end)
    + [.lb_gained, .lb_hot_gained, .lb_nobusyq, .lb_nobusyg];
.schedstat | .version as $v | "version \($v)", "timestamp \(.timestamp)",
(.cpus[] | "cpu\(.cpu) \([.yld_count, 0, .sched_count, .sched_goidle, .ttwu_count, .ttwu_local,
                         .rq_cpu_time, .run_delay, .pcount] | map(tostring) | join(" "))",
 (.domains[] | "domain\(.domain) \(if $v == 17 then .name + " " else "" end)\(.mask) \(
    (if $v == 15 then (.idle | lb) + (.busy | lb) else (.busy | lb) + (.idle | lb) end) + (.newidle | lb)
    + [.alb_count, .alb_failed, .alb_pushed, .sbe_count, .sbe_balanced, .sbe_pushed, .sbf_count,
       .sbf_balanced, .sbf_pushed, .ttwu_wake_remote, .ttwu_move_affine, .ttwu_move_balance]
    | map(tostring) | join(" "))"))'
for f in "$data"/*.txt; do
    cp "$f" "$root/proc/schedstat"
    "$tunectl" sensors --raw --root "$root" | jq -r "$again" | cmp -s - "$f"
    check "raw gives back ${f##*/}" $?
done

printf 'some avg10=1.20 avg60=0.03 avg300=0.00 total=123456789012345\n' >"$root/proc/pressure/cpu"
[ "$("$tunectl" sensors --raw --json --root "$root" | jq -c '[.psi.cpu | .some.avg10, .some.total, .full, .error]')" = \
    '[1.2,123456789012345,null,null]' ]
check "pressure, a line that is not there is null" $?
[ "$("$tunectl" sensors --raw --root "$root" | jq -r '.psi.io.error')" = "No such file or directory" ]
check "a file that is not there is an error" $?
head -c 300 "$data/v17-8cpu-7.3.4-debian-qemu-on.txt" >"$root/proc/schedstat"
"$tunectl" sensors --raw --root "$root" | jq -e '.schedstat.error != null and (.schedstat.cpus | length) == 1' >/dev/null
check "a text that was cut short is an error" $?

cp "$data/v17-8cpu-7.3.4-debian-qemu-on.txt" "$root/proc/schedstat"
[ "$("$tunectl" sensors --count 3 --interval 20ms --json --root "$root" | jq -sc '[length, .[2].window, .[0].metrics.running]')" = \
    '[3,3,null]' ]
check "json: a line for each window, null for what is not known" $?
"$tunectl" sensors --count 1 --interval 20ms --json --root "$root" |
    jq -e '.sensors | map({key: .name, value: .state}) | from_entries | .schedstat == "partial" and .perf == "absent"' >/dev/null
check "json: states of the sensors" $?
"$tunectl" sensors --count 2 --interval 20ms --root "$root" 2>&1 | grep -q '^perf: absent: simulated host$'
check "text: says once what is missing" $?
for bad in "--count 0" "--count x" "--interval 5ms" "--interval 5" "extra"; do
    # shellcheck disable=SC2086
    "$tunectl" sensors $bad >"$root/out" 2>"$root/err"
    [ $? = 2 ] && [ ! -s "$root/out" ] && [ -s "$root/err" ]
    check "refused: $bad" $?
done
echo "1..$n"
