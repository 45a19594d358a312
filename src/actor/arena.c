/* SPDX-License-Identifier: MIT */
#include "actor/arena.h"

#include "os/memory.h"

enum { FIRST = 4096, LARGEST = 256 * 1024 };

_Static_assert(sizeof(struct weft__chunk) % ARENA_ALIGNMENT == 0, "what follows is aligned");

void *weft__arena_take(struct weft__arena *arena, size_t bytes)
{
    if (bytes > (size_t)(arena->end - arena->free))
        return NULL;
    char *p = arena->free;
    arena->free += bytes;
    arena->account.used += bytes;
    if (arena->account.used > arena->account.peak)
        arena->account.peak = arena->account.used;
    return p;
}

/* Makes it the current chunk, from its beginning. */
static void go_on_in(struct weft__arena *arena, struct weft__chunk *chunk)
{
    arena->free = (char *)(chunk + 1);
    arena->end = (char *)chunk + chunk->size;
}

bool weft__arena_grow(struct weft__arena *arena, size_t size)
{
    struct weft__chunk *chunk = weft__scratch(size);
    if (!chunk)
        return false;
    *chunk = (struct weft__chunk){.next = arena->newest, .size = size};
    if (!arena->newest)
        arena->oldest = chunk;
    arena->newest = chunk;
    arena->account.total += size;
    go_on_in(arena, chunk);
    return true;
}

static size_t chunk_for(size_t bytes)
{
    return (bytes + sizeof(struct weft__chunk) + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
}

/* As large as all chunks together: their number grows as the logarithm of their size, up to
 * LARGEST.
 */
size_t weft__arena_next(const struct weft__arena *arena, size_t bytes, size_t allowed)
{
    size_t total = arena->account.total;
    size_t size = total < FIRST ? FIRST : total < LARGEST ? total : LARGEST;
    if (allowed < size && chunk_for(allowed) < size)
        size = chunk_for(allowed);
    return size < chunk_for(bytes) ? chunk_for(bytes) : size;
}

struct weft__arena_mark weft__arena_mark(const struct weft__arena *arena)
{
    return (struct weft__arena_mark){arena->newest, arena->free, arena->end, arena->account.used};
}

size_t weft__arena_release(struct weft__arena *arena, struct weft__arena_mark mark)
{
    size_t total = arena->account.total;
    while (arena->newest != mark.newest && arena->newest != arena->oldest) {
        struct weft__chunk *chunk = arena->newest;
        arena->newest = chunk->next;
        arena->account.total -= chunk->size;
        weft__free(chunk);
    }
    arena->free = mark.free;
    arena->end = mark.end;
    if (arena->newest && !mark.newest) /* there was no chunk then */
        go_on_in(arena, arena->newest);
    arena->account.used = mark.used;
    return total - arena->account.total;
}

struct weft__chunk *weft__arena_hand_over(struct weft__arena *arena)
{
    struct weft__chunk *chunks = arena->newest;
    if (chunks) {
        chunks->oldest = arena->oldest;
        chunks->account = arena->account;
    }
    *arena = (struct weft__arena){0};
    return chunks;
}

void weft__arena_adopt(struct weft__arena *arena, struct weft__chunk *chunks)
{
    if (!chunks)
        return;
    chunks->oldest->next = arena->newest;
    if (!arena->newest)
        arena->oldest = chunks->oldest;
    arena->newest = chunks;
    arena->account.total += chunks->account.total;
}

void weft__arena_drop(struct weft__arena *arena)
{
    while (arena->newest) {
        struct weft__chunk *next = arena->newest->next;
        weft__free(arena->newest);
        arena->newest = next;
    }
    *arena = (struct weft__arena){0};
}
