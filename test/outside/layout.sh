#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that was compiled with the headers of another layout is told so when it enters a pool,
# by every way in; one with the headers of the library is let in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$LIBDIR"
ulimit -c 0

rm -rf other && mkdir other
cp -R "$INCLUDEDIR/weft.h" "$INCLUDEDIR/weft" other
sed 's/^#define WEFT_LAYOUT_ .*/#define WEFT_LAYOUT_ 99u/' "$INCLUDEDIR/weft/inline.h" \
    >other/weft/inline.h

build()
{
    # shellcheck disable=SC2086 # flags are words
    $1 -Wall -Wextra -Werror -I"$INCLUDEDIR" "$here/layout.c" -o layout -L"$LIBDIR" -lweft
    # shellcheck disable=SC2086
    $1 -Wall -Wextra -Werror -Iother "$here/layout.c" -o layout-other -L"$LIBDIR" -lweft
}

for compiler in "$CC -std=c17 -O0" "$CC -std=c17 -O2" "$CXX -std=c++17 -O0 -x c++" \
    "$CXX -std=c++17 -O2 -x c++"; do
    build "$compiler"
    for name in weft_run weft_submit weft_broadcast weft_broadcast_detached weft_actor_create; do
        ./layout $name || { echo "$compiler: $name fails"; exit 1; }
        code=0
        (exec ./layout-other $name 2>log) 2>/dev/null || code=$? # the shell says "Aborted", too
        { [ $code -gt 128 ] && [ "$(wc -l <log)" = 1 ] &&
            grep -q "^weft: $name: the program was compiled for layout 99 of weft, and" log; } ||
            { echo "$compiler: $name, exit code $code"; cat log; exit 1; }
    done
done
