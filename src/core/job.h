/* SPDX-License-Identifier: MIT */
/* job.h: something to run. Deques and queues hold jobs. `execute` knows what the job is part of (a
 * fork, a task, a scope's child, a broadcast), calls `fn`, and does what must follow. It does not
 * tell the threads that wait for the job: weft__tell() does that later. */
#ifndef WEFT_CORE_JOB_H
#define WEFT_CORE_JOB_H

#include "os/atomic.h"
#include "weft.h"

struct weft__group;
struct weft__worker;

struct weft__job {
    weft_fn *fn;
    void *arg;
    struct weft__group *group; /* what it fails and is cancelled with, or NULL */
    void (*execute)(weft *w, struct weft__job *job);
};

/* A job that can stand in a queue. */
struct weft__node {
    struct weft__job job;
    struct weft__node *next, *prev; /* under the queue's lock */
    bool linked;                    /* it is in the queue; under the queue's lock */
    struct atomic_bool claimed;     /* a thread takes it out of the queue, and runs it */
};

/* What a search has found. It lies in the frame of the thread that runs the job, and is not copied:
 * `job` may point to `right`. */
struct weft__found {
    struct weft__job *job;     /* what to run; NULL: nothing */
    struct weft__worker *from; /* the worker that it was stolen from; NULL: it was not stolen */
    weft *slot;                /* of the fork whose right side was stolen; NULL: it was spawned */
    struct weft__job right;    /* made for a right side of the lazy road, which is only a slot */
};

/* True: the node was in a queue, no other thread had claimed it, and it is the caller's now. */
static inline bool weft__node_claim(struct weft__node *node)
{
    bool claimed = false;
    /* relaxed: the queue's lock orders everything else. */
    return atomic_cas_relaxed(&node->claimed, &claimed, true);
}

#endif
