/* SPDX-License-Identifier: MIT */
/* arena.h: memory that is counted, and freed all at once, in chunks of growing size. What limits
 * are about is what was asked for: that is the same however the work is spread, whereas each arena
 * has its own half-empty chunk. One thread at a time. */
#ifndef WEFT_ACTOR_ARENA_H
#define WEFT_ACTOR_ARENA_H

#include "core/atomic.h"

enum { ARENA_ALIGNMENT = 16, ARENA_UNIT = 64 }; /* chunks are multiples of the unit */

struct weft__chunk {
    struct weft__chunk *next;
    size_t size; /* this header included */
};

struct weft__arena {
    struct weft__chunk *chunks, *last; /* newest first */
    char *free, *end;                  /* of the newest one */
    size_t used;                       /* bytes that were asked for, rounded up */
    size_t held;                       /* bytes in all chunks */
};

/* What is counted for so many bytes. */
static inline size_t weft__arena_round(size_t bytes)
{
    if (bytes > SIZE_MAX - ARENA_ALIGNMENT)
        return SIZE_MAX;
    return bytes == 0 ? ARENA_ALIGNMENT
                      : (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

/* `bytes`: rounded. NULL: there is no room in the newest chunk. */
void *weft__arena_take(struct weft__arena *arena, size_t bytes);

/* How large the next chunk should be if so many bytes are to be taken, and no more than `allowed`
 * ever will. */
size_t weft__arena_next(const struct weft__arena *arena, size_t bytes, size_t allowed);
bool weft__arena_grow(struct weft__arena *arena, size_t size); /* false: no memory */

/* Whole lists change hands in O(1), and what is counted for them. */
void weft__arena_adopt(struct weft__arena *arena, struct weft__arena *other);

void weft__arena_drop(struct weft__arena *arena);

#endif
