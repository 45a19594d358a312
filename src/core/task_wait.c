/* SPDX-License-Identifier: MIT */
/* Waiting for a task. */
#include "core/cancel.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/run.h"
#include "core/task.h"
#include "core/until.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/sanitize.h"
#include "os/trace.h"

#include <errno.h>
#include <unistd.h>
#include <weft/task.h>

/* If no thread has begun the task, the caller runs it. */
static bool run_it_here(struct weft__task *task, const char *entry)
{
    struct weft_pool *pool = task->pool;
    struct weft__worker *me = weft__worker_in(pool);
    if (weft__fiber_here())
        return false; /* not on an actor's stack, nor at the cost of its time */
    if ((!me && !task->guests) || !weft__node_claim(&task->node))
        return false;
    weft__queue_remove(&pool->injector, &task->node); /* not begun: the pool exists */
    if (me) {
        weft__execute_inside(me, &task->node.job);
        return true;
    }
    weft__pool_hold(pool); /* the task's own hold ends with the task */
    int error = weft__execute_as_guest(pool, &task->node.job, entry);
    if (error) {
        weft__queue_push(&pool->injector, &task->node);
        weft__sleep_new_jobs(&pool->sleep, 1, true);
    }
    weft__pool_leave(pool);
    return !error;
}

/* A job that waits. Lies in the job's frame. */
struct waiting {
    struct weft__until until; /* first */
    struct weft__task *task;
};

/* Of the thread that ends the task and those that end the wait, one takes the latch out of the
 * task, and sets it. */
static bool take_latch(struct weft__until *until)
{
    struct waiting *waiting = (struct waiting *)until;
    void *mine = &until->latch;
    return atomic_cas_acq_rel(&waiting->task->waiter, &mine, NULL); /* acq_rel O2 */
}

/* An actor ends while it waits for a task that lies on its own stack, so the task has to be over
 * first: it is cancelled. */
static void cancel_own(struct weft__until *until)
{
    struct weft__task *task = ((struct waiting *)until)->task;
    if (weft__lock_latch_borrow(&task->latch)) { /* so that its pool lives */
        struct weft_pool *pool = task->pool;
        weft__cancel(pool, &task->group);
        if (!weft__lock_latch_return(&task->latch))
            weft__pool_leave(pool);
    }
}

static bool is_on_own_stack(struct weft__task *task)
{
    struct weft__context *fiber = weft__fiber_here();
    return fiber && weft__context_of(weft__place_of_frame(task)) == fiber;
}

/* A job waits: it helps others meanwhile, unless there is a limit. `limit`: until when; NULL:
 * without a limit. */
static int wait_as_worker(struct weft__task *task, const uint64_t *limit)
{
    struct waiting waiting = {.until = {.latch.owner = weft__thread_park(),
                                        .elsewhere = weft__is_elsewhere(task->pool),
                                        .take_out = take_latch,
                                        .stays = is_on_own_stack(task) ? cancel_own : NULL},
                              .task = task};
    void *none = NULL;
    /* acq_rel O2: release: hands the latch to the thread that ends the task. */
    if (!atomic_cas_acq_rel(&task->waiter, &none, &waiting.until.latch)) {
        if (none != &weft__task_over)
            return -EBUSY;
        weft__lock_latch_wait(&task->latch); /* it is about to be set */
        return 0;
    }
    int error = weft__until_wait(&waiting.until, "waits for a task", limit);
    if (error && waiting.until.stays && weft__hook_ends(weft__fiber_here()))
        return wait_as_worker(task, NULL); /* to cancel it */
    if (error && !waiting.until.stays)
        weft__fiber_end_here();
    return error;
}

/* Until now this thread outside could have ended a wait in the pool. From here on, jobs that wait
 * for an event, or for a mutex that it holds, may be stuck. The pool exists as long as the task is
 * not over. */
static void wait_outside(struct weft__task *task)
{
    struct weft__outsider me = {.thread = weft__thread_serial()};
    void *first = atomic_load_relaxed(&task->outsiders); /* relaxed: the exchange decides */
    do
        me.next = first;
    while (!atomic_cas_release(&task->outsiders, &first, &me)); /* release O4: the record */
    if (weft__lock_latch_borrow(&task->latch)) {
        struct weft_pool *pool = task->pool;
        weft__block_look(pool);
        if (!weft__lock_latch_return(&task->latch))
            weft__pool_leave(pool);
    }
    weft__lock_latch_wait(&task->latch);
}

/* Is the caller a part of the task, or does the task run below it on the same stack? Then the
 * caller would wait for itself. */
static bool waits_for_itself(const struct weft__task *task)
{
    struct weft__worker *me = weft__worker_current();
    struct weft__group *group = me ? weft__context_now(me)->group : NULL;
    while (group && group != &task->group)
        group = group->parent;
    if (group)
        return true;
    for (me = weft__fiber_here() ? NULL : weft__worker_innermost(); me; me = me->host)
        for (const struct weft__frame *frame = me->frame; frame; frame = frame->outer)
            if (frame->task == task)
                return true;
    return false;
}

/* Returns when the task is over: 0, or why not. A thread outside that waits with a limit leaves no
 * record of itself: it goes on by itself, and so may end any wait in the pool. Neither does it run
 * the task, which might take longer than the limit. */
static int wait_until_over(struct weft__task *task, const uint64_t *limit, const char *entry)
{
    if (task->fork_count != weft__fork_count())
        return -ECHILD;
    if (waits_for_itself(task))
        return -EDEADLK;
    if (limit && weft__clock_now() >= *limit)
        return weft__limit_passed(*limit);
    if (!limit && run_it_here(task, entry))
        return 0;
    if (weft__worker_current())
        return wait_as_worker(task, limit);
    if (limit)
        return weft__lock_latch_wait_until(&task->latch, *limit) ? 0 : -ETIMEDOUT;
    wait_outside(task);
    return 0;
}

/* The limit is reached. But if weft_task_done() says that the task is over, so does the wait: the
 * latch is set by now, or is about to be. */
static bool is_over_by_now(struct weft__task *task)
{
    if (!weft__latch_probe(&task->latch) && !atomic_load_acquire(&task->told)) /* acquire O3 */
        return false;
    weft__lock_latch_wait(&task->latch);
    return true;
}

static int task_wait(weft_task *public, const uint64_t *limit, const char *entry)
{
    weft__worker_check_abandoned(entry);
    if (!public)
        return -EINVAL;
    struct weft__task *task = weft__task_of(public);
    if (!weft__task_was_submitted(task))
        return -EINVAL;
    weft__fiber_expect_room();
    int error = weft__latch_probe(&task->latch) ? 0 : wait_until_over(task, limit, entry);
    bool limited = error == -ETIMEDOUT || error == -ECANCELED;
    if (error && !(limited && is_over_by_now(task)))
        return error;
    WEFT__TRACE(JOIN, (uintptr_t)&task->group, 0);
    int result = task->result;
    /* acquire O1: of several waiters, one closes the descriptor. */
    int32_t fd = atomic_exchange_acquire(&task->fd, TASK_FD_OVER);
    if (fd >= 0)
        close(fd);
    return result;
}

int weft_task_wait(weft_task *task)
{
    return task_wait(task, NULL, __builtin_frame_address(0));
}

int weft_task_wait_until(weft_task *task, uint64_t when)
{
    return task_wait(task, &when, __builtin_frame_address(0));
}
