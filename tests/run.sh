#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every build/test_* and tests/test_*.sh, two at a time, sums their TAP lines. Usage: run.sh --build DIR [NAME...]
# A test prints TAP ("ok", "not ok"); leaving without a line or with a non-zero status is a failure of its own.
set -u
build=build
[ "${1:-}" = --build ] && { build=$2; shift 2; }
cd "$(dirname "$0")/.." || exit 1
case $build in /*) ;; *) build=$PWD/$build ;; esac
export BUILD=$build SRC=$PWD CMOCKA_MESSAGE_OUTPUT=tap
export SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed: $SEED (make check SEED=$SEED repeats it)"
out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
export out

list=("$@")
if [ ${#list[@]} = 0 ]; then
    for t in tests/test_*.sh tests/test_*.c; do [ -e "$t" ] && list+=("$(basename "${t%.c}")"); done
fi

one() {
    local t=$1 begin=$EPOCHREALTIME r
    case $t in *.sh) set -- bash "tests/$t" ;; *) set -- "$BUILD/$t" ;; esac
    timeout 110 "$@" >"$out/$t.log" 2>&1
    r=$?
    local passed failed
    passed=$(grep -c '^ok ' "$out/$t.log"); failed=$(grep '^not ok ' "$out/$t.log" | grep -vc '# SKIP')
    if [ "$failed" = 0 ] && { [ $r != 0 ] || [ "$passed" = 0 ]; }; then
        failed=1; echo "not ok - $t left with status $r after $passed tests" >>"$out/$t.log"
    fi
    echo "$passed $failed" >"$out/$t.sum"
    printf '%-28s %4d passed %3d failed  %5.1f s\n' "$t" "$passed" "$failed" \
        "$(awk "BEGIN{print $EPOCHREALTIME - $begin}")"
    [ "$failed" = 0 ] || sed "s/^/  $t: /" "$out/$t.log" | tail -n 60
}
export -f one
printf '%s\n' "${list[@]}" | xargs -P "${JOBS:-3}" -I{} bash -c 'one "$1"' _ {}
cat "$out"/*.sum | awk '{p += $1; f += $2} END {printf "%d passed, %d failed\n", p, f; exit f > 0 || p == 0}'
