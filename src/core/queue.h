/* SPDX-License-Identifier: MIT */
/* queue.h: first in, first out, for many producers and many consumers. The pool's
 * injector is one, and each worker's mailbox, and the first-in-first-out children of a
 * scope. A lock around a linked list: none of these is on the fast path, nodes live in
 * their owners' memory so that nothing is ever allocated or full, and a node can be
 * taken out of the middle, which lets a waiter run its own task. Nobody sleeps, searches
 * or calls out while holding the lock. */
#ifndef WEFT_CORE_QUEUE_H
#define WEFT_CORE_QUEUE_H

#include "core/job.h"
#include "os/lock.h"

struct weft__queue {
    struct weft__lock lock;
    struct weft__node *first, *last; /* under the lock */
    struct atomic_size length;       /* written under the lock, read by anybody */
};

void weft__queue_push(struct weft__queue *queue, struct weft__node *node);
struct weft__node *weft__queue_pop(struct weft__queue *queue); /* NULL: empty */

/* The oldest one that is part of the computation of `root`, or is executed by `execute`. Either may
 * be NULL. */
struct weft__node *weft__queue_pop_own(struct weft__queue *queue, const struct weft__group *root,
                                       void (*execute)(weft *w, struct weft__job *job));

/* The caller has claimed the node, which is in this queue, so that nobody popped it. Others may
 * touch it until this returns. */
void weft__queue_remove(struct weft__queue *queue, struct weft__node *node);

/* One load. Orders nothing: who must not miss a push has a fence before this (F1). */
static inline size_t weft__queue_length(const struct weft__queue *queue)
{
    return atomic_load_relaxed(&queue->length);
}

#endif
