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
    arena->used += bytes;
    return p;
}

bool weft__arena_grow(struct weft__arena *arena, size_t size)
{
    struct weft__chunk *chunk = weft__scratch(size);
    if (!chunk)
        return false;
    *chunk = (struct weft__chunk){arena->chunks, size};
    if (!arena->chunks)
        arena->last = chunk;
    arena->chunks = chunk;
    arena->free = (char *)(chunk + 1);
    arena->end = (char *)chunk + size;
    arena->held += size;
    return true;
}

static size_t chunk_for(size_t bytes)
{
    return (bytes + sizeof(struct weft__chunk) + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
}

/* As large as what there is already, so that the number of chunks is a logarithm. */
size_t weft__arena_next(const struct weft__arena *arena, size_t bytes, size_t allowed)
{
    size_t size = arena->held < FIRST ? FIRST : arena->held < LARGEST ? arena->held : LARGEST;
    if (allowed < size && chunk_for(allowed) < size)
        size = chunk_for(allowed);
    return size < chunk_for(bytes) ? chunk_for(bytes) : size;
}

void weft__arena_adopt(struct weft__arena *arena, struct weft__arena *other)
{
    if (!other->chunks)
        return;
    /* Behind the newest one, which is still in use. */
    if (arena->chunks) {
        other->last->next = arena->chunks->next;
        arena->chunks->next = other->chunks;
        if (arena->last == arena->chunks)
            arena->last = other->last;
        arena->used += other->used;
        arena->held += other->held;
    } else {
        *arena = *other;
    }
    *other = (struct weft__arena){0};
}

void weft__arena_drop(struct weft__arena *arena)
{
    while (arena->chunks) {
        struct weft__chunk *next = arena->chunks->next;
        weft__free(arena->chunks);
        arena->chunks = next;
    }
    *arena = (struct weft__arena){0};
}
