#!/bin/sh
# SPDX-License-Identifier: MIT
# amalgamate.sh FOLDER: makes weft.h and weft.c there, the whole library in one header and one source.
#     cc -O3 -fexceptions -c weft.c    (-fexceptions: for jobs in C++ that throw)
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
program=cmake/amalgamate.awk
# shellcheck disable=SC2046 # files are words
awk -v part=header -f $program include/weft.h include/weft/all.h >"$out/weft.h.new"
# Twice: which names are there, and then the text.
# shellcheck disable=SC2046
awk -v part=source -f $program $(find src -name '*.h' | sort) $(find src -name '*.c' | sort) \
    $(find src -name '*.S' | sort) >"$out/weft.c.new"
mv "$out/weft.h.new" "$out/weft.h"
mv "$out/weft.c.new" "$out/weft.c"
