/* SPDX-License-Identifier: MIT */
/* memory.h: where memory comes from, and where tests make it run out. */
#ifndef WEFT_OS_MEMORY_H
#define WEFT_OS_MEMORY_H

#include "os/atomic.h"

#include <stddef.h>

void *weft__alloc(size_t size);   /* zeroed, aligned to a cache line; NULL: no memory */
void *weft__scratch(size_t size); /* the same, but not zeroed */
void *weft__small(size_t size);   /* not zeroed, aligned as malloc() does */
void weft__free(void *p);

/* Address space that costs memory only where it is touched. The alignment is a power of two and at
 * least a page. */
void *weft__map(size_t size, size_t alignment);
void weft__unmap(void *p, size_t size);

/* Whole pages of zeros, at least so many bytes. `p` NULL: new ones. They may move. NULL: no memory,
 * and p is as it was; or `size` is 0, and they are gone. */
void *weft__pages_resize(void *p, size_t old_size, size_t size);

/* For tests: each allocation counts this down; the allocation that finds 1 fails. 0: off. */
extern struct atomic_u32 weft__alloc_fail_at;

#endif
