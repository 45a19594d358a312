/* SPDX-License-Identifier: MIT */
#include "actor/post.h"

#include "actor/ticker.h"

void weft__executor_hand_over(struct weft__executor *executor)
{
    struct weft_pool *pool = executor->system->pool;
    weft__queue_push(&pool->injector, &executor->node);
    weft__sleep_new_jobs(&pool->sleep, 1, false);
}

static void get_driver(struct weft__executor *executor)
{
    struct weft__actors *system = executor->system;
    if (system->simulated)
        return;
    weft__ticker_busy(system);
    weft__executor_hand_over(executor);
}

void weft__executor_post(struct weft__executor *executor)
{
    if (weft__inbox_post(&executor->inbox))
        get_driver(executor);
}

void weft__send(struct weft__executor *executor, struct weft__letter *letter, enum letter_kind kind)
{
    if (weft__inbox_send(&executor->inbox, letter, kind))
        get_driver(executor);
}

void weft__executor_start(struct weft__executor *executor, struct weft_actor *actor)
{
    if (weft__inbox_send(&executor->inbox, &actor->letter, LETTER_ACTOR)) {
        get_driver(executor);
        return;
    }
    /* The fiber that runs there polls next time. relaxed, both: if it misses that, the newcomer
     * waits for the end of the quantum. acquire A13: the fiber's block, which stays as long as the
     * executor. */
    atomic_store_relaxed(&executor->newcomer, true);
    struct weft__fiber *fiber = atomic_load_acquire(&executor->current);
    if (fiber)
        atomic_store_relaxed(&fiber->context.guard, UINTPTR_MAX);
}

void weft__fiber_wake(struct weft__fiber *fiber)
{
    if (weft__bell_ring(&fiber->woken))
        weft__send(atomic_load_acquire(&fiber->executor), &fiber->wake, /* acquire A13 */
                   LETTER_WAKE);
}
