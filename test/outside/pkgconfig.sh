#!/bin/sh
# SPDX-License-Identifier: MIT
# A program built with pkg-config's flags, against the shared and the static library.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PKG_CONFIG_PATH="$LIBDIR/pkgconfig"

flags=$(pkg-config --cflags --libs weft)
# shellcheck disable=SC2086 # flags are words
$CC -std=c17 -O2 "$here/fib.c" -o fib-shared $flags
readelf -d fib-shared | grep -qF "[$SONAME]" || { echo "not linked shared"; exit 1; }
LD_LIBRARY_PATH=$LIBDIR ./fib-shared

# The linker prefers libweft.so where it has both, so the archive is named in full.
flags=$(pkg-config --static --cflags --libs weft | sed 's/-lweft/-l:libweft.a/')
# shellcheck disable=SC2086
$CC -std=c17 -O2 "$here/fib.c" -o fib-static $flags
./fib-static
version=$(sed -n 's/^#define WEFT_VERSION_[A-Z]* //p' "$INCLUDEDIR/weft.h" | paste -sd.)
[ "$(pkg-config --modversion weft)" = "$version" ] || { echo "weft.pc: not version $version"; exit 1; }
