#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests as an unprivileged user: root would pass every permission test, and initdb refuses it. Called by root,
# it works on a copy that belongs to `nobody`. Usage: check.sh --build DIR
set -eu
[ "${1:-}" = --build ] && build=$2
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
    exec tests/run.sh --build "$build"
fi
copy=$(mktemp -d /tmp/tunerd-check.XXXXXX)
trap 'rm -rf "$copy"' EXIT
# Sources and binaries, neither history nor objects.
tar -c --exclude=./.git --exclude='./build*/obj' . | tar -x -C "$copy"
mkdir "$copy/home"
chown -R nobody "$copy"
cd "$copy"
runuser -u nobody -- env -i PATH="$PATH" HOME="$copy/home" TMPDIR=/tmp LANG=C.UTF-8 ${SEED:+SEED="$SEED"} ${JOBS:+JOBS="$JOBS"} \
    tests/run.sh --build "$build"
