/* SPDX-License-Identifier: MIT */
#include "core/context.h"

#include "os/memory.h"

_Static_assert(sizeof(weft) % WEFT__CACHE_LINE == 0 || WEFT__CACHE_LINE % sizeof(weft) == 0,
               "a thief and the owner of the next slot would share a cache line");

struct weft__context *weft__context_make(struct weft__worker *worker)
{
    struct weft__context *context = weft__map(WEFT__BLOCK_SIZE);
    if (!context)
        return NULL;
    context->worker = worker;
    context->first = (weft *)((char *)context + WEFT__CACHE_LINE);
    context->last = (weft *)((char *)context + WEFT__BLOCK_SIZE) - 1;
    return context;
}

void weft__context_free(struct weft__context *context)
{
    weft__unmap(context, WEFT__BLOCK_SIZE);
}

weft *weft__context_top(struct weft__context *context)
{
    weft *w = context->first;
    while (w < context->last && w->job.fn)
        w++;
    return w;
}
