#!/bin/sh
# SPDX-License-Identifier: MIT
# chroot.sh RELEASE FOLDER: `./run demo` to its picture, on a Debian with nothing else installed. Exit code
# 77: it can't be done here; the last line says why.
set -u
release=$1
root=$(mkdir -p "$2" && cd "$2" && pwd)/root
cd "$(dirname "$0")/../.." || exit 1

# skip WHY
skip()
{
    echo "$1"
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "only root can change the root folder"
command -v debootstrap >/dev/null || skip "debootstrap is missing"
mirror=$(sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +([a-z]+:[^ ]*\/debian\/?)( .*)?$/\3/p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
[ -n "$mirror" ] || skip "apt has no mirror of Debian"
umount "$root/proc" 2>/dev/null # of a run that was stopped
rm -rf --one-file-system "$root"
debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 3 "$root.log"; skip "debootstrap can't install $release here"; }
mkdir "$root/weft"
tar cf - --exclude=./build --exclude=./.git . | tar xf - -C "$root/weft"
# The network is the host's.
cp /etc/resolv.conf "$root/etc/resolv.conf"
[ ! -f /etc/apt/apt.conf.d/proxy ] || cp /etc/apt/apt.conf.d/proxy "$root/etc/apt/apt.conf.d/"
chroot "$root" mount -t proc proc /proc || skip "proc can't be mounted here"
status=0
chroot "$root" env -i PATH="$PATH" HOME=/root sh -c 'cd /weft && ./run demo' || status=$?
umount "$root/proc" || exit 1
[ "$status" -eq 0 ] && [ -s "$root/weft/weft-demo.png" ] || { echo "no picture"; exit 1; }
rm -rf --one-file-system "$root"
