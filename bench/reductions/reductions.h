/* SPDX-License-Identifier: MIT */
/* reductions: sums and a maximum of many numbers, each in its own type, beside what other runtimes
 * make vectors of. Out of the cache it is memory that counts, in it the vectors. */
#ifndef BENCH_REDUCTIONS_H
#define BENCH_REDUCTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    REDUCTIONS_LOG = 27, /* so many elements in all: short arrays are reduced more often */
    REDUCTIONS_MOST = 24 /* the size of the longest; sums of more would not be exact in a float */
};

struct reductions {
    size_t count, times;
    void *numbers; /* of zeros and ones; of anything where the largest is wanted */
    double result; /* of all times */
};

/* How often an array of 2^size elements is reduced; one for --quick a few times only. */
static inline size_t reductions_times(unsigned size)
{
    return size < 16 ? 8 : (size_t)1 << (REDUCTIONS_LOG - size);
}

static inline int32_t reductions_add_i32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline float reductions_larger(float a, float b)
{
    return b > a ? b : a;
}

#ifdef __cplusplus
}
#endif

#endif
