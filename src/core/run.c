/* SPDX-License-Identifier: MIT */
/* The ways into a pool from outside: run, submit and wait. */
#include "core/fatal.h"
#include "core/fiber.h"
#include "core/guest.h"
#include "core/pool.h"
#include "core/task.h"
#include "core/wait.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct weft__spin_latch
    over; /* never used as a latch: its address says that a task is done */

/* ---- Guests ---- */

/* Under the lock: the free one with the smallest index; NULL: all are taken. */
static struct weft__worker *guest_find(struct weft_pool *pool)
{
    struct weft__worker *found = NULL;
    /* relaxed: written under the lock. The list is newest first. */
    struct weft__worker *guest = atomic_load_relaxed(&pool->guests);
    for (; guest; guest = guest->next_guest)
        if (!guest->taken)
            found = guest;
    return found;
}

/* Under the lock, which is held a little longer than usual once for each guest there is. */
static struct weft__worker *guest_make(struct weft_pool *pool)
{
    struct weft__worker *newest = atomic_load_relaxed(&pool->guests); /* relaxed: the lock */
    unsigned index = newest ? newest->index + 1 : pool->config.workers;
    struct weft__worker *guest = weft__worker_make(pool, index, WORKER_GUEST);
    if (!guest)
        return NULL;
    guest->next_guest = newest;
    atomic_store_release(&pool->guests, guest); /* release G1: thieves look at it from now on */
    return guest;
}

struct weft__worker *weft__guest_get(struct weft_pool *pool, enum worker_kind kind)
{
    weft__lock_take(&pool->guest_lock);
    struct weft__worker *guest = guest_find(pool);
    if (!guest)
        guest = guest_make(pool);
    if (guest) {
        guest->taken = true;
        guest->kind = kind;
        guest->park = guest->own_park; /* not that of a host it had */
    }
    weft__lock_drop(&pool->guest_lock);
    return guest;
}

void weft__guest_put(struct weft__worker *guest)
{
    struct weft_pool *pool = guest->pool;
    weft__lock_take(&pool->guest_lock);
    guest->taken = false;
    weft__lock_drop(&pool->guest_lock);
}

static struct weft__worker *guest_enter(struct weft_pool *pool, const char *entry)
{
    struct weft__worker *guest = weft__guest_get(pool, WORKER_GUEST);
    if (!guest)
        return NULL;
    weft__census_enter(&pool->census);
    weft__block_let_report(pool);
    weft__worker_push(guest, entry);
    if (guest->host)
        guest->park = guest->host->park;
    weft__sleep_guest_entered(&pool->sleep);
    return guest;
}

static void guest_leave(struct weft__worker *guest)
{
    struct weft__sleep *sleep = &guest->pool->sleep;
    if (weft__pool_is_forked(guest->pool)) {
        weft__worker_remove(guest); /* the rest is the parent's */
        return;
    }
    weft__worker_spill(guest);
    if (weft__sleep_guest_left(sleep))
        weft__sleep_more_work(sleep, true);
    weft__worker_remove(guest);
    weft__worker_rest(guest);
    weft__census_leave(&guest->pool->census);
    weft__guest_put(guest);
}

/* ---- Run ---- */

static void left_by_exit(void *unused)
{
    (void)unused;
    weft__fatal("a job ended its thread with pthread_exit or threw an exception; jobs must return");
}

/* For threads that are not the pool's own, whose jobs nothing else keeps from ending the
 * thread with somebody waiting for them. */
static void execute_guarded(weft *w, struct weft__job *job)
{
    pthread_cleanup_push(left_by_exit, NULL);
    weft__execute(w, job);
    pthread_cleanup_pop(0);
}

struct root {
    struct weft__job job; /* its group: the one that it was called from, or NULL */
    int result;
};

static void execute_root(weft *w, struct weft__job *job)
{
    ((struct root *)job)->result = weft__call_root(w, job->fn, job->arg, job->group);
}

/* Runs a job on a thread that is `me` already. */
static void execute_inside(struct weft__worker *me, struct weft__job *job)
{
    bool from_outside = me->kind == WORKER_CALLER && !me->frame;
    if (from_outside)
        weft__worker_caller_in(me);
    execute_guarded(weft__context_top(me->context), job);
    if (from_outside)
        weft__worker_caller_out(me);
}

/* The same on a thread that is a guest for just this. -ENOMEM: not run. */
static int execute_as_guest(struct weft_pool *pool, struct weft__job *job, const char *entry)
{
    struct weft__worker *guest = guest_enter(pool, entry);
    if (!guest)
        return -ENOMEM;
    execute_guarded(guest->context->first, job);
    guest_leave(guest);
    return 0;
}

static int submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                  struct weft__group *parent);

static int run_by_worker(struct weft_pool *pool, weft_fn *fn, void *arg, struct weft__group *parent)
{
    weft_task task;
    int error = submit(pool, &task, fn, arg, true, parent);
    return error ? error : weft_task_wait(&task);
}

int weft_run(weft_pool *pool, weft_fn *fn, void *arg)
{
    const char *frame = __builtin_frame_address(0);
    weft__worker_check_left(frame);
    if (!fn)
        return -EINVAL;
    pool = weft__pool_or_default(pool);
    if (!pool)
        return -ENOMEM;
    if (weft__pool_is_forked(pool))
        return -ECHILD;
    struct weft__worker *me = weft__worker_current();
    struct root root = {.job = {fn, arg, me ? weft__context_now(me)->group : NULL, execute_root}};
    if (me && me->fiber && me->pool == pool)
        return weft__call_root(weft__context_top(me->fiber), fn, arg, root.job.group);
    /* An actor waits for others, and leaves its thread; unless nobody is there who could do it. */
    bool has_threads = pool->config.workers > 1 || !(pool->config.flags & WEFT_USE_CALLER);
    if (me && me->fiber && has_threads)
        return run_by_worker(pool, fn, arg, root.job.group);
    me = weft__worker_in(pool);
    if (me) {
        execute_inside(me, &root.job);
        return root.result;
    }
    if (pool->config.flags & WEFT_NO_GUESTS)
        return run_by_worker(pool, fn, arg, NULL);
    int error = weft__pool_enter(pool);
    if (error)
        return error;
    error = execute_as_guest(pool, &root.job, frame);
    weft__pool_leave(pool);
    return error ? error : root.result;
}

/* ---- Tasks ---- */

static struct weft__task *task_of(weft_task *task)
{
    return (struct weft__task *)(void *)task;
}

static void execute_task(weft *w, struct weft__job *job)
{
    struct weft__task *task = (struct weft__task *)job;
    struct weft_pool *pool = task->pool;
    struct weft__worker *me = weft__worker_of(w);
    bool careful = task->careful && weft__careful_begin(me, w);
    me->frame->task = task;
    weft__call_whole(w, job->fn, job->arg, &task->group);
    if (careful)
        weft__careful_end(me);
    task->result = weft__group_end(&task->group);
    int32_t fd = TASK_NO_FD;
    /* acq_rel O1: the descriptor is made, if there is one, and told here; or weft_task_fd()
     * finds OVER, and tells it. */
    if (!atomic_cas_acq_rel(&task->fd, &fd, TASK_FD_OVER))
        eventfd_write(fd, 1);
    /* acq_rel O2: acquire: the waiting job's latch. */
    struct weft__spin_latch *waiter = atomic_exchange_acq_rel(&task->waiter, &over);
    weft__lock_latch_set(&task->latch); /* last touch of the task */
    if (waiter)
        weft__spin_latch_set(waiter);
    weft__pool_leave(pool);
}

struct weft__task *weft__task_of_job(struct weft__job *job)
{
    return job->execute == execute_task ? (struct weft__task *)job : NULL;
}

static int submit(struct weft_pool *pool, weft_task *public, weft_fn *fn, void *arg, bool waits,
                  struct weft__group *parent)
{
    struct weft__task *task = task_of(public);
    struct weft__worker *me = weft__worker_current();
    int error = weft__pool_enter(pool);
    if (error)
        return error;
    *task = (struct weft__task){
        .pool = pool,
        .fork_count = pool->fork_count,
        .guests = !(pool->config.flags & WEFT_NO_GUESTS),
        .from_outside = !weft__worker_in(pool),
        .careful = me && weft__is_careful(me),
    };
    task->node.job = (struct weft__job){fn, arg, &task->group, execute_task};
    weft__group_begin(&task->group, parent);
    atomic_store_relaxed(&task->fd, TASK_NO_FD); /* relaxed: the queue publishes it */
    weft__pool_hold(pool); /* the task may be over, and the pool destroyed, before this is */
    weft__queue_push(&pool->injector, &task->node);
    weft__sleep_new_jobs(&pool->sleep, 1, waits);
    weft__pool_leave(pool);
    return 0;
}

int weft_submit(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg)
{
    weft__worker_check_left(__builtin_frame_address(0));
    if (!task || !fn)
        return -EINVAL;
    pool = weft__pool_or_default(pool);
    return pool ? submit(pool, task, fn, arg, false, NULL) : -ENOMEM;
}

bool weft_task_done(const weft_task *task)
{
    return weft__latch_probe(&((const struct weft__task *)task->opaque)->latch);
}

int weft_task_fd(weft_task *public)
{
    if (!public)
        return -EINVAL;
    struct weft__task *task = task_of(public);
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    int32_t known = TASK_NO_FD;
    if (atomic_cas_acq_rel(&task->fd, &known, fd)) /* acq_rel O1 */
        return fd;
    if (known == TASK_FD_OVER && atomic_cas_acq_rel(&task->fd, &known, fd)) { /* acq_rel O1 */
        eventfd_write(fd, 1);
        return fd;
    }
    close(fd); /* there is one already */
    return known;
}

/* If nobody has started the task, the caller does it. */
static bool run_it_here(struct weft__task *task, const char *entry)
{
    struct weft_pool *pool = task->pool;
    struct weft__worker *me = weft__worker_in(pool);
    if (weft__fiber_here())
        return false; /* not on an actor's stack, nor in its time */
    if ((!me && !task->guests) || !weft__node_claim(&task->node))
        return false;
    weft__queue_remove(&pool->injector, &task->node); /* not started: the pool lives */
    if (me) {
        execute_inside(me, &task->node.job);
        return true;
    }
    weft__pool_hold(pool); /* the task's own hold ends with the task */
    int error = execute_as_guest(pool, &task->node.job, entry);
    if (error) {
        weft__queue_push(&pool->injector, &task->node);
        weft__sleep_new_jobs(&pool->sleep, 1, true);
    }
    weft__pool_leave(pool);
    return !error;
}

/* A job waits: it helps others meanwhile. */
static int wait_as_worker(struct weft__task *task)
{
    struct weft__spin_latch latch = {.owner = weft__thread_park()};
    void *nobody = NULL;
    /* acq_rel O2: release: hands the latch to the one who ends the task. */
    if (atomic_cas_acq_rel(&task->waiter, &nobody, &latch)) {
        weft__wait_anywhere(&latch);
        return 0;
    }
    if (nobody != &over)
        return -EBUSY;
    weft__lock_latch_wait(&task->latch); /* just being set */
    return 0;
}

int weft_task_wait(weft_task *public)
{
    const char *frame = __builtin_frame_address(0);
    weft__worker_check_left(frame);
    if (!public)
        return -EINVAL;
    struct weft__task *task = task_of(public);
    if (!weft__latch_probe(&task->latch)) {
        if (task->fork_count != weft__fork_count())
            return -ECHILD;
        int error = 0;
        if (run_it_here(task, frame))
            ;
        else if (weft__worker_current())
            error = wait_as_worker(task);
        else
            weft__lock_latch_wait(&task->latch);
        if (error)
            return error;
    }
    int result = task->result;
    /* acquire O1: one of several waiters closes it. */
    int32_t fd = atomic_exchange_acquire(&task->fd, TASK_FD_OVER);
    if (fd >= 0)
        close(fd);
    return result;
}
