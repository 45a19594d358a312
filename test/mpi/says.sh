#!/bin/sh
# SPDX-License-Identifier: MIT
# says.sh STATUS SECONDS PATTERN RANKS PROGRAM ARGUMENT...: it ends within so many seconds, well or badly
# (STATUS good or bad), and one of its lines is like the pattern; "-": no line of weft-mpi. There are few of them:
# those about waits come later and later.
set -u
status=$1 seconds=$2 pattern=$3
shift 3
said=$(MPI_SECONDS=$seconds sh "$(dirname "$0")/run.sh" "$@" 2>&1)
code=$?
echo "$said"
[ "$code" -ne 77 ] || exit 77
[ "$code" -ne 124 ] || { echo "it took more than $seconds s"; exit 1; }
case $status in
good) [ "$code" -eq 0 ] || { echo "it ended with $code"; exit 1; } ;;
*) [ "$code" -ne 0 ] || { echo "it ended well"; exit 1; } ;;
esac
if [ "$pattern" = - ]; then
    ! echo "$said" | grep -q weft-mpi || { echo "it should be silent"; exit 1; }
else
    echo "$said" | grep -qE "$pattern" || { echo "no line is like $pattern"; exit 1; }
fi
lines=$(echo "$said" | grep -c '^weft-mpi')
[ "$lines" -le 12 ] || { echo "$lines lines are too many"; exit 1; }
