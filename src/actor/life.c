/* SPDX-License-Identifier: MIT */
#include "actor/life.h"

#include "actor/await.h"
#include "actor/balance.h"
#include "actor/create.h"
#include "actor/fiber.h"
#include "actor/places.h"
#include "actor/post.h"
#include "actor/rescue.h"
#include "core/limit.h"
#include "core/misuse.h"
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
    atomic_store_relaxed(&actor->counts->activity, WEFT_ACTOR_RUNNABLE);
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
    weft__lock_take(&actor->sync.lock);
    bool started = start(actor);
    weft__lock_drop(&actor->sync.lock);
    return started ? 0 : -EALREADY;
}

/* ---- Ending ---- */

void weft__actor_free(struct weft_actor *actor)
{
    /* relaxed: for a later misuse of the handle. Freed memory often keeps its contents. */
    atomic_store_relaxed(&actor->handle, HANDLE_GONE);
    weft__stats_give_actor(actor->shown);
    weft__free(actor->messages);
    weft__free(actor->places);
    weft__free(actor);
}

/* The mailbox is closed. */
static void drop_messages(struct weft_actor *actor)
{
    if (actor->count == 0)
        return;
    for (size_t i = 0; i < actor->count && actor->drop; i++)
        actor->drop(actor->messages[(actor->first + i) % actor->mailbox], actor->data);
    weft__lock_take(&actor->sync.lock); /* infos read the count */
    actor->count = 0;
    weft__lock_drop(&actor->sync.lock);
}

void weft__actor_close(struct weft_actor *actor)
{
    weft__lock_take(&actor->sync.lock);
    actor->closed = true;
    weft__lock_drop(&actor->sync.lock);
}

/* Sends fail from now on, also those that wait. A sender that gives up meanwhile finds itself in
 * line, or knows that it will be let go. */
static void close_to_senders(struct weft_actor *actor)
{
    weft__lock_take(&actor->sync.lock);
    actor->closed = true;
    struct weft__waiter *senders =
        actor->senders.first ? weft__actor_rouse_all(&actor->senders, -EPIPE) : NULL;
    weft__lock_drop(&actor->sync.lock);
    if (senders)
        weft__actor_let_go(senders);
}

void weft__actor_over(struct weft_actor *actor, int reason)
{
    struct weft_pool *pool = actor->system->simulated ? NULL : actor->system->pool;
    actor->reason = reason;
    weft__actor_delist(actor);
    close_to_senders(actor);
    drop_messages(actor);
    if (actor->supervisor)
        actor->supervisor(actor, reason, actor->data);
    weft__lock_take(&actor->sync.lock);
    atomic_store_release(&actor->state, ACTOR_OVER);                 /* release A11: the reason */
    atomic_store_relaxed(&actor->counts->activity, WEFT_ACTOR_OVER); /* relaxed: a hint */
    struct weft__waiter *waiters = weft__actor_rouse_all(&actor->waiters, reason);
    weft__lock_drop(&actor->sync.lock);
    weft__actor_let_go(waiters);
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

static inline int wait_for_end(struct weft_actor *actor, const uint64_t *limit)
{
    struct weft__fiber *here = (struct weft__fiber *)weft__fiber_here();
    if (here && here->actor == actor)
        return -EDEADLK;
    if (here)
        weft__fiber_need_room(here);
    weft__lock_take(&actor->sync.lock);
    if (!weft__actor_is_over(actor))
        return weft__actor_await(actor, &actor->waiters, BLOCKED_ACTOR, NULL, limit, here);
    weft__lock_drop(&actor->sync.lock);
    return actor->reason;
}

int weft_actor_wait(weft *w, weft_actor *actor)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    return wait_for_end(actor, NULL);
}

int weft_actor_wait_until(weft *w, weft_actor *actor, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    return wait_for_end(actor, &when);
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
    weft__lock_take(&actor->sync.lock); /* unless it is closed, the actor is not over meanwhile */
    if (!actor->closed) {
        weft__group_mark(&actor->group, -ECANCELED); /* for code that can't be unwound yet */
        atomic_store_release(&actor->killed, true);  /* release A14: that it is cancelled */
        weft__limit_nudge(&actor->group);            /* who wakes up by this knows why */
        struct weft__fiber *fiber = atomic_load_acquire(&actor->fiber); /* acquire A7 */
        if (fiber)
            weft__fiber_wake(fiber);
        weft__posse_wake(actor);
    }
    weft__lock_drop(&actor->sync.lock);
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

weft_actor *weft_actor_self(weft *w)
{
    return w && weft__is_fiber(w) ? weft__fiber_of(w)->actor : NULL;
}
