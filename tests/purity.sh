#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The core must stay pure: its objects may use arithmetic and memory functions of libc and each other, and own no
# writable object with static storage. Usage: purity.sh BUILD
set -eu
build=$1
ok='^(mem(cpy|set|move|cmp)|str(cmp|len)|fabs|sqrt|exp|exp2|log|log2|pow|floor|ceil|round|lround|isnan|fmin|fmax|__stack_chk_fail|__mem(cpy|set|move)_chk|_GLOBAL_OFFSET_TABLE_)$'
own=$(nm --defined-only "$build"/obj/policies/*.o | awk 'NF == 3 && $2 ~ /[TRD]/ {print $3}' | sort -u)
bad=$(nm -u "$build"/obj/policies/*.o | awk '$1 == "U" {print $2}' | sort -u | grep -Ev "$ok" | grep -Fxv "$own" || :)
[ -z "$bad" ] || { echo "policies/ must stay pure, but uses:" $bad >&2; exit 1; }
rel=$(for o in "$build"/obj/policies/*.o; do
    objdump -t "$o" | awk -v o="$o" '$0 ~ /O \.(data|bss)[ \t]/ {print o ":" $NF}'
done)
[ -z "$rel" ] || { echo "policies/ must own no writable static object, but has:" $rel >&2; exit 1; }
n=$(ls "$build"/obj/policies/*.o | wc -l)
echo "purity: $n objects use nothing but arithmetic and memory, and own no writable static object"
