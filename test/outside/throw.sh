#!/bin/sh
# SPDX-License-Identifier: MIT
# C++ exceptions: those that are promised to pass do, whoever runs what; others end in a line that
# names them, and are caught nowhere. Optimised and not, shared and static, eager forks too, and with
# AddressSanitizer, which sees whoever uses a frame that is gone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$LIBDIR" PKG_CONFIG_PATH="$LIBDIR/pkgconfig"
static=$(pkg-config --static --libs weft | sed 's/-lweft/-l:libweft.a/')
ulimit -c 0

build()
{
    # shellcheck disable=SC2086 # flags are words
    $CXX -std=c++17 $2 -Wall -Wextra -Wpedantic -Werror -I"$INCLUDEDIR" "$here/throw.cpp" -o "$1" \
        -L"$LIBDIR" $3 -pthread
}

# A right side can't be taken where nobody else is.
alone="left_throws right_throws guards scopes tree"
together="left_throws_and_right_is_taken right_is_taken_and_throws both_throw"

passes()
{
    for workers in 1 2 8; do
        names=$alone
        [ $workers = 1 ] || names="$alone $together"
        for name in $names; do
            "$@" "$name" $workers >log 2>&1 ||
                { echo "$*: $name with $workers workers"; cat log; exit 1; }
        done
    done
}

# The second: what is said, or what the C++ library says where no handler is on that stack.
is_explained()
{
    name=$1
    said=$2
    shift 2
    for workers in 2 8; do
        code=0
        "$@" "$name" $workers >log 2>&1 || code=$?
        { [ $code -gt 128 ] && grep -Eq "$said" log && ! grep -q caught log; } ||
            { echo "$*: $name with $workers workers, exit code $code"; cat log; exit 1; }
    done
}

explains()
{
    for name in run outermost_run; do
        is_explained out_of_$name '^weft: a job .*threw an exception' "$@"
    done
    # Here a thief may run what throws.
    is_explained out_of_child '^weft: a job .*threw an exception|^terminate called' "$@"
    for name in short_loop long_loop; do # here the caller's own thread throws
        is_explained out_of_$name '^weft: a function that a loop.*threw an exception' "$@"
    done
    for name in sort reduction; do # here it may be a thief
        is_explained out_of_$name '^weft: a function that a loop.*threw an exception|^terminate called' "$@"
    done
    is_explained out_of_taken_fork '^weft: .*threw an exception|^terminate called' "$@"
    is_explained out_of_actor '^weft: .*threw an exception|^terminate called' "$@"
    is_explained out_of_fork '^weft: a job returned without merging' "$@"
}

for level in -O0 -O2; do
    build throw$level $level -lweft
    build throw$level-static $level "$static"
    passes ./throw$level
    passes ./throw$level-static
    passes env WEFT_FORK=eager ./throw$level
    passes env WEFT_QUANTUM_US=0 ./throw$level
    explains ./throw$level
done

echo 'int main() {}' >empty.cpp
if $CXX -fsanitize=address empty.cpp -o empty 2>log && ./empty; then
    build throw-asan '-O1 -g -fsanitize=address' -lweft
    passes ./throw-asan
    passes env WEFT_QUANTUM_US=0 ./throw-asan
else
    echo "$CXX's AddressSanitizer is missing"
fi
