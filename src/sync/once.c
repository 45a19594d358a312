/* SPDX-License-Identifier: MIT */
/* Something that is done once, by the first thread that wants it done; others wait for its end.
 *
 *   NEW -begin-> RUNS -end-> DONE     by the thread that does it, under the lock
 *   RUNS -abandon-> NEW               by an actor that ends meanwhile: a waiter does it then */
#include "core/misuse.h"
#include "os/fatal.h"
#include "sync/held.h"
#include "sync/sync.h"

#include <errno.h>

enum once_state { ONCE_NEW, ONCE_RUNS, ONCE_DONE };

struct once {
    struct weft__sync sync;
    struct atomic_uptr word; /* the name of the thread that does it; under the lock */
    struct weft__line line;
    struct atomic_u32 state; /* written under the lock */
};

_Static_assert(sizeof(struct once) <= sizeof(weft_once), "weft_once is too small");
_Static_assert(offsetof(struct once, word) == offsetof(struct weft__owned, word),
               "it begins as a struct weft__owned");

static struct once *once_of(weft_once *once, const char *function)
{
    if (!once)
        weft__fatal("%s needs a once", function);
    return (struct once *)(void *)once;
}

void weft_once_init(weft_once *once, const char *name)
{
    *once_of(once, __func__) = (struct once){.sync.name = name};
}

/* relaxed, all but one: under the lock; reports see it by Z1. */

/* It is over, or was abandoned. */
static void leave(struct once *once, enum once_state state, int result)
{
    weft__lock_take(&once->sync.lock);
    atomic_store_relaxed(&once->word, MUTEX_FREE);
    atomic_store_release(&once->state, state); /* release W5: what was done */
    struct weft__waiter *all = once->line.first;
    once->line.first = NULL;
    weft__sync_rouse(all, result);
    weft__lock_drop(&once->sync.lock);
    weft__sync_let_go(all);
}

/* An actor that does it ends. */
struct running {
    struct weft__cleanup cleanup;
    struct once *once;
};

static void abandon(struct weft__cleanup *cleanup, weft *w)
{
    (void)w;
    weft__held_end(NULL, weft__fiber_here());
    leave(((struct running *)cleanup)->once, ONCE_NEW, -EAGAIN);
}

static void run(weft *w, struct weft__worker *me, struct once *once, weft_fn *fn, void *arg)
{
    struct weft__context *fiber = weft__held_fiber(me);
    struct running running = {.once = once};
    weft__held_begin(me, fiber, w);
    if (fiber)
        weft__cleanup_push(fiber->first, &running.cleanup, abandon);
    WEFT__MUST_RETURN(weft__callee_threw, fn(w, arg));
    if (fiber)
        weft__cleanup_pop(fiber->first, &running.cleanup);
    weft__held_end(me, fiber);
    leave(once, ONCE_DONE, 0);
}

/* -EAGAIN: it was abandoned while the caller waited. */
static int run_or_wait(weft *w, struct once *once, weft_fn *fn, void *arg,
                       struct weft__waiter *waiter)
{
    struct weft__worker *me = weft__sync_caller(w);
    uintptr_t name = weft__held_name(me, weft__held_fiber(me));
    weft__lock_take(&once->sync.lock);
    weft__sync_used_by(&once->sync, me);
    uint32_t state = atomic_load_relaxed(&once->state);
    if (state == ONCE_RUNS) {
        if (atomic_load_relaxed(&once->word) == name)
            weft__fatal("once \"%s\" waits for itself: the function that it runs calls it again",
                        once->sync.name ? once->sync.name : "");
        waiter->worker = me;
        waiter->blocked.kind = BLOCKED_ONCE;
        waiter->blocked.object = &once->sync;
        return weft__sync_wait(&once->sync, &once->line, waiter);
    }
    if (state == ONCE_NEW) {
        atomic_store_relaxed(&once->state, ONCE_RUNS);
        atomic_store_relaxed(&once->word, name);
    }
    weft__lock_drop(&once->sync.lock);
    if (state == ONCE_NEW)
        run(w, me, once, fn, arg);
    return 0;
}

static int call(weft *w, weft_once *public, weft_fn *fn, void *arg, struct weft__waiter *waiter,
                const char *function)
{
    struct once *once = once_of(public, function);
    if (!fn)
        weft__lacks(function, "a function", "fn");
    int result = -EAGAIN;
    while (result == -EAGAIN)
        result = atomic_load_acquire(&once->state) == ONCE_DONE /* acquire W5 */
                     ? 0
                     : run_or_wait(w, once, fn, arg, waiter);
    return result;
}

void weft_once_call(weft *w, weft_once *once, weft_fn *fn, void *arg)
{
    struct weft__waiter waiter = {0};
    WEFT__EXPECT_OWN_OR_NULL(w);
    (void)call(w, once, fn, arg, &waiter, __func__);
}

int weft_once_call_until(weft *w, weft_once *once, weft_fn *fn, void *arg, uint64_t when)
{
    struct weft__waiter waiter = {0};
    WEFT__EXPECT_OWN_OR_NULL(w);
    weft__waiter_limit(&waiter, when);
    return call(w, once, fn, arg, &waiter, __func__);
}

bool weft_once_is_done(const weft_once *once)
{
    if (!once)
        weft__fatal("weft_once_is_done needs a once");
    return atomic_load_acquire(&((const struct once *)(const void *)once)->state) ==
           ONCE_DONE; /* acquire W5 */
}
