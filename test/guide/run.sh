#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh PROGRAM SOURCE: runs a program of the guide, and compares what it prints with what the guide
# shows: SOURCE without its suffix, .out: word by word; .like: numbers may differ, and the order of
# the lines. A program with neither just has to return 0.
set -eu
program=$1
shown=${2%.*}
printed=$program.printed

status=0
timeout 60 "$program" >"$printed" 2>&1 || status=$?
[ "$status" -eq 0 ] || { cat "$printed"; echo "exit status $status"; exit 1; }

# plain FILE: its lines, sorted, with # in place of each number, and files without their folders.
plain()
{
    sed 's|[^ ]*/\(guide-\)*||g; s/0x[0-9a-f]*/#/g; s/[0-9][0-9.]*/#/g' "$1" | sort
}
if [ -f "$shown.out" ]; then
    diff "$shown.out" "$printed"
elif [ -f "$shown.like" ]; then
    plain "$shown.like" >"$program.expected"
    plain "$printed" | diff "$program.expected" - || { cat "$printed"; exit 1; }
fi
