#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make run`: the daemon on this host in observe mode where its kernel offers the knobs, else on a simulated host.
# Usage: run.sh --build DIR
set -u
build=build
[ "${1:-}" = --build ] && build=$2
here=$(cd "$(dirname "$0")" && pwd)

if ! why=$("$build/tunerd" --why-not); then
    echo "This host's own scheduler cannot be tuned: $why"
    echo "The same daemon on a simulated host instead:"
    echo
    exec "$here/demo.sh" --build "$build"
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/tunerd-run.XXXXXX")
daemon=
cleanup() {
    [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; }
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 0' INT TERM
mkdir -p "$dir/run" "$dir/state"
args=(--config-dir "$here/../conf" --runtime-dir "$dir/run" --state-dir "$dir/state")
if systemctl --quiet is-active tunerd 2>/dev/null; then
    echo "tunerd.service is running on this host already; this is its status (Ctrl-C ends):"
    "$build/tunectl" watch
    exit
fi
echo "Observing this host, nothing is written (Ctrl-C ends)."
"$build/tunerd" "${args[@]}" >"$dir/log" 2>&1 &
daemon=$!
sleep 2
kill -0 "$daemon" 2>/dev/null || { cat "$dir/log"; exit 1; }
"$build/tunectl" watch
