/* SPDX-License-Identifier: MIT */
#include "actor/life.h"

#include "actor/balance.h"
#include "actor/create.h"
#include "actor/deadlock.h"
#include "actor/drive.h"
#include "actor/fiber.h"
#include "actor/places.h"
#include "actor/post.h"
#include "actor/rescue.h"
#include "core/misuse.h"
#include "core/wait.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <errno.h>

void weft__actor_is_gone(const char *function)
{
    weft__fatal("%s: the actor was released and is gone, or never was one", function);
}

/* ---- Starting ---- */

static bool start(struct weft_actor *actor)
{
    uint32_t new = ACTOR_NEW;
    /* relaxed: the letter publishes what matters. */
    if (!atomic_cas_relaxed(&actor->state, &new, ACTOR_STARTED))
        return false;
    /* relaxed: a hint, for infos. */
    atomic_store_relaxed(&actor->counts.activity, WEFT_ACTOR_RUNNABLE);
    weft__executor_start(weft__balance_place_new(actor), actor);
    return true;
}

void weft__actor_start(struct weft_actor *actor)
{
    start(actor);
}

int weft_actor_run(weft_actor *actor)
{
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    /* While the lock is held the actor is not over, so its pool is not freed. */
    weft__lock_take(&actor->lock);
    bool started = start(actor);
    weft__lock_drop(&actor->lock);
    return started ? 0 : -EALREADY;
}

/* ---- Ending ---- */

void weft__actor_free(struct weft_actor *actor)
{
    /* relaxed: for a later misuse of the handle. Freed memory often keeps its contents. */
    atomic_store_relaxed(&actor->handle, HANDLE_GONE);
    weft__free(actor->messages);
    weft__free(actor->places);
    weft__free(actor);
}

/* The mailbox is closed. */
static void drop_messages(struct weft_actor *actor)
{
    for (size_t i = 0; i < actor->count && actor->drop; i++)
        actor->drop(actor->messages[(actor->first + i) % actor->mailbox], actor->data);
    weft__lock_take(&actor->lock); /* infos read the count */
    actor->count = 0;
    weft__lock_drop(&actor->lock);
}

/* The waiters' frames are gone once their latches are set. */
static void let_go(struct weft__actor_waiter *waiter)
{
    while (waiter) {
        struct weft__actor_waiter *next = waiter->next;
        weft__spin_latch_set(&waiter->latch);
        waiter = next;
    }
}

void weft__actor_close(struct weft_actor *actor)
{
    weft__lock_take(&actor->lock);
    actor->closed = true;
    weft__lock_drop(&actor->lock);
}

/* Sends fail from now on. Returns the senders that wait, out of line. A sender that is killed
 * meanwhile finds itself in line, or knows that its latch will be set. */
static struct weft__actor_waiter *close_to_senders(struct weft_actor *actor)
{
    weft__lock_take(&actor->lock);
    struct weft__actor_waiter *senders = actor->senders;
    actor->closed = true;
    actor->senders = NULL;
    weft__lock_drop(&actor->lock);
    return senders;
}

void weft__actor_over(struct weft_actor *actor, int reason)
{
    struct weft_pool *pool = actor->system->simulated ? NULL : actor->system->pool;
    actor->reason = reason;
    weft__actor_delist(actor);
    struct weft__actor_waiter *senders = close_to_senders(actor);
    for (struct weft__actor_waiter *sender = senders; sender; sender = sender->next)
        sender->result = -EPIPE;
    let_go(senders);
    drop_messages(actor);
    if (actor->supervisor)
        actor->supervisor(actor, reason, actor->data);
    weft__lock_take(&actor->lock);
    atomic_store_release(&actor->state, ACTOR_OVER); /* release A11: the reason */
    struct weft__actor_waiter *waiters = actor->waiters;
    actor->waiters = NULL;
    weft__lock_drop(&actor->lock);
    let_go(waiters);
    weft__actor_unref(actor);
    if (pool)
        weft__pool_leave(pool); /* last touch of the pool, unless this thread is its worker */
}

void weft__actor_over_unrun(struct weft_actor *actor, int reason)
{
    weft__actor_close(actor);
    weft__group_end(&actor->group); /* a kill may have failed it */
    weft__actor_over(actor, reason);
}

bool weft_actor_done(const weft_actor *actor)
{
    WEFT__NEEDS(actor, "an actor");
    weft__actor_expect(actor, __func__);
    return weft__actor_is_over(actor);
}

/* By an actor that waits for this one, and is killed. False: it is out of line already, and its
 * latch will be set. */
static bool leave_waiters(struct weft_actor *actor, struct weft__actor_waiter *waiter)
{
    weft__lock_take(&actor->lock);
    struct weft__actor_waiter **link = &actor->waiters;
    while (*link && *link != waiter)
        link = &(*link)->next;
    bool found = *link;
    if (found)
        *link = waiter->next;
    weft__lock_drop(&actor->lock);
    return found;
}

/* False: the caller was killed while it waited. */
static bool wait_for_end(struct weft_actor *actor, struct weft__actor_waiter *waiter,
                         struct weft__fiber *here)
{
    struct weft__awaited awaited = {
        .what = "waits for the end of an actor", .may_end = true, .by = weft__executor_execute};
    weft__deadlock_waits(here, actor, awaited.what);
    bool over = weft__wait_anywhere(&waiter->latch, awaited);
    weft__deadlock_waits(here, NULL, awaited.what);
    if (over)
        return true;
    if (leave_waiters(actor, waiter))
        return false;
    awaited.may_end = false;
    return weft__wait_anywhere(&waiter->latch, awaited);
}

int weft_actor_wait(weft *w, weft_actor *actor)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    struct weft__fiber *here = (struct weft__fiber *)weft__fiber_here();
    if (here && here->actor == actor)
        return -EDEADLK;
    if (here)
        weft__fiber_need_room(here);
    struct weft__actor_waiter waiter = {.latch.owner = weft__thread_park()};
    if (!waiter.latch.owner)
        return -ENOMEM;
    weft__lock_take(&actor->lock);
    bool over = weft__actor_is_over(actor);
    if (!over) {
        waiter.next = actor->waiters;
        actor->waiters = &waiter;
        weft__actor_ref(actor); /* its owner may have released it, or do so meanwhile */
    }
    weft__lock_drop(&actor->lock);
    bool ends = !over && !wait_for_end(actor, &waiter, here);
    int reason = ends ? -ECANCELED : actor->reason;
    if (!over)
        weft__actor_unref(actor);
    if (ends)
        weft__fiber_end_here();
    else
        weft__thread_unpark(waiter.latch.owner);
    return reason;
}

void weft_actor_release(weft_actor *actor)
{
    if (!actor)
        return;
    uint32_t kept = HANDLE_KEPT, new = ACTOR_NEW;
    if (!atomic_cas_relaxed(&actor->handle, &kept, HANDLE_RELEASED)) { /* relaxed: as in actor.h */
        weft__actor_expect(actor, __func__);
        weft__fatal("weft_actor_release: the actor \"%s\" was released already", actor->name);
    }
    /* Without a handle it can't be started: it is over. relaxed: as in start(). */
    if (atomic_cas_relaxed(&actor->state, &new, ACTOR_STARTED))
        weft__actor_over_unrun(actor, -ECANCELED);
    weft__actor_unref(actor);
}

void weft_actor_kill(weft_actor *actor)
{
    uint32_t new = ACTOR_NEW;
    if (!actor)
        return;
    weft__actor_expect(actor, __func__);
    if (atomic_cas_relaxed(&actor->state, &new, ACTOR_STARTED)) { /* relaxed: as in start() */
        weft__actor_over_unrun(actor, -ECANCELED);
        return;
    }
    weft__lock_take(&actor->lock); /* unless it is closed, the actor is not over meanwhile */
    if (!actor->closed) {
        weft__group_fail(&actor->group, -ECANCELED); /* for code that can't be unwound yet */
        atomic_store_release(&actor->killed, true);  /* release A14: that it is cancelled */
        struct weft__fiber *fiber = atomic_load_acquire(&actor->fiber); /* acquire A7 */
        if (fiber)
            weft__fiber_wake(fiber);
        weft__posse_wake(actor);
    }
    weft__lock_drop(&actor->lock);
}

int weft_actor_pin(weft_actor *actor, int executor)
{
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    if (executor < WEFT_NONE || executor >= (int)actor->executors)
        return -EINVAL;
    atomic_store_relaxed(&actor->pin, executor); /* relaxed: a request */
    return 0;
}

struct weft_actor *weft__actor_here(void)
{
    struct weft__context *here = weft__fiber_here();
    return here ? ((struct weft__fiber *)here)->actor : NULL;
}

weft_actor *weft_actor_self(weft *w)
{
    return w && weft__is_fiber(w) ? weft__fiber_of(w)->actor : NULL;
}
