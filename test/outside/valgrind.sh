#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs on the default pool under memcheck: nothing is wrong or lost but what the program loses
# itself, and an actor's errors are traced to where it began.
set -eu
command -v valgrind >/dev/null || exit 77
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$LIBDIR" WEFT_WORKERS=4
$CC -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wno-unused-result -I"$INCLUDEDIR" "$here/watched.c" \
    -o watched -L"$LIBDIR" -lweft

check()
{
    valgrind --leak-check=full --errors-for-leak-kinds=definite,possible --error-exitcode=9 \
        --fair-sched=try ./watched "$@" >log 2>&1
}

if ! check 0 && grep 'Possibly corrupted debuginfo' log; then
    echo "this valgrind can't read what this compiler writes for debuggers"
    exit 77
fi

check 1 scope words tree arrays tasks locks actors pools overflow || { cat log; exit 1; }
if grep 'possibly lost: [1-9]' log; then cat log; exit 1; fi

if check 1 leak; then
    echo "a leak was not found"
    exit 1
fi
grep -q 'definitely lost: 100 bytes' log || { cat log; exit 1; }

if check 1 stray; then
    echo "an actor's error was not found"
    exit 1
fi
grep -q 'Invalid write' log || { cat log; exit 1; }

# What was compiled without valgrind's header tells it nothing of stacks.
echo '#include <valgrind/valgrind.h>' | $CC -fsyntax-only -x c - 2>/dev/null || exit 0
sed -n '/Invalid write/,/Address/p' log | grep -q 'by 0x[0-9A-F]*: weft__fiber_main' ||
    { echo "a back trace ends too early"; cat log; exit 1; }
check 1 actors || { cat log; exit 1; }
if grep 'switching stacks' log; then exit 1; fi
