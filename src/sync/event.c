/* SPDX-License-Identifier: MIT */
#include "sync/sync.h"

#include "core/misuse.h"
#include "os/fatal.h"

struct event {
    struct weft__sync sync;
    struct atomic_bool set; /* written under the lock */
    struct weft__line line;
};

_Static_assert(sizeof(struct event) <= sizeof(weft_event), "weft_event is too small");

static struct event *event_of(const weft_event *event, const char *function)
{
    if (!event)
        weft__fatal("%s needs an event", function);
    return (struct event *)(void *)event;
}

void weft_event_init(weft_event *event, const char *name)
{
    *event_of(event, __func__) = (struct event){.sync.name = name};
}

void weft_event_from_outside(weft_event *event)
{
    atomic_store_relaxed(&event_of(event, __func__)->sync.outside, true); /* relaxed: see sync.c */
}

bool weft_event_is_set(const weft_event *event)
{
    return atomic_load_acquire(&event_of(event, __func__)->set); /* acquire W2 */
}

/* Always through the lock: the waiter may free the event, so the thread that set it must have
 * dropped the lock before. */
static int wait(struct event *event, struct weft__waiter *waiter)
{
    waiter->blocked.kind = BLOCKED_EVENT;
    waiter->blocked.object = &event->sync;
    weft__lock_take(&event->sync.lock);
    weft__sync_used_by(&event->sync, waiter->worker);
    if (!atomic_load_relaxed(&event->set)) /* relaxed: the lock */
        return weft__sync_wait(&event->sync, &event->line, waiter);
    weft__lock_drop(&event->sync.lock);
    return 0;
}

void weft_event_wait(weft *w, weft_event *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct event *event = event_of(public, __func__);
    struct weft__waiter waiter = {.worker = weft__sync_caller(w)};
    (void)wait(event, &waiter);
}

int weft_event_wait_until(weft *w, weft_event *public, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct event *event = event_of(public, __func__);
    struct weft__waiter waiter = {.worker = weft__sync_caller(w)};
    weft__waiter_limit(&waiter, when);
    return wait(event, &waiter);
}

void weft_event_set(weft *w, weft_event *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct event *event = event_of(public, __func__);
    weft__lock_take(&event->sync.lock);
    weft__sync_used_by(&event->sync, weft__sync_caller(w));
    atomic_store_release(&event->set, true); /* release W2: what happened before */
    struct weft__waiter *all = event->line.first;
    event->line.first = NULL;
    weft__sync_rouse(all, 0);
    weft__lock_drop(&event->sync.lock);
    weft__sync_let_go(all);
}

void weft_event_reset(weft *w, weft_event *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct event *event = event_of(public, __func__);
    weft__lock_take(&event->sync.lock);
    weft__sync_used_by(&event->sync, weft__sync_caller(w));
    atomic_store_relaxed(&event->set, false); /* relaxed: hands nothing over */
    weft__lock_drop(&event->sync.lock);
}
