#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The VM test: installs the product with its own "make install" into a tree, boots a guest with
# it and runs the main test there.
#
#   run.sh [GENERATION ...]       kernels of tests/vm/kernels; default: 6.1
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

out=${BUILD:-build}/vm
[ $# -gt 0 ] || set -- 6.1
if [ "$(id -u)" != 0 ]; then
    exec sudo BUILD="${BUILD:-build}" "$0" "$@"
fi
rm -rf "$out"
mkdir -p "$out"
make -s --no-print-directory BUILD="${BUILD:-build}" DESTDIR="$PWD/$out/stage" PREFIX=/usr install ||
    { echo "0 passed, 1 failed"; exit 1; }
status=0
for generation; do
    tests/vm/boot.sh -k "$generation" -p "$out/stage" -o "$out/$generation" \
        tests/vm/guest-main.sh tests/vm/guest-lib.sh || status=1
done
exit $status
