/* SPDX-License-Identifier: MIT */
#include "actor/await.h"

#include "actor/deadlock.h"
#include "actor/drive.h"
#include "actor/life.h"
#include "core/standing.h"
#include "core/wait.h"

#include <errno.h>

struct waiter {
    struct weft__waiter line;      /* first */
    struct weft__spin_latch latch; /* without an owner: it waits with a limit */
};

/* By an actor that ends while it waits for the latch. False: it is out of line already, and its
 * latch will be set. */
static bool leave(struct weft_actor *actor, struct weft__line *line, struct waiter *me)
{
    weft__lock_take(&actor->sync.lock);
    bool in_line = me->line.in_line;
    if (in_line)
        weft__line_remove(line, &me->line);
    weft__lock_drop(&actor->sync.lock);
    return in_line;
}

/* Both: under the lock, which they drop. The result that the waker gave; or why the caller has left
 * the line: then *left. */

static int wait_for_latch(struct weft_actor *actor, struct weft__line *line, enum blocked_kind kind,
                          void *item, struct weft__park *park, bool *left)
{
    struct weft__awaited awaited = {.what = weft__blocked_words(kind),
                                    .elsewhere = true,
                                    .may_end = true,
                                    .by = weft__executor_execute};
    struct waiter me;
    /* What the line and the waker look at. Zeros everywhere would take as long as all else here. */
    me.line.item = item;
    me.line.fiber = NULL;
    me.line.choice = NULL;
    me.line.blocked.limit = NULL;
    me.line.vain = 0;
    atomic_store_relaxed(&me.line.state, 0); /* relaxed, both: the lock shares them */
    atomic_store_relaxed(&me.latch.core.state, LATCH_UNSET);
    me.latch.owner = park;
    weft__line_push(line, &me.line);
    weft__lock_drop(&actor->sync.lock);
    bool served = weft__wait_anywhere(&me.latch, awaited);
    if (!served && (*left = leave(actor, line, &me)))
        return -ECANCELED;
    awaited.may_end = false;
    if (!served)
        weft__wait_anywhere(&me.latch, awaited);
    return me.line.result;
}

static int wait_with_limit(struct weft_actor *actor, struct weft__line *line,
                           enum blocked_kind kind, void *item, uint64_t when, bool *left)
{
    struct waiter me = {.line = {.item = item,
                                 .worker = weft__fiber_here() ? NULL : weft__worker_current(),
                                 .blocked = {.kind = kind, .object = &actor->sync}}};
    weft__waiter_limit(&me.line, when);
    weft__sync_queue(&actor->sync, line, &me.line);
    int reason = weft__sync_sleep(&actor->sync, line, &me.line);
    *left = reason != 0;
    return reason ? reason : me.line.result;
}

int weft__actor_await(struct weft_actor *actor, struct weft__line *line, enum blocked_kind kind,
                      void *item, const uint64_t *limit, struct weft__fiber *here)
{
    struct weft__park *park = limit ? NULL : here ? &here->park : weft__thread_park();
    bool left = false;
    if (!limit && !park) {
        weft__lock_drop(&actor->sync.lock);
        return -ENOMEM;
    }
    weft__actor_ref(actor); /* it may be over, and released, before the waiter goes on */
    weft__deadlock_waits(here, actor, weft__blocked_words(kind));
    int result = limit ? wait_with_limit(actor, line, kind, item, *limit, &left)
                       : wait_for_latch(actor, line, kind, item, park, &left);
    weft__deadlock_waits(here, NULL, weft__blocked_words(kind));
    weft__actor_unref(actor);
    if (left)
        weft__fiber_end_here();
    if (!here && park)
        weft__thread_unpark(park);
    return result;
}

struct weft__waiter *weft__actor_rouse_all(struct weft__line *line, int result)
{
    struct weft__waiter *all = line->first;
    bool limited = false;
    line->first = NULL;
    for (struct weft__waiter *one = all; one; one = one->next) {
        one->in_line = false;
        one->result = result;
        limited |= one->blocked.limit != NULL;
    }
    if (limited)
        weft__sync_rouse(all, result);
    return all;
}

struct weft__waiter *weft__actor_rouse_first(struct weft__line *line)
{
    struct weft__waiter *first = weft__line_pop(line);
    weft__sync_rouse(first, 0);
    return first;
}

/* The waiters' frames are gone once they are let go. */
void weft__actor_let_go(struct weft__waiter *waiters)
{
    while (waiters) {
        struct waiter *one = (struct waiter *)waiters;
        waiters = waiters->next;
        one->line.next = NULL;
        if (one->latch.owner)
            weft__spin_latch_set(&one->latch);
        else
            weft__sync_let_go(&one->line);
    }
}
