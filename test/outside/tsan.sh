#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs compiled with ThreadSanitizer, against the ordinary library, shared and static: nothing
# is reported but a race that there is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$LIBDIR" PKG_CONFIG_PATH="$LIBDIR/pkgconfig" WEFT_WORKERS=4
export TSAN_OPTIONS="exitcode=66 atexit_sleep_ms=0"
static=$(pkg-config --static --libs weft | sed 's/-lweft/-l:libweft.a/')
# Where addresses are randomised much, the sanitizer finds no room.
plain=
setarch -R true 2>/dev/null && plain="setarch -R"

build()
{
    # shellcheck disable=SC2086 # flags are words
    $1 -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wno-unused-result -fsanitize=thread -I"$INCLUDEDIR" \
        "$here/watched.c" -o "$2" -L"$LIBDIR" $3 -pthread
}

run()
{
    # shellcheck disable=SC2086
    $plain "$@" >log 2>&1
}

watch()
{
    run "$1" "$rounds" scope words tree arrays tasks locks actors pools && run "$1" 2 overflow ||
        { echo "$1: a report, or a fault"; cat log; exit 1; }
    if run "$1" 1 race; then
        echo "$1: the race was not found"
        exit 1
    fi
    grep -q 'data race' log || { echo "$1: no report of the race"; cat log; exit 1; }
}

rounds=50
found=
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    echo 'int main(void) { return 0; }' >empty.c
    { $compiler -fsanitize=thread empty.c -o empty 2>log && run ./empty; } ||
        { echo "$compiler's ThreadSanitizer is missing, or does not run here"; continue; }
    build $compiler "tsan-$compiler" -lweft
    build $compiler "tsan-$compiler-static" "$static"
    watch "./tsan-$compiler"
    watch "./tsan-$compiler-static"
    found=yes
done
[ "$found" ] || exit 77
