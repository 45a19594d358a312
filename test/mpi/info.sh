#!/bin/sh
# SPDX-License-Identifier: MIT
# info.sh WEFT: under mpirun, `weft info` says which rank it is, and the ranks share the CPUs, unless
# WEFT_WORKERS says something else.
set -u
tool=$1
here=$(dirname "$0")

# workers VALUE: how many all ranks have together, if WEFT_WORKERS has this value.
workers()
{
    said=$(WEFT_WORKERS=$1 sh "$here/run.sh" 2 "$tool" info)
    code=$?
    [ "$code" -eq 0 ] || { echo "$said"; exit "$code"; }
    echo "$said" | awk '/^workers/ { n += $2 } END { print n }'
}

said=$(sh "$here/run.sh" 2 "$tool" info)
code=$?
[ "$code" -eq 0 ] || { echo "$said"; exit "$code"; }
for rank in 0 1; do
    echo "$said" | grep -q "^launcher  *[A-Z].*: rank $rank of 2; $rank of 2 on this machine" ||
        { echo "$said"; echo "nothing of rank $rank"; exit 1; }
done
alone=$(WEFT_WORKERS='' "$tool" info | awk '/^workers/ { print $2 }')
[ "$alone" -ge 2 ] || alone=2 # one each at least
shared=$(workers '') || { echo "$shared"; exit 77; }
[ "$shared" -eq "$alone" ] || { echo "alone $alone workers, two ranks $shared"; exit 1; }
[ "$(workers 3)" -eq 6 ] || { echo "WEFT_WORKERS=3 is not obeyed"; exit 1; }
