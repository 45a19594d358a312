/* SPDX-License-Identifier: MIT */
/* A semaphore: units that threads take and give back. Either there are units, or there are waiters:
 * a unit that is released goes to the first in line directly. */
#include "core/misuse.h"
#include "os/fatal.h"
#include "sync/sync.h"

#include <errno.h>

struct semaphore {
    struct weft__sync sync;
    struct weft__line line;
    size_t count;
};

_Static_assert(sizeof(struct semaphore) <= sizeof(weft_semaphore), "weft_semaphore is too small");

static struct semaphore *semaphore_of(weft_semaphore *semaphore, const char *function)
{
    if (!semaphore)
        weft__fatal("%s needs a semaphore", function);
    return (struct semaphore *)(void *)semaphore;
}

void weft_semaphore_init(weft_semaphore *semaphore, const char *name, size_t count)
{
    *semaphore_of(semaphore, __func__) = (struct semaphore){.sync.name = name, .count = count};
}

void weft_semaphore_from_outside(weft_semaphore *semaphore)
{
    struct semaphore *it = semaphore_of(semaphore, __func__);
    atomic_store_relaxed(&it->sync.outside, true); /* relaxed: see sync.c */
}

/* -EAGAIN: it would have to wait, and `waiter` is NULL. */
static int acquire(weft *w, weft_semaphore *public, struct weft__waiter *waiter,
                   const char *function)
{
    struct semaphore *semaphore = semaphore_of(public, function);
    struct weft__worker *me = weft__sync_caller(w);
    weft__lock_take(&semaphore->sync.lock);
    weft__sync_used_by(&semaphore->sync, me);
    bool taken = semaphore->count > 0;
    semaphore->count -= taken;
    if (!taken && waiter) {
        waiter->worker = me;
        waiter->blocked.kind = BLOCKED_SEMAPHORE;
        waiter->blocked.object = &semaphore->sync;
        return weft__sync_wait(&semaphore->sync, &semaphore->line, waiter);
    }
    weft__lock_drop(&semaphore->sync.lock);
    return taken ? 0 : -EAGAIN;
}

void weft_semaphore_acquire(weft *w, weft_semaphore *semaphore)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    (void)acquire(w, semaphore, &waiter, __func__);
}

int weft_semaphore_acquire_until(weft *w, weft_semaphore *semaphore, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    weft__waiter_limit(&waiter, when);
    return acquire(w, semaphore, &waiter, __func__);
}

bool weft_semaphore_try_acquire(weft *w, weft_semaphore *semaphore)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return acquire(w, semaphore, NULL, __func__) == 0;
}

void weft_semaphore_release(weft *w, weft_semaphore *public, size_t n)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct semaphore *semaphore = semaphore_of(public, __func__);
    struct weft__waiter *first = NULL, **end = &first;
    weft__lock_take(&semaphore->sync.lock);
    weft__sync_used_by(&semaphore->sync, weft__sync_caller(w));
    for (; n > 0 && (*end = weft__line_pop(&semaphore->line)); n--)
        end = &(*end)->next;
    if (__builtin_add_overflow(semaphore->count, n, &semaphore->count))
        weft__fatal("weft_semaphore_release: more units than a semaphore can have");
    weft__sync_rouse(first, 0);
    weft__lock_drop(&semaphore->sync.lock);
    weft__sync_let_go(first);
}
