#!/bin/sh
# SPDX-License-Identifier: MIT
# The library in one file: a program with nothing but weft.h and weft.c, with every compiler that is
# there. Tests of the library pass with it in `make ports`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/../../cmake/amalgamate.sh" "$PWD"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    $compiler -Wall -Wextra -Wpedantic -Werror -c weft.c -o weft.o
    $compiler -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only weft.c # some projects say so to all files
    $compiler -I. "$here/fib.c" weft.o -o fib -pthread
    ./fib
done
