/* SPDX-License-Identifier: MIT */
/* fifo.h: fibers in line, linked through `next`. One thread uses it. */
#ifndef WEFT_ACTOR_FIFO_H
#define WEFT_ACTOR_FIFO_H

#include "actor/actor.h"

static inline void weft__fifo_push(struct weft__fifo *fifo, struct weft__fiber *fiber)
{
    fiber->next = NULL;
    if (!fifo->first)
        fifo->end = &fifo->first;
    *fifo->end = fiber;
    fifo->end = &fiber->next;
}

static inline void weft__fifo_push_front(struct weft__fifo *fifo, struct weft__fiber *fiber)
{
    if (!fifo->first)
        fifo->end = &fiber->next;
    fiber->next = fifo->first;
    fifo->first = fiber;
}

static inline struct weft__fiber *weft__fifo_pop(struct weft__fifo *fifo)
{
    struct weft__fiber *fiber = fifo->first;
    if (fiber)
        fifo->first = fiber->next;
    return fiber;
}

static inline void weft__fifo_append(struct weft__fifo *fifo, struct weft__fifo *others)
{
    struct weft__fiber *fiber;
    while ((fiber = weft__fifo_pop(others)))
        weft__fifo_push(fifo, fiber);
}

#endif
