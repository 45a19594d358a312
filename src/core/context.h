/* SPDX-License-Identifier: MIT */
/* context.h: what `weft *w` points to.
 *
 * A context is a block of slots, aligned to its own size, with a header at its start:
 *
 *     header | slot | slot | slot | slot | ...         | last
 *              ^ forked      ^ `w` of the running code
 *
 * The pointer is the slot: weft_fork(w) fills the slot at w and the left side runs in
 * the next one, so how deep the forks reach is known to the code that passes `w` along
 * and stored nowhere. From the first slot to the running code's, each slot is in use;
 * from there on, all are free. The header is the pointer with its low bits cleared. */
#ifndef WEFT_CORE_CONTEXT_H
#define WEFT_CORE_CONTEXT_H

#include "core/job.h"
#include "core/latch.h"

struct weft__worker;

/* A slot. FREE until forked; RUNNING_IN_PLACE only ever in the last slot. */
struct weft {
    struct weft__job job; /* job.fn is NULL while the slot is free */
    struct weft__spin_latch latch;
    struct atomic_ptr thief; /* struct weft__worker that runs it, or NULL; written by it */
    bool published;          /* stands in the deque, or did. Owner only */
};

struct weft__context {
    struct weft__worker *worker; /* whose it is; does not change while it is used */
    struct weft__group *group;   /* of the job running on top. Owner only */
    weft *first, *last;
};

enum { WEFT__BLOCK_SIZE = 4 << 20 };

struct weft__context *weft__context_make(struct weft__worker *worker); /* NULL: no memory */
void weft__context_free(struct weft__context *context);

static inline struct weft__context *weft__context_of(weft *w)
{
    return (struct weft__context *)((uintptr_t)w & ~(uintptr_t)(WEFT__BLOCK_SIZE - 1));
}

/* The first free slot: the context of whatever runs on top now. */
weft *weft__context_top(struct weft__context *context);

#endif
