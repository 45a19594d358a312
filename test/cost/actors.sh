#!/bin/sh
# SPDX-License-Identifier: MIT
# actors.sh PROGRAM SWITCH LIFE FORK: how many instructions a switch between two actors takes, the
# whole life of an empty one, and a fork of an actor that has failed, however many are pending; at
# most, and counted as in cost.sh. And switches make no system call.
set -eu
"$1" sealed 100000
command -v valgrind >/dev/null || exit 77

count()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

switches=$(($(count "$1" switch 60000) - $(count "$1" switch 10000)))
lives=$(($(count "$1" life 30000) - $(count "$1" life 10000)))
forks=$(($(count "$1" failed 30000) - $(count "$1" failed 20000)))
echo "$switches $lives $forks" | awk -v switch_max="$2" -v life_max="$3" -v fork_max="$4" '{
    one = $1 / 100000; life = $2 / 20000; fork = $3 / 10000
    printf "%.0f instructions a switch, at most %s allowed; %.0f a life, at most %s\n", one, switch_max, life, life_max
    printf "%.0f a fork that is not run, at most %s\n", fork, fork_max
    exit one > switch_max || life > life_max || fork > fork_max
}'
