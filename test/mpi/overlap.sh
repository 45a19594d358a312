#!/bin/sh
# SPDX-License-Identifier: MIT
# overlap.sh FAR STENCIL [MICROSECONDS...]: the stencil of the examples, 2 and 4 ranks: first as it is, then with
# messages that take so much longer (0, 500, 1000), by the library FAR (far.c). Prints its time with overlapping
# communication, compared with MPI_Waitall() before the computation: below 1 is better. How much below is for
# people to look at, on a quiet machine. Fails if the results differ.
set -eu
here=$(dirname "$0")
far=$1
stencil=$2
shift 2
[ $# -gt 0 ] || set -- 0 500 1000
said=$(mktemp)
trap 'rm -f "$said" "$said.all"' EXIT
export WEFT_WORKERS=1

# run RANKS COMMAND...: its status is that of run.sh, which has one for "can't run here".
run()
{
    status=0
    sh "$here/run.sh" "$@" >"$said" || status=$?
    cat "$said"
    cat "$said" >>"$said.all"
    [ "$status" -eq 0 ] || exit "$status"
}

for ranks in 2 4; do
    run "$ranks" "$stencil"
    for us; do
        echo "messages take $us us longer:"
        export FAR_US="$us" OMPI_MCA_btl_vader_eager_limit=65536 # no answer is needed before a row is sent
        run "$ranks" env LD_PRELOAD="$far" "$stencil"
    done
done
heats=$(sed -n 's/.*\(heat [^;]*\);.*/\1/p' "$said.all" | sort | uniq -c)
echo "$heats"
[ "$(echo "$heats" | awk '{print $1}')" = $((2 * (1 + $#))) ]
