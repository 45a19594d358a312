#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh WEFT: `weft demo --trace` draws what the demo's threads did, and keeps the trace beside it.
set -eu
weft=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WEFT_TRACE

fail()
{
    echo "$*"
    [ ! -f said ] || cat said
    exit 1
}

# demo STATUS FILES ARGUMENT...: of a small picture, 8 tiles; these files are there afterwards.
demo()
{
    expected=$1
    files=$2
    shift 2
    status=0
    "$weft" demo --width 96 --height 64 "$@" >said 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || fail "$*: status $status"
    there=$(find . -type f ! -name said | sort | tr '\n' ' ')
    [ "$there" = "$files" ] || fail "$*: there are $there"
    find . -type f ! -name said ! -name '*.trace' ! -name '*.svg' -exec rm {} +
}

demo 0 "./weft-demo.png "
tail -n 1 said | grep -q 'weft demo --trace$' || fail "the last line does not say what comes next"

# draws SVG TRACE
draws()
{
    tail -n 1 said | grep -q "drawn in $1; .*: weft trace $2\$" || fail "the last line names no file"
    grep -q "<title>span: sequential</title>.*>sequential</text>" "$1" || fail "$1 has no span"
    tail -n 1 "$1" | grep -q '^</svg>$' || fail "$1 has no end"
    "$weft" trace "$2" >said
    for span in sequential parallel compare; do
        grep -q "^$span  *1 " said || fail "$2 has no span $span"
    done
    grep -q '^tile  *8 ' said || fail "not every tile is in $2"
    rm "$1" "$2"
}

demo 0 "./weft-demo.png ./weft-demo.svg ./weft-demo.trace " --trace
draws weft-demo.svg weft-demo.trace
demo 0 "./weft-demo.png ./weft-demo.svg ./weft-demo.trace " --trace -w 3
draws weft-demo.svg weft-demo.trace
demo 0 "./a.svg ./a.trace ./weft-demo.png " --trace a.svg
draws a.svg a.trace
demo 0 "./b ./b.trace ./weft-demo.png " --trace=b --workers 2
[ -f b.trace ] || fail "there is no b.trace"
rm b.trace
demo 2 "" --trace a.svg b.svg
demo 2 "" strange

# What can't be written is known before the work, and nothing is left.
mkdir folder
for no in folder missing/a.svg; do
    demo 1 "" --trace "$no"
    ! grep -q 'done in' said || fail "$no: it was found too late"
done
