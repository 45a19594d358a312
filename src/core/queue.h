/* SPDX-License-Identifier: MIT */
/* queue.h: first in, first out, for many producers and many consumers: a pool's injector, a
 * worker's mailbox, and the first-in-first-out children of a scope. It is a linked list with a
 * lock, since none of these is on the fast path. Nodes lie in their owners' memory, so a push can't
 * fail. Urgent nodes stand before all others; but after WEFT__URGENT_RUN of them an ordinary one is
 * taken, so that it does not wait for ever. A node can be taken out of the middle, so that a waiter
 * can run its own task. A thread that has the lock does not sleep, search or call other modules. */
#ifndef WEFT_CORE_QUEUE_H
#define WEFT_CORE_QUEUE_H

#include "core/job.h"
#include "os/lock.h"

enum { WEFT__URGENT_RUN = 16 };

struct weft__queue {
    struct weft__lock lock;
    uint16_t urgent_run;             /* how many urgent nodes were popped since an ordinary one */
    uint16_t shown;                  /* a pool's injector: where its length is shown; or 0 */
    struct weft__node *first, *last; /* under the lock */
    struct atomic_ptr last_urgent;   /* struct weft__node, or NULL: all before it are urgent, too;
                                        written under the lock, read by any thread */
    struct atomic_size length;       /* written under the lock, read by any thread */
};

void weft__queue_push(struct weft__queue *queue, struct weft__node *node);
void weft__queue_push_urgent(struct weft__queue *queue, struct weft__node *node);
struct weft__node *weft__queue_pop(struct weft__queue *queue); /* NULL: empty */

/* Some of the jobs: any of these will do, and NULL stands for none. */
struct weft__want {
    const struct weft__group *root;                  /* parts of its computation */
    const struct weft__group *scope;                 /* its children */
    void (*execute)(weft *w, struct weft__job *job); /* jobs that are executed by it */
};
struct weft__node *weft__queue_pop_wanted(struct weft__queue *queue,
                                          struct weft__want want); /* the oldest, or NULL */

/* Removes a node that the caller has claimed, so that no other thread runs it. A popping thread may
 * touch the node until this returns. */
void weft__queue_remove(struct weft__queue *queue, struct weft__node *node);

/* One load, which orders nothing: a caller that must not miss a push has a fence before it (F1). */
static inline size_t weft__queue_length(const struct weft__queue *queue)
{
    return atomic_load_relaxed(&queue->length);
}

/* A hint. */
static inline bool weft__queue_has_urgent(const struct weft__queue *queue)
{
    return atomic_load_relaxed(&queue->last_urgent) != NULL;
}

#endif
