/* SPDX-License-Identifier: MIT */
/* arena.h: memory that is counted, in chunks of growing size. Limits are about the bytes asked for:
 * their number is the same however the work is spread. The size of the chunks is not, because each
 * arena has its own half-empty chunk. One thread at a time uses an arena.
 *
 * Chunks are in a list, the newest first. Memory is taken from the current chunk, which need not be
 * the newest: the chunks of a delegate are put in front, and its victim goes on in its own. So all
 * that was taken since a mark is in chunks that are newer than the mark's newest one, or in the
 * rest of the chunk that was the current one. */
#ifndef WEFT_ACTOR_ARENA_H
#define WEFT_ACTOR_ARENA_H

#include "os/atomic.h"

enum { ARENA_ALIGNMENT = 16, ARENA_UNIT = 64 }; /* chunks are multiples of the unit */

struct weft__account {
    size_t used;  /* bytes asked for, rounded up, and not released */
    size_t peak;  /* the largest value that `used` has had */
    size_t total; /* bytes of all chunks */
};

struct weft__chunk {
    struct weft__chunk *next;
    size_t size; /* this header included */
    /* Set by weft__arena_hand_over(), in the newest chunk: */
    struct weft__chunk *oldest;
    struct weft__account account;
};

struct weft__arena {
    struct weft__chunk *newest, *oldest;
    char *free, *end; /* of the current chunk */
    struct weft__account account;
};

/* The state of an arena, for weft__arena_release(). */
struct weft__arena_mark {
    struct weft__chunk *newest;
    char *free, *end;
    size_t used;
};

/* The number that is counted for `bytes`. */
static inline size_t weft__arena_round(size_t bytes)
{
    if (bytes > SIZE_MAX - ARENA_ALIGNMENT)
        return SIZE_MAX;
    return bytes == 0 ? ARENA_ALIGNMENT
                      : (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

/* `bytes`: rounded. NULL: there is no room in the current chunk. */
void *weft__arena_take(struct weft__arena *arena, size_t bytes);

/* The size of the next chunk: there is room for `bytes`, and not for much more than `allowed`. */
size_t weft__arena_next(const struct weft__arena *arena, size_t bytes, size_t allowed);
bool weft__arena_grow(struct weft__arena *arena, size_t size); /* false: no memory */

struct weft__arena_mark weft__arena_mark(const struct weft__arena *arena);

/* All that was taken since the mark is free again. Returns how many bytes of chunks were freed. The
 * oldest chunk stays, so the peak is not lost when the arena is handed over. */
size_t weft__arena_release(struct weft__arena *arena, struct weft__arena_mark mark);

/* All of an arena is handed over in O(1), as its newest chunk, which leads to the others; then
 * another arena adopts it. NULL: the arena never had a chunk. Adopting adds to `total` only; `used`
 * and `peak` are the caller's business. */
struct weft__chunk *weft__arena_hand_over(struct weft__arena *arena);
void weft__arena_adopt(struct weft__arena *arena, struct weft__chunk *chunks);

void weft__arena_drop(struct weft__arena *arena);

#endif
