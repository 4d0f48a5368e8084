#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The pages speak of every option, and the shipped tunerd.conf is what the option table says.
set -u
BUILD=${BUILD:-build} SRC=${SRC:-$(cd "$(dirname "$0")/.." && pwd)}
n=0
result() { n=$((n + 1)); if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi; }
# missing PAGE WORD...: those that the page does not have in bold
missing() { local page=$1 w; shift; for w; do grep -Eq "^\.(It )?(Cm|Fl) (.*[ \\-])?$w( |$)" "$page" || echo "$w"; done; }

left=$(missing "$SRC/man/tunerd.conf.5" $("$BUILD/tunerd" --dump-defaults |
    sed -n '/^\[limits\]/,/^\[store\]/d; s/^#\([a-z_]*\) = .*/\1/p') keep max_size)
test -z "$left"; result $? "tunerd.conf(5) has every option"
[ -z "$left" ] || echo "# missing:" $left
left=$(for o in $("$BUILD/tunerd" --help | grep -o -- '--[a-z-]*' | sort -u | cut -c3-); do
    grep -q -- "-$o" "$SRC/man/tunerd.8" || echo "$o"; done)
test -z "$left"; result $? "tunerd(8) has every option"
[ -z "$left" ] || echo "# missing:" $left
left=$(for m in description priority command type measure connection database file file_metric file_counter file_load_metric; do
    grep -q "^\.It Cm $m " "$SRC/man/tunerd.profile.5" || echo "$m"; done)
test -z "$left"; result $? "tunerd.profile(5) has every option"
"$BUILD/tunerd" --dump-defaults | cmp -s - "$SRC/conf/tunerd.conf"
result $? "conf/tunerd.conf is what the option table says"
"$BUILD/tunerd" --config-dir "$SRC/conf" --check-config
result $? "the shipped configuration is good"
echo "1..$n"
