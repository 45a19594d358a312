/* SPDX-License-Identifier: MIT */
/* fiber.h: stacks with a context, and what the rest of the library does with them. */
#ifndef WEFT_ACTOR_FIBER_H
#define WEFT_ACTOR_FIBER_H

#include "actor/actor.h"

/* How deep the stack may be where a delegate begins: so much each stack has to spare. So every
 * delegate has as much of it as an actor has; see fiber.c. */
enum {
    FIBER_SPARE = 192 << 10,
    FIBER_STACK = 2752 << 10, /* the stack itself, */
    FIBER_ROOM = 16 << 10,    /* and what functions of the library need of it, to fear no fault */
};

extern const struct weft__fiber_ops weft__actor_ops;

/* For the actor itself (is_root) or its delegates; NULL: no memory. */
struct weft__fiber *weft__fiber_get(struct weft__executor *executor, struct weft_actor *actor,
                                    bool is_root);
void weft__fiber_put(struct weft__executor *executor, struct weft__fiber *fiber);
void weft__fibers_unmap(struct weft__actors *system);

/* From the handler of a fault at this address. */
bool weft__fiber_rescue(const void *address, void *ucontext);

/* By itself: there is hardly any stack left. Does not return, unless it is unwound already. */
void weft__fiber_overflows(struct weft__fiber *fiber);

/* By itself, for anything but delegates: until it is woken, or shorter. */
void weft__fiber_suspend(struct weft__fiber *fiber);

/* Before it touches what is its executor's. */
void weft__fiber_expect_here(const struct weft__fiber *fiber);

static inline struct weft__fiber *weft__fiber_of(weft *w)
{
    return (struct weft__fiber *)weft__context_of(w);
}

static inline struct weft__executor *weft__executor_of(struct weft__fiber *fiber)
{
    return atomic_load_relaxed(&fiber->executor); /* relaxed: its own executor asks */
}

/* By itself: bytes of its stack that are in use. */
static inline size_t weft__fiber_depth(const struct weft__fiber *fiber)
{
    const char *here = __builtin_frame_address(0);
    return (size_t)((const char *)fiber + WEFT_BLOCK_SIZE_ - here);
}

/* By itself, before a function of the library touches anything: it ends here if there is hardly any
 * stack left. */
static inline void weft__fiber_need_room(struct weft__fiber *fiber)
{
    const char *here = __builtin_frame_address(0);
    if (__builtin_expect((size_t)(fiber->top->stack - here) > FIBER_STACK - FIBER_ROOM, 0))
        weft__fiber_overflows(fiber);
}

/* Nobody needs what its topmost member does: the actor was killed, or one of those that wait for it
 * ends. */
static inline bool weft__fiber_is_wanted_no_more(const struct weft__fiber *fiber)
{
    if (atomic_load_acquire(&fiber->actor->killed)) /* acquire A14 */
        return true;
    const struct weft__member *member = fiber->top ? fiber->top->victim : NULL;
    /* relaxed: a request. They are there until this one has answered. */
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

/* Why it will be suspended, in static words. */
static inline void weft__fiber_waits_for(struct weft__fiber *fiber, const char *what)
{
    struct weft__actor_counts *counts = &fiber->actor->counts;
    if (!fiber->is_root)
        return; /* a delegate */
    /* relaxed, all: for people; who looks does so twice. */
    atomic_store_relaxed(&counts->waits_for, (void *)(uintptr_t)what);
    atomic_store_relaxed(&counts->waits_name[0], 0);
    atomic_store_relaxed(&counts->waits_since, weft__actors_clock(fiber->actor->system));
}

#endif
