#!/bin/sh
# SPDX-License-Identifier: MIT
# spawns.sh PROGRAM LIMIT: how many instructions a child of a scope costs more than a call, its share
# of open and close included (one in sixteen); counted as in cost.sh, for 48,000 children.
set -eu
command -v valgrind >/dev/null || exit 77

count()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

spawned=$(($(count "$1" spawned 4000) - $(count "$1" spawned 1000)))
called=$(($(count "$1" called 4000) - $(count "$1" called 1000)))
echo "$spawned $called" | awk -v limit="$2" '{
    spawn = $1 / 48000; call = $2 / 48000
    printf "%.1f instructions a spawn, %.1f a call: %.1f more, at most %s allowed\n", spawn, call, spawn - call, limit
    exit spawn - call > limit
}'
