#!/bin/sh
# SPDX-License-Identifier: MIT
# resume.sh WEFT-CHECK: a check that is given up again and again comes to the same end as one in one
# go: a harness is exhausted, and a failure is found; what is exhausted is not run again.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
file=$directory/resume

# run NAME EXECUTIONS OPTION...: until it has not given up. How many times that took.
run()
{
    name=$1
    shift
    rounds=0
    while :; do
        rounds=$((rounds + 1))
        [ $rounds -le 50 ] || { echo "$name: no end"; exit 1; }
        "$weft_check" --resume "$file" "$@" "$name" >"$directory/log" ||
            { cat "$directory/log"; exit 1; }
        grep -q ' gave up$' "$directory/log" || return 0
        grep -q "^  $name\$" "$directory/log" || { cat "$directory/log"; exit 1; } # not exhausted
    done
}

# expect TEXT
expect()
{
    grep -q "$1" "$directory/log" || { echo "no '$1' in:"; cat "$directory/log"; exit 1; }
}

weft_check=$1
run lock-twice --executions 100
expect 'never fails$'
[ $rounds -ge 3 ] || { echo "lock-twice: it did not give up"; exit 1; }
run lock-twice --executions 100
[ $rounds -eq 1 ] || exit 1
if grep -q '^lock-twice ' "$directory/log"; then
    echo "lock-twice: exhausted, and run again"
    exit 1
fi
expect '^exhausted: 1$'
run z6-spin --executions 40
expect 'fails as it should$'
[ $rounds -ge 3 ] || { echo "z6-spin: it did not give up"; exit 1; }

# Other options: what was exhausted before says nothing.
"$weft_check" --resume "$file" --preemptions 1 lock-twice >"$directory/log"
expect 'all begins anew$'
expect '^lock-twice '
