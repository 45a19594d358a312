/* SPDX-License-Identifier: MIT */
/* Fork and merge: the owner.
 *
 * The lazy road. The fast paths are in weft/inline.h: fork writes the slot, then looks at the
 * guard; merge clears the slot, then looks whether it is wanted. There is no fence in between. The
 * slow roads are here: the owner answers a thief (steal.c), wakes a worker (help.c), or learns that
 * its computation has failed.
 *
 * Publishing. While workers sleep, the guard is raised; the next fork takes the slow road and wakes
 * a worker. That worker would have to stop the owner to take the right side from its slot. So the
 * right side goes on the owner's deque instead, and its merge takes it back from there (publish.c).
 *
 * The eager road. The guard is always raised, and the slow road puts every right side on the
 * worker's deque. */
#include "core/fork.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/help.h"
#include "core/inplace.h"
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
#undef weft_outer

/* The library's own copies of what weft/inline.h puts in place. */
extern weft *weft_fork(weft *w, weft_fn *right, void *arg);
extern bool weft_merge(weft *w);
extern weft *weft_outer(weft *w);
extern void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r);

/* While little work is expected, or there is a deadline, forks in so many slots above the oldest
 * take the slow road. */
enum { SHALLOW_SLOTS = 4 };

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
    if (slot->execute) /* the slot was published before, and not merged */
        weft__fatal("weft_fork: w has forked and not merged; run the left side in the context that "
                    "weft_fork returned");
    weft__publish_eagerly(context, slot); /* if there is no memory, the owner runs it at merge */
}

/* While the owner waits for a stolen right side, the slot must look used to the jobs that it runs
 * above. */
static void wait_for_thief(weft *w, bool give_up)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    if (give_up) {
        weft__group_give_up(context->group, &slot->given_up);
        weft__alert_others(context->worker->pool, context->group->root, context);
    }
    atomic_store_relaxed(&slot->fn, waited_for); /* relaxed: read by this thread only */
    weft__wait(w + 1, &slot->latch, WEFT__AWAITS_THIEF(&slot->thief));
    atomic_store_relaxed(&slot->fn, NULL);
    if (give_up)
        weft__group_take_up(context->group, &slot->given_up);
    if (atomic_load_relaxed(&slot->failed)) /* relaxed: acquired with the latch */
        weft__right_failed_end(context, slot);
}

static bool published_merge(struct weft__context *context, weft *w, bool give_up)
{
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, waited_for); /* relaxed: as above */
    bool mine = !slot->execute || weft__take_back(context->worker, w);
    atomic_store_relaxed(&slot->fn, NULL);
    if (!mine)
        wait_for_thief(w, give_up);
    return !mine || weft__is_cancelled_slow(w);
}

/* Was the slow road taken only because a shallow fork looks at the clock? */
static bool only_looks_at_the_clock(struct weft__context *context)
{
    /* relaxed: if the guard is raised after this, the next fork sees it. */
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
    /* Under the lock, so that this thread does not lower a guard that a failing thread raises
     * now. */
    enum group_state state = weft__context_look(context, &noticed);
    *cancelled = state == GROUP_CANCELLED;
    context->raised = *cancelled; /* every fork and merge learns of it, until the job is over */
    /* A stolen slot stays wanted until it is merged; the end of the slots always is. */
    if (!stolen && w != context->end)
        weft__slot_want(weft__slot_of(w), *cancelled);
    bool look_again = (context->help.wanted && !wake) || state != GROUP_FINE;
    context->shallow = look_again ? SHALLOW_SLOTS : 0;
    struct weft__slot *oldest = atomic_load_relaxed(&context->oldest);
    if (wake && oldest == weft__slot_of(w) &&
        (weft__membarrier_is_gone() || weft__sleep_would_wake(&pool->sleep)))
        weft__publish(context, oldest);
    else if (wake && context->quantum) /* the oldest slot ages while the worker wakes up */
        weft__context_mark(context, oldest, weft__clock_now());
    weft__context_set_guard(context);
    weft__lock_drop(&context->lock);
    if (noticed)
        weft__alert_parts(context);
    if (wake) /* if no worker was woken because there is no room, a later fork tries again */
        context->help.wanted = !weft__sleep_new_fork(&pool->sleep, true);
    return stolen;
}

bool weft__look_up(weft *w)
{
    struct weft__context *context = weft__context_of(w);
    bool cancelled, wake = weft__help_is_due(context, w);
    if (wake)
        context->help.wanted = false; /* the caller wakes a worker */
    if (wake || !only_looks_at_the_clock(context))
        slow_road(context, w, false, &cancelled);
    return wake;
}

weft *weft_fork_slow_(weft *w)
{
    weft__expect_fork(w, "weft_fork");
    /* relaxed: own write; a thief's mark is not NULL either. */
    if (!atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__lacks("weft_fork", "a function", "right");
    struct weft__context *context = weft__context_of(w);
    if (w == context->end)
        return weft__fork_in_place(context);
    if (weft__is_fiber(w)) {
        weft__hook_fork(w);
        return w;
    }
    if (context->eager) {
        eager_fork(context, w);
        return w;
    }
    /* Without membarrier, no thief could take the slot from an owner that does not answer. So every
     * fork is published, as on the eager road. */
    bool cancelled, wake = weft__membarrier_is_gone() || weft__help_is_due(context, w);
    if (wake || !only_looks_at_the_clock(context))
        slow_road(context, w, wake, &cancelled);
    return w;
}

/* After its merge, a slot that was stolen or published is the oldest of its context again. */
static void slot_is_back(struct weft__context *context, weft *w, bool robbed)
{
    struct weft__slot *slot = weft__slot_of(w);
    weft__context_lock(context);
    atomic_store_relaxed(&context->oldest, w); /* relaxed: all writes are under the lock */
    context->robbed |= robbed;
    if (slot->execute)
        weft__unpublish(context, slot);
    else
        weft__slot_want(slot, context->raised);
    weft__context_set_guard(context);
    weft__lock_drop(&context->lock);
}

/* `give_up`: the right side is not wanted any more. */
static bool merge_slowly(weft *w, bool give_up)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    if (w == context->end)
        return weft__merge_in_place(context);
    if (weft__is_fiber(w))
        return weft__hook_merge(w, give_up);
    if (context->eager) {
        bool over = published_merge(context, w, give_up);
        slot->execute = NULL; /* the next fork here looks at it */
        return over;
    }
    if (slot->execute) {
        bool over = published_merge(context, w, give_up);
        slot_is_back(context, w, over);
        return over;
    }
    bool cancelled;
    if (!slow_road(context, w, false, &cancelled))
        return cancelled;
    wait_for_thief(w, give_up);
    slot_is_back(context, w, true);
    return true;
}

bool weft_merge_slow_(weft *w)
{
    weft__expect_fork(w, "weft_merge");
    return merge_slowly(w, false);
}

void weft_fork_cancel(weft *w)
{
    weft__expect_pending(w, __func__);
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, NULL); /* relaxed: as in weft_merge() */
    if (WEFT_SLOW_(WEFT_IS_ABOVE_(&w->wanted_, w)))
        (void)merge_slowly(w, true);
}
