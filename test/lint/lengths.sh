#!/bin/sh
# SPDX-License-Identifier: MIT
# No file in src/ is above 500 lines, unless one of its first 20 lines says why: "Above 500 lines: ...".
set -eu
cd "$(dirname "$0")/../.."
status=0

for file in $(find src -type f | sort); do
    [ "$(wc -l <"$file")" -gt 500 ] || continue
    head -n 20 "$file" | grep -q 'Above 500 lines: .' && continue
    echo "$file: $(wc -l <"$file") lines; split it, or say at its top why not"
    status=1
done
exit $status
