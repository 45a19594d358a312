#!/bin/sh
# SPDX-License-Identifier: MIT
# profile.sh WEFT PROGRAM SAID: `weft profile` finds in the program what the guide shows, which is in
# the file SAID: the lines under "What to look at". Numbers differ.
set -eu
weft=$1
program=$2
said=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# advice FILE: without numbers; names of functions need libelf, which may not be there.
advice()
{
    sed -n '/^What to look at:$/,/^$/p' "$1" | grep -o 'too few forks: for .* one thread worked, mostly in [a-z-]*' |
        sed 's/[0-9][0-9.]* [mun]*s/#/; s/[0-9][0-9]*%/#/; s/guide-//'
}
WEFT_WORKERS=2 "$weft" profile -o "$folder/trace" "$program" >"$folder/printed" 2>"$folder/said"
advice "$said" >"$folder/shown"
[ -s "$folder/shown" ] || { echo "$said shows no problem"; exit 1; }
advice "$folder/said" | diff "$folder/shown" - || { cat "$folder/said"; exit 1; }
diff "${said%.said}.out" "$folder/printed"
grep -q '^large numbers  *1 ' "$folder/said" || { cat "$folder/said"; exit 1; }
