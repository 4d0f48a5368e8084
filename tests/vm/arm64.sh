#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cross-compiles the sensors and their tests for arm64 and runs them in a guest that has counter hardware, which no x86
# guest without KVM has: instructions, cycles and multiplexing are counted for real there.
# Needs gcc-aarch64-linux-gnu and qemu-system-arm; packages are kept in ~/.cache/tunerd-lab/arm64.
# Usage: arm64.sh [TEST...]; the last line is: N passed, N failed
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tunerd-lab/arm64
root=$cache/root
[ $# -gt 0 ] || set -- perf netlink workload psi sensors sensor_schedstat procparse schedstat
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
step() { printf 'arm64 %3d s  %s\n' $SECONDS "$*"; }

mirror_of() {
    local uri
    # shellcheck disable=SC2016
    uri=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -E "/$1/?\$" | head -n 1) || true
    uri=${uri:-http://deb.debian.org/$1}
    echo "${uri%/}"
}

apt_arm64() { # private directories: the machine's own sources stay
    local command=$1 d=$cache/apt
    shift
    "$command" -o Dir::State="$d/state" -o Dir::State::status="$d/status" -o Dir::Cache="$d/cache" \
        -o Dir::Etc::sourcelist="$d/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::trusted=/dev/null -o APT::Architecture=arm64 \
        -o APT::Architectures::=arm64 -o Acquire::Languages=none -o Acquire::Retries=3 \
        -o APT::Sandbox::User=root -o Dir::Log="$d" "$@"
}

# Libraries, a static busybox and the newest 6.12 kernel of the security suite.
fetch() {
    local key=/usr/share/keyrings/debian-archive-keyring.gpg kernel deb
    rm -rf "$cache"
    mkdir -p "$cache"/apt/{state/lists/partial,cache/archives/partial} "$cache/debs" "$root.part"
    : >"$cache/apt/status"
    printf 'deb [signed-by=%s] %s bookworm main\ndeb [signed-by=%s] %s bookworm-security main\n' \
        "$key" "$(mirror_of debian)" "$key" "$(mirror_of debian-security)" >"$cache/apt/sources.list"
    apt_arm64 apt-get -qq update >&2
    kernel=$(apt_arm64 apt-cache depends linux-image-6.12-cloud-arm64 |
        sed -n 's/^ *Depends: \(linux-image-6.12[^ ]*\)$/\1/p' | head -n 1)
    [ -n "$kernel" ]
    (cd "$cache/debs" && apt_arm64 apt-get -qq download "$kernel" busybox-static libc6 libcmocka0 libcmocka-dev \
        libpfm4 libpfm4-dev libnl-3-200 libnl-3-dev libnl-genl-3-200 libnl-genl-3-dev >&2)
    for deb in "$cache"/debs/*.deb; do
        dpkg-deb -x "$deb" "$root.part"
    done
    rm -rf "$cache/debs"
    mv "$root.part" "$root"
    step "packages: $kernel"
}

compile() { # TEST...
    local lib=$root/usr/lib/aarch64-linux-gnu objects=() f t
    local flags=(-std=gnu17 -D_GNU_SOURCE -O2 -Idaemon -Itests -isystem "$root/usr/include" -isystem "$root/usr/include/libnl3"
        -Wall -Wextra -Werror)
    for f in daemon/sensor*.c daemon/perf_*.c daemon/procparse*.c daemon/schedstat*.c daemon/nl_*.c daemon/kept.c \
        daemon/sysio.c daemon/util.c daemon/metric.c daemon/cgroup.c; do
        objects+=("$out/$(basename "$f" .c).o")
        aarch64-linux-gnu-gcc "${flags[@]}" -Wconversion -Wshadow -c -o "${objects[-1]}" "$f"
    done
    for t; do
        aarch64-linux-gnu-gcc "${flags[@]}" -o "$out/test_$t" "tests/test_$t.c" "${objects[@]}" -L"$lib" -L"$root/lib/aarch64-linux-gnu" \
            -Wl,-rpath-link,"$lib:$root/lib/aarch64-linux-gnu" -l:libcmocka.so.0 -l:libpfm.so.4 \
            -l:libnl-genl-3.so.200 -l:libnl-3.so.200 -lm
    done
    step "compiled for arm64: $*"
}

make_initramfs() { # TEST...
    local d=$out/initramfs name
    mkdir -p "$d"/{bin,lib/aarch64-linux-gnu,proc,sys,dev,tmp,lab/tests/data}
    cp "$root/bin/busybox" "$d/bin/"
    for name in libc.so.6 libm.so.6 libcmocka.so.0 libpfm.so.4 libnl-3.so.200 libnl-genl-3.so.200; do
        cp -L "$(find "$root" -name "$name" | head -n 1)" "$d/lib/aarch64-linux-gnu/"
    done
    cp -L "$(find "$root" -name ld-linux-aarch64.so.1 | head -n 1)" "$d/lib/"
    cp "$out"/test_* "$d/lab/"
    cp -r tests/data/schedstat "$d/lab/tests/data/"
    # The first seconds of a boot are not quiet; they cost nothing in the guest's own time.
    cat >"$d/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin LD_LIBRARY_PATH=/lib/aarch64-linux-gnu CMOCKA_MESSAGE_OUTPUT=tap SRC=/lab
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
cd /lab; uname -r -m; sleep 12
for t in $*; do echo "== \$t"; ./test_\$t || echo "not ok - test_\$t left with status \$?"; done
echo "lab: end"; poweroff -f
END
    chmod +x "$d/init"
    (cd "$d" && find . | cpio -o -H newc --quiet | gzip -1) >"$out/initrd"
}

[ -e "$root" ] || fetch
compile "$@"
make_initramfs "$@"
step boot
timeout 600 qemu-system-aarch64 -machine virt -cpu cortex-a72 -accel tcg,thread=single -icount shift=2,sleep=off -smp 4 \
    -m 1G -nographic -no-reboot -nic none -monitor none -kernel "$root"/boot/vmlinuz-* -initrd "$out/initrd" \
    -append 'console=ttyAMA0 quiet panic=-1' </dev/null | tr -d '\r' | tee "$out/log" | grep -E '^(==|#|ok|not ok|lab:)' || true
grep -q '^lab: end' "$out/log" || echo "not ok - the guest did not come to its end" | tee -a "$out/log"
step finished
awk '/^ok /{p++} /^not ok/{f++} END {printf "%d passed, %d failed\n", p, f; exit f > 0 || p == 0}' "$out/log"
