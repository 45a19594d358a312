#!/bin/sh
# SPDX-License-Identifier: MIT
# cost.sh PROGRAM LIMIT: how many instructions a fork costs more than a call, counted by
# callgrind, so that it does not depend on what else the machine does. What happens once is
# taken off by counting twice, for fib(20) and fib(28), which differ by 503,283 forks.
set -eu
command -v valgrind >/dev/null || exit 77
out=$(mktemp)
trap 'rm -f "$out"' EXIT

count()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

forked=$(($(count "$1" forked 28) - $(count "$1" forked 20)))
plain=$(($(count "$1" plain 28) - $(count "$1" plain 20)))
echo "$forked $plain" | awk -v limit="$2" '{
    fork = $1 / 503283; call = $2 / 503283
    printf "%.1f instructions a fork, %.1f a call: %.1f more, at most %s allowed\n", fork, call, fork - call, limit
    exit fork - call > limit
}'
