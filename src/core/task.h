/* SPDX-License-Identifier: MIT */
/* task.h: what a weft_task holds. The thread that has run the task ends it in this order:
 *
 *   1. `told` is set, and the event descriptor, if there is one, is written;
 *   2. the latch of a waiting job, if there is one, is read from `waiter`;
 *   3. `latch` is set: the last touch of the task, because a thread that finds it set may free it;
 *   4. the latch of the waiting job, which lies in the frame of that job, is set.
 *
 * A thread that the descriptor wakes finds the task done (weft_task_done()). It may free the task
 * after weft_task_wait(), which waits for `latch` and closes the descriptor. */
#ifndef WEFT_CORE_TASK_H
#define WEFT_CORE_TASK_H

#include "core/group.h"
#include "core/job.h"
#include "sleep/latch.h"

#include <weft/task.h>

/* A thread outside that waits for a task. Lies in the frame of that thread. */
struct weft__outsider {
    const struct weft__outsider *next;
    uintptr_t thread; /* weft__thread_serial() */
};

struct weft__task {
    struct weft__node node;
    struct weft__group group;
    struct weft_pool *pool;   /* exists until the task is over; may be gone when a waiter comes */
    uint32_t fork_count;      /* of the pool, for waiters that come when it is gone */
    bool guests;              /* guests may run it: the pool is not WEFT_NO_GUESTS */
    bool from_outside;        /* a thread outside the pool submitted it */
    bool careful;             /* the thread that submitted it was careful; see worker.h */
    struct weft__latch latch; /* a lock latch: outside threads wait here */
    struct atomic_bool told;  /* the descriptor was written, or is about to be */
    struct atomic_i32 fd;     /* TASK_NO_FD, an event descriptor, or TASK_FD_OVER */
    struct atomic_ptr waiter; /* NULL, a weft__spin_latch of a waiting job, or weft__task_over */
    struct atomic_ptr outsiders; /* struct weft__outsider: the threads that wait outside, the newest
                                    first; read by reports while the task is not over */
    int result;                  /* valid once the latch is set */
};

/* A task of weft_submit_with(). What weft_submit() need not write stands behind the rest. */
struct weft__full_task {
    struct weft__task task;
    weft_done_fn *done;                   /* or NULL */
    struct weft_completions *completions; /* or NULL */
};

/* weft_submit(). `waits`: the caller is about to wait for the task; `around`: the group around the
 * task. Returns 0, -EBUSY, or what weft__pool_enter() returns. */
int weft__submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                 const struct weft__around *around);

/* A task whose memory is zero was not submitted. Any other memory can't be told from a task. */
static inline bool weft__task_was_submitted(const struct weft__task *task)
{
    return task->pool != NULL;
}

static inline struct weft__task *weft__task_of(weft_task *task)
{
    return (struct weft__task *)(void *)task;
}

/* Never used as a latch: its address in `waiter` says that the task is done. */
extern struct weft__spin_latch weft__task_over;

void weft__tasks_forked(void); /* in a forked child: none is pending */

struct weft__task *weft__task_of_job(struct weft__job *job); /* NULL: it is no task */

enum { TASK_NO_FD = -1, TASK_FD_OVER = -2 };

_Static_assert(sizeof(struct weft__full_task) <= sizeof(weft_task), "weft_task is too small");

#endif
