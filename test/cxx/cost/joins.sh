#!/bin/sh
# SPDX-License-Identifier: MIT
# joins.sh PROGRAM: weft::join() takes at most 4 instructions more than weft_fork() and
# weft_merge() in the same recursion, counted by callgrind as in test/cost/cost.sh.
set -eu
command -v valgrind >/dev/null || exit 77

count()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

c=$(($(count "$1" c 28) - $(count "$1" c 20)))
cxx=$(($(count "$1" cxx 28) - $(count "$1" cxx 20)))
echo "$c $cxx" | awk '{
    printf "%.1f instructions a fork in C, %.1f in C++: %.3f times\n", $1 / 503283, $2 / 503283, $2 / $1
    exit ($2 - $1) / 503283 > 4
}'
