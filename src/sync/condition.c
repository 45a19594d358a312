/* SPDX-License-Identifier: MIT */
/* A condition: threads that wait until what a mutex protects has changed. The waiter stands in line
 * before it unlocks the mutex, so no signal of a thread that has the mutex is missed. */
#include "core/misuse.h"
#include "os/fatal.h"
#include "sync/sync.h"

struct condition {
    struct weft__sync sync;
    struct weft__line line;
};

_Static_assert(sizeof(struct condition) <= sizeof(weft_condition), "weft_condition is too small");

static struct condition *condition_of(weft_condition *condition, const char *function)
{
    if (!condition)
        weft__fatal("%s needs a condition", function);
    return (struct condition *)(void *)condition;
}

void weft_condition_init(weft_condition *condition, const char *name)
{
    *condition_of(condition, __func__) = (struct condition){.sync.name = name};
}

void weft_condition_from_outside(weft_condition *condition)
{
    struct condition *it = condition_of(condition, __func__);
    atomic_store_relaxed(&it->sync.outside, true); /* relaxed: see sync.c */
}

/* An actor that ends may end while it waits: without the mutex. */
static int wait(weft *w, weft_condition *public, weft_mutex *mutex, struct weft__waiter *waiter,
                const char *function)
{
    struct condition *condition = condition_of(public, function);
    if (!mutex)
        weft__fatal("%s needs a mutex", function);
    waiter->worker = weft__sync_caller(w);
    waiter->blocked.kind = BLOCKED_CONDITION;
    waiter->blocked.object = &condition->sync;
    weft__lock_take(&condition->sync.lock);
    weft__sync_used_by(&condition->sync, waiter->worker);
    weft__sync_queue(&condition->sync, &condition->line, waiter);
    weft_mutex_unlock(w, mutex);
    int result = weft__sync_await(&condition->sync, &condition->line, waiter);
    weft_mutex_lock(w, mutex);
    return result;
}

void weft_condition_wait(weft *w, weft_condition *condition, weft_mutex *mutex)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    (void)wait(w, condition, mutex, &waiter, __func__);
}

int weft_condition_wait_until(weft *w, weft_condition *condition, weft_mutex *mutex, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    weft__waiter_limit(&waiter, when);
    return wait(w, condition, mutex, &waiter, __func__);
}

static void wake(weft *w, struct condition *condition, bool all)
{
    weft__lock_take(&condition->sync.lock);
    weft__sync_used_by(&condition->sync, weft__sync_caller(w));
    struct weft__waiter *waiters = condition->line.first;
    if (all)
        condition->line.first = NULL;
    else
        waiters = weft__line_pop(&condition->line);
    weft__sync_rouse(waiters, 0);
    weft__lock_drop(&condition->sync.lock);
    weft__sync_let_go(waiters);
}

void weft_condition_signal(weft *w, weft_condition *condition)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    wake(w, condition_of(condition, __func__), false);
}

void weft_condition_broadcast(weft *w, weft_condition *condition)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    wake(w, condition_of(condition, __func__), true);
}
