/* SPDX-License-Identifier: MIT */
#include "core/task.h"

#include "core/alarm.h"
#include "core/cancel.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/run.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/sanitize.h"

#include <weft/task.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct weft__spin_latch
    over; /* never used as a latch: its address says that a task is done */

static struct weft__task *task_of(weft_task *task)
{
    return (struct weft__task *)(void *)task;
}

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
    struct weft__spin_latch *waiter = atomic_exchange_acq_rel(&task->waiter, &over);
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

struct weft__task *weft__task_of_job(struct weft__job *job)
{
    return job->execute == execute_task ? (struct weft__task *)job : NULL;
}

int weft__submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                 struct weft__group *parent)
{
    struct weft__task *task = task_of(public);
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

/* A task whose memory is zero was not submitted. Any other memory can't be told from a task. */
static bool was_submitted(const struct weft__task *task)
{
    return task->pool != NULL;
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
    struct weft__task *task = task_of(public);
    if (!was_submitted(task))
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
    struct weft__alarm alarm; /* of a wait with a limit */
    struct weft__task *task;
    struct weft__spin_latch latch;
    bool late; /* the limit has passed: written before the latch is set */
};

/* Of the thread that ends the task and the thread of the alarm, one takes the latch out of the
 * task, and sets it. */
static bool take_latch(struct waiting *waiting)
{
    void *mine = &waiting->latch;
    return atomic_cas_acq_rel(&waiting->task->waiter, &mine, NULL); /* acq_rel O2 */
}

static void limit_has_passed(struct weft__alarm *alarm)
{
    struct waiting *waiting = (struct waiting *)alarm;
    if (!take_latch(waiting))
        return;
    waiting->late = true;
    weft__spin_latch_set(&waiting->latch); /* the job takes the alarm back before it goes on */
}

/* An actor ends while it waits for the task. If the task lies on the actor's own stack, it has to
 * be over first: then it is cancelled. True: no thread will set the latch any more. */
static bool leave_to_itself(struct waiting *waiting)
{
    struct weft__task *task = waiting->task;
    if (weft__context_of(weft__place_of_frame(task)) != weft__fiber_here())
        return take_latch(waiting);
    if (weft__group_fail(&task->group, -ECANCELED))
        weft__alert_others(task->pool, task->group.root, NULL);
    return false;
}

/* A job waits: it helps others meanwhile. `limit`: until when; NULL: without a limit. */
static int wait_as_worker(struct weft__task *task, const uint64_t *limit)
{
    struct waiting waiting = {.task = task, .latch.owner = weft__thread_park()};
    struct weft__awaited awaited = {.what = "waits for a task", .may_end = true, .timed = limit};
    void *none = NULL;
    /* acq_rel O2: release: hands the latch to the thread that ends the task. */
    if (!atomic_cas_acq_rel(&task->waiter, &none, &waiting.latch)) {
        if (none != &over)
            return -EBUSY;
        weft__lock_latch_wait(&task->latch); /* it is about to be set */
        return 0;
    }
    struct weft_pool *own = weft__worker_current()->pool; /* exists during the wait */
    int error = limit ? weft__alarm_set(own, &waiting.alarm, *limit, limit_has_passed) : 0;
    if (error && take_latch(&waiting))
        return error;
    bool ends = !weft__wait_anywhere(&waiting.latch, awaited);
    if (limit)
        weft__alarm_take_back(&waiting.alarm);
    if (waiting.late)
        return -ETIMEDOUT;
    if (ends && leave_to_itself(&waiting)) {
        weft__fiber_end_here();
        return -ECANCELED;
    }
    awaited.may_end = false;
    weft__wait_anywhere(&waiting.latch, awaited); /* unless it was set long ago */
    return 0;
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
        return -ETIMEDOUT;
    if (!limit && run_it_here(task, entry))
        return 0;
    if (weft__worker_current())
        return wait_as_worker(task, limit);
    if (limit)
        return weft__lock_latch_wait_until(&task->latch, *limit) ? 0 : -ETIMEDOUT;
    wait_outside(task);
    return 0;
}

static int task_wait(weft_task *public, const uint64_t *limit, const char *entry)
{
    weft__worker_check_abandoned(entry);
    if (!public)
        return -EINVAL;
    struct weft__task *task = task_of(public);
    if (!was_submitted(task))
        return -EINVAL;
    weft__fiber_expect_room();
    int error = weft__latch_probe(&task->latch) ? 0 : wait_until_over(task, limit, entry);
    if (error)
        return error;
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
