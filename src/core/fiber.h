/* SPDX-License-Identifier: MIT */
/* fiber.h: a context that is not a thread's own, but an actor's (../actor): it is suspended and
 * goes on, perhaps on another thread. What the rest of the library has to know of that is here.
 * Such a context is eager, so that no thief looks at it, and nothing of it stands in a deque. */
#ifndef WEFT_CORE_FIBER_H
#define WEFT_CORE_FIBER_H

#include "core/worker.h"

/* What a fiber does otherwise than a thread's own context. Called through weft__hook_*() below, and
 * nowhere else. */
struct weft__fiber_ops {
    void (*fork)(weft *w); /* the slow roads of fork and merge */
    bool (*merge)(weft *w);
    void (*poll)(weft *w);
    bool (*yield)(weft *w);                       /* true: another actor ran meanwhile */
    void (*suspend)(struct weft__context *fiber); /* by itself: until it is woken, or shorter */
    void (*waits_for)(struct weft__context *fiber, const char *what,
                      const struct weft__blocked *by); /* why it will be: static words; and a
                                                          mutex, event or channel, or NULL */
    void (*waits_no_more)(struct weft__context *fiber, const struct weft__blocked *by);
    /* By the thread that ends the wait for one of these, or by itself, as long as `by` is there;
       both under the object's lock. */
    void (*wake)(struct weft__context *fiber);               /* by any thread, at any time */
    struct weft__park *(*park)(struct weft__context *fiber); /* whose wake-ups are the fiber's */
    bool (*ends)(struct weft__context *fiber); /* by itself: its actor ends, and so do its waits */
    void (*end)(struct weft__context *fiber,
                bool at_once); /* the same: here, unless it holds a mutex; at once: also then */
    void (*room)(struct weft__context *fiber); /* by itself: it ends here if it has hardly any stack
                                                  left, before a function of the library begins */
    void (*block_begin)(weft *w);
    void (*block_end)(weft *w);
    unsigned (*index)(weft *w);
};

/* Threads that have ended a wait of a fiber, and have yet to wake it: the fiber may go on without
 * that, so pools wait for them before they free fibers. */
extern struct atomic_u32 weft__fiber_wakers;

/* The `set_for` of a fiber's parking place, whose `sleeper` is the fiber. */
void weft__fiber_set_for(struct weft__latch *latch, struct weft__park *owner);

/* Is w an actor's, and not a thread's own? */
static inline bool weft__is_fiber(weft *w)
{
    return weft__context_of(w)->ops != NULL;
}

/* Each is for fibers only. */

static inline void weft__hook_fork(weft *w)
{
    weft__context_of(w)->ops->fork(w);
}

static inline bool weft__hook_merge(weft *w)
{
    return weft__context_of(w)->ops->merge(w);
}

static inline void weft__hook_poll(weft *w)
{
    weft__context_of(w)->ops->poll(w);
}

static inline bool weft__hook_yield(weft *w)
{
    return weft__context_of(w)->ops->yield(w);
}

static inline void weft__hook_suspend(struct weft__context *fiber)
{
    fiber->ops->suspend(fiber);
}

static inline void weft__hook_waits_for(struct weft__context *fiber, const char *what,
                                        const struct weft__blocked *by)
{
    fiber->ops->waits_for(fiber, what, by);
}

static inline void weft__hook_waits_no_more(struct weft__context *fiber,
                                            const struct weft__blocked *by)
{
    fiber->ops->waits_no_more(fiber, by);
}

static inline void weft__hook_wake(struct weft__context *fiber)
{
    fiber->ops->wake(fiber);
}

static inline bool weft__hook_ends(struct weft__context *fiber)
{
    return fiber->ops->ends(fiber);
}

static inline void weft__hook_end(struct weft__context *fiber, bool at_once)
{
    fiber->ops->end(fiber, at_once);
}

static inline void weft__hook_room(struct weft__context *fiber)
{
    fiber->ops->room(fiber);
}

static inline void weft__hook_block_begin(weft *w)
{
    weft__context_of(w)->ops->block_begin(w);
}

static inline void weft__hook_block_end(weft *w)
{
    weft__context_of(w)->ops->block_end(w);
}

static inline unsigned weft__hook_index(weft *w)
{
    return weft__context_of(w)->ops->index(w);
}

/* The fiber that runs on this thread in its worker's place; NULL: none. */
static inline struct weft__context *weft__fiber_here(void)
{
    struct weft__worker *me = weft__worker_current();
    return me ? me->fiber : NULL;
}

static inline void weft__fiber_expect_room(void)
{
    struct weft__context *fiber = weft__fiber_here();
    if (fiber)
        weft__hook_room(fiber);
}

/* The wait of an actor that ends is over: does not return, unless it holds a mutex. */
static inline void weft__fiber_end_here(void)
{
    weft__hook_end(weft__fiber_here(), false);
}

/* What has to be done if an actor ends in the middle of something: for a function of the library,
 * in whose frame this stands, or what the program has deferred. It is done before the stack is
 * unwound, the newest first. Contexts of threads have none: jobs return. */
struct weft__cleanup {
    struct weft__cleanup *below;
    void (*run)(struct weft__cleanup *cleanup, weft *w);
};

static inline void weft__cleanup_push(weft *w, struct weft__cleanup *cleanup,
                                      void (*run)(struct weft__cleanup *cleanup, weft *w))
{
    struct weft__context *context = weft__context_of(w);
    if (!weft__is_fiber(w))
        return;
    cleanup->run = run;
    cleanup->below = context->cleanups;
    context->cleanups = cleanup;
}

/* It is done, or need not be. What the program has deferred since stays. */
static inline void weft__cleanup_pop(weft *w, struct weft__cleanup *cleanup)
{
    struct weft__context *context = weft__context_of(w);
    if (!weft__is_fiber(w))
        return;
    struct weft__cleanup **link = &context->cleanups;
    while (*link != cleanup)
        link = &(*link)->below;
    *link = cleanup->below;
}

/* Now and then in a long loop. */
static inline void weft__poll(weft *w)
{
    if (WEFT_IS_CALLED_(w) && weft__is_fiber(w))
        weft__hook_poll(w);
}

/* Where `me` runs now. */
static inline struct weft__context *weft__context_now(struct weft__worker *me)
{
    return me->fiber ? me->fiber : me->context;
}

/* What waits in this context is woken here. */
static inline struct weft__park *weft__context_park(struct weft__context *context)
{
    return context->ops ? context->ops->park(context) : context->worker->park;
}

#endif
