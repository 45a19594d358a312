#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh LIBRARY: it exports what the public headers mark WEFT_API, no more, no less.
set -eu
library=$1
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find include -name '*.h' -exec cat {} + | tr '\n' ' ' |
    grep -oE '\<WEFT_API [^();]*\(' | grep -oE 'weft_[a-z0-9_]+ *\($' | tr -d ' (' |
    sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$work/exported"
# What programs allocate themselves: weft_sizeof() knows it by name.
find include -name '*.h' -exec sed -n 's/^typedef struct \(weft_[a-z_]*[a-z]\) {$/\1/p' {} + |
    sort -u >"$work/types"
grep -o '\<WEFT__TYPE(weft_[a-z_]*)' src/core/sizeof.c | sed 's/.*(\(.*\))/\1/' | sort -u >"$work/sized"
diff -U 0 --label "types in include/" --label src/core/sizeof.c "$work/types" "$work/sized"

diff -U 0 --label "declared in include/" --label "exported by ${library##*/}" \
    "$work/declared" "$work/exported"
