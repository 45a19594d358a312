/* SPDX-License-Identifier: MIT */
/* sort.h: what the sorts share. */
#ifndef WEFT_PARALLEL_SORT_H
#define WEFT_PARALLEL_SORT_H

#include "core/fiber.h"
#include "weft/sort.h"

#include <string.h>

enum {
    SORT_LEAF = 512,      /* elements: a smaller part is not forked */
    SORT_GRAIN = 1 << 16, /* bytes: fewer are moved without a fork */
};

/* Swaps two ranges that don't overlap, or are the same. */
static inline void sort_swap(void *a, void *b, size_t bytes)
{
    unsigned char buffer[512];
    char *p = a, *q = b;
    if (bytes == sizeof(uint64_t)) { /* the same in five instructions */
        uint64_t x, y;
        memcpy(&x, p, sizeof x);
        memcpy(&y, q, sizeof y);
        memcpy(p, &y, sizeof y);
        memcpy(q, &x, sizeof x);
        return;
    }
    for (size_t k; bytes > 0; bytes -= k, p += k, q += k) {
        k = bytes < sizeof buffer ? bytes : sizeof buffer;
        memcpy(buffer, p, k);
        memmove(p, q, k);
        memcpy(q, buffer, k);
    }
}

/* How many elements there are for each worker; all of them if there is only one. */
static inline size_t sort_share(weft *w, size_t n)
{
    return n / weft_pool_workers(weft_pool_of(w));
}

/* In place and without forks. Uses only `size` and `less` of the sorter. */
void weft__sort_heap(void *base, size_t n, const weft_sorter_ *sorter, void *arg);

#endif
