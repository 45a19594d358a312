/* SPDX-License-Identifier: MIT */
/* arena.h: memory that is counted, in chunks of growing size. What limits are about is what was
 * asked for: that is the same however the work is spread, whereas each arena has its own half-empty
 * chunk. One thread at a time.
 *
 * Chunks are in a list, the newest first. What is taken comes from one of them, which need not be
 * the newest: what a delegate leaves is put on top, and its victim goes on where it was. So all
 * that was taken since a mark is in chunks above the one that was the newest then, or in the rest
 * of the one that was taken from. */
#ifndef WEFT_ACTOR_ARENA_H
#define WEFT_ACTOR_ARENA_H

#include "os/atomic.h"

enum { ARENA_ALIGNMENT = 16, ARENA_UNIT = 64 }; /* chunks are multiples of the unit */

/* What an arena has, and has had: in bytes asked for, rounded up, but for `total`. */
struct weft__account {
    size_t used, peak; /* now, and the most ever */
    size_t total;      /* in all chunks */
};

struct weft__chunk {
    struct weft__chunk *next;
    size_t size; /* this header included */
    /* Of the newest one of what a delegate has left: */
    struct weft__chunk *oldest;
    struct weft__account account;
};

struct weft__arena {
    struct weft__chunk *newest, *oldest;
    char *free, *end; /* of the one that is taken from */
    struct weft__account account;
};

/* Where an arena was. */
struct weft__arena_mark {
    struct weft__chunk *newest;
    char *free, *end;
    size_t used;
};

/* What is counted for so many bytes. */
static inline size_t weft__arena_round(size_t bytes)
{
    if (bytes > SIZE_MAX - ARENA_ALIGNMENT)
        return SIZE_MAX;
    return bytes == 0 ? ARENA_ALIGNMENT
                      : (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

/* `bytes`: rounded. NULL: there is no room in the chunk. */
void *weft__arena_take(struct weft__arena *arena, size_t bytes);

/* How large the next chunk should be if so many bytes are to be taken, and no more than `allowed`
 * ever will. */
size_t weft__arena_next(const struct weft__arena *arena, size_t bytes, size_t allowed);
bool weft__arena_grow(struct weft__arena *arena, size_t size); /* false: no memory */

struct weft__arena_mark weft__arena_mark(const struct weft__arena *arena);

/* All that was taken since is free again. Returns how many bytes of chunks there are less. The last
 * chunk stays, and with it the peak. */
size_t weft__arena_release(struct weft__arena *arena, struct weft__arena_mark mark);

/* All of an arena changes hands in O(1): it is one chunk, and leads to the others, until it becomes
 * part of another arena. NULL: there is nothing, and never was. Adopting counts nothing but what is
 * held. */
struct weft__chunk *weft__arena_hand_over(struct weft__arena *arena);
void weft__arena_adopt(struct weft__arena *arena, struct weft__chunk *chunks);

void weft__arena_drop(struct weft__arena *arena);

#endif
