/* SPDX-License-Identifier: MIT */
#include "sync/sync.h"

#include "core/fiber.h"
#include "core/pool.h"
#include "core/standing.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/trace.h"

#include <errno.h>

/* `state`: one of these, plus WAITER_NUDGE for each nudge. */
enum { WAITER_QUEUED, WAITER_RESTING, WAITER_ROUSED, WAITER_GONE, WAITER_NUDGE };

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

/* ---- The line: under the object's lock ---- */

/* relaxed: the first decides; what is handed over goes through the lock, or W1. */
static bool claim(struct weft__choice *choice, struct weft__waiter *chosen)
{
    void *none = NULL;
    return atomic_cas_relaxed(&choice->chosen, &none, chosen);
}

struct weft__waiter *weft__line_pop(struct weft__line *line)
{
    struct weft__waiter *waiter;
    do {
        if (!(waiter = line->first))
            return NULL;
        weft__line_remove(line, waiter);
        waiter->next = NULL;
    } while (waiter->choice && !claim(waiter->choice, waiter));
    return waiter;
}

struct weft__waiter *weft__line_take(struct weft__line *line)
{
    struct weft__waiter *first = NULL, **end = &first;
    while ((*end = weft__line_pop(line)))
        end = &(*end)->next;
    return first;
}

void weft__line_push(struct weft__line *line, struct weft__waiter *waiter)
{
    waiter->in_line = true;
    bool to_front = waiter->vain || !line->first;
    waiter->next = to_front ? line->first : NULL;
    waiter->previous = to_front ? NULL : line->last;
    if (waiter->next)
        waiter->next->previous = waiter;
    else
        line->last = waiter;
    if (waiter->previous)
        waiter->previous->next = waiter;
    else
        line->first = waiter;
}

void weft__line_remove(struct weft__line *line, struct weft__waiter *waiter)
{
    waiter->in_line = false;
    if (waiter->next)
        waiter->next->previous = waiter->previous;
    else
        line->last = waiter->previous;
    if (waiter->previous)
        waiter->previous->next = waiter->next;
    else
        line->first = waiter->next;
}

/* ---- The states of a waiter ---- */

static uint32_t step_in(uint32_t state)
{
    return state % WAITER_NUDGE;
}

/* relaxed, rest() and rouse(): the first of them decides; letting go is what hands over (W1). */

static void rest(struct weft__waiter *waiter)
{
    uint32_t state = WAITER_QUEUED;
    while (step_in(state) == WAITER_QUEUED)
        if (atomic_cas_relaxed(&waiter->state, &state, state + WAITER_RESTING)) {
            weft__block_rest(waiter->worker);
            return;
        }
}

static void rouse(struct weft__waiter *waiter)
{
    uint32_t state = WAITER_QUEUED;
    if (waiter->fiber)
        weft__hook_waits_no_more(waiter->fiber, &waiter->blocked);
    while (!atomic_cas_relaxed(&waiter->state, &state, WAITER_ROUSED))
        ;
    if (step_in(state) == WAITER_RESTING) {
        /* relaxed: a hint. */
        WEFT__TRACE(WAKE, atomic_load_relaxed(&waiter->worker->counts->thread), 1);
        weft__block_rouse(waiter->worker);
    }
}

/* ---- Limits ---- */

/* By a thread that cancels, while the waiter can't return. */
static void nudge(struct weft__limit *limit)
{
    struct weft__waiter *waiter =
        (struct weft__waiter *)((char *)limit - offsetof(struct weft__waiter, limit));
    if (waiter->fiber) {
        weft__hook_wake(waiter->fiber);
        return;
    }
    atomic_fetch_add_acq_rel(&waiter->state, WAITER_NUDGE); /* release W4: why */
    weft__futex_wake(&waiter->state, 1);
}

void weft__waiter_limit(struct weft__waiter *waiter, uint64_t when)
{
    waiter->limit = weft__limit_until(when);
    waiter->limit.nudge = nudge;
    waiter->blocked.limit = &waiter->limit;
}

/* By a waiter that stands in several lines, and leaves them later. False: as below. */
static bool give_up_all(struct weft__waiter *waiter)
{
    bool first = claim(waiter->choice, waiter);
    if (first)
        rouse(waiter);
    return first;
}

/* By the waiter: leaves the line. False: a waker has ended its wait, and will let it go. */
static bool withdraw(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    struct weft__waiter *others = NULL;
    if (waiter->choice)
        return give_up_all(waiter);
    weft__lock_take(&sync->lock);
    /* relaxed: a waker changes it under the lock. */
    bool in_line = step_in(atomic_load_relaxed(&waiter->state)) < WAITER_ROUSED;
    if (in_line) {
        weft__line_remove(line, waiter);
        rouse(waiter);
        if (waiter->withdrawn)
            others = waiter->withdrawn(sync);
    }
    weft__sync_rouse(others, 0);
    weft__lock_drop(&sync->lock);
    weft__sync_let_go(others);
    return in_line;
}

/* Why the waiter has to give up: -ECANCELED, -ETIMEDOUT; or 0. */
static int reason_to_end(const struct weft__waiter *waiter, uint64_t *left)
{
    *left = WEFT_FOREVER;
    if (waiter->fiber && weft__hook_ends(waiter->fiber))
        return -ECANCELED;
    return waiter->blocked.limit ? weft__limit_reached(&waiter->limit, left) : 0;
}

/* ---- Waiting ---- */

/* Until a waker, the ticker or a nudge wakes it, or for no reason. */
static void sleep_a_while(struct weft__waiter *waiter, uint32_t state, uint64_t left)
{
    if (waiter->fiber && left != WEFT_FOREVER)
        weft__hook_suspend_until(waiter->fiber, weft__clock_now() + left);
    else if (waiter->fiber)
        weft__hook_suspend(waiter->fiber);
    else if (left != WEFT_FOREVER)
        weft__futex_wait_for(&waiter->state, state, left);
    else
        weft__futex_wait(&waiter->state, state);
}

/* 0: it was let go; or why it has left the line. */
static int wait_until_gone(struct weft__sync *sync, struct weft__line *line,
                           struct weft__waiter *waiter)
{
    uint32_t state;
    /* acquire W1: what the thread that ended the wait did. acquire W4: why it was nudged. If the
     * nudge comes later, the futex does not sleep. */
    while (step_in(state = atomic_load_acquire(&waiter->state)) != WAITER_GONE) {
        uint64_t left = WEFT_FOREVER;
        int reason = step_in(state) < WAITER_ROUSED ? reason_to_end(waiter, &left) : 0;
        if (reason && withdraw(sync, line, waiter))
            return reason;
        sleep_a_while(waiter, state, reason ? WEFT_FOREVER : left); /* until it is let go */
    }
    return 0;
}

/* A limit that is reached before it has to wait: no other thread has to work in its place. */
static int try_and_wait(struct weft__sync *sync, struct weft__line *line,
                        struct weft__waiter *waiter)
{
    struct weft__worker *me = waiter->worker;
    uint64_t left;
    int reason = waiter->blocked.limit ? weft__limit_reached(&waiter->limit, &left) : 0;
    if (reason && withdraw(sync, line, waiter))
        return reason;
    if (me) {
        weft__block_mark(me, &waiter->blocked);
        rest(waiter);
    }
    reason = wait_until_gone(sync, line, waiter);
    if (me)
        weft__block_unmark(me);
    return reason;
}

/* In the statistics page. */
static void show_holder(const struct weft__sync *sync, enum blocked_kind kind)
{
    if (weft__blocked_is_owned(kind))
        weft__stats_holder(sync, weft__owned_holder((const struct weft__owned *)sync));
}

void weft__sync_queue(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    waiter->fiber = weft__fiber_here();
    if (waiter->fiber) /* while no thread can end the wait, and free the name */
        weft__hook_waits_for(waiter->fiber, weft__blocked_words(waiter->blocked.kind),
                             &waiter->blocked);
    show_holder(sync, waiter->blocked.kind);
    atomic_store_relaxed(&waiter->state, WAITER_QUEUED); /* relaxed: the lock shares it */
    weft__line_push(line, waiter);
    weft__lock_drop(&sync->lock);
}

int weft__sync_sleep(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    const struct weft__limit *limit = waiter->blocked.limit;
    if (limit)
        weft__limit_begin(&waiter->limit);
    int reason = try_and_wait(sync, line, waiter);
    if (limit)
        weft__limit_end(&waiter->limit);
    return reason;
}

int weft__sync_await(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    const struct weft__limit *limit = waiter->blocked.limit;
    int reason = weft__sync_sleep(sync, line, waiter);
    if (reason == 0)
        return waiter->result;
    if (waiter->fiber) /* perhaps because its actor ends */
        weft__hook_end(waiter->fiber, waiter->blocked.kind == BLOCKED_MUTEX && !limit);
    return reason;
}

int weft__sync_wait(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter)
{
    weft__sync_queue(sync, line, waiter);
    return weft__sync_await(sync, line, waiter);
}

void weft__sync_rouse(struct weft__waiter *waiter, int result)
{
    for (; waiter; waiter = waiter->next) {
        waiter->result = result;
        rouse(waiter->choice ? waiter->choice->waiter : waiter);
    }
}

void weft__sync_let_go(struct weft__waiter *waiter)
{
    while (waiter) {
        struct weft__waiter *next = waiter->next;
        waiter = waiter->choice ? waiter->choice->waiter : waiter;
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
