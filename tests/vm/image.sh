#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the guest image of one kernel generation and prints the directory that holds it
# (root.ext4, vmlinuz, initrd, version, threads). The product is not in the image, so a
# finished image is used again until one of its inputs changes.
#
#   image.sh [--refresh] [--resolve] [GENERATION]      default generation: 6.1
#
# --resolve names the kernel packages that would be taken and builds nothing.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tunerd-lab
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
suite=bookworm
packages=systemd,systemd-sysv,dbus,udev,kmod,procps,jq,polkitd,initramfs-tools,zstd
packages+=,postgresql-15,libsystemd0,libinih1,libpfm4,libpq5,libmariadb3,libcurl4
packages+=,libsqlite3-0,libsmartcols1,libjson-c5,libnl-3-200,libnl-genl-3-200
packages+=,libcap-ng0,libhwloc15

die() { echo "image.sh: $*" >&2; exit 1; }
started=$SECONDS
step() { printf 'image %4d s  %s\n' $((SECONDS - started)) "$*" >&2; }

refresh=no resolve=no generation=6.1
for arg; do
    case $arg in
    --refresh) refresh=yes ;;
    --resolve) resolve=yes ;;
    -*) die "unknown option $arg" ;;
    *) generation=$arg ;;
    esac
done

row=$(awk -v g="$generation" '$1 == g' "$here/kernels")
[ -n "$row" ] || die "no kernel $generation in $here/kernels"
read -r _ archive kernel_suite meta threads <<<"$row"

# The mirror that this machine's apt uses for an archive, or Debian's own.
mirror_of() {
    local uri
    uri=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null |
        grep -E "/$1/?\$" | head -n 1) || true
    uri=${uri:-http://deb.debian.org/$1}
    echo "${uri%/}"
}

# Everything below works in private apt directories: the machine's own sources stay.
apt_private() {
    local command=$1 dir=$work/apt
    shift
    "$command" -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" \
        -o Dir::Cache="$dir/cache" -o Dir::Etc::sourcelist="$dir/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
        -o Dir::Etc::trusted=/dev/null -o APT::Architecture=amd64 \
        -o APT::Architectures::=amd64 -o Acquire::Languages=none -o Acquire::Retries=3 \
        -o APT::Sandbox::User=root -o Dir::Log="$dir" "$@"
}

# Prints the versioned packages behind the meta package, the image first.
resolve_kernel() {
    local queue=("$meta") seen=" " name dep
    mkdir -p "$work"/apt/{state/lists/partial,cache/archives/partial}
    : >"$work/apt/status"
    echo "deb [signed-by=$keyring] $(mirror_of "$archive") $kernel_suite main" \
        >"$work/apt/sources.list"
    apt_private apt-get -qq update >&2
    while [ ${#queue[@]} -gt 0 ]; do
        name=${queue[0]}
        queue=("${queue[@]:1}")
        case $seen in *" $name "*) continue ;; esac
        seen+="$name "
        [ "$name" = "$meta" ] || echo "$name"
        while read -r dep; do
            queue+=("$dep")
        done < <(apt_private apt-cache depends --important "$name" |
            sed -n 's/^ *Depends: \(linux-\(image\|binary\|modules\|base\)-[0-9].*\)/\1/p')
    done
}

# Unpacks the kernel into $work/kernel: vmlinuz, version, lib/modules/VERSION.
fetch_kernel() {
    local names version vmlinuz deb
    names=$(resolve_kernel)
    [ -n "$names" ] || die "$meta of $kernel_suite names no kernel"
    version=$(head -n 1 <<<"$names" | sed 's/^linux-[a-z]*-//')
    case $version in
    "$generation".* | "$generation"-*) ;;
    *) die "$meta of $kernel_suite is $version, not of generation $generation" ;;
    esac
    # shellcheck disable=SC2086 # one word for each package
    (cd "$work" && apt_private apt-get -qq download $names >&2)
    for deb in "$work"/linux-*.deb; do
        dpkg-deb -x "$deb" "$work/deb"
        step "kernel package $(dpkg-deb -f "$deb" Package) $(dpkg-deb -f "$deb" Version)"
    done
    mkdir -p "$work/kernel"
    for dir in "$work"/deb/lib/modules "$work"/deb/usr/lib/modules; do
        [ -d "$dir" ] && mv "$dir" "$work/kernel/modules"
    done
    version=$(ls "$work/kernel/modules")
    for vmlinuz in "$work/deb/boot/vmlinuz-$version" "$work/kernel/modules/$version/vmlinuz"; do
        [ ! -e "$vmlinuz" ] || mv "$vmlinuz" "$work/kernel/vmlinuz"
    done
    [ -e "$work/kernel/vmlinuz" ] || die "no vmlinuz in the packages of $version"
    cp "$work"/deb/boot/config-"$version" "$work/kernel/config" 2>/dev/null || true
    echo "$version" >"$work/kernel/version"
}

# The user space, kept as one tar for all kernels.
build_root() {
    local uri security
    uri=$(mirror_of debian)
    security=$(mirror_of debian-security)
    # mmdebstrap takes one-line sources on its standard input.
    printf 'deb [signed-by=%s] %s %s main\n' \
        "$keyring" "$uri" "$suite" "$keyring" "$uri" "$suite-updates" \
        "$keyring" "$security" "$suite-security" |
        mmdebstrap --quiet --format=tar --variant=minbase --include="$packages" \
            --dpkgopt='path-exclude=/usr/share/man/*' \
            --dpkgopt='path-exclude=/usr/share/doc/*' \
            --dpkgopt='path-exclude=/usr/share/locale/*' \
            --dpkgopt='path-exclude=/usr/lib/postgresql/*/lib/bitcode/*' \
            --dpkgopt='path-exclude=/usr/lib/x86_64-linux-gnu/libLLVM*' \
            --dpkgopt=force-unsafe-io \
            --customize-hook="cp '$here/guest-setup.sh' \"\$1/root/setup.sh\"" \
            --customize-hook='chroot "$1" bash /root/setup.sh' \
            --customize-hook='rm "$1/root/setup.sh"' \
            "$suite" "$1.part" - >&2
    mv "$1.part" "$1"
}

assemble() {
    local root=$work/root version
    version=$(cat "$work/kernel/version")
    mkdir -p "$root" "$work/out"
    tar -C "$root" --numeric-owner -xf "$1"
    mkdir -p "$root/usr/lib/modules"
    mv "$work/kernel/modules/$version" "$root/usr/lib/modules/$version"
    [ ! -e "$work/kernel/config" ] || cp "$work/kernel/config" "$root/boot/config-$version"
    chroot "$root" depmod "$version"
    chroot "$root" mkinitramfs -o /boot/initrd "$version" >&2
    mv "$root/boot/initrd" "$work/out/initrd"
    cp "$work/kernel/vmlinuz" "$work/out/vmlinuz"
    step "initramfs of $version"
    truncate -s 3G "$work/out/root.ext4"
    mkfs.ext4 -q -F -d "$root" -m 0 -O ^has_journal -E lazy_itable_init=1,root_owner=0:0 \
        "$work/out/root.ext4" >&2
    echo "$version" >"$work/out/version"
    echo "$threads" >"$work/out/threads"
}

[ "$(id -u)" = 0 ] || die "must run as root (device nodes and owners in the image)"
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9

# What the image is made of: this script, the set-up script, the row, the mirrors.
inputs() {
    cat "$here/image.sh" "$here/guest-setup.sh"
    mirror_of debian
    mirror_of debian-security
}
root_hash=$(inputs | sha256sum | cut -c 1-16)
hash=$(printf '%s\n%s\n' "$root_hash" "$row" | sha256sum | cut -c 1-16)
image=$cache/image-$generation-$hash

if [ "$resolve" = no ] && [ "$refresh" = no ] && [ -e "$image/version" ]; then
    step "kernel $(cat "$image/version"), image of $(date -r "$image/version" +%F) kept"
    echo "$image"
    exit 0
fi
for tool in mmdebstrap mkfs.ext4 dpkg-deb apt-cache; do
    command -v "$tool" >/dev/null || die "$tool is missing"
done

work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
if [ "$resolve" = yes ]; then
    resolve_kernel
    exit 0
fi
fetch_kernel
root_tar=$cache/root-$root_hash.tar
[ "$refresh" = no ] || rm -f "$root_tar"
if [ ! -e "$root_tar" ]; then
    find "$cache" -maxdepth 1 -name 'root-*.tar*' -delete
    build_root "$root_tar"
    step "root file system, $(du -h "$root_tar" | cut -f 1)"
fi
assemble "$root_tar"
rm -rf "$cache/image-$generation-"*
mv "$work/out" "$image"
step "image, $(du -h "$image/root.ext4" | cut -f 1) on disk, kernel $(cat "$image/version")"
echo "$image"
