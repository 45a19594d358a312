#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests of weft.hpp compile without a warning as C++17, 20 and 23, by g++ and clang++, whichever
# are there; and checked, optimised and without exceptions.
set -eu
cd "$(dirname "$0")"
set -- -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror -I../../include -fsyntax-only
found=
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    found=$compiler
    for std in 17 20 2b; do
        for file in *.cpp; do
            flags=
            [ $file != none.cpp ] || flags=-fno-exceptions
            $compiler -std=c++$std $flags "$@" $file
        done
    done
    $compiler -std=c++17 -O2 "$@" join.cpp
    $compiler -std=c++20 -O2 -fno-exceptions "$@" none.cpp
done
[ "$found" ] || exit 77
