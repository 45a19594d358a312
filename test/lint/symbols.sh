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
diff -U 0 --label "declared in include/" --label "exported by ${library##*/}" \
    "$work/declared" "$work/exported"
