/* SPDX-License-Identifier: MIT */
/* job.h: something to run. What stands in a deque or queue is a job; `execute` knows
 * what it is part of (a fork, a task, a scope's child, a broadcast) and does what must
 * follow when `fn` has returned. */
#ifndef WEFT_CORE_JOB_H
#define WEFT_CORE_JOB_H

#include "weft.h"

struct weft__group;

struct weft__job {
    weft_fn *fn;
    void *arg;
    struct weft__group *group; /* whom a failure concerns */
    void (*execute)(weft *w, struct weft__job *job);
};

/* A job that can stand in a queue. */
struct weft__node {
    struct weft__job job;
    struct weft__node *next, *prev; /* under the queue's lock */
    bool queued;                    /* under the queue's lock */
};

#endif
