/* SPDX-License-Identifier: MIT */
#include "core/task.h"

#include "core/cancel.h"
#include "core/completions.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/sized.h"
#include "os/memory.h"
#include "os/trace.h"

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

/* ---- Running ---- */

static inline void call_task(weft *w, struct weft__worker *me, struct weft__task *task)
{
    struct weft__job *job = &task->node.job;
    bool careful = task->careful && weft__careful_begin(me, w);
    me->frame->task = task;
    WEFT__TRACE(TASK, 0, (uintptr_t)task);
    weft__call_whole(w, job->fn, job->arg, &task->group);
    if (careful)
        weft__careful_end(me);
    task->result = weft__group_end(&task->group);
}

static void execute_task(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    call_task(w, me, (struct weft__task *)job);
    me->news = (struct weft__news){task_is_over, job};
}

/* The task has its result, and no thread knows yet that it is over. */
static void call_done(struct weft__full_task *full)
{
    void *arg = full->task.node.job.arg;
    int result = full->task.result;
    if (full->done)
        WEFT__MUST_RETURN(weft__callee_threw, full->done(arg, result));
}

/* It goes to the queue when it is over for all others: the program may use its memory again as soon
 * as it was taken from there. */
static void full_is_over(void *of)
{
    struct weft_completions *completions = ((struct weft__full_task *)of)->completions;
    task_is_over(of);
    if (completions)
        weft__completions_put(completions, of);
}

static void execute_full(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    call_task(w, me, (struct weft__task *)job);
    call_done((struct weft__full_task *)job);
    me->news = (struct weft__news){full_is_over, job};
}

/* No thread waits for it, and its memory is the library's. */
static void execute_detached(weft *w, struct weft__job *job)
{
    struct weft__full_task *full = (struct weft__full_task *)job;
    struct weft__worker *me = weft__worker_of(w);
    call_task(w, me, &full->task);
    call_done(full);
    me->frame->task = NULL;
    weft__free(full);
    weft__pool_leave(me->pool);
}

struct weft__task *weft__task_of_job(struct weft__job *job)
{
    bool is_task = job->execute == execute_task || job->execute == execute_full ||
                   job->execute == execute_detached;
    return is_task ? (struct weft__task *)job : NULL;
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
        if (task->node.job.execute == execute_full) {
            call_done((struct weft__full_task *)task);
            full_is_over(task);
        } else {
            task_is_over(task);
        }
    } else if (weft__lock_latch_borrow(&task->latch)) {
        weft__cancel(pool, &task->group);
        if (!weft__lock_latch_return(&task->latch))
            weft__pool_leave(pool);
    }
    return 0;
}

/* ---- Submitting ---- */

static const struct weft__around alone; /* in no group */

/* The caller has entered the pool. */
static inline void task_make(struct weft__task *task, struct weft_pool *pool, weft_fn *fn,
                             void *arg, void (*execute)(weft *w, struct weft__job *job),
                             const struct weft__around *around)
{
    *task = (struct weft__task){
        .pool = pool,
        .fork_count = pool->fork_count,
        .guests = !(pool->config.flags & WEFT_NO_GUESTS),
        .from_outside = !weft__worker_in(pool),
        .careful = weft__caller_is_careful(),
    };
    task->node.job = (struct weft__job){fn, arg, &task->group, execute};
    WEFT__TRACE(SUBMIT, (uintptr_t)fn, (uintptr_t)task);
    weft__group_begin_in(&task->group, around);
    atomic_store_relaxed(&task->fd, TASK_NO_FD); /* relaxed: the queue publishes it */
}

/* In place: servers call it often. */
static inline __attribute__((always_inline)) int submit(struct weft_pool *pool, weft_task *public,
                                                        weft_fn *fn, void *arg, bool waits,
                                                        const struct weft__around *around)
{
    struct weft__task *task = weft__task_of(public);
    int error = weft__pool_enter_threads(&pool);
    if (error)
        return error;
    if (!note_pending(task)) {
        weft__pool_leave(pool);
        return -EBUSY;
    }
    task_make(task, pool, fn, arg, execute_task, around);
    weft__pool_hold(pool); /* for the task, which leaves the pool when it is over */
    weft__queue_push(&pool->injector, &task->node);
    weft__sleep_new_jobs(&pool->sleep, 1, waits);
    weft__pool_leave(pool);
    return 0;
}

int weft__submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                 const struct weft__around *around)
{
    return submit(pool, public, fn, arg, waits, around);
}

/* The library's own copy of what weft/inline.h puts in place. */
extern int weft_submit(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg);

int weft_submit_(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg, unsigned layout)
{
    weft__expect_layout(layout, "weft_submit");
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!task || !fn)
        return -EINVAL;
    return submit(pool, task, fn, arg, false, &alone);
}

/* `full`: the caller's memory; NULL: the task is detached. */
static int submit_full(struct weft_pool *pool, struct weft__full_task *full, weft_fn *fn, void *arg,
                       const weft_submit_options *options)
{
    bool detached = !full;
    if (!detached && !note_pending(&full->task))
        return -EBUSY;
    if (detached)
        full = weft__alloc(sizeof *full);
    if (!full)
        return -ENOMEM;
    struct weft__task *task = &full->task;
    task_make(task, pool, fn, arg, detached ? execute_detached : execute_full, &alone);
    full->done = options->done;
    full->completions = options->completions;
    if (full->completions)
        weft__completions_expect(full->completions, pool);
    if (options->deadline)
        weft__group_set_deadline(&task->group, options->deadline);
    weft__pool_hold(pool); /* as above */
    if (options->urgent)
        weft__queue_push_urgent(&pool->injector, &task->node);
    else
        weft__queue_push(&pool->injector, &task->node);
    weft__sleep_new_jobs(&pool->sleep, 1, false);
    return 0;
}

/* The library's own copy of what weft/task.h puts in place. */
extern int weft_submit_with(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg,
                            const weft_submit_options *options);
extern int weft_submit_detached(weft_pool *pool, weft_fn *fn, void *arg, weft_done_fn *done);

int weft_submit_with_(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg,
                      const weft_submit_options *given, unsigned layout)
{
    weft__expect_layout(layout, "weft_submit_with");
    weft__worker_check_abandoned(__builtin_frame_address(0));
    weft_submit_options options;
    int error = fn ? weft__sized_read(&options, sizeof options, given) : -EINVAL;
    if (!error && options.completions)
        error = task ? weft__completions_check(options.completions) : -EINVAL;
    if (!error)
        error = weft__pool_enter_threads(&pool);
    if (error)
        return error;
    error = submit_full(pool, (struct weft__full_task *)(void *)task, fn, arg, &options);
    weft__pool_leave(pool);
    return error;
}

int weft_submit_detached_(weft_pool *pool, weft_fn *fn, void *arg, weft_done_fn *done,
                          unsigned layout)
{
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.done = done;
    return weft_submit_with_(pool, NULL, fn, arg, &options, layout);
}

/* ---- Is it over? ---- */

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
