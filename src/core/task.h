/* SPDX-License-Identifier: MIT */
/* task.h: what a weft_task holds. A task is done in this order: the event descriptor, if there is
 * one, is told, and `told` says so before; the waiting job is noted, the latch is set, the waiting
 * job is woken. The latch's set is the last touch of the task: a thread that finds it set may
 * free it; a waiting job's own latch lies in its own frame. A thread that the descriptor tells
 * finds the task done, and frees it after weft_task_wait(), which closes the descriptor: not before
 * the worker is out of it. */
#ifndef WEFT_CORE_TASK_H
#define WEFT_CORE_TASK_H

#include "core/group.h"
#include "core/job.h"
#include "sleep/latch.h"

/* A thread outside that waits for a task. Lies in its frame. */
struct weft__outsider {
    const struct weft__outsider *next;
    uintptr_t thread; /* weft__thread_serial() */
};

struct weft__task {
    struct weft__node node;
    struct weft__group group;
    struct weft_pool *pool;   /* lives until the task is over; waiters may come later */
    uint32_t fork_count;      /* the pool's */
    bool guests;              /* whether the pool lets guests work */
    bool from_outside;        /* a thread outside the pool submitted it */
    bool careful;             /* the thread that submitted it was; see worker.h */
    struct weft__latch latch; /* a lock latch: outside threads wait here */
    struct atomic_bool told;  /* the descriptor is, or is about to be */
    struct atomic_i32 fd;     /* TASK_NO_FD, an event descriptor, or TASK_FD_OVER */
    struct atomic_ptr waiter; /* NULL, a weft__spin_latch of a waiting job, or `over` of task.c */
    struct atomic_ptr outsiders; /* struct weft__outsider: threads that wait outside, the last
                                    first; read by reports, while the task is not over */
    int result;                  /* valid once the latch is set */
};

/* weft_submit(). `waits`: the caller is about to wait for it; `parent`: the group around it, or
 * NULL. 0, -EBUSY, or what weft__pool_enter() says. */
int weft__submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                 struct weft__group *parent);

void weft__tasks_forked(void); /* in a forked child: none is pending */

struct weft__task *weft__task_of_job(struct weft__job *job); /* NULL: it is none */

enum { TASK_NO_FD = -1, TASK_FD_OVER = -2 };

_Static_assert(sizeof(struct weft__task) <= sizeof(weft_task), "weft_task is too small");

#endif
