#!/bin/sh
# SPDX-License-Identifier: MIT
# balance.sh TREE [RUNS [NAME]]: counts the nodes of an unbalanced tree (examples/mpi/tree.c), T1 or NAME, on 1, 2 and 4
# ranks with 1 and 2 workers each, RUNS (5) times. Prints the nodes of the busiest rank, compared with the mean, which
# is for people to look at, on a quiet machine. Fails if a count is not the published one.
set -eu
here=$(dirname "$0")
tree=$1
runs=${2:-5}
name=${3:-T1}
said=$(mktemp)
trap 'rm -f "$said"' EXIT

for ranks in 1 2 4; do
    for workers in 1 2; do
        printf '%s ranks, %s workers:' "$ranks" "$workers"
        for _ in $(seq "$runs"); do
            status=0
            WEFT_WORKERS=$workers sh "$here/run.sh" "$ranks" "$tree" "$name" --stats >"$said" 2>&1 || status=$?
            [ "$status" -eq 0 ] || { echo; cat "$said"; exit "$status"; }
            awk '/^rank/ { sum += $3; n++; if ($3 > most) most = $3 } END { printf " %.2f", most * n / sum }' "$said"
        done
        echo
    done
done
