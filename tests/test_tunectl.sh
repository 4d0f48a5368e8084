#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tunectl as a command: recorded documents, exit codes, the journal without a daemon, and a daemon on a private bus
# that serves a tree of files. TAP.
set -u
: "${BUILD:=build}" "${SRC:=$(cd "$(dirname "$0")/.." && pwd)}"
d=$(mktemp -d) daemon='' bus=''
finish() {
    [ -z "$daemon" ] || kill "$daemon" 2>/dev/null
    [ -z "$bus" ] || kill "$bus" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$d"
}
trap finish EXIT
export TZ=UTC NO_COLOR=1 LC_ALL=C.UTF-8 DBUS_SYSTEM_BUS_ADDRESS=unix:path=$d/bus
unset SERVICE_RESULT TUNERD_UNIT
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() {
    n=$((n + 1))
    echo "not ok $n - $1"
    sed 's/^/# /' "$d/out" "$d/err" | tail -n 30
}
# t NAME STATUS PATTERN ARGS...: runs tunectl; its status must be STATUS and its output hold PATTERN.
ctl() {
    timeout 60 "$BUILD/tunectl" --root "$d/root" --runtime-dir "$d/run" --state-dir "$d/state" --config-dir "$d/conf" "$@" \
        >"$d/out" 2>"$d/err" </dev/null
}
t() {
    local name=$1 status=$2 pattern=$3 r
    shift 3
    ctl "$@"
    r=$?
    if [ $r = "$status" ] && cat "$d/out" "$d/err" | grep -Eq -- "$pattern"; then
        ok "$name"
    else
        not_ok "$name: status $r, expected $status and /$pattern/"
    fi
}
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: \"$2\", expected \"$3\""; fi; }

# ---- a tree of files ----------------------------------------------------------------------------
sched=$d/root/sys/kernel/debug/sched
boot=11111111-2222-3333-4444-555555555555
mkdir -p "$sched" "$d/root/proc/sys/kernel/random" "$d/root/sys/devices/system/cpu" "$d/run" "$d/state"
cp -r "$SRC/conf" "$d/conf"
echo 500000 >"$sched/migration_cost_ns"
echo 32 >"$sched/nr_migrate"
echo $boot >"$d/root/proc/sys/kernel/random/boot_id"
echo 6.12.1-test >"$d/root/proc/sys/kernel/osrelease"
echo 0-3 >"$d/root/sys/devices/system/cpu/online"

# ---- recorded documents -------------------------------------------------------------------------
for f in "$SRC"/tests/data/status/*.json; do
    name=$(basename "$f" .json)
    "$BUILD/tunectl" status --from "$f" >"$d/out" 2>"$d/err"
    if diff "${f%.json}.txt" "$d/out" >"$d/err"; then ok "screen $name"; else not_ok "screen $name"; fi
done
"$BUILD/tunectl" status --from - --json <"$SRC/tests/data/status/trial.json" >"$d/out" 2>"$d/err"
if cmp -s "$d/out" "$SRC/tests/data/status/trial.json"; then ok "--json is the document as it is"; else not_ok "--json"; fi
for hostile in '' '[]' '{' 'null' '{"knobs":7}x' "$(printf '{"a":%.0s' {1..200})"; do
    printf '%s' "$hostile" >"$d/hostile"
    t "no document: ${hostile:0:12}" 1 'no document' status --from "$d/hostile"
done
t "document: {}" 0 'tunerd +\?' status --from <(echo '{}')
t "no such file" 1 'cannot read' status --from "$d/none"

# ---- usage --------------------------------------------------------------------------------------
t "no verb" 2 'tunectl status'
t "unknown verb" 2 'Did you mean: history' hist
t "unknown verb without a relative" 2 'no verb "zzz"' zzz
t "unknown option" 2 'tunectl help' status --bogus
t "option of another verb" 2 'does not take --for' status --for 10s
t "too many words" 2 'Usage: tunectl status' status now
t "too few words" 2 'Usage: tunectl release KNOB' release
t "--for without unit" 2 'at least 1s' tune --for 10
t "--for below a second" 2 'at least 1s' tune --for 10ms
t "history of nothing" 2 'number from 1' history 0
t "history of a word" 2 'number from 1' history ten
t "trace as JSON" 2 'CSV' history --trace --json
t "unknown knob" 2 'no knob "bogus"; the knobs are: .*migration_cost_ns' why bogus
t "unknown profile" 2 'no profile bogus' objective test bogus
t "help" 0 'Exit status: 0 ok' help
t "--help" 0 'Usage: tunectl' --help
t "--version" 0 '^tunectl [0-9]' --version

# ---- manual -------------------------------------------------------------------------------------
ctl help
verbs=$(sed -n '/^Verbs:/,/^Options:/s/^  \([a-z]*\( test\| list\)\{0,1\}\) .*/\1/p' "$d/out")
options=$(sed -n '/^Options:/,$s/^  --\([a-z-]*\).*/\1/p' "$d/out" | sed 's/-/\\\\-/g')
if [ "$(echo "$verbs" | wc -l)" -ge 16 ]; then ok "verbs in the help"; else not_ok "verbs in the help"; fi
while read -r v; do
    if grep -q "^\.It Cm $v\( \|\$\)" "$SRC/man/tunectl.1"; then ok "manual has $v"; else not_ok "manual lacks $v"; fi
done <<<"$verbs"
while read -r o; do
    if grep -q "Fl \\\\-$o\b" "$SRC/man/tunectl.1"; then ok "manual has --$o"; else not_ok "manual lacks --$o"; fi
done <<<"$options"

# ---- completion ---------------------------------------------------------------------------------
complete_words() {
    COMP_WORDS=("$BUILD/tunectl" "$@") COMP_CWORD=$# COMPREPLY=()
    _tunectl
    echo "${COMPREPLY[*]}"
}
# shellcheck source=/dev/null
. "$SRC/tunectl/completion.bash"
same "completion of a verb" "$(complete_words ver)" verify
same "completion of a knob" "$(complete_words why mig)" migration_cost_ns
same "completion of a second word" "$(complete_words --json profile '')" list
same "completion of an option" "$(complete_words restore --serv)" --service-stop

# ---- without a daemon ---------------------------------------------------------------------------
t "status" 3 'systemctl enable --now tunerd' status
t "status shows the knobs" 3 '^migration_cost_ns +500us +500us' status
t "status --json" 3 '"daemon": ?false' status --json
for verb in tune observe pause resume reload 'release nr_migrate' watch dump; do
    # shellcheck disable=SC2086 # a verb and its word
    t "$verb" 3 'does not run' $verb
done
t "probe" 0 '^nr_migrate +32 +32' probe
ctl probe --json
same "probe --json" "$(jq -r '.knobs[] | select(.name == "migration_cost_ns") | .current' "$d/out")" 500000
t "profile list" 0 '^postgresql' profile list
ctl profile list --json
same "profile list --json" "$(jq -r '.profiles | map(.name) | sort | join(" ")' "$d/out")" "generic postgresql"
t "why" 0 'In force is 500us' why migration_cost_ns
t "history" 0 'no decisions yet' history
t "learned" 0 'nothing has been learned' learned
ctl learned --json
same "learned --json" "$(jq -r '.classes | length' "$d/out")" 0
t "report" 0 'No windows are recorded' report
t "report of nothing" 2 'number from 1' report 0
ctl history --json
same "history --json" "$(jq -r '.decisions | length' "$d/out")" 0
t "verify" 0 'nothing differs' verify
t "restore" 0 'nothing to restore' restore
mkdir "$d/empty"
t "probe of a host without knobs" 5 'nothing can be tuned here' --root "$d/empty" probe
t "status there: no daemon goes first" 3 'nothing can be tuned here' --root "$d/empty" status
t "no root" 1 'No such file' --root "$d/none" probe
echo 'bogus = 1' >>"$d/conf/tunerd.conf"
t "wrong configuration" 2 'tunerd.conf:[0-9]+:.*bogus' verify
cp "$SRC/conf/tunerd.conf" "$d/conf/tunerd.conf"

# ---- the journal without a daemon ---------------------------------------------------------------
# journal FILE ORIGINAL CONFIRMED: one line as the daemon writes it, with its FNV-1a sum.
journal() {
    local text i h=2166136261 c
    text=$(printf 'id=/sys/kernel/debug/sched/%s\toriginal=%s\tconfirmed=%s\tintended=\ttime=1764542191000000000\tforeign=0\tscale0=\tscale=\tboot=%s\t' \
        "$1" "$2" "$3" $boot)
    for ((i = 0; i < ${#text}; i++)); do
        printf -v c '%d' "'${text:i:1}"
        h=$((((h ^ c) * 16777619) & 0xffffffff))
    done
    printf 'tunerd-undo 1\n%ssum=%08x\n' "$text" $h >"$d/run/undo"
}
value() { cat "$sched/migration_cost_ns"; }
journal migration_cost_ns 500000 62500
echo 62500 >"$sched/migration_cost_ns"
t "verify: not back" 4 'no daemon runs: tunectl restore' verify
ctl verify --json
same "verify --json" "$(jq -r '.items[0] | .state + " " + .current + " " + (.differs | tostring)' "$d/out")" "not-back 62500 true"
same "verify writes nothing" "$(value)" 62500
t "restore" 0 'migration_cost_ns' restore
same "the original is back" "$(value)" 500000
t "verify after it" 0 'nothing differs' verify
journal migration_cost_ns 500000 62500
t "verify: original in force" 0 'the original is in force' verify
echo 700000 >"$sched/migration_cost_ns"
t "verify: foreign" 4 "somebody else's" verify
t "restore leaves it alone" 0 'migration_cost_ns' restore
same "the foreign value stays" "$(value)" 700000

journal migration_cost_ns 500000 62500
echo 62500 >"$sched/migration_cost_ns"
: >"$d/run/lock"
exec 9<"$d/run/lock"
flock 9
t "restore while somebody holds the lock" 1 'holds .*/run/lock' restore
same "nothing was written" "$(value)" 62500
exec 9<&-
export SERVICE_RESULT=signal
sed -i 's/^#\{0,1\} *on_stop *=.*/on_stop = keep/' "$d/conf/tunerd.conf"
t "verify: kept" 0 'on_stop = keep' verify
t "service stop after a crash, keep" 0 'migration_cost_ns' restore --service-stop
same "a crash restores" "$(value)" 500000
journal migration_cost_ns 500000 62500
echo 62500 >"$sched/migration_cost_ns"
export SERVICE_RESULT=success
t "service stop, keep" 0 'values stay' restore --service-stop
same "kept" "$(value)" 62500
cp "$SRC/conf/tunerd.conf" "$d/conf/tunerd.conf"
t "service stop without a bus" 0 'migration_cost_ns' restore --service-stop
same "restored" "$(value)" 500000
unset SERVICE_RESULT
if [ "$(id -u)" != 0 ]; then
    journal migration_cost_ns 500000 62500
    chmod 0 "$d/run/undo"
    t "verify of an unreadable journal" 1 'try sudo' verify
    rm -f "$d/run/undo"
fi
rm -f "$d/run/undo" "$d/run/lock"

# ---- with a daemon ------------------------------------------------------------------------------
cat >"$d/bus.conf" <<EOF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=$d/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
EOF
dbus-daemon --config-file="$d/bus.conf" --nofork --nosyslog 2>"$d/bus.log" &
bus=$!
sed -i 's/^#\{0,1\} *window *=.*/window = 200ms/; s/^#\{0,1\} *profile *=.*/profile = generic/' "$d/conf/tunerd.conf"
for _ in {1..100}; do [ -S "$d/bus" ] && break; sleep 0.05; done
"$BUILD/tunerd" --root "$d/root" --runtime-dir "$d/run" --state-dir "$d/state" --config-dir "$d/conf" >"$d/log" 2>&1 &
daemon=$!
for _ in {1..100}; do
    kill -0 $daemon 2>/dev/null || { sed 's/^/# /' "$d/log"; break; }
    ctl status --json && break
    sleep 0.1
done
t "status" 0 '^tunerd .* mode observe' status
ctl status --json
same "status --json" "$(jq -r '.mode + " " + (.schema | tostring)' "$d/out")" "observe 1"
members() { jq -r 'keys[]' "$1" | sort; }
same "members of the document are those of the recorded one" "$(members "$d/out")" "$(members "$SRC/tests/data/status/trial.json")"
t "release of an unknown knob" 2 'no knob' release bogus
t "release of a knob of ours" 1 'not in foreign hands' release nr_migrate
t "resume without a pause" 1 'not paused' resume
t "pause --for" 0 'paused, values in force are held for 10min' pause --for 10min
t "status: pause" 0 'mode pause \(tunectl, for' status
t "resume" 0 'resumed' resume
t "pause --baseline" 0 'original values until reboot' pause --baseline
t "status: pause-baseline" 0 'mode pause-baseline' status
t "tune" 0 'allowed until reboot' tune
t "status: tune" 0 'mode tune \(tunectl, until reboot' status
t "observe" 0 'observing only until reboot' observe
t "verify" 0 'nothing differs|the daemon runs' verify
t "why" 0 'migration_cost_ns' why migration_cost_ns
t "history" 0 '^TIME +CLASS +WHAT' history
ctl history 1000 --json
same "history knows the modes" "$(jq -r '[.decisions[] | select(.what == "mode") | .reason] | .[0]' "$d/out")" observe
t "history --trace" 0 '^window,' history --trace
t "learned" 0 'nothing has been learned|^CLASS' learned
t "report" 0 '</html>' report 100
t "dump" 0 '^\[control\]' dump
t "reload" 0 'anew' reload
echo 'bogus = 1' >>"$d/conf/tunerd.conf"
t "reload of a wrong configuration" 2 'tunerd.conf:[0-9]+:.*bogus' reload
t "restore through the daemon" 0 'originals are in force' restore
timeout 2 "$BUILD/tunectl" watch >"$d/out" 2>"$d/err"
if [ "$(grep -c '^tunerd ' "$d/out")" -ge 3 ]; then ok "watch repeats"; else not_ok "watch repeats"; fi
t "daemon on the bus, but another root: tunectl asks the daemon" 0 'mode observe' --root "$d/none" status
kill "$bus"; wait "$bus" 2>/dev/null; bus=''
t "daemon without a bus" 3 'runs \(pid [0-9]+\) but cannot be reached' status
journal nr_migrate 32 16
t "restore refuses then" 1 'does not answer on the bus' restore
rm -f "$d/run/undo"
kill "$daemon"; wait "$daemon" 2>/dev/null; daemon=''
t "after the stop" 3 'does not run' tune
t "nothing left behind" 0 'nothing' restore
echo "1..$n"
