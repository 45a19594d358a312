#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh SOURCE COMMAND...: runs a program of the guide, and compares what it prints with what the guide
# shows: SOURCE with the suffix .out: word by word; .like: numbers may differ, and the order of the
# lines. A program with neither just has to return 0.
set -eu
shown=${1%.*}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

status=0
timeout 60 "$@" >"$folder/printed" 2>&1 || status=$?
[ "$status" -eq 0 ] || { cat "$folder/printed"; echo "exit status $status"; exit 1; }

# plain FILE: its lines, sorted, with # in place of each number, and files without their folders.
plain()
{
    sed 's|[^ ]*/\(guide-\)*||g; s/0x[0-9a-f]*/#/g; s/[0-9][0-9.]*/#/g' "$1" | sort
}
if [ -f "$shown.out" ]; then
    diff "$shown.out" "$folder/printed"
elif [ -f "$shown.like" ]; then
    plain "$shown.like" >"$folder/shown"
    plain "$folder/printed" | diff "$folder/shown" - || { cat "$folder/printed"; exit 1; }
fi
