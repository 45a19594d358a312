#!/bin/sh
# SPDX-License-Identifier: MIT
# weft.h is C++17 too, optimised (plain calls) and not (checked ones), and without exceptions.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for level in -O0 -O2 '-O0 -fno-exceptions' '-O2 -fno-exceptions'; do
    # shellcheck disable=SC2086 # flags are words
    $CXX -std=c++17 $level -Wall -Wextra -Wpedantic -Werror -I"$INCLUDEDIR" \
        "$here/fib.cpp" -o fib-cxx -L"$LIBDIR" -lweft
    LD_LIBRARY_PATH=$LIBDIR ./fib-cxx
done
