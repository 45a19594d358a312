/* SPDX-License-Identifier: MIT */
#include "actor/info.h"

#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/mailbox.h"
#include "core/misuse.h"
#include "core/sized.h"

#include <errno.h>
#include <stdio.h>

bool weft__actor_is_running(struct weft_actor *actor)
{
    struct weft__fiber *fiber = atomic_load_acquire(&actor->fiber); /* acquire A7 */
    /* relaxed: a hint. */
    return fiber && atomic_load_relaxed(&weft__executor_of(fiber)->current) == fiber;
}

size_t weft__actor_limit(const struct weft_actor *actor)
{
    return actor->limit + WEFT_ACTOR_STACK + weft__mailbox_bytes(actor->mailbox);
}

static void get_info(weft_actor *actor, weft_actor_info *info)
{
    struct weft__actor_counts *counts = actor->counts;
    /* relaxed, all: statistics; they are read one after the other, and need not fit each other. */
    *info = (weft_actor_info){
        .size = sizeof *info,
        .state = weft__actor_is_over(actor)
                     ? WEFT_ACTOR_OVER
                     : (enum weft_actor_state)atomic_load_relaxed(&counts->activity),
        .turns = atomic_load_relaxed(&counts->quanta),
        .steals = atomic_load_relaxed(&counts->steals),
        .delegates = atomic_load_relaxed(&counts->delegates),
        .given_back = atomic_load_relaxed(&counts->given_back),
        .moves = atomic_load_relaxed(&counts->moves),
        .run_ns = atomic_load_relaxed(&counts->run_ns),
        .runnable_ns = atomic_load_relaxed(&counts->runnable_ns),
        .memory = atomic_load_relaxed(&counts->memory),
        .memory_peak = atomic_load_relaxed(&counts->memory_peak),
        .memory_limit = weft__actor_limit(actor),
        .executor = atomic_load_relaxed(&counts->executor),
    };
    snprintf(info->name, sizeof info->name, "%s", actor->name);
    weft__lock_take(
        &actor->sync.lock); /* an actor that is not over stays so while its lock is held */
    info->messages = actor->count;
    if (info->state == WEFT_ACTOR_RUNNABLE && !actor->closed && weft__actor_is_running(actor))
        info->state = WEFT_ACTOR_RUNNING;
    weft__lock_drop(&actor->sync.lock);
    weft__lock_take(&actor->posse_lock);
    info->executors = info->state == WEFT_ACTOR_NEW || info->state == WEFT_ACTOR_OVER ? 0
                      : actor->places                                                 ? actor->cabal
                                                                                      : 1;
    weft__lock_drop(&actor->posse_lock);
    if (info->state == WEFT_ACTOR_NEW)
        info->executor = WEFT_NONE;
}

int weft_actor_get_info(weft_actor *actor, weft_actor_info *info)
{
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    weft_actor_info full;
    get_info(actor, &full);
    return weft__sized_write(info, &full, sizeof full);
}

static size_t each(struct weft_pool *pool,
                   void (*fn)(weft_actor *, const weft_actor_info *, void *), void *data)
{
    struct weft__actors *system = atomic_load_acquire(&pool->actors); /* acquire A1: it is made */
    if (!system)
        return 0;
    weft__lock_take(&system->lock);
    for (struct weft_actor *actor = system->actors; actor; actor = actor->next) {
        weft_actor_info info;
        get_info(actor, &info);
        fn(actor, &info, data);
    }
    size_t count = system->actor_count;
    weft__lock_drop(&system->lock);
    return count;
}

size_t weft_actor_each(weft_pool *pool, void (*fn)(weft_actor *, const weft_actor_info *, void *),
                       void *data)
{
    WEFT__NEEDS(fn, "a function");
    if (pool)
        return each(pool, fn, data);
    if (weft__pool_enter(&pool))
        return 0;
    size_t count = each(pool, fn, data);
    weft__pool_leave(pool);
    return count;
}
