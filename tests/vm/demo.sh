#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on a real kernel, to look at: a guest with PostgreSQL under pgbench, tunerd in
# mode tune, its status as it goes, its history, and the original values back.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

out=${BUILD:-build}/vm-demo
if [ "$(id -u)" != 0 ]; then
    exec sudo BUILD="${BUILD:-build}" "$0" "$@"
fi
rm -rf "$out"
mkdir -p "$out"
make -s --no-print-directory BUILD="${BUILD:-build}" DESTDIR="$PWD/$out/stage" PREFIX=/usr install || exit 1
exec tests/vm/boot.sh -p "$out/stage" -o "$out" tests/vm/guest-demo.sh tests/vm/guest-lib.sh
