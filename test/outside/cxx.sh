#!/bin/sh
# SPDX-License-Identifier: MIT
# weft.h is C++17 too, optimised (plain calls) and not (checked ones), and without exceptions.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for level in -O0 -O2 '-O0 -fno-exceptions' '-O2 -fno-exceptions'; do
    # shellcheck disable=SC2086 # flags are words
    $CXX -std=c++17 $level -Wall -Wextra -Wpedantic -Werror -I"$INCLUDEDIR" \
        "$here/fib.cpp" -o fib-cxx -L"$LIBDIR" -lweft
    LD_LIBRARY_PATH=$LIBDIR ./fib-cxx
done

# No header warns, whatever a program asks for: each alone, and one use of each macro. Variables of
# the program are not hidden, either.
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
compilers=
for compiler in gcc:c17 clang:c17 g++:c++17 g++:c++20 clang++:c++17 clang++:c++20; do
    command -v "${compiler%:*}" >/dev/null && compilers="$compilers $compiler"
done
echo 'int w, in, out, n, i, arg, fn, left, right, l, r, before, pool, task, actor, when, options;' >own.h
for compiler in $compilers; do
    language=c
    [ "${compiler%++:*}" = "$compiler" ] || language=c++
    for header in "$INCLUDEDIR"/weft.h "$INCLUDEDIR"/weft/*.h; do
        [ "${header##*/}" != mpi.h ] || continue # needs MPI: mpi.sh
        { [ $language = c++ ] || cat own.h; echo "#include \"$header\""; } >alone.c
        # shellcheck disable=SC2086
        ${compiler%:*} -std=${compiler#*:} -x $language -O0 $warnings -I"$INCLUDEDIR" -fsyntax-only alone.c
    done
    for level in -O0 -O2; do
        # shellcheck disable=SC2086
        ${compiler%:*} -std=${compiler#*:} -x $language $level $warnings -I"$INCLUDEDIR" -c \
            "$here/macros.c" -o macros.o
    done
done

# What does not fit into a slot is said in plain words, in C and C++; and what fits is fine.
for compiler in "$CC -std=c17" "$CXX -std=c++17 -x c++"; do
    for size in 32 33; do
        cat >slots.c <<END
#include <weft.h>
struct bytes {
    char at[$size];
};
static long first(weft *w, struct bytes b)
{
    return w ? b.at[0] : 0;
}
WEFT_FORKABLE(long, first, struct bytes b;, first(w, a->b))
long both(weft *w, struct bytes b);
long both(weft *w, struct bytes b)
{
    weft *in = WEFT_FORK_IN(w, first, b);
    return WEFT_MERGE_IN(weft_outer(in), first);
}
END
        code=0
        # shellcheck disable=SC2086
        $compiler -Wall -Wextra -Wpedantic -Werror -I"$INCLUDEDIR" -c slots.c -o slots.o \
            2>log || code=$?
        if [ $size = 32 ]; then
            [ $code = 0 ] || { cat log; exit 1; }
        else
            { [ $code != 0 ] && grep -q "arguments take more than the 32 bytes" log; } ||
                { echo "$compiler: too many arguments fit"; cat log; exit 1; }
        fi
    done
done
