#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles on its own, as C99, C11, C17 and C++17, without a warning; so does what
# its macros define.
set -eu
cd "$INCLUDEDIR"
set -- -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror -I. -fsyntax-only
for header in weft.h weft/*.h; do
    [ -f "$header" ] || continue
    [ "$header" != weft/mpi.h ] || continue # needs MPI: mpi.sh
    for debug in 0 1; do
        for std in c99 c11 c17; do
            echo "#include <$header>" |
                $CC -std=$std "$@" -DWEFT_DEBUG=$debug -x c -
        done
        echo "#include <$header>" |
            $CXX -std=c++17 "$@" -Wold-style-cast -DWEFT_DEBUG=$debug -x c++ -
    done
done

# Names that the _DEFINE macros make end in an underscore: they hide none of the program's.
program='#include <weft.h>
#include <weft/parallel.h>
#include <weft/sort.h>
extern int a, a_n, accumulator, add, all, arg, array, arrays, b, b_n, base, before, begin, bins, c, carry,
    count, counts, d, e, element, end, ends, first, fourth, from, from_right, half, halves, has_carry, held,
    i, identity, ij, ik, in, j, k, kept, l, l_last, lanes, least, left, merger, middle, more, most, n, next,
    nl, no, nr, other, out, p, part, pivot, q, r, r_last, reducer, result, right, row, s, same, scanner,
    search, second, t, third, to, to_last, total, u, v, value, w, x, y, yes;
static inline float twice(int number_) { return 2 * (float)number_; }
static inline long sum(long left_, long right_) { return left_ + right_; }
static inline bool is_odd(long number_) { return number_ % 2 != 0; }
static inline bool comes_first(long left_, long right_) { return left_ < right_; }
WEFT_MAP_DEFINE(map_all, int, twice, float)
WEFT_SCAN_DEFINE(scan_all, long, sum)
WEFT_REDUCE_DEFINE(reduce_all, long, sum, 0)
WEFT_MAP_REDUCE_DEFINE(map_reduce_all, int, (long), long, sum, 0)
WEFT_FILTER_DEFINE(filter_all, long, is_odd)
static inline void rise(long *number_) { ++*number_; }
static inline unsigned bin(long number_) { return (unsigned)number_; }
WEFT_FOR_EACH_DEFINE(rise_all, long, rise)
WEFT_FIND_DEFINE(find_first, long, comes_first, long)
WEFT_SCAN_EXCLUSIVE_DEFINE(scan_before, long, 0, sum)
WEFT_UNIQUE_DEFINE(unique_all, long, comes_first)
WEFT_PARTITION_DEFINE(part_all, long, is_odd)
WEFT_MERGE_SORTED_DEFINE(merge_all, long, comes_first)
WEFT_HISTOGRAM_DEFINE(count_all, long, bin)
WEFT_SORT_DEFINE(sort_all, long, comes_first)
WEFT_SORT_STABLE_DEFINE(sort_all_stable, long, comes_first)'
echo "$program" | $CC -std=c17 "$@" -Wno-unused-function -x c -
echo "$program" | $CXX -std=c++17 "$@" -Wno-unused-function -x c++ -

# Typed forks: `w` and `a` are theirs.
program='#include <weft.h>
long sum(weft *w, long n, int step);
WEFT_FORKABLE(long, sum, long n; int step;, sum(w, a->n, a->step))
long sum(weft *w, long n, int step)
{
    if (n < step)
        return n;
    WEFT_FORK(w, sum, right, n - step, step);
    long left = sum(right_in, n / 2, step);
    return left + WEFT_MERGE(w, sum, right);
}'
for debug in 0 1; do
    echo "$program" | $CC -std=c17 "$@" -DWEFT_DEBUG=$debug -x c -
    echo "$program" | $CXX -std=c++17 "$@" -DWEFT_DEBUG=$debug -x c++ -
done
