#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh LIBRARY: it exports what weft/mpi.h marks WEFT_API, no more, no less; each has a manual page;
# and it uses what any program may use of libweft.
set -eu
library=$1
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tr '\n' ' ' <mpi/include/weft/mpi.h | grep -oE '\<WEFT_API [^();]*\(' | grep -oE 'weft_[a-z0-9_]+ *\($' |
    tr -d ' (' | sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
diff -U 0 --label mpi/include/weft/mpi.h --label "${library##*/}" "$work/declared" "$work/exported"
while read -r name; do
    [ -f "docs/man/$name.3" ] || { echo "$name has no manual page"; exit 1; }
done <"$work/declared"
! grep -nE '#include "(os|sleep|core|sync|parallel|actor)/' mpi/*.[ch] || { echo "public headers only"; exit 1; }
! grep -rnE 'include[ <"]*(mpi\.h|weft/mpi\.h)' src include tool || { echo "libweft does not know MPI"; exit 1; }
