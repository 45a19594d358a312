/* SPDX-License-Identifier: MIT */
/* A barrier: all who have come wait for the last one. It lets them go, and the barrier begins
 * anew. */
#include "core/misuse.h"
#include "os/fatal.h"
#include "sync/sync.h"

struct barrier {
    struct weft__sync sync;
    struct weft__line line;
    unsigned count, arrived; /* so many are awaited, and stand in line */
};

_Static_assert(sizeof(struct barrier) <= sizeof(weft_barrier), "weft_barrier is too small");

static struct barrier *barrier_of(weft_barrier *barrier, const char *function)
{
    if (!barrier)
        weft__fatal("%s needs a barrier", function);
    return (struct barrier *)(void *)barrier;
}

void weft_barrier_init(weft_barrier *barrier, const char *name, unsigned count)
{
    struct barrier *it = barrier_of(barrier, __func__);
    if (count == 0)
        weft__fatal("weft_barrier_init: a barrier is for one thread at least; count is 0");
    *it = (struct barrier){.sync.name = name, .count = count};
}

void weft_barrier_from_outside(weft_barrier *barrier)
{
    struct barrier *it = barrier_of(barrier, __func__);
    atomic_store_relaxed(&it->sync.outside, true); /* relaxed: see sync.c */
}

static struct weft__waiter *withdrawn(struct weft__sync *sync)
{
    ((struct barrier *)sync)->arrived--;
    return NULL;
}

/* *last: it is the caller that all others have waited for. */
static int wait(weft *w, weft_barrier *public, struct weft__waiter *waiter, bool *last,
                const char *function)
{
    struct barrier *barrier = barrier_of(public, function);
    if (barrier->count == 0)
        weft__fatal("%s: the barrier was never made", function);
    waiter->worker = weft__sync_caller(w);
    waiter->blocked.kind = BLOCKED_BARRIER;
    waiter->blocked.object = &barrier->sync;
    waiter->withdrawn = withdrawn;
    weft__lock_take(&barrier->sync.lock);
    weft__sync_used_by(&barrier->sync, waiter->worker);
    *last = ++barrier->arrived == barrier->count;
    if (!*last)
        return weft__sync_wait(&barrier->sync, &barrier->line, waiter);
    struct weft__waiter *all = barrier->line.first;
    barrier->line.first = NULL;
    barrier->arrived = 0;
    weft__sync_rouse(all, 0);
    weft__lock_drop(&barrier->sync.lock);
    weft__sync_let_go(all);
    return 0;
}

bool weft_barrier_wait(weft *w, weft_barrier *barrier)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    bool last;
    (void)wait(w, barrier, &waiter, &last, __func__);
    return last;
}

int weft_barrier_wait_until(weft *w, weft_barrier *barrier, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    bool last;
    weft__waiter_limit(&waiter, when);
    return wait(w, barrier, &waiter, &last, __func__);
}
