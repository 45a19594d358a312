/* SPDX-License-Identifier: MIT */
/* split.h: how a loop is split, whatever its parts are.
 *
 * A part that takes a stretch or less is run by one call, which is timed. A longer part is cut in
 * two: the right side is forked, the left side is split in the same way, and the right side is
 * merged. If a thief has taken the right side, the part is done; otherwise the owner goes on with
 * the right side.
 *
 * The split() of a loop is one call of weft__split() with a constant table. All of it is inlined,
 * so the functions of the table are called directly, or not at all. */
#ifndef WEFT_PARALLEL_SPLIT_H
#define WEFT_PARALLEL_SPLIT_H

#include "core/misuse.h"
#include "parallel/element.h"
#include "parallel/pace.h"

/* Does all of the part. Afterwards *part means nothing. */
typedef void weft__split_fn(weft *w, struct weft__pacer *pacer, void *part);

struct weft__splitting {
    weft__split_fn *split; /* the loop's own, for left sides */
    size_t (*elements)(const void *part);
    /* Is the part not needed any more? NULL: only if the computation is cancelled. */
    bool (*is_over)(weft *w, const void *part);
    bool (*run)(weft *w, void *part); /* does all of it, at once. False: it has stopped early */
    void (*cut)(weft *w, void *part, void *right); /* the part becomes its left side */
    weft_fn *take;                                 /* what a thief does with a right side */
    /* Called by the owner after the merge. `taken`: a thief has run `take`. Returns true if the
     * part is done; otherwise the part has become the right side. NULL: the part is done if it was
     * taken; otherwise the right side is copied to it. */
    bool (*merged)(weft *w, void *part, void *right, bool taken);
    size_t size; /* of a part that is copied */
};

/* A part of a plain loop begins with this. */
struct weft__range {
    size_t begin, end;
};

static inline size_t weft__range_elements(const void *part)
{
    const struct weft__range *range = part;
    return range->end - range->begin;
}

/* Returns the right half. The range becomes its left half. */
static inline struct weft__range weft__range_halve(struct weft__range *range)
{
    struct weft__range right = {range->begin + weft__range_elements(range) / 2, range->end};
    range->end = right.begin;
    return right;
}

/* Forks the right side, splits the left side, and merges. True: a thief took the right side. */
WEFT__ALWAYS_INLINE bool weft__split_in_two(weft *w, struct weft__pacer *pacer,
                                            weft__split_fn *split, void *left, weft_fn *take,
                                            void *right)
{
    weft *in = weft__pacer_fork(pacer, w, take, right);
    split(in, pacer, left);
    bool taken = weft_merge(w);
    if (taken)
        weft__pacer_lost(pacer);
    return taken;
}

/* `right`: space for the right side. */
WEFT__ALWAYS_INLINE void weft__split(weft *w, struct weft__pacer *pacer, void *part, void *right,
                                     const struct weft__splitting *loop)
{
    while (!(loop->is_over ? loop->is_over(w, part) : weft__is_cancelled(w))) {
        size_t n = loop->elements(part);
        if (n <= pacer->leaf) {
            weft__pacer_leaf(pacer, w);
            if (loop->run(w, part))
                weft__pacer_ran(pacer, w, n);
            else
                weft__pacer_lost(pacer);
            return;
        }
        loop->cut(w, part, right);
        bool taken = weft__split_in_two(w, pacer, loop->split, part, loop->take, right);
        if (loop->merged ? loop->merged(w, part, right, taken) : taken)
            return;
        if (!loop->merged)
            memcpy(part, right, loop->size);
    }
}

/* All of a loop; and a part that a thief has taken. `key` and `min` are those of the pacer. */
WEFT__ALWAYS_INLINE void weft__split_all(weft *w, weft__key *key, size_t min, void *part,
                                         const struct weft__splitting *loop)
{
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, key, loop->elements(part), min);
    WEFT__MUST_RETURN(weft__callee_threw, loop->split(w, &pacer, part));
}

WEFT__ALWAYS_INLINE void weft__split_taken(weft *w, weft__key *key, size_t min, void *part,
                                           const struct weft__splitting *loop)
{
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, key, loop->elements(part), min);
    loop->split(w, &pacer, part);
}

#endif
