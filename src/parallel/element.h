/* SPDX-License-Identifier: MIT */
/* element.h: elements of any size. The usual sizes are copied without a call. */
#ifndef WEFT_PARALLEL_ELEMENT_H
#define WEFT_PARALLEL_ELEMENT_H

#include <stddef.h>
#include <string.h>

/* Of elements of this size: the largest power of two that divides it, as far as malloc() aligns. */
static inline size_t weft__alignment(size_t size)
{
    size_t divides = size & (~size + 1);
    return divides && divides < _Alignof(max_align_t) ? divides : _Alignof(max_align_t);
}

static inline void weft__copy(void *to, const void *from, size_t size)
{
    switch (size) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        memcpy(to, from, size);
    }
}

/* For code that is compiled once for each of the usual sizes. */
#define WEFT__ALWAYS_INLINE static inline __attribute__((always_inline))

/* Space on the stack for one element, or a few, until the calling function returns. */
#define WEFT__SPACE(size) __builtin_alloca_with_align((size) + 1, 8 * _Alignof(max_align_t))

#endif
