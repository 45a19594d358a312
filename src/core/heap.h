/* SPDX-License-Identifier: MIT */
/* heap.h: points in time, the earliest first: a pairing heap. Its nodes lie in their owners'
 * memory, so nothing here can fail. The caller has a lock. */
#ifndef WEFT_CORE_HEAP_H
#define WEFT_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__moment {
    uint64_t when;
    struct weft__moment *child; /* the first of those below, none of which is earlier */
    struct weft__moment *next;  /* the next one below the same parent */
    struct weft__moment *prev;  /* the one before it, or the parent; NULL: the first of the heap */
};

struct weft__heap {
    struct weft__moment *first; /* the earliest; NULL: the heap is empty */
};

void weft__heap_put(struct weft__heap *heap, struct weft__moment *moment);
void weft__heap_take(struct weft__heap *heap, struct weft__moment *moment); /* any of its nodes */

#endif
