/* SPDX-License-Identifier: MIT */
#include "core/task.h"

#include "core/cancel.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"

#include <weft/task.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct weft__spin_latch weft__task_over;

/* Which tasks are pending, so that a task is not submitted twice. The task itself can't tell:
 * before it is submitted it may hold anything. If two tasks have the same place, the second is not
 * noted: a mistake may stay unnoticed, but a correct program is never refused. */
enum { PENDING_LOG = 8 };
static struct atomic_ptr pending[1 << PENDING_LOG];

static struct atomic_ptr *place_of(const struct weft__task *task)
{
    uint64_t hash = (uint64_t)(uintptr_t)task * UINT64_C(0x9e3779b97f4a7c15);
    return &pending[hash >> (64 - PENDING_LOG)];
}

/* relaxed, all: addresses are compared, and not followed. */

static bool note_pending(struct weft__task *task)
{
    void *other = NULL;
    return atomic_cas_relaxed(place_of(task), &other, task) || other != task;
}

static void forget_pending(struct weft__task *task)
{
    void *known = task;
    atomic_cas_relaxed(place_of(task), &known, NULL);
}

void weft__tasks_forked(void)
{
    for (size_t i = 0; i < sizeof pending / sizeof pending[0]; i++)
        atomic_store_relaxed(&pending[i], NULL);
}

static void task_is_over(void *of)
{
    struct weft__task *task = of;
    struct weft_pool *pool = task->pool;
    forget_pending(task); /* a thread that sees that it is over may submit it again */
    int32_t fd = TASK_NO_FD;
    /* acq_rel O1: if there is a descriptor, it is written here. If not, weft_task_fd() finds
     * TASK_FD_OVER, and writes it. */
    if (!atomic_cas_acq_rel(&task->fd, &fd, TASK_FD_OVER)) {
        atomic_store_release(&task->told, true); /* release O3: the task is done */
        eventfd_write(fd, 1);
    }
    /* acq_rel O2: acquire: the waiting job's latch. */
    struct weft__spin_latch *waiter = atomic_exchange_acq_rel(&task->waiter, &weft__task_over);
    bool has_hold = weft__lock_latch_set(&task->latch); /* last touch of the task */
    if (waiter)
        weft__spin_latch_set(waiter);
    if (has_hold)
        weft__pool_leave(pool); /* else a waiter, which looks at the pool just now, leaves it */
}

static void execute_task(weft *w, struct weft__job *job)
{
    struct weft__task *task = (struct weft__task *)job;
    struct weft__worker *me = weft__worker_of(w);
    bool careful = task->careful && weft__careful_begin(me, w);
    me->frame->task = task;
    weft__call_whole(w, job->fn, job->arg, &task->group);
    if (careful)
        weft__careful_end(me);
    task->result = weft__group_end(&task->group);
    me->news = (struct weft__news){task_is_over, task};
}

/* A task that no thread has begun is over here and now. Until another thread ends the task, its
 * hold keeps the pool: it is borrowed. */
int weft_task_cancel(weft_task *public)
{
    if (!public)
        return -EINVAL;
    struct weft__task *task = weft__task_of(public);
    if (!weft__task_was_submitted(task))
        return -EINVAL;
    if (weft__latch_probe(&task->latch))
        return 0;
    struct weft_pool *pool = task->pool;
    if (task->fork_count != weft__fork_count())
        return -ECHILD;
    if (weft__node_claim(&task->node)) {
        weft__queue_remove(&pool->injector, &task->node); /* not begun: the pool exists */
        task->result = -ECANCELED;
        task_is_over(task);
    } else if (weft__lock_latch_borrow(&task->latch)) {
        weft__cancel(pool, &task->group);
        if (!weft__lock_latch_return(&task->latch))
            weft__pool_leave(pool);
    }
    return 0;
}

struct weft__task *weft__task_of_job(struct weft__job *job)
{
    return job->execute == execute_task ? (struct weft__task *)job : NULL;
}

int weft__submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                 struct weft__group *parent)
{
    struct weft__task *task = weft__task_of(public);
    int error = weft__pool_enter(&pool);
    if (error)
        return error;
    if (!note_pending(task)) {
        weft__pool_leave(pool);
        return -EBUSY;
    }
    *task = (struct weft__task){
        .pool = pool,
        .fork_count = pool->fork_count,
        .guests = !(pool->config.flags & WEFT_NO_GUESTS),
        .from_outside = !weft__worker_in(pool),
        .careful = weft__caller_is_careful(),
    };
    task->node.job = (struct weft__job){fn, arg, &task->group, execute_task};
    weft__group_begin(&task->group, parent);
    atomic_store_relaxed(&task->fd, TASK_NO_FD); /* relaxed: the queue publishes it */
    weft__pool_hold(pool); /* for the task, which leaves the pool when it is over */
    weft__queue_push(&pool->injector, &task->node);
    weft__sleep_new_jobs(&pool->sleep, 1, waits);
    weft__pool_leave(pool);
    return 0;
}

/* The library's own copy of what weft/inline.h puts in place. */
extern int weft_submit(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg);

int weft_submit_(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg, unsigned layout)
{
    weft__expect_layout(layout, "weft_submit");
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!task || !fn)
        return -EINVAL;
    return weft__submit(pool, task, fn, arg, false, NULL);
}

bool weft_task_done(const weft_task *public)
{
    if (!public)
        weft__lacks(__func__, "a task", "task");
    const struct weft__task *task = (const struct weft__task *)public->opaque;
    return weft__latch_probe(&task->latch) || atomic_load_acquire(&task->told); /* acquire O3 */
}

int weft_task_fd(weft_task *public)
{
    if (!public)
        return -EINVAL;
    struct weft__task *task = weft__task_of(public);
    if (!weft__task_was_submitted(task))
        return -EINVAL;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    int32_t known = TASK_NO_FD;
    if (atomic_cas_acq_rel(&task->fd, &known, fd)) /* acq_rel O1 */
        return fd;
    if (known == TASK_FD_OVER && atomic_cas_acq_rel(&task->fd, &known, fd)) { /* acq_rel O1 */
        weft__lock_latch_wait(&task->latch); /* it is about to be set, or was set long ago */
        eventfd_write(fd, 1);
        return fd;
    }
    close(fd); /* there is one already */
    return known;
}
