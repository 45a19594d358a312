/* SPDX-License-Identifier: MIT */
#include "actor/executor.h"

#include "actor/age.h"
#include "actor/balance.h"
#include "actor/delegate.h"
#include "actor/fiber.h"
#include "actor/fifo.h"
#include "actor/life.h"
#include "actor/load.h"
#include "actor/post.h"
#include "actor/steal.h"

#include <errno.h>

/* For infos. */
static void show_executor(struct weft__executor *executor, struct weft_actor *actor)
{
    atomic_store_relaxed(&actor->counts->executor, (int32_t)executor->index); /* relaxed: a hint */
}

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber,
                          enum ready_place place)
{
    fiber->state = FIBER_READY;
    atomic_store_relaxed(&fiber->merging, false); /* relaxed: a hint to others */
    fiber->ready_since = weft__actors_clock(executor->system);
    weft__fiber_show(fiber, WEFT_ACTOR_RUNNABLE);
    executor->runnable++;
    if (place == READY_NEXT)
        weft__fifo_push_front(&executor->ready, fiber);
    else
        weft__fifo_push(place == READY_WOKEN ? &executor->woken : &executor->ready, fiber);
}

/* ---- Letters ---- */

static void fiber_is_awake(struct weft__executor *executor, struct weft__fiber *fiber)
{
    /* acquire A13: if it has moved away, and back, what was done with it meanwhile. */
    bool is_here = atomic_load_acquire(&fiber->executor) == executor;
    if (is_here && !fiber->actor) {
        /* The fiber has retired. It stays `woken`, so that a late waker sends no letter while the
         * block is free. */
        weft__fiber_put(executor, fiber);
        return;
    }
    weft__bell_answer(&fiber->woken);
    if (!is_here)
        weft__fiber_wake(fiber); /* it has moved: the letter goes to its new executor */
    else if (fiber->state == FIBER_WAITING)
        weft__executor_ready(executor, fiber, READY_WOKEN);
}

static void fiber_comes(struct weft__executor *executor, struct weft__fiber *fiber)
{
    if (fiber->state == FIBER_READY) { /* it was moved */
        weft__balance_unreserve(executor, fiber->actor);
        show_executor(executor, fiber->actor);
    }
    weft__age_anew(fiber, executor->quanta + 1); /* from the next quantum on */
    weft__executor_ready(executor, fiber, READY_LAST);
}

static void actor_comes(struct weft__executor *executor, struct weft_actor *actor)
{
    weft__balance_unreserve(executor, actor);
    executor->runnable++;
    actor->letter.next = NULL;
    if (!executor->fresh)
        executor->fresh_end = &executor->fresh;
    *executor->fresh_end = &actor->letter;
    executor->fresh_end = &actor->letter.next;
}

static void deliver(struct weft__executor *executor, struct weft__letter *letter,
                    enum letter_kind kind)
{
    switch (kind) {
    case LETTER_DELEGATION:
        weft__delegation_arrives(executor,
                                 WEFT__LETTER_OWNER(letter, struct weft__actor_slot, letter));
        break;
    case LETTER_WAKE:
        fiber_is_awake(executor, WEFT__LETTER_OWNER(letter, struct weft__fiber, wake));
        break;
    case LETTER_FIBER:
        fiber_comes(executor, WEFT__LETTER_OWNER(letter, struct weft__fiber, move));
        break;
    default:
        actor_comes(executor, WEFT__LETTER_OWNER(letter, struct weft_actor, letter));
    }
}

void weft__executor_read_letters(struct weft__executor *executor)
{
    void *link = weft__inbox_take(&executor->inbox);
    while (link) {
        unsigned kind;
        struct weft__letter *letter = weft__letter_at(link, &kind);
        link = letter->next;
        deliver(executor, letter, (enum letter_kind)kind);
    }
}

/* ---- The next fiber ---- */

/* An actor gets its stack when it runs for the first time. */
static struct weft__fiber *start_fresh(struct weft__executor *executor)
{
    struct weft_actor *actor = WEFT__LETTER_OWNER(executor->fresh, struct weft_actor, letter);
    executor->fresh = actor->letter.next;
    atomic_store_relaxed(&executor->newcomer, false);  /* relaxed: a request; it is served */
    bool killed = atomic_load_relaxed(&actor->killed); /* relaxed: a request */
    struct weft__fiber *fiber = killed ? NULL : weft__fiber_get(executor, actor, true);
    if (!fiber) {
        executor->runnable--;
        weft__actor_over_unrun(actor, killed ? -ECANCELED : -ENOMEM);
        return NULL;
    }
    fiber->ready_since = weft__actors_clock(executor->system);
    fiber->quanta_due += executor->begun; /* a whole quantum, after the rest of this one */
    actor->root.fiber = fiber;
    show_executor(executor, actor);
    /* Under the lock. A kill that comes before is seen by the actor before its first wait; a kill
     * that comes after wakes the fiber. */
    weft__lock_take(&actor->sync.lock);
    if (actor->shown)
        weft__stats_note(&actor->shown->fiber, (uintptr_t)fiber);
    atomic_store_release(&actor->fiber, fiber); /* release A7: it can be woken from now on */
    weft__lock_drop(&actor->sync.lock);
    return fiber;
}

/* Fibers that were woken in this quantum come first; then the queue and actors that have not run,
 * alternately. */
struct weft__fiber *weft__executor_next(struct weft__executor *executor)
{
    struct weft__fiber *fiber;
    weft__executor_read_letters(executor);
    if ((fiber = weft__fifo_pop(&executor->woken)))
        return fiber;
    executor->fresh_came_first = !executor->fresh_came_first;
    if (executor->fresh_came_first || !executor->ready.first)
        while (executor->fresh)
            if ((fiber = start_fresh(executor)))
                return fiber;
    return weft__fifo_pop(&executor->ready);
}

/* Fibers that wait for delegates run right sides of their own that are old enough by now. */
static void look_at_ageing(struct weft__executor *executor)
{
    struct weft__fiber *fiber, *next;
    for (fiber = executor->ageing; fiber; fiber = next) {
        next = fiber->next_ageing;
        if (fiber->state == FIBER_WAITING && weft__steal_is_possible(fiber)) {
            fiber->may_steal = true;
            weft__executor_ready(executor, fiber, READY_LAST);
        }
    }
}

static void note_length(struct weft__executor *executor)
{
    const struct weft__actors *system = executor->system;
    uint64_t now = weft__actors_clock(system);
    uint64_t lasted = now > executor->began ? now - executor->began : 0;
    executor->lasted = system->counted ? system->quantum : lasted; /* counted: no clock */
    executor->began = now;
}

void weft__executor_quantum(struct weft__executor *executor)
{
    executor->quanta++;
    executor->polls = executor->system->counted;
    note_length(executor);
    weft__fifo_append(&executor->ready, &executor->woken);
    weft__load_note(&executor->load, executor->runnable);
    look_at_ageing(executor);
}

bool weft__executor_thread_is_wanted(const struct weft__executor *executor)
{
    struct weft__worker *me = executor->inbox.driver;
    bool waits = me->kind != WORKER_THREAD || me->frame->outer; /* a job below on this thread */
    return waits || weft__queue_length(&me->pool->injector) > 0 ||
           weft__queue_length(&me->mailbox) > 0 || weft__worker_has_jobs(me);
}

bool weft__executor_should_switch(struct weft__executor *executor)
{
    return executor->ready.first || executor->woken.first || executor->fresh ||
           weft__inbox_has_letters(&executor->inbox) || executor->system->simulated ||
           weft__executor_thread_is_wanted(executor);
}
