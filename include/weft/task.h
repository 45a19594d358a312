/* SPDX-License-Identifier: MIT */
/* weft/task.h: what servers want of tasks besides weft_submit() and weft_task_wait(). */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As weft_task_wait(), but no longer than until weft_now() is `when`; then -ETIMEDOUT. The task
 * goes on, and still has to be waited for. The caller does not run the task itself. A job runs
 * other jobs meanwhile; if the time comes while it does, it returns when that job is over. In a
 * job also -EAGAIN and the like: the thread that looks at the clock could not be started. */
WEFT_API WEFT_MUST_USE int weft_task_wait_until(weft_task *task, uint64_t when);

/* For a client that has hung up. If no thread has begun the task, none will, and it is over when
 * this returns: weft_task_wait() returns -ECANCELED. If it runs, weft_cancelled() is true in it
 * from now on, and what it has forked or spawned and no thread has begun is skipped. Returns at
 * once. By any thread, any number of times; a task that is over stays as it is. -EINVAL: no task,
 * or one that is zero and was never submitted; -ECHILD. */
WEFT_API int weft_task_cancel(weft_task *task);

#ifdef __cplusplus
}
#endif

#endif
