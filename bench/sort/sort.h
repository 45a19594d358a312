/* SPDX-License-Identifier: MIT */
/* sort: a quicksort whose halves are forked. */
#ifndef BENCH_SORT_H
#define BENCH_SORT_H

#include "../numbers.h"

enum {
    SORT_SMALL = 24,  /* sorted by insertion */
    SORT_LEAF = 1024, /* not forked any more */
};

static inline void sort_small(uint64_t *a, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t value = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > value; j--)
            a[j] = a[j - 1];
        a[j] = value;
    }
}

static inline uint64_t sort_median(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Nothing in the first part is larger than anything in the second; returns the size of the
 * first. Neither is empty: one of the three that the pivot comes from is not the last, and not
 * smaller than it, so at least one pair is swapped or the last element is passed over. */
static inline size_t sort_partition(uint64_t *a, size_t count)
{
    uint64_t pivot = sort_median(a[0], a[count / 2], a[count - 1]);
    size_t i = 0, j = count - 1;
    for (;; i++, j--) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i >= j)
            return j + 1;
        uint64_t swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
}

#ifdef __cplusplus
extern "C" {
#endif

void sort_sequential(uint64_t *elements, size_t count);

#ifdef __cplusplus
}
#endif

#endif
