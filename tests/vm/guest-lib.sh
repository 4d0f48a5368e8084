# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For the scripts that run in the guest: assertions, what status says, knobs, pgbench.

dir=/sys/kernel/debug/sched
knobs=(migration_cost_ns min_granularity_ns wakeup_granularity_ns latency_ns base_slice_ns
    nr_migrate tunable_scaling)
mkdir -p /run/lab
renice -n -10 $$ >/dev/null # who looks must not stand in the queue that the load makes
exec 8<> <(:)                        # never readable: a sleep that forks nothing
nap() { read -r -t "$1" -u 8 _ || :; }
now() { echo "${EPOCHREALTIME/[.,]/}"; } # microseconds

# ---- assertions ---------------------------------------------------------------------------
number=0 failures=0
note() { printf '# %s\n' "$*"; }
phase() { printf '# %4d s  %s\n' "$SECONDS" "$*"; }
ok() { number=$((number + 1)); echo "ok $number - $*"; }
not_ok() { number=$((number + 1)); failures=$((failures + 1)); echo "not ok $number - $*"; }
# check NAME COMMAND...: passes when the command does; what it prints is shown when it does not.
check() {
    local name=$1
    shift
    if "$@" >/run/lab/said 2>&1; then ok "$name"; else # not in a subshell: it may set variables
        not_ok "$name"
        sed 's/^/#   /' /run/lab/said
    fi
}
is() { [ "$1" = "$2" ] || { echo "got '$1', want '$2'"; return 1; }; }
# calc EXPRESSION: true when awk's expression is.
calc() { awk "BEGIN { exit !($1) }" || { echo "not so: $1"; return 1; }; }

# ---- what the product says: every path into its JSON is here -------------------------------
status=''
snap() { status=$(tunectl status --json 2>/run/lab/status.err); }
q() { jq -r "$1" <<<"$status"; }
s_mode() { q .mode; }
s_doing() { q .doing; }
s_profile() { q .class.profile; }
s_window() { q .window.index; }
s_objective() { q '.objective | "\(.name) \(.state)"'; }
s_row() { q '"\(.window.index) \(.objective.tps) \(.load.value)"'; }
s_sensors() { q '.sensors[] | "\(.name) \(.state) \(.reason)"'; }
s_knobs() { q '.knobs[] | "\(.name) \(.state) \(.reason)"'; }
s_knob() { q ".knobs[] | select(.name == \"$1\") | .$2"; } # NAME KEY
s_writes() { q '[.knobs[].writes] | add'; }
s_trial() { q '.trial | if . then "\(.knob) \(.incumbent) \(.candidate) \(.arm)" else "none" end'; }
s_foreign() { q ".knobs[] | select(.name == \"$1\") | \"\(.state) \(.foreign.value)\""; }
s_writer() { q ".knobs[] | select(.name == \"$1\") | \"\(.foreign.pid) \(.foreign.comm)\""; }
# Judgements of a trial, with the numbers behind them.
proven='select((.what | IN("accept", "reject", "abort", "rollback", "keep")) and .n != null and .mean_pct != null)
    | "\(.what) \(.knob) \(.old) -> \(.new): n=\(.n) mean=\(.mean_pct) se=\(.se_pct) e=\(.e)"'
s_proven() { q "[.decisions[] | $proven][0] // empty"; }
history_proven() { tunectl history --json | jq -r "[.decisions[] | $proven][0] // empty"; }
s_said() { q '.decisions[] | "\(.what) \(.knob): \(.text)"'; }

# ---- knobs --------------------------------------------------------------------------------
originals='' # what read_knobs found before the product was started
# "name=value " of every knob file, on one line, without a fork.
read_knobs() {
    local k v
    values=''
    for k in "${knobs[@]}"; do
        [ -e "$dir/$k" ] || continue
        read -r v <"$dir/$k" && values+="$k=$v "
    done
}
# at NAME: its value in $values.
at() { local v=" $values"; v=${v#* "$1"=}; echo "${v%% *}"; }
is_original() { read_knobs; is "$values" "$originals"; }
originals_within() { # SECONDS
    local until=$(($(now) + $1 * 1000000))
    while read_knobs; [ "$values" != "$originals" ]; do
        [ "$(now)" -lt $until ] || { echo "values $values, originals $originals"; return 1; }
        nap 0.1
    done
}
# Names in $moved the first knob that is not at its original.
find_moved() {
    local pair
    moved=''
    for pair in $values; do
        case " $originals" in *" $pair "*) ;; *) moved=${pair%%=*}; return 0 ;; esac
    done
    return 1
}
# Waits until a value other than the original comes in force just now, so that its block has
# most of its time before it; after half of SECONDS an older one will do.
wait_moved() { # SECONDS
    local start before
    start=$(now)
    read_knobs
    before=$values
    while :; do
        nap 0.1
        read_knobs
        if find_moved && { [ "$values" != "$before" ] ||
            [ $(($(now) - start)) -gt $(($1 * 500000)) ]; }; then
            phase "$moved $(at "$moved") in force after $((($(now) - start) / 1000000)) s"
            return 0
        fi
        before=$values
        if [ $(($(now) - start)) -gt $(($1 * 1000000)) ]; then
            snap
            note "no candidate after $1 s: $(s_mode), $(s_doing), trial $(s_trial)"
            return 1
        fi
    done
}
# Writes a line "microseconds values" to FILE for every change, some 20 times a second.
sample_start() { # FILE
    (
        before=''
        while :; do
            read_knobs
            [ "$values" = "$before" ] || echo "$(now) $values"
            before=$values
            nap 0.05
        done
    ) >"$1" &
    sampler=$!
    renice -n -10 "$sampler" >/dev/null
}
sample_stop() { kill "$sampler" 2>/dev/null; wait "$sampler" 2>/dev/null; }

# While a value other than the original is in force, the CPUs are taken from the database: that value is harmful beyond doubt,
# however much an emulated guest's throughput swings.
harm_start() {
    (
        hogs=''
        trap 'kill $hogs 2>/dev/null; exit' TERM
        while :; do
            read_knobs
            if find_moved; then
                [ -n "$hogs" ] || for _ in 1 2 3 4 5 6 7 8; do
                    nice -n 10 bash -c 'while :; do :; done' &
                    hogs+=" $!"
                done
            elif [ -n "$hogs" ]; then
                kill $hogs
                hogs=''
            fi
            nap 0.2
        done
    ) &
    harm=$!
}
harm_stop() { kill "$harm" 2>/dev/null; wait "$harm" 2>/dev/null; }

# ---- the unit -----------------------------------------------------------------------------
unit_start() { systemctl reset-failed tunerd 2>/dev/null; systemctl start tunerd; }
main_pid() { systemctl show -p MainPID --value tunerd; }
# wait_for SECONDS COMMAND...: until the command is true.
wait_for() {
    local until=$((SECONDS + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $until ] || { "$@"; return; }
        nap 0.5
    done
}
answers() { snap && [ -n "$status" ]; }

# ---- load ---------------------------------------------------------------------------------
bench() { nice -n 10 runuser -u postgres -- pgbench -n -S -P 1 "$@" bench; }
load_start() { # ARGS
    bench "$@" >/run/lab/load.txt 2>&1 &
    load=$!
    wait_for 30 grep -q '^progress' /run/lab/load.txt
}
load_stop() { pkill -x pgbench; wait "$load" 2>/dev/null; }
# Runs pgbench and leaves what both sides saw, over the same seconds, in $bench_tps, $seen_tps, $seen_load.
compare() { # FILE ARGS
    local file=/run/lab/$1 first n rows=/run/lab/$1.status
    shift
    bench --progress-timestamp "$@" >"$file" 2>&1 &
    local pid=$!
    : >"$rows"
    wait_for 30 grep -q '^progress' "$file"
    snap
    first=$(s_window)
    while kill -0 $pid 2>/dev/null; do
        nap 0.3
        snap || continue
        kill -0 $pid 2>/dev/null || break
        q '"\(now) \(.window.index) \(.window.length_s) \(.window.next_in_s) \(.objective.tps) \(.load.value)"' >>"$rows"
    done
    wait $pid
    # A window is known by its number; it ended `length - next` ago. The one under way when pgbench came up is not all its own.
    read -r seen_tps bench_tps seen_load n < <(awk -v first="$first" '
        FILENAME == ARGV[1] { if (/^progress/) { at[++k] = $2; tps[k] = $4 }; next }
        $2 < first + 2 { next }
        $6 != "null" && !had[$2]++ { load += $6; m++ }
        $5 != "null" && !seen[$2]++ {
            end = $1 - ($3 - $4); sum = c = 0
            for (i = 1; i <= k; i++) if (at[i] > end - $3 + 0.3 && at[i] <= end + 0.7) { sum += tps[i]; c++ }
            if (c) { ours += $5; theirs += sum / c; n++ }
        }
        END { printf "%.1f %.1f %.2f %d\n", n ? ours / n : 0, n ? theirs / n : 0, m ? load / m : 0, n }' "$file" "$rows")
    note "pgbench $*: $bench_tps tps; status: $seen_tps tps, load $seen_load, $n windows"
}
