#!/bin/sh
# SPDX-License-Identifier: MIT
# The patches of check/bugs: each names a bug of docs/known-bugs.md. One whose text is not in its file,
# or more than once, is refused by a line that names it, and leaves no copy.
set -eu
cd "$(dirname "$0")/../.."
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# apply PATCH SOURCE
apply()
{
    awk -v copy="$directory/copy" -f check/bugs/apply.awk "$1" "$2" 2>"$directory/error"
}

# refused PATCH SOURCE WHY
refused()
{
    if apply "$1" "$2"; then echo "$1 was applied to $2"; exit 1; fi
    grep -q "^$1 does not apply to $2: .*$3" "$directory/error" || { cat "$directory/error"; exit 1; }
    [ ! -e "$directory/copy" ] || { echo "$1 has left a copy"; exit 1; }
}

for patch in check/bugs/*.patch; do
    number=$(basename "$patch" | sed 's/^0*\([0-9]*\)-.*/\1/')
    grep -q "^Bug $number\. " "$patch" || { echo "$patch does not say which bug it is"; exit 1; }
    grep -q "^| $number |" docs/known-bugs.md || { echo "bug $number is not known"; exit 1; }
    file=$(sed -n 's,^+++ b/,,p' "$patch")
    apply "$patch" "$file" || { cat "$directory/error"; exit 1; }
    if cmp -s "$file" "$directory/copy"; then echo "$patch changes nothing"; exit 1; fi
    mv "$directory/copy" "$directory/patched"
    cat "$file" "$file" >"$directory/twice"
    refused "$patch" "$directory/patched" 'not there'
    refused "$patch" "$directory/twice" 'more than once'
done
