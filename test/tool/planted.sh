#!/bin/sh
# SPDX-License-Identifier: MIT
# planted.sh WEFT PLANTED: each program has one problem, and the first ten lines name it.
set -eu
weft=$1
planted=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# finds PROBLEM WORDS...: in what comes first. `function NAME` counts only where names are known: that
# needs libelf.
finds()
{
    problem=$1
    shift
    "$planted" "$problem" "$work/trace"
    "$weft" trace "$work/trace" >"$work/said"
    head -n 10 "$work/said" | tr '\n' ' ' | tr -s ' ' >"$work/first"
    for words; do
        case $words in function\ *)
            words=${words#function }
            ! grep -qF 'tool-planted+0x' "$work/said" || continue
            ;;
        esac
        grep -qF -e "$words" "$work/first" && continue
        echo "$problem: there is no '$words' in the first lines of"
        cat "$work/said"
        status=1
        return
    done
}

finds right_side "one long job that another waits for" "function right_side_root" "function long_right_side"
finds mutex "a mutex that many want" "waits for mutex 'popular'"
# A sanitizer makes the shortest job as long as one that pays.
[ -n "${SANITIZED:-}" ] || finds short_loop "pieces too short to share"
finds own_code "blocked in code of its own" "function reads_slowly"
finds outside "a job waits for a thread outside the pool" "waits for event 'answer'"
finds alone "too few forks" "function does_it_alone"
exit $status
