/* SPDX-License-Identifier: MIT */
#include "core/context.h"

#include "core/inplace.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "os/thread.h"

#define BLOCK_AND_END (WEFT_BLOCK_SIZE_ + sizeof(struct weft))

void weft__context_has_slots(struct weft__context *context, weft *first)
{
    struct weft__context *next = (struct weft__context *)((char *)context + WEFT_BLOCK_SIZE_);
    context->first = first;
    context->end = (weft *)next;
    context->last = context->end - 1;
    /* relaxed, both: the thread that shares the context publishes it. */
    atomic_store_relaxed(&next->guard, UINTPTR_MAX);
    atomic_store_relaxed(&next->wanted_of_other, SLOT_WANTED);
}

struct weft__context *weft__context_make(struct weft__worker *worker, bool eager, uint64_t quantum)
{
    struct weft__context *context = weft__map(BLOCK_AND_END, WEFT_BLOCK_SIZE_);
    if (!context)
        return NULL;
    context->worker = worker;
    weft__context_has_slots(context, (weft *)(context + 1));
    context->eager = eager;
    context->quantum = quantum;
    context->fork_count = weft__fork_count();
    /* relaxed: the thread that shares the context publishes it. */
    atomic_store_relaxed(&context->oldest, context->first);
    atomic_store_relaxed(&context->guard, eager ? UINTPTR_MAX : (uintptr_t)context->first);
    return context;
}

void weft__context_free(struct weft__context *context)
{
    weft__kept_free(context);
    weft__unmap(context, BLOCK_AND_END);
}

static bool is_used(const struct weft__context *context, size_t i)
{
    /* relaxed: the caller's own writes; a thief's mark is not NULL either. */
    return atomic_load_relaxed(&weft__slot_of(context->first + i)->fn) != NULL;
}

/* The slots in use are the first ones, without a hole, so a binary search finds the top. That holds
 * before the first fork, and each step of the owner keeps it:
 * - A fork fills the first free slot, which is its `w`.
 * - A merge clears the last slot in use, because what the left side forked was merged before.
 * - A merge that waits fills its slot again before anything runs above it (wait_for_thief(),
 *   published_merge(), and the same for actors).
 * - What an actor leaves behind is cleared as a whole (forget_forks()).
 * Thieves change what is in a slot, but never whether it is NULL.
 *
 * The search begins at the last top, in steps that double. A thread that asks often is not far from
 * there, and pages that no fork has reached are not touched. */
weft *weft__context_top(struct weft__context *context)
{
    size_t count = (size_t)(context->last + 1 - context->first);
    size_t low = 0, high = count; /* all slots below low are in use; no slot from high on is */
    size_t last = context->top, step = 1;
    if (last < count && is_used(context, last)) {
        low = last + 1;
        for (; low + step <= count && is_used(context, low + step - 1); step *= 2)
            low += step;
        if (low + step <= count)
            high = low + step - 1;
    } else if (last == 0 || is_used(context, last - 1)) {
        return context->first + last; /* nothing has changed */
    } else {
        high = last;
        for (; high >= step && !is_used(context, high - step); step *= 2)
            high -= step;
        if (high >= step)
            low = high - step + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_used(context, middle))
            low = middle + 1;
        else
            high = middle;
    }
    context->top = low;
    return context->first + low;
}

struct weft__around weft__context_around(struct weft__context *context)
{
    return (struct weft__around){context->group, context->base, weft__context_top(context)};
}

void weft__context_lock(struct weft__context *context)
{
    uint32_t forks = weft__fork_count();
    if (context->fork_count != forks) {
        context->lock = (struct weft__lock){0};
        context->fork_count = forks;
    }
    weft__lock_take(&context->lock);
}

/* Under the lock, both. */

static void raise_guard(struct weft__context *context)
{
    context->raised = true; /* a thief must not lower the guard again */
    /* relaxed: a request. If this fork of the owner does not see it, a later one does. */
    atomic_store_relaxed(&context->guard, UINTPTR_MAX);
}

static void want_pending(struct weft__context *context)
{
    if (context->eager)
        return; /* every merge takes the slow road already */
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest);
    for (; slot <= weft__slot_of(context->last) && atomic_load_relaxed(&slot->fn); slot++)
        atomic_store_relaxed(&slot->wanted, SLOT_WANTED); /* relaxed: as above */
}

void weft__context_raise_guard(struct weft__context *context)
{
    weft__context_lock(context);
    raise_guard(context);
    weft__lock_drop(&context->lock);
}

void weft__context_want_pending(struct weft__context *context)
{
    weft__context_lock(context);
    want_pending(context);
    weft__lock_drop(&context->lock);
}

void weft__context_alert(struct weft__context *context)
{
    weft__context_lock(context);
    raise_guard(context);
    want_pending(context);
    weft__lock_drop(&context->lock);
}

bool weft__context_has_pending(struct weft__context *context)
{
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest); /* relaxed, both: a hint */
    return atomic_load_relaxed(&slot->fn) != NULL;
}

bool weft__context_robbed(struct weft__context *context)
{
    weft__context_lock(context);
    bool robbed = context->robbed;
    context->robbed = false;
    weft__lock_drop(&context->lock);
    return robbed;
}

void weft__slot_marked(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    weft__fatal("a mark was called");
}

weft_fn *weft__right_of(weft *w)
{
    weft_fn *fn = atomic_load_relaxed(&weft__slot_of(w)->fn); /* relaxed: for a message */
    return weft__context_unmark(weft__context_of(w), fn);
}
