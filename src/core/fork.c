/* SPDX-License-Identifier: MIT */
/* Fork and merge: the owner.
 *
 * The lazy road. Forking and merging are in weft/inline.h: fork writes the slot, then looks at the
 * guard; merge clears the slot, then looks whether it is wanted; without a fence between. What is
 * here are the slow roads, on which the owner answers a thief (steal.c), wakes a worker (help.c),
 * or learns that its computation has failed.
 *
 * Publishing. While workers sleep, the guard is raised, and the next fork takes the slow road
 * and wakes one. That worker would have to stop the owner to take what it was woken for; so the
 * fork goes on the owner's deque instead, and its merge takes it back from there (publish.c).
 *
 * The eager road. The guard is always raised; on the slow road, every fork goes on the
 * worker's deque. */
#include "core/cancel.h"
#include "core/fiber.h"
#include "core/help.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/publish.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/fatal.h"
#include "os/membarrier.h"

#undef weft_fork
#undef weft_merge
#undef weft_join

/* The library's own copies of what weft/inline.h puts in place. */
extern weft *weft_fork(weft *w, weft_fn *right, void *arg);
extern bool weft_merge(weft *w);
extern void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r);

enum { SHALLOW_SLOTS = 4 }; /* forks this deep look at the clock while little work is expected */

/* Never called: its address stands in a slot. */
static void waited_for(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    weft__fatal("a right side that is waited for was called");
}

static void eager_fork(struct weft__context *context, weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    if (slot->execute) /* its first right side is on the deque, or was taken from there */
        weft__fatal("weft_fork: w has forked and not merged; run the left side in the context that "
                    "weft_fork returned");
    weft__publish_eagerly(context, slot); /* or, if that can't be, the owner runs it at merge */
}

/* While a stolen right side is waited for, its slot must look used to jobs above. */
static void wait_for_thief(weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, waited_for); /* relaxed: read by this thread only */
    weft__wait(w + 1, &slot->latch, WEFT__AWAITS_THIEF(&slot->thief));
    atomic_store_relaxed(&slot->fn, NULL);
}

static bool published_merge(struct weft__context *context, weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, waited_for); /* relaxed: as above */
    bool mine = !slot->execute || weft__take_back(context->worker, w);
    atomic_store_relaxed(&slot->fn, NULL);
    if (!mine)
        wait_for_thief(w);
    return !mine || weft__is_cancelled_slow(w);
}

/* Is that look at the clock all that the slow road was taken for? */
static bool only_looks_at_the_clock(struct weft__context *context)
{
    /* relaxed: a guard that is raised meanwhile is for the next fork. */
    return context->help.started && atomic_load_relaxed(&context->guard) != UINTPTR_MAX &&
           !weft__group_alarm(context->group);
}

/* What the owner does on every slow road. True: the slot at w is stolen. */
static bool slow_road(struct weft__context *context, weft *w, bool wake, bool *cancelled)
{
    struct weft_pool *pool = context->worker->pool;
    weft__context_answer_and_lock(context);
    bool stolen = w < (weft *)atomic_load_relaxed(&context->oldest);
    bool noticed = false;
    /* Under the lock, so that a failure that raises the guard now is not overwritten. */
    enum group_state state = weft__group_look(context->group, &noticed);
    *cancelled = state == GROUP_CANCELLED;
    context->raised = *cancelled; /* every fork and merge has to know, until it is over */
    if (!stolen)                  /* a stolen slot stays wanted until it is merged */
        weft__slot_want(weft__slot_of(w), *cancelled);
    bool look_again = (context->help.wanted && !wake) || state != GROUP_FINE;
    context->shallow = look_again ? SHALLOW_SLOTS : 0;
    struct weft__slot *oldest = atomic_load_relaxed(&context->oldest);
    if (wake && oldest == weft__slot_of(w) &&
        (weft__membarrier_is_gone() || weft__sleep_would_wake(&pool->sleep)))
        weft__publish(context, oldest);
    else if (wake && context->quantum) /* it ages while the worker that is woken wakes up */
        weft__context_mark(context, oldest, weft__clock_now());
    weft__context_set_guard(context);
    weft__lock_drop(&context->lock);
    if (noticed)
        weft__alert_parts(context);
    if (wake) /* if there was no room for another worker, there may be later */
        context->help.wanted = !weft__sleep_new_fork(&pool->sleep, true);
    return stolen;
}

void weft_fork_slow_(weft *w)
{
    weft__expect_fork(w, "weft_fork");
    /* relaxed: own; a thief's mark is no NULL either. */
    if (!atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__lacks("weft_fork", "a function", "right");
    struct weft__context *context = weft__context_of(w);
    if (weft__is_fiber(w)) {
        weft__hook_fork(w);
        return;
    }
    if (context->eager) {
        eager_fork(context, w);
        return;
    }
    /* Without a barrier, no thief could take it from a silent owner: as on the eager road. */
    bool cancelled, wake = weft__membarrier_is_gone() || weft__help_is_due(context, w);
    if (wake || !only_looks_at_the_clock(context))
        slow_road(context, w, wake, &cancelled);
}

/* A slot that was stolen or published is the oldest one of its context again. */
static void slot_is_back(struct weft__context *context, weft *w, bool robbed)
{
    struct weft__slot *slot = weft__slot_of(w);
    weft__context_lock(context);
    atomic_store_relaxed(&context->oldest, w); /* relaxed: under the lock, as all their writes */
    context->robbed |= robbed;
    if (slot->execute)
        weft__unpublish(context, slot);
    else
        weft__slot_want(slot, context->raised);
    weft__context_set_guard(context);
    weft__lock_drop(&context->lock);
}

bool weft_merge_slow_(weft *w)
{
    weft__expect_fork(w, "weft_merge");
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    if (weft__is_fiber(w))
        return weft__hook_merge(w);
    if (context->eager) {
        bool over = published_merge(context, w);
        slot->execute = NULL; /* the next fork looks */
        return over;
    }
    if (slot->execute) {
        bool over = published_merge(context, w);
        slot_is_back(context, w, over);
        return over;
    }
    bool cancelled;
    if (!slow_road(context, w, false, &cancelled))
        return cancelled;
    wait_for_thief(w);
    slot_is_back(context, w, true);
    return true;
}
