/* SPDX-License-Identifier: MIT */
#include "core/context.h"

#include "os/memory.h"

#include <sys/mman.h>
#include <unistd.h>

struct weft__context *weft__context_make(struct weft__worker *worker, bool eager, uint64_t quantum)
{
    struct weft__context *context = weft__map(WEFT_BLOCK_SIZE);
    if (!context)
        return NULL;
    /* Forking past the last slot ends in a fault, which overflow.c explains: a check would
     * cost every fork an instruction. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = (char *)context + WEFT_BLOCK_SIZE - page;
    mprotect(end, page, PROT_NONE);
    context->worker = worker;
    context->first = (weft *)((char *)context + sizeof *context);
    context->last = (weft *)end - 1;
    context->eager = eager;
    context->quantum = quantum;
    /* relaxed: whoever shares the context publishes it. */
    atomic_store_relaxed(&context->oldest, context->first);
    atomic_store_relaxed(&context->guard, eager ? UINTPTR_MAX : (uintptr_t)context->first);
    return context;
}

void weft__context_free(struct weft__context *context)
{
    weft__unmap(context, WEFT_BLOCK_SIZE);
}

weft *weft__context_top(struct weft__context *context)
{
    weft *w = context->first;
    while (atomic_load_relaxed(&weft__slot_of(w)->fn)) /* relaxed: the caller's own writes */
        w++;
    return w;
}

void weft__context_call(struct weft__context *context)
{
    weft__lock_take(&context->lock);
    context->called = true; /* a thief that is at it does not lower the guard again */
    /* relaxed, all: a request. If the owner misses it now it sees it at a later fork, and
     * what it merges meanwhile was not cancelled for it yet. */
    atomic_store_relaxed(&context->guard, UINTPTR_MAX);
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest);
    for (; slot <= weft__slot_of(context->last) && atomic_load_relaxed(&slot->fn); slot++)
        atomic_store_relaxed(&slot->wanted, SLOT_WANTED);
    weft__lock_drop(&context->lock);
}

bool weft__context_robbed(struct weft__context *context)
{
    weft__lock_take(&context->lock);
    bool robbed = context->robbed;
    context->robbed = false;
    weft__lock_drop(&context->lock);
    return robbed;
}
