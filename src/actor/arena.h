/* SPDX-License-Identifier: MIT */
/* arena.h: memory that is counted, and freed all at once. Chunks of growing size; what is counted
 * are chunks, and their sizes are multiples of ARENA_UNIT. One thread at a time. */
#ifndef WEFT_ACTOR_ARENA_H
#define WEFT_ACTOR_ARENA_H

#include "core/atomic.h"

enum { ARENA_UNIT = 64 };

struct weft__chunk {
    struct weft__chunk *next;
    size_t size; /* this header included */
};

struct weft__arena {
    struct weft__chunk *chunks, *last; /* newest first */
    char *free, *end;                  /* of the newest one */
    size_t used;                       /* bytes in all chunks */
};

/* `allowed`: by how many bytes `used` may grow. NULL: that is not enough, or *no_memory. */
void *weft__arena_alloc(struct weft__arena *arena, size_t bytes, size_t allowed, bool *no_memory);

/* Whole lists change hands in O(1); `used` goes with them. */
void weft__arena_adopt(struct weft__arena *arena, struct weft__arena *other);

void weft__arena_drop(struct weft__arena *arena);

#endif
