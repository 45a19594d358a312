/* SPDX-License-Identifier: MIT */
/* job.h: something to run. What stands in a deque or queue is a job; `execute` knows
 * what it is part of (a fork, a task, a scope's child, a broadcast) and does what must
 * follow when `fn` has returned; but the threads that wait for the job are told by weft__tell(). */
#ifndef WEFT_CORE_JOB_H
#define WEFT_CORE_JOB_H

#include "os/atomic.h"
#include "weft.h"

struct weft__group;
struct weft__worker;

struct weft__job {
    weft_fn *fn;
    void *arg;
    struct weft__group *group; /* what fails and is cancelled together */
    void (*execute)(weft *w, struct weft__job *job);
};

/* A job that can stand in a queue. */
struct weft__node {
    struct weft__job job;
    struct weft__node *next, *prev; /* under the queue's lock */
    bool linked;                    /* it is in the queue; the same */
    struct atomic_bool claimed;     /* by the thread that takes it out of the queue */
};

/* What a search has found. Lies in the frame of the thread that runs it, and is not copied. */
struct weft__found {
    struct weft__job *job;     /* what to run; NULL: nothing */
    struct weft__worker *from; /* the worker that it was stolen from; NULL: it was not stolen */
    weft *slot;                /* stolen: the fork whose right side it is; NULL: it was spawned */
    struct weft__job right;    /* a right side that stood nowhere but in its slot: `job` is this */
};

/* True: the node was in a queue, no other thread had claimed it, and it is the caller's now. */
static inline bool weft__node_claim(struct weft__node *node)
{
    bool claimed = false;
    /* relaxed: the queue's lock orders everything else. */
    return atomic_cas_relaxed(&node->claimed, &claimed, true);
}

#endif
