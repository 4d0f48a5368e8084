#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages named on the command line, as root or through sudo; only those that are missing.
set -eu

missing=
for p in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null || :) in
    ii*) ;;
    *) missing="$missing $p" ;;
    esac
done
[ -n "$missing" ] || { echo "deps: all $# packages are installed"; exit 0; }

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "deps: not root, and there is no sudo. Install these as root, then call make again without deps:" >&2
    echo "  apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get -q update
# shellcheck disable=SC2086 # a list of package names
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing
