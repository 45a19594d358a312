/* SPDX-License-Identifier: MIT */
/* fiber.h: stacks with a context. A block of WEFT_BLOCK_SIZE_ has all that an actor needs on one
 * executor.
 *
 *     header | guard | reserve | spare     <-- ... stack | slot | slot | ... -->     | next block
 *
 * The slots reach to the end of the block, as in every context, and neighbours' slots and headers
 * lie next to each other, so that a fiber costs the kernel two mappings. The first slots share a
 * page with the end of the stack, so that a small actor needs two pages. Blocks come in slabs, are
 * used again, and are not unmapped before the pool is destroyed: a late waker may still write
 * `woken`.
 *
 * Reserve and spare part are closed, too; the fault handler opens them. The spare part is for
 * delegates that begin on top of others: each has as much stack as an actor has, so it overflows
 * only where a single thread would have. The reserve is for the unwinding after an overflow. */
#ifndef WEFT_ACTOR_FIBER_H
#define WEFT_ACTOR_FIBER_H

#include "actor/actor.h"

enum {
    FIBER_GUARD_BEGIN = 64 << 10, /* pages may be as large as that */
    FIBER_GUARD = 64 << 10,
    FIBER_RESERVE_BEGIN = FIBER_GUARD_BEGIN + FIBER_GUARD,
    FIBER_RESERVE = 64 << 10,
    FIBER_SPARE_BEGIN = FIBER_RESERVE_BEGIN + FIBER_RESERVE,
    FIBER_SPARE = 192 << 10, /* how deep the stack may be where a delegate begins */
    FIBER_STACK_BEGIN = FIBER_SPARE_BEGIN + FIBER_SPARE,
    FIBER_STACK = (2752 << 10) + 3584, /* the stack itself */
    FIBER_SLOTS_BEGIN = FIBER_STACK_BEGIN + FIBER_STACK,
    FIBER_ROOM = 16 << 10, /* what functions of the library need of it */
};

_Static_assert(sizeof(struct weft__fiber) <= FIBER_GUARD_BEGIN &&
                   FIBER_SLOTS_BEGIN + 7500 * sizeof(struct weft) <= WEFT_BLOCK_SIZE_ &&
                   FIBER_SLOTS_BEGIN % WEFT__CACHE_LINE == 0,
               "a block");

/* For the actor itself (is_root) or its delegates; NULL: no memory. */
struct weft__fiber *weft__fiber_get(struct weft__executor *executor, struct weft_actor *actor,
                                    bool is_root);
void weft__fiber_put(struct weft__executor *executor, struct weft__fiber *fiber);
void weft__fibers_unmap(struct weft__actors *system);

static inline struct weft__fiber *weft__fiber_of(weft *w)
{
    return (struct weft__fiber *)weft__context_of(w);
}

static inline struct weft__executor *weft__executor_of(struct weft__fiber *fiber)
{
    return atomic_load_relaxed(&fiber->executor); /* relaxed: its own executor asks */
}

/* By the fiber itself: bytes of its stack that are in use. */
static inline size_t weft__fiber_depth(const struct weft__fiber *fiber)
{
    const char *here = __builtin_frame_address(0);
    return (size_t)((const char *)fiber + FIBER_SLOTS_BEGIN - here);
}

/* The result of its topmost member is not needed: the actor was killed, or its victim, or a victim
 * of that, ends. */
static inline bool weft__fiber_is_wanted_no_more(const struct weft__fiber *fiber)
{
    if (atomic_load_acquire(&fiber->actor->killed)) /* acquire A14 */
        return true;
    const struct weft__member *member = fiber->top ? fiber->top->victim : NULL;
    /* relaxed: a request. No victim is gone before its delegates have answered. */
    while (member && atomic_load_relaxed(&member->outcome) == OUTCOME_RUNS)
        member = member->victim;
    return member != NULL;
}

static inline void weft__fiber_guard(struct weft__fiber *fiber, bool raised)
{
    /* relaxed: its own thread reads it; the ticker raises it, as a request. */
    atomic_store_relaxed(&fiber->context.guard,
                         raised ? UINTPTR_MAX : (uintptr_t)fiber->context.first);
}

/* For infos: the state of the actor. RUNNING is not shown: infos look at `current`. */
static inline void weft__fiber_show(struct weft__fiber *fiber, enum weft_actor_state state)
{
    if (fiber->is_root)
        atomic_store_relaxed(&fiber->actor->counts->activity, state); /* relaxed: a hint */
}

/* Why it will be suspended, in static words. */
static inline void weft__fiber_waits_for(struct weft__fiber *fiber, const char *what)
{
    struct weft__actor_counts *counts = fiber->actor->counts;
    if (!fiber->is_root)
        return; /* a delegate */
    weft__stats_words(what);
    weft__stats_note(&counts->waits_object, 0);
    /* relaxed, all: for infos; a dump reads them twice. */
    atomic_store_relaxed(&counts->waits_for, (void *)(uintptr_t)what);
    atomic_store_relaxed(&counts->waits_name[0], 0);
    atomic_store_relaxed(&counts->waits_since, weft__actors_clock(fiber->actor->system));
}

#endif
