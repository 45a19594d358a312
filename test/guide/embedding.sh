#!/bin/sh
# SPDX-License-Identifier: MIT
# embedding.sh CC: the ways of docs/guide/embedding.md to link weft: with pkg-config, as an installed
# CMake package, and inside another project. The last is configured only: to build it is to build
# weft once more. Run in a folder of its own; PREFIX and LIBDIR say where weft is installed.
set -eu
cc=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
programs=$root/docs/guide/programs
expected=$(cat "$programs/fib.out")

# prints PROGRAM
prints()
{
    [ "$(LD_LIBRARY_PATH=$LIBDIR "$1")" = "$expected" ] || { echo "$1 prints something else"; exit 1; }
}

export PKG_CONFIG_PATH="$LIBDIR/pkgconfig"
# shellcheck disable=SC2046 # flags are words
"$cc" -O2 "$programs/fib.c" $(pkg-config --cflags --libs weft) -o shared
prints ./shared
# shellcheck disable=SC2046
"$cc" -O2 "$programs/fib.c" $(pkg-config --static --cflags --libs weft | sed 's/-lweft/-l:libweft.a/') \
    -o static
prints ./static

cmake -S "$programs/embedding/package" -B package -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$PREFIX" >log
cmake --build package >>log || { cat log; exit 1; }
prints package/program
prints package/program-static

cmake -S "$programs/embedding/subdirectory" -B subdirectory -DCMAKE_C_COMPILER="$cc" \
    -DWEFT_SOURCE="$root" >log || { cat log; exit 1; }
