/* SPDX-License-Identifier: MIT */
/* weft/task.h: what servers want of tasks besides weft_submit() and weft_task_wait(). */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As weft_task_wait(), but no longer than until weft_now() is `when`: -ETIMEDOUT; nor than until
 * the computation of the calling job is cancelled: -ECANCELED. Then the task goes on, and still has
 * to be waited for. A task may have such a result, too: weft_task_done() tells whether it is over,
 * and then weft_task_wait() returns its result at once. The caller does not run the task itself,
 * nor any other job, which might take longer: while a job waits here, a spare worker takes its
 * place. In a job also -EAGAIN and the like: the thread that looks at the clock could not be
 * started. */
WEFT_API WEFT_MUST_USE int weft_task_wait_until(weft_task *task, uint64_t when);

/* For a client that has hung up. If no thread has begun the task, none will, and it is over when
 * this returns: weft_task_wait() returns -ECANCELED. If it runs, weft_cancelled() is true in it
 * from now on, and what it has forked or spawned and no thread has begun is skipped. Returns at
 * once. By any thread, any number of times; a task that is over stays as it is. Submit it again
 * only when all calls that wait for it or cancel it have returned. -EINVAL: no task, or one that is
 * zero and was never submitted; -ECHILD. */
WEFT_API int weft_task_cancel(weft_task *task);

/* ---- Submitting with options --------------------------------------------------- */

typedef struct weft_completions weft_completions; /* see below */

/* Called once, when a task is over: with the task's own `arg`, and what weft_task_wait() returns.
 * By the thread that has ended the task, which weft_task_cancel() may be, and before any thread
 * sees that it is over. It must not block, nor wait for the task. */
typedef void weft_done_fn(void *arg, int error);

/* Starts as WEFT_SUBMIT_OPTIONS_INIT; zero means the default everywhere. */
typedef struct weft_submit_options {
    size_t size;        /* set by WEFT_SUBMIT_OPTIONS_INIT */
    bool urgent;        /* before all tasks that are not; yet a task that is not is passed, once it
                           is the first of them, by at most 16 that are */
    uint64_t deadline;  /* once weft_now() passes this, the task is cancelled with -ETIMEDOUT, as by
                           weft_scope_deadline(); 0: none */
    weft_done_fn *done; /* NULL: none */
    weft_completions *completions; /* where the task goes when it is over; NULL: nowhere */
} weft_submit_options;

#define WEFT_SUBMIT_OPTIONS_INIT WEFT_SIZED_(weft_submit_options)

/* As weft_submit(), with options; NULL: the defaults. If `task` is NULL, the task is detached: the
 * library has its memory, no thread can wait for it, and weft_pool_destroy() waits until it is
 * over. -EINVAL: no function, completions for a detached task, or options that do not start as
 * WEFT_SUBMIT_OPTIONS_INIT; -ENOTSUP: an option this release does not have. */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_submit_with(weft_pool *pool, weft_task *task,
                                                         weft_fn *fn, void *arg,
                                                         const weft_submit_options *options);

/* Submit and forget. `done` may be NULL. */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_submit_detached(weft_pool *pool, weft_fn *fn,
                                                             void *arg, weft_done_fn *done);

/* See weft/inline.h. */
WEFT_API WEFT_MUST_USE int weft_submit_with_(weft_pool *pool, weft_task *task, weft_fn *fn,
                                             void *arg, const weft_submit_options *options,
                                             unsigned layout);
WEFT_API WEFT_MUST_USE int weft_submit_detached_(weft_pool *pool, weft_fn *fn, void *arg,
                                                 weft_done_fn *done, unsigned layout);
#if defined __GNUC__
WEFT_ENTRY_ weft_submit_with(weft_pool *pool_, weft_task *task_, weft_fn *fn_, void *arg_,
                             const weft_submit_options *options_)
{
    return weft_submit_with_(pool_, task_, fn_, arg_, options_, WEFT_LAYOUT_);
}

WEFT_ENTRY_ weft_submit_detached(weft_pool *pool_, weft_fn *fn_, void *arg_, weft_done_fn *done_)
{
    return weft_submit_detached_(pool_, fn_, arg_, done_, WEFT_LAYOUT_);
}
#endif

/* ---- Completion queues --------------------------------------------------------- */

/* Tasks that are over, in the order in which they ended: one descriptor for an event loop, however
 * many tasks there are. A task is the queue's from the time when it is submitted until it is taken
 * out. Then it is over, weft_task_wait() returns its result at once, and its memory is the
 * program's again. Any number of threads, jobs and actors may take tasks out. */

/* -EINVAL, -ENOMEM. */
WEFT_API WEFT_MUST_USE int weft_completions_create(weft_completions **queue);

/* -EBUSY: a task was not taken out yet, or a thread waits for one; it goes on as it was. */
WEFT_API int weft_completions_destroy(weft_completions *queue);

/* An eventfd that is readable while there are tasks. It belongs to the queue: do not read or close
 * it. After it became readable, take tasks until there is none: then it is not readable any more.
 * If tasks were taken out before it was readable, it may become so for nothing, once. Or a negative
 * errno. */
WEFT_API WEFT_MUST_USE int weft_completions_fd(weft_completions *queue);

/* 0: *task is over, and the caller's. -EAGAIN: there is none now. -EINVAL, -ECHILD. */
WEFT_API WEFT_MUST_USE int weft_completions_next(weft_completions *queue, weft_task **task);

/* The same, but waits until there is one, or weft_now() is `when`: -ETIMEDOUT. While a
 * job waits here, a spare worker takes its place, as in weft_task_wait_until(); from a job, wait
 * only for tasks that it has itself submitted. -ENOMEM. */
WEFT_API WEFT_MUST_USE int weft_completions_next_until(weft_completions *queue, weft_task **task,
                                                       uint64_t when);

#ifdef __cplusplus
}
#endif

#endif
