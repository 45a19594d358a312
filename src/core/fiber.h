/* SPDX-License-Identifier: MIT */
/* fiber.h: a fiber is a context that belongs to an actor (../actor), not to a thread. It can be
 * suspended, and go on later on another thread. What the rest of the library has to know of that is
 * here. A fiber is eager, so that no thief looks at its slots; and none of them is on a deque. */
#ifndef WEFT_CORE_FIBER_H
#define WEFT_CORE_FIBER_H

#include "core/worker.h"

/* What a fiber does in another way than a thread's own context. Called through weft__hook_*()
 * below, and nowhere else. If not said otherwise, by the fiber itself. */
struct weft__fiber_ops {
    void (*fork)(weft *w);                /* the slow road of fork */
    bool (*merge)(weft *w, bool give_up); /* the slow road of merge, and of weft_fork_cancel() */
    void (*poll)(weft *w);
    bool (*yield)(weft *w);                       /* true: another actor ran meanwhile */
    void (*suspend)(struct weft__context *fiber); /* until it is woken; may return earlier */
    void (*suspend_until)(struct weft__context *fiber, uint64_t when); /* at `when` at the latest */

    /* Notes why the fiber will be suspended: static words, and the mutex, event or channel, or
       NULL. */
    void (*waits_for)(struct weft__context *fiber, const char *what,
                      const struct weft__blocked *by);
    /* Takes that back if the note is about `by`: by the fiber, or by the thread that ends the wait.
       If `by` has an object, both calls are made under the object's lock. */
    void (*waits_no_more)(struct weft__context *fiber, const struct weft__blocked *by);

    void (*wake)(struct weft__context *fiber);               /* by any thread, at any time */
    struct weft__park *(*park)(struct weft__context *fiber); /* to wake it is to wake the fiber */
    bool (*ends)(struct weft__context *fiber); /* does its actor end? Then so do its waits */
    /* Ends the actor here, unless it holds a mutex; `at_once`: even if it holds one. */
    void (*end)(struct weft__context *fiber, bool at_once);
    /* Counts bytes of the library as memory of the actor, and ends it here if it is past its limit;
       takes them back, the last first. */
    void (*uses)(struct weft__context *fiber, size_t bytes);
    void (*uses_no_more)(struct weft__context *fiber, size_t bytes);
    void (*no_memory)(
        struct weft__context *fiber); /* ends the actor here, unless it ends already */
    /* Ends the actor here if hardly any stack is left: before a function of the library begins. */
    void (*room)(struct weft__context *fiber);
    void (*block_begin)(weft *w);
    void (*block_end)(weft *w);
    unsigned (*index)(weft *w);
};

/* How many threads have ended a wait of a fiber, and have yet to wake it. The fiber may go on
 * without that, so a pool waits for these threads before it frees fibers. */
extern struct atomic_u32 weft__fiber_wakers;

/* The `set_for` of a fiber's parking place. Its `sleeper` is the fiber. */
void weft__fiber_set_for(struct weft__latch *latch, struct weft__park *owner);

/* Does w belong to an actor? */
static inline bool weft__is_fiber(weft *w)
{
    return weft__context_of(w)->ops != NULL;
}

/* All weft__hook_*() are for fibers only. */

static inline void weft__hook_fork(weft *w)
{
    weft__context_of(w)->ops->fork(w);
}

static inline bool weft__hook_merge(weft *w, bool give_up)
{
    return weft__context_of(w)->ops->merge(w, give_up);
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

static inline void weft__hook_suspend_until(struct weft__context *fiber, uint64_t when)
{
    fiber->ops->suspend_until(fiber, when);
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

static inline void weft__hook_uses(struct weft__context *fiber, size_t bytes)
{
    fiber->ops->uses(fiber, bytes);
}

static inline void weft__hook_uses_no_more(struct weft__context *fiber, size_t bytes)
{
    fiber->ops->uses_no_more(fiber, bytes);
}

static inline void weft__hook_no_memory(struct weft__context *fiber)
{
    fiber->ops->no_memory(fiber);
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

/* The fiber that runs on this thread, or NULL. */
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

/* After a wait that ended early: if the caller is an actor that has to end, this does not return,
 * unless the actor holds a mutex. */
static inline void weft__fiber_end_here(void)
{
    struct weft__context *fiber = weft__fiber_here();
    if (fiber)
        weft__hook_end(fiber, false);
}

/* What has to be done if an actor ends in the middle of a function of the library, in whose frame
 * this lies; or what the program has deferred. It is done before the stack is unwound, the newest
 * first. Contexts of threads have no cleanups: jobs return. */
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

/* The cleanup is done, or not needed. What the program has deferred after it stays. */
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

/* Called now and then in a long loop: an actor may have to yield. */
static inline void weft__poll(weft *w)
{
    if (WEFT_IS_CALLED_(w) && weft__is_fiber(w))
        weft__hook_poll(w);
}

/* The context in which `me` runs now. */
static inline struct weft__context *weft__context_now(struct weft__worker *me)
{
    return me->fiber ? me->fiber : me->context;
}

/* The parking place at which a wait in this context is woken. */
static inline struct weft__park *weft__context_park(struct weft__context *context)
{
    return context->ops ? context->ops->park(context) : context->worker->park;
}

#endif
