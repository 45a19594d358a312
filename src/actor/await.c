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

/* Both: under the lock, which they drop. 0: a thread has ended the wait; or why the caller has left
 * the line. */

static int wait_for_latch(struct weft_actor *actor, struct weft__line *line, struct waiter *me)
{
    struct weft__awaited awaited = {.what = weft__blocked_words(me->line.blocked.kind),
                                    .may_end = true,
                                    .by = weft__executor_execute};
    weft__line_push(line, &me->line);
    weft__lock_drop(&actor->sync.lock);
    bool served = weft__wait_anywhere(&me->latch, awaited);
    if (!served && leave(actor, line, me))
        return -ECANCELED;
    awaited.may_end = false;
    if (!served)
        weft__wait_anywhere(&me->latch, awaited);
    weft__thread_unpark(me->latch.owner);
    return 0;
}

static int wait_with_limit(struct weft_actor *actor, struct weft__line *line, struct waiter *me,
                           uint64_t when)
{
    weft__waiter_limit(&me->line, when);
    weft__sync_queue(&actor->sync, line, &me->line);
    return weft__sync_sleep(&actor->sync, line, &me->line);
}

int weft__actor_await(struct weft_actor *actor, struct weft__line *line, enum blocked_kind kind,
                      void *item, const uint64_t *limit)
{
    struct weft__worker *worker = weft__worker_current();
    struct weft__fiber *here = (struct weft__fiber *)weft__fiber_here();
    struct waiter me = {
        .line = {.item = item,
                 .worker = here ? NULL : worker,
                 .blocked = {.kind = kind, .object = &actor->sync}},
        .latch.owner = limit ? NULL : weft__thread_park(),
    };
    if (!limit && !me.latch.owner) {
        weft__lock_drop(&actor->sync.lock);
        return -ENOMEM;
    }
    weft__actor_ref(actor); /* it may be over, and released, before the waiter goes on */
    weft__deadlock_waits(here, actor, weft__blocked_words(kind));
    int reason =
        limit ? wait_with_limit(actor, line, &me, *limit) : wait_for_latch(actor, line, &me);
    weft__deadlock_waits(here, NULL, weft__blocked_words(kind));
    weft__actor_unref(actor);
    if (reason && here)
        weft__fiber_end_here();
    return reason ? reason : me.line.result;
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
