/* SPDX-License-Identifier: MIT */
/* arrays: scan, filter and find over an array of numbers, beside plain loops. */
#ifndef BENCH_ARRAYS_H
#define BENCH_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ARRAYS_TIMES = 5,  /* scans and filters are run so many times */
    ARRAYS_NEEDLES = 8 /* so many searches find something an eighth further on each time */
};

struct arrays {
    size_t count;
    uint64_t *in, *out;
    uint64_t result;
};

static inline uint64_t arrays_add(uint64_t a, uint64_t b)
{
    return a + b;
}

/* True for every other one, in no order. */
static inline bool arrays_keep(uint64_t number)
{
    return number >> 63;
}

static inline bool arrays_is(uint64_t number, uint64_t value)
{
    return number == value;
}

/* Where the value is, or `end`: the loop itself, once for all contenders. */
size_t arrays_find(const uint64_t *numbers, size_t begin, size_t end, uint64_t value);

/* No two numbers are equal. */
static inline uint64_t arrays_number(size_t i)
{
    return i * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t arrays_needle(const struct arrays *a, int i)
{
    return arrays_number(a->count / ARRAYS_NEEDLES * (size_t)(i + 1) - 1);
}

#ifdef __cplusplus
}
#endif

#endif
