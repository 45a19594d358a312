#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are well formed, and the tests that weft_mistakes.7 names are there.
set -eu
cd "$(dirname "$0")/../.."

command -v mandoc >/dev/null || { echo "mandoc is missing (Debian: mandoc)"; exit 77; }
set -- docs/man/*.[137]
[ -f "$1" ] || { echo "there are no manual pages"; exit 77; }
mandoc -T lint -W warning "$@"

sed -n 's/^\.\\" test: //p' docs/man/weft_mistakes.7 | while read -r file name; do
    grep -qF "$name" "$file" || { echo "weft_mistakes.7: $file has no $name"; exit 1; }
done
