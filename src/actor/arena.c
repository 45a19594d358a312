/* SPDX-License-Identifier: MIT */
#include "actor/arena.h"

#include "os/memory.h"

enum { ALIGNMENT = 16, FIRST = 4096, LARGEST = 256 * 1024 };

_Static_assert(sizeof(struct weft__chunk) % ALIGNMENT == 0, "what follows is aligned");

static void *take(struct weft__arena *arena, size_t bytes)
{
    char *p = arena->free;
    arena->free += bytes;
    return p;
}

static bool grow(struct weft__arena *arena, size_t size)
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
    arena->used += size;
    return true;
}

/* As large as what there is already, so that the number of chunks is a logarithm; but no larger
 * than is allowed, as long as that is enough. 0: it is not. */
static size_t next_size(const struct weft__arena *arena, size_t bytes, size_t allowed)
{
    size_t least = (bytes + sizeof(struct weft__chunk) + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
    size_t size = arena->used < FIRST ? FIRST : arena->used < LARGEST ? arena->used : LARGEST;
    if (size < least || size > allowed)
        size = least;
    return size > allowed ? 0 : size;
}

void *weft__arena_alloc(struct weft__arena *arena, size_t bytes, size_t allowed, bool *no_memory)
{
    *no_memory = false;
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = bytes == 0 ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes <= (size_t)(arena->end - arena->free))
        return take(arena, bytes);
    size_t size = next_size(arena, bytes, allowed);
    if (!size)
        return NULL;
    *no_memory = !grow(arena, size);
    return *no_memory ? NULL : take(arena, bytes);
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
