/* SPDX-License-Identifier: MIT */
#include "core/publish.h"

#include "core/execute.h"
#include "core/pool.h"
#include "core/spawn.h"
#include "core/steal.h"
#include "os/trace.h"

static void execute_right(weft *w, struct weft__job *job)
{
    struct weft__slot *slot = weft__slot_of_job(job);
    /* release T1: the owner may follow this pointer to help. */
    atomic_store_release(&slot->thief, weft__worker_of(w));
    weft__right_run(w, job, slot);
}

/* Makes the slot a job that can stand in a deque. */
static struct weft__job *right_as_job(struct weft__context *context, struct weft__slot *slot)
{
    /* relaxed: written by this thread; or, on the lazy road, marked by a thief under the lock. */
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    WEFT__TRACE(PUBLISH, 0, (uintptr_t)&slot->latch);
    slot->job = (struct weft__job){
        .fn = weft__context_unmark(context, fn),
        .arg = atomic_load_relaxed(&slot->arg),
        .group = context->group,
        .execute = execute_right,
    };
    slot->base = context->base;
    atomic_store_relaxed(&slot->wanted, SLOT_WANTED); /* relaxed: read by this thread only */
    /* relaxed, both: the deque publishes them with the job. */
    atomic_store_relaxed(&slot->latch.state, LATCH_UNSET);
    atomic_store_relaxed(&slot->thief, NULL);
    return &slot->job;
}

void weft__publish_eagerly(struct weft__context *context, struct weft__slot *slot)
{
    struct weft__worker *me = context->worker;
    bool was_empty = weft__deque_size(&me->deque) == 0;
    if (weft__deque_push(&me->deque, right_as_job(context, slot)))
        slot->execute = NULL;
    else
        weft__sleep_new_fork(&me->pool->sleep, was_empty);
}

void weft__unpublish(struct weft__context *context, struct weft__slot *slot)
{
    slot->execute = NULL;
    if (slot->group_is_lent)
        slot->group = NULL;
    slot->group_is_lent = false;
    weft__slot_want(slot, context->raised);
}

/* The last slot is never published: there is none after it to be the oldest. */
void weft__publish(struct weft__context *context, struct weft__slot *slot)
{
    if ((weft *)slot == context->last)
        return;
    slot->group_is_lent = !slot->group;
    if (weft__deque_push(&context->worker->deque, right_as_job(context, slot)))
        weft__unpublish(context, slot);
    else
        atomic_store_relaxed(&context->oldest, slot + 1); /* relaxed: under the lock */
}

bool weft__take_back(struct weft__worker *me, weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    while (!weft__latch_probe(&slot->latch)) {
        struct weft__job *job = weft__deque_pop(&me->deque);
        if (!job)
            return false; /* stolen */
        if (job == &slot->job)
            return true;
        if (weft__may_help(me) && !weft__is_careful(me)) {
            weft__execute(w + 1, job);
        } else {
            weft__queue_push(&me->pool->injector, weft__spawn_node(job));
            weft__sleep_new_jobs(&me->pool->sleep, 1, false);
        }
    }
    return false;
}
