/* SPDX-License-Identifier: MIT */
/* part.h: parts of a loop that carry a value along, from left to right. Only a thief makes another
 * value, for the part that it has taken; the owner joins both, and frees the thief's. */
#ifndef WEFT_PARALLEL_PART_H
#define WEFT_PARALLEL_PART_H

#include "core/fiber.h"
#include "os/memory.h"
#include "parallel/split.h"

/* A loop's own part begins with this. */
struct weft__part {
    struct weft__cleanup cleanup; /* of the owner, if its actor ends before the part is joined */
    struct weft__range range;
    void *value;    /* NULL: no thief has taken the part, or there was no memory */
    bool no_memory; /* for the thief's value */
};

static inline void weft__part_free(struct weft__cleanup *part, weft *w)
{
    (void)w;
    weft__free(((struct weft__part *)part)->value);
}

/* `right`, which has no value, becomes the right half of what remains. */
static inline void weft__part_cut(weft *w, struct weft__range *remaining, struct weft__part *right)
{
    right->range = weft__range_halve(remaining);
    weft__cleanup_push(w, &right->cleanup, weft__part_free);
}

/* By the thief. False: no memory. */
static inline bool weft__part_make(struct weft__part *part, size_t size)
{
    part->value = weft__small(size);
    part->no_memory = !part->value;
    return !part->no_memory;
}

/* By the owner, after it has joined what was taken. True: the part is done. If the thief had no
 * memory, the owner does it after all. */
static inline bool weft__part_merged(weft *w, struct weft__range *remaining,
                                     struct weft__part *right, bool taken)
{
    weft__cleanup_pop(w, &right->cleanup);
    weft__free(right->value);
    *remaining = right->range;
    return taken && !right->no_memory;
}

#endif
