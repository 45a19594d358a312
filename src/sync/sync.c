/* SPDX-License-Identifier: MIT */
#include "sync/sync.h"

#include "core/fiber.h"
#include "core/pool.h"
#include "core/standing.h"
#include "os/futex.h"

#include <errno.h>

enum { WAITER_QUEUED, WAITER_RESTING, WAITER_ROUSED, WAITER_GONE };

struct weft__worker *weft__sync_caller(weft *w)
{
    struct weft__worker *me = w ? weft__worker_of(w) : weft__worker_current();
    if (!me || !me->fiber)
        return me;
    weft__hook_room(me->fiber);
    return NULL;
}

void weft__sync_used_by(struct weft__sync *sync, const struct weft__worker *me)
{
    /* relaxed, all: written under the lock. A report reads them while no thread of the pool runs,
     * or while a thread stands in line. */
    const struct weft__context *fiber = me ? NULL : weft__fiber_here();
    struct weft_pool *pool = me ? me->pool : fiber ? fiber->worker->pool : NULL;
    struct weft_pool *known = atomic_load_relaxed(&sync->pool);
    if (!pool || (known && known != pool))
        atomic_store_relaxed(&sync->outside, true);
    else if (!known)
        atomic_store_relaxed(&sync->pool, pool);
    if (fiber)
        atomic_store_relaxed(&sync->actors, true);
}

struct weft__waiter *weft__line_pop(struct weft__line *line)
{
    struct weft__waiter *waiter = line->first;
    if (waiter) {
        line->first = waiter->next;
        waiter->next = NULL;
    }
    return waiter;
}

static void line_push(struct weft__line *line, struct weft__waiter *waiter)
{
    waiter->next = waiter->vain ? line->first : NULL;
    if (waiter->vain) {
        line->last = line->first ? line->last : waiter;
        line->first = waiter;
        return;
    }
    if (line->first)
        line->last->next = waiter;
    else
        line->first = waiter;
    line->last = waiter;
}

/* relaxed, rest() and rouse(): the first of them decides; letting go is what hands over (W1). */

static void rest(struct weft__waiter *waiter)
{
    uint32_t state = WAITER_QUEUED;
    if (atomic_cas_relaxed(&waiter->state, &state, WAITER_RESTING))
        weft__block_rest(waiter->worker);
}

static void waits_no_more(struct weft__waiter *waiter)
{
    if (waiter->fiber)
        weft__hook_waits_no_more(waiter->fiber, &waiter->blocked);
}

static void rouse(struct weft__waiter *waiter)
{
    uint32_t state = WAITER_QUEUED;
    waits_no_more(waiter);
    if (!waiter->worker || atomic_cas_relaxed(&waiter->state, &state, WAITER_ROUSED))
        return;
    atomic_store_relaxed(&waiter->state, WAITER_ROUSED);
    weft__block_rouse(waiter->worker);
}

static bool line_remove(struct weft__line *line, struct weft__waiter *waiter)
{
    struct weft__waiter *before = NULL, *at = line->first;
    while (at && at != waiter) {
        before = at;
        at = at->next;
    }
    if (!at)
        return false;
    if (before)
        before->next = waiter->next;
    else
        line->first = waiter->next;
    if (line->last == waiter)
        line->last = before;
    return true;
}

/* An actor ends. False: another thread has just ended its wait, and will wake it. */
static bool withdraw(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    weft__lock_take(&sync->lock);
    bool removed = line_remove(line, waiter);
    if (removed)
        waits_no_more(waiter);
    if (removed && waiter->withdrawn)
        waiter->withdrawn(sync);
    weft__lock_drop(&sync->lock);
    return removed;
}

/* False: the waiter is an actor that ends, and it has left the line. */
static bool wait_until_gone(struct weft__sync *sync, struct weft__line *line,
                            struct weft__waiter *waiter)
{
    struct weft__context *fiber = waiter->fiber;
    uint32_t state;
    /* acquire W1: what the thread that ended the wait did. */
    while ((state = atomic_load_acquire(&waiter->state)) != WAITER_GONE) {
        if (!fiber)
            weft__futex_wait(&waiter->state, state);
        else if (weft__hook_ends(fiber) && withdraw(sync, line, waiter))
            return false;
        else
            weft__hook_suspend(fiber);
    }
    return true;
}

int weft__sync_wait(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    struct weft__worker *me = waiter->worker;
    waiter->fiber = weft__fiber_here();
    if (waiter->fiber) /* while no thread can end the wait, and free the name */
        weft__hook_waits_for(waiter->fiber, weft__blocked_words(waiter->blocked.kind),
                             &waiter->blocked);
    atomic_store_relaxed(&waiter->state, WAITER_QUEUED); /* relaxed: the lock shares it */
    line_push(line, waiter);
    weft__lock_drop(&sync->lock);
    if (me) {
        weft__block_mark(me, &waiter->blocked);
        rest(waiter);
    }
    if (!wait_until_gone(sync, line, waiter)) {
        weft__hook_end(waiter->fiber, waiter->blocked.kind == BLOCKED_MUTEX);
        return -ECANCELED;
    }
    if (me)
        weft__block_unmark(me);
    return waiter->result;
}

void weft__sync_rouse(struct weft__waiter *waiter, int result)
{
    for (; waiter; waiter = waiter->next) {
        waiter->result = result;
        rouse(waiter);
    }
}

void weft__sync_let_go(struct weft__waiter *waiter)
{
    while (waiter) {
        struct weft__waiter *next = waiter->next;
        struct weft__context *fiber = waiter->fiber;
        if (fiber)
            atomic_fetch_add_relaxed(&weft__fiber_wakers, 1); /* relaxed: W1 publishes it */
        /* release W1. The waiter may be gone from here on; the futex gets an address only. */
        atomic_store_release(&waiter->state, WAITER_GONE);
        if (fiber) {
            weft__hook_wake(fiber);
            atomic_fetch_sub_acq_rel(&weft__fiber_wakers, 1); /* release A9 */
        } else {
            weft__futex_wake(&waiter->state, 1);
        }
        waiter = next;
    }
}
