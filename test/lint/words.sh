#!/bin/sh
# SPDX-License-Identifier: MIT
# A bug that has a number is in docs/known-bugs.md, and is called a bug everywhere.
set -eu
cd "$(dirname "$0")/../.."
status=0

old=$(grep -rnE '(^|[^e])faults? [0-9]' src check test --include='*.[ch]' --include=README.md |
    grep -vE 'default' || :)
[ -z "$old" ] || { echo "$old"; echo "say 'bug N', as docs/known-bugs.md does"; status=1; }

for number in $(grep -rhoE '\bbugs? [0-9]{1,2}\b' src check test --include='*.[ch]' --include=README.md |
    grep -oE '[0-9]+' | sort -un); do
    grep -q "^| $number |" docs/known-bugs.md ||
        { echo "bug $number is not in docs/known-bugs.md"; status=1; }
done
exit $status
