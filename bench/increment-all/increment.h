/* SPDX-License-Identifier: MIT */
/* increment-all: a pass over a large array, many times over. What memory gives. */
#ifndef BENCH_INCREMENT_H
#define BENCH_INCREMENT_H

#include <stddef.h>
#include <stdint.h>

enum {
    INCREMENT_TIMES = 20,
    INCREMENT_LEAF = 4096, /* elements that are not split any more */
};

struct increment {
    size_t count;
    uint64_t *elements;
};

static inline void increment_range(uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        elements[i]++;
}

#endif
