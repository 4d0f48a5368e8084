#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Static analysis with cppcheck and gcc's analyzer. Leaves with 1 when either finds something. Needs `make deps` and DEPS_DEV.
set -u
cd "$(dirname "$0")/.." || exit 1
r=0
if command -v cppcheck >/dev/null; then
    cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem \
        --suppress=normalCheckLevelMaxBranches --error-exitcode=1 -D_GNU_SOURCE -Idaemon -Ipolicies \
        daemon policies tunectl tunesim demo || r=1
else
    echo "analyze: cppcheck is not installed" >&2
    r=1
fi
flags="-std=gnu17 -O1 -D_GNU_SOURCE -DTUNERD_VERSION=\"0\" -Idaemon -Ipolicies $(pkg-config --cflags libsystemd libpq sqlite3 smartcols json-c libnl-3.0 libnl-genl-3.0)"
for f in daemon/*.c policies/*.c tunectl/*.c tunesim/*.c demo/*.c; do
    # shellcheck disable=SC2086 # a list of flags
    gcc $flags -fanalyzer -Werror -c -o /dev/null "$f" || r=1
done
[ $r = 0 ] && echo "analyze: nothing found"
exit $r
