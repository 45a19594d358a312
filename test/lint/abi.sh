#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh LIBRARY: programs that were linked with the library of docs/abi/x86_64.xml can run with this
# one (docs/abi.md). It may have more functions; those that it had are the same.
# abi.sh --update LIBRARY: writes that file.
set -eu
update=
if [ "$1" = --update ]; then
    update=1
    shift
fi
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
baseline=docs/abi/x86_64.xml

# without REASON: nothing is compared, or written.
without()
{
    echo "$1"
    [ -z "$update" ] || exit 1
    exit 77
}

command -v abidiff >/dev/null || without "abidiff is missing (Debian: abigail-tools)"
[ "$(uname -m)" = x86_64 ] || without "$baseline is for x86-64; this is $(uname -m)"
readelf -S "$library" | grep -q '\.debug_info' || without "${library##*/} has no debug information"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

abidw --suppressions docs/abi/private.ini --drop-private-types --drop-undefined-syms --no-show-locs \
    --no-corpus-path --no-comp-dir-path --no-elf-needed --no-parameter-names \
    --no-write-default-sizes --type-id-style hash --out-file "$work/raw.xml" "$library"
sed "s|path='[^']*/\(src/[^']*\)'|path='\1'|" "$work/raw.xml" >"$work/new.xml"
grep -q "class-decl name='weft_pool' .*is-declaration-only='yes'" "$work/new.xml" ||
    without "this abidw does not do what docs/abi/private.ini says; that was written for 2.2"
grep -q "class-decl name='weft_task' size-in-bits" "$work/new.xml" ||
    without "this abidw does not see the types of the public headers"

if [ -n "$update" ]; then
    cp "$work/new.xml" $baseline
    echo "$baseline: $(grep -c '<function-decl' $baseline) functions"
    exit
fi
abidiff --no-added-syms --leaf-changes-only --impacted-interfaces --no-show-locs \
    $baseline "$work/new.xml" || {
    soname=$(sed -n "1s/.* soname='\([^']*\)'.*/\1/p" $baseline)
    echo "${library##*/}: not the ABI of $baseline ($soname)."
    echo "If $soname is released, undo the change or raise the minor version (docs/abi.md)."
    echo "If it is not released, or the change is allowed: make abi, and read git diff docs/abi."
    exit 1
}
