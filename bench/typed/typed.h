/* SPDX-License-Identifier: MIT */
/* typed: what WEFT_FOR_EACH_DEFINE, WEFT_HISTOGRAM_DEFINE and their like make, beside plain loops.
 * scan, filter and find are in arrays. */
#ifndef BENCH_TYPED_H
#define BENCH_TYPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TYPED_TIMES = 5, /* each is run so many times */
    TYPED_BINS = 256
};

/* The same as a call, for loops that don't know what they call. */
struct weft;
typedef size_t typed_bin_fn(struct weft *w, const void *element, void *arg);

struct typed {
    size_t count;
    uint64_t *in, *out, *more;
    uint64_t result;
    size_t counts[TYPED_BINS];
    typed_bin_fn *bin; /* here, with what it is given, so that compilers can't know them */
    struct weft *w;
    void *arg;
};

static inline void typed_change(uint64_t *number)
{
    *number = (*number >> 1) + 1;
}

static inline size_t typed_bin(uint64_t number)
{
    return number % TYPED_BINS;
}

/* True for every other one, in no order. */
static inline bool typed_keep(uint64_t number)
{
    return number % 2;
}

static inline bool typed_equal(uint64_t a, uint64_t b)
{
    return a == b;
}

static inline bool typed_less(uint64_t a, uint64_t b)
{
    return a < b;
}

static inline uint64_t typed_add(uint64_t a, uint64_t b)
{
    return a + b;
}

#ifdef __cplusplus
}
#endif

#endif
