#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the build into $STAGE, for the other tests, and looks whether all of it is there.
set -eu
rm -rf "$STAGE"
DESTDIR=$STAGE cmake --install "$BUILD" >"$BUILD/stage.log"

for file in "$INCLUDEDIR/weft.h" "$INCLUDEDIR/weft/all.h" "$INCLUDEDIR/weft/guards.hpp" \
    "$LIBDIR/libweft.a" "$LIBDIR/libweft.so" \
    "$LIBDIR/$SONAME" "$PREFIX/share/doc/weft/LICENSE" "$LIBDIR/pkgconfig/weft.pc" "$LIBDIR/cmake/weft/weft-config.cmake" \
    "$PREFIX/share/doc/weft/LICENSE"; do
    [ -f "$file" ] || { echo "not installed: $file"; exit 1; }
done

# gdb takes the script whose name is that of the library, without links, below its own folder.
file=$PREFIX/share/gdb/auto-load${LIBDIR#"$STAGE"}/$(basename "$(readlink -f "$LIBDIR/libweft.so")")-gdb.py
[ -f "$file" ] || { echo "not installed: $file"; exit 1; }

source=$(dirname "$0")/../..
for page in "$source"/docs/man/*.[137]; do
    [ -f "$page" ] || continue
    file=$MANDIR/man${page##*.}/${page##*/}
    [ -f "$file" ] || { echo "not installed: $file"; exit 1; }
done
