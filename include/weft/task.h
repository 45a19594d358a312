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

#ifdef __cplusplus
}
#endif

#endif
