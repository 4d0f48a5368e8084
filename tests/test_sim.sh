#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The controller in simulated time: every scenario meets its bounds, with few seeds (make check-long: 40); one TAP line a bound.
set -u
BUILD=${BUILD:-build} SRC=${SRC:-$(cd "$(dirname "$0")/.." && pwd)}
"$SRC/tests/sim/run" "$BUILD/tunesim" "${SIM_SEEDS:-1-8}" | awk '
    $1 == "ok" { n++; sub(/^ok */, ""); print "ok " n " - " $0; next }
    $1 == "FAIL" { n++; sub(/^FAIL */, ""); print "not ok " n " - " $0; next }
    { print "# " $0 }
    END { print "1.." n + 0 }'
