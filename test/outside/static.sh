#!/bin/sh
# SPDX-License-Identifier: MIT
# What WEFT_STATIC_PIC is for: libweft.a inside somebody else's shared library, which dlopen() loads and
# dlclose() does not unmap while workers sleep in it. And weft.pc for unusual folders.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# configure OPTION...
configure()
{
    rm -f made/CMakeCache.txt
    cmake -S "$here/../.." -B made -DCMAKE_C_COMPILER="$CC" -DWEFT_TESTS=OFF -DWEFT_PROGRAM=OFF \
        -DWEFT_CHECKER=OFF -DWEFT_PEERS=OFF "$@" >log 2>&1 || { cat log; exit 1; }
}

# In /usr, pkg-config names no folder that compilers look into anyway.
configure -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib
flags=$(PKG_CONFIG_PATH=$PWD/made pkg-config --cflags --libs weft | tr -d ' ')
[ "$flags" = -lweft ] || { echo "in /usr, pkg-config says $flags"; exit 1; }

# Folders that were placed one by one stand there as they are.
configure -DBUILD_SHARED_LIBS=OFF -DWEFT_STATIC_PIC=ON -DCMAKE_INSTALL_PREFIX=/opt/weft \
    -DCMAKE_INSTALL_LIBDIR=/opt/elsewhere/lib
grep -qx 'libdir=/opt/elsewhere/lib' made/weft.pc || { cat made/weft.pc; exit 1; }
grep -qx 'prefix=/opt/weft' made/weft.pc || { cat made/weft.pc; exit 1; }

cmake --build made -j 2 >log 2>&1 || { cat log; exit 1; }
# shellcheck disable=SC2046 # flags are words
$CC -shared -Wl,--whole-archive made/libweft.a -Wl,--no-whole-archive -o plugin.so \
    $(sed -n 's/^Libs.private: //p' made/weft.pc)
$CC -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I"$INCLUDEDIR" "$here/unload.c" -o unload -ldl
./unload "$PWD/plugin.so"
