#!/bin/sh
# SPDX-License-Identifier: MIT
# lanes.sh: compilers make vectors of WEFT_REDUCE_DEFINE, also with no more than -O2. A vector of 16
# bytes is 2 or 3 instructions and a share of the loop; its elements, one by one, are 4 or more.
# Counted by callgrind, so that it does not depend on what else the machine does.
set -eu
command -v valgrind >/dev/null || exit 77
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for level in -O2 -O3; do
        $compiler -std=c17 $level -I"$here/../../include" "$here/lanes.c" -o "$folder/lanes"
        valgrind --tool=callgrind --compress-strings=no --callgrind-out-file="$folder/counts" \
            "$folder/lanes" 2>/dev/null
        awk -v with="$compiler $level" '
            /^fn=/ { name = substr($0, 4) }
            NF == 2 && /^[0-9]/ { count[name] += $2 }
            END {
                kinds = split("add_f32 add_i32 max_f32 max_f64 max_u8 and_u8 xor_i32", kind)
                for (i = 1; i <= kinds; i++) {
                    each = count[kind[i]] / 4096
                    printf "%s %s: %.1f instructions a vector\n", with, kind[i], each
                    if (each < 1.5 || each > 3.75)
                        bad = 1
                }
                exit bad
            }' "$folder/counts"
    done
done
