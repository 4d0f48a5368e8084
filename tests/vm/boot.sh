#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots a guest, unpacks the product into it, runs one test script there as root, prints what
# the script says and counts its "ok" and "not ok" lines. The last line is alone on its line:
# N passed, N failed
#
#   boot.sh [options] SCRIPT [FILE ...]     the files are put beside the script, in /lab
#     -p DIR      tree made by "make install DESTDIR=DIR", unpacked into / of the guest
#     -k GEN      kernel generation (6.1)
#     -o DIR      where console.log, out.log and the files of the guest go (build/vm)
#     -t SECONDS  hard time-out, boot included (900)
#     -a ARGS     more kernel command line
set -uo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
product='' generation=6.1 out=build/vm limit=900 append=''
while getopts p:k:o:t:a: opt; do
    case $opt in
    p) product=$OPTARG ;;
    k) generation=$OPTARG ;;
    o) out=$OPTARG ;;
    t) limit=$OPTARG ;;
    a) append=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 2; }
started=$SECONDS
step() { printf 'vm %4d s  %s\n' $((SECONDS - started)) "$*"; }

command -v qemu-system-x86_64 >/dev/null || { echo "boot.sh: qemu-system-x86_64 is missing"; exit 1; }
image=$("$here/image.sh" "$generation") || { echo "0 passed, 1 failed"; exit 1; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/files" "$out"/*.log "$out"/*.tar
mkdir -p "$out/files"

# One tar: the product at /, the test below /lab. The guest ends the test a little before the
# hard time-out, so that its files still come out.
pack() {
    local lab
    lab=$(mktemp -d)
    mkdir "$lab/lab"
    cp "$@" "$lab/lab/"
    printf 'exec timeout -k 10 %d bash "/lab/%s"\n' $((limit > 240 ? limit - 120 : limit / 2)) \
        "${1##*/}" >"$lab/lab/main"
    tar -C "$lab" --owner=0 --group=0 -cf "$out/product.tar" ./lab
    [ -z "$product" ] || tar -C "$product" --owner=0 --group=0 -rf "$out/product.tar" .
    rm -rf "$lab"
}

boot() {
    rm -f "$out/out.log" "$out/files.tar"
    : >"$out/out.log"
    truncate -s 256M "$out/files.tar"
    qemu-system-x86_64 -machine q35 -accel tcg,thread="$(cat "$image/threads")" -cpu max \
        -smp 4,sockets=2,cores=2 -m 2G -nographic -no-reboot -nic none -monitor none \
        -object memory-backend-ram,id=m0,size=1G -object memory-backend-ram,id=m1,size=1G \
        -numa node,nodeid=0,memdev=m0 -numa node,nodeid=1,memdev=m1 \
        -numa cpu,node-id=0,socket-id=0 -numa cpu,node-id=1,socket-id=1 \
        -drive if=virtio,format=raw,file="$image/root.ext4",snapshot=on,cache=unsafe \
        -drive if=virtio,format=raw,file="$out/product.tar",snapshot=on,cache=unsafe \
        -drive if=virtio,format=raw,file="$out/files.tar",cache=unsafe \
        -kernel "$image/vmlinuz" -initrd "$image/initrd" \
        -append "root=/dev/vda rw console=ttyS0 quiet panic=-1 oops=panic $append" \
        -serial file:"$out/console.log" -serial file:"$out/out.log" \
        </dev/null >"$out/qemu.log" 2>&1 &
    qemu=$!
    trap 'kill "$qemu" 2>/dev/null' EXIT
    tail -n +1 -f --pid="$qemu" "$out/out.log" &
    local tail=$! until=$((SECONDS + limit))
    while kill -0 "$qemu" 2>/dev/null; do
        if [ "$SECONDS" -ge "$until" ]; then
            echo "vm: not finished after $limit s: stopped"
            kill "$qemu"
        fi
        sleep 1
    done
    wait "$qemu" 2>/dev/null
    wait "$tail" 2>/dev/null
    trap - EXIT
}

crashed() { grep -qaE 'Kernel panic|Oops|BUG: |general protection|soft lockup' "$out/console.log"; }
began() { grep -qa '^lab: start' "$out/out.log"; }
ended() { grep -qa '^lab: end' "$out/out.log"; }

pack "$@"
step "kernel $(cat "$image/version"): boot"
boot
if ! began && crashed; then
    step "the kernel crashed before the product was started: one more boot"
    mv "$out/console.log" "$out/console-first.log"
    boot
fi
[ ! -s "$out/files.tar" ] || tar -C "$out/files" -xf "$out/files.tar" 2>/dev/null
rm -f "$out/files.tar" "$out/product.tar"

passed=$(grep -ac '^ok ' "$out/out.log")
failed=$(grep -ac '^not ok ' "$out/out.log")
crashed && { echo "not ok - the guest's kernel crashed"; failed=$((failed + 1)); }
if ! ended; then
    echo "not ok - the guest did not finish"
    failed=$((failed + 1))
elif ! grep -qa '^lab: end 0' "$out/out.log" && [ "$failed" = 0 ]; then
    echo "not ok - the test script ended with $(sed -n 's/^lab: end //p' "$out/out.log")"
    failed=1
fi
[ $((passed + failed)) -gt 0 ] || { echo "not ok - nothing was asserted"; failed=1; }
if [ "$failed" -gt 0 ]; then
    echo "--- failed"
    grep -a '^not ok ' "$out/out.log"
    echo "--- console, last lines"
    tail -n 30 "$out/console.log" | tr -d '\r'
    [ ! -s "$out/qemu.log" ] || { echo "--- qemu"; tail -n 5 "$out/qemu.log"; }
    if [ -s "$out/files/journal.txt" ]; then
        echo "--- journal of the daemon, last lines"
        grep -aE 'tunerd|tunectl' "$out/files/journal.txt" | tail -n 60
    fi
    echo "--- logs and the guest's files: $out"
fi
step "done"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
