/* SPDX-License-Identifier: MIT */
#include "core/stuck.h"

#include "core/guest.h"
#include "core/limit.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/standing.h"
#include "core/task.h"
#include "core/timer.h"
#include "core/wait.h"

bool weft__waits(const struct weft__worker *worker)
{
    return worker->awaited && !worker->blocked;
}

struct weft__worker *weft__thief_of(const struct weft__worker *worker)
{
    if (!weft__waits(worker) || !worker->awaited->thief)
        return NULL;
    return atomic_load_relaxed(worker->awaited->thief); /* relaxed: Z1 */
}

bool weft__waits_for_child(const struct weft__worker *worker, const struct weft__worker *other)
{
    return weft__waits(worker) && worker->awaited->scope && other != worker &&
           weft__runs_child(other, worker->awaited->scope);
}

struct weft__worker *weft__holder_in(struct weft_pool *pool, const struct weft__owned *owned)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)) &&
           !weft__is_holder(worker, weft__owned_holder(owned)))
        ;
    return worker;
}

const struct weft__owned *weft__owned_wanted(const struct weft__worker *worker)
{
    return worker->blocked ? weft__blocked_by(worker->blocked) : NULL;
}

/* ---- Tasks of the pool, and the threads that wait for them outside ---- */

/* Calls `fn` for each task that has begun and is not over, and for each queued task, until it
 * returns false. */
static bool each_task(struct weft_pool *pool, bool (*fn)(const struct weft__task *, void *),
                      void *arg)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        for (const struct weft__frame *frame = worker->frame; frame; frame = frame->outer)
            if (frame->task && !fn(frame->task, arg))
                return false;
    bool all = true;
    weft__lock_take(&pool->injector.lock);
    for (struct weft__node *node = pool->injector.first; node && all; node = node->next) {
        const struct weft__task *task = weft__task_of_job(&node->job);
        all = !task || fn(task, arg);
    }
    weft__lock_drop(&pool->injector.lock);
    return all;
}

static bool is_not_awaited_by(const struct weft__task *task, void *holder)
{
    /* acquire O4: the records of the waiting threads, which exist until the task is over. */
    const struct weft__outsider *outsider = atomic_load_acquire(&task->outsiders);
    while (outsider && weft__mutex_name(outsider->thread) != *(uintptr_t *)holder)
        outsider = outsider->next;
    return !outsider;
}

bool weft__holder_waits_outside(struct weft_pool *pool, const struct weft__owned *owned)
{
    uintptr_t holder = weft__owned_holder(owned);
    return holder & MUTEX_OUTSIDE && !each_task(pool, is_not_awaited_by, &holder);
}

/* ---- Which threads are alive ---- */

/* Threads outside that submitted tasks. A submitter that does not wait may do anything, for
 * instance submit a job that sets an event. Several tasks may come from one thread: if a thread
 * waits for one task, all submitters are taken to wait. */
struct submitters {
    bool any;          /* there is one */
    bool waiting;      /* a thread waits for a task */
    unsigned unwaited; /* tasks from outside for which no thread outside is known to wait */
};

static bool is_awaited_outside(const struct weft__task *task)
{
    return atomic_load_relaxed(&task->outsiders) != NULL; /* relaxed: a hint */
}

static bool look_at_task(const struct weft__task *task, void *arg)
{
    struct submitters *submitters = arg;
    if (!task->from_outside)
        return true;
    submitters->any = true;
    if (is_awaited_outside(task))
        submitters->waiting = true;
    else
        submitters->unwaited++;
    return true;
}

/* A thread outside that waits for a task which no thread has begun runs it itself, as a guest. */
static bool waits_by_running(const struct weft__worker *worker, const struct weft__frame *frame)
{
    return worker->kind == WORKER_GUEST && frame->task && !frame->outer;
}

static struct submitters find_submitters(struct weft_pool *pool)
{
    struct submitters submitters = {0};
    struct weft__worker *worker = NULL;
    (void)each_task(pool, look_at_task, &submitters);
    while ((worker = weft__next_worker(pool, worker)))
        for (const struct weft__frame *frame = worker->frame; frame; frame = frame->outer)
            if (waits_by_running(worker, frame)) {
                submitters.waiting = true;
                submitters.unwaited -=
                    frame->task->from_outside && !is_awaited_outside(frame->task);
            }
    return submitters;
}

/* The thread that made the pool (WEFT_USE_CALLER) comes and goes. While it is outside, it may do
 * anything, whatever it holds. */
static bool is_outside(const struct weft__worker *worker)
{
    return worker->kind == WORKER_CALLER &&
           atomic_load_relaxed(&worker->counts->state) == WORKER_OUTSIDE; /* relaxed: Z1 */
}

/* Do all threads rest in the pool, and has the last thread to rest looked whether one should be
 * woken? And was no thread marked since? */
static bool has_come_to_rest(struct weft_pool *pool)
{
    /* acquire Z4, then acquire Z1: all still rest after the look that wrote `settled`. Then
     * `marks`: every thread that rests now was marked before (Z1). If one was marked after that
     * look, the numbers differ, and there will be another look. */
    uint32_t settled = atomic_load_acquire(&pool->blocking.settled);
    bool full = weft__census_full(atomic_load_acquire(&pool->census.word));
    return full && atomic_load_relaxed(&pool->blocking.marks) == settled;
}

/* Whether a thread that stands in several pools is stuck is decided by the outermost of them, which
 * knows what other threads might come. There it is alive while any thread moves in the pools on
 * top. When those have come to rest, the last thread there looks again (weft__block_all_rest()). */
static bool other_pool_moves(const struct weft__worker *worker)
{
    if (worker->host)
        return true;
    for (const struct weft__worker *above = worker->above; above; above = above->above)
        if (!has_come_to_rest(above->pool))
            return true;
    return false;
}

/* Do threads outside or actors use what it waits for, or one of several things? */
static bool others_use(const struct weft__blocked *blocked)
{
    for (; blocked; blocked = blocked->more) /* relaxed, both: Z1 */
        if (atomic_load_relaxed(&blocked->object->outside) ||
            atomic_load_relaxed(&blocked->object->actors))
            return true;
    return false;
}

/* What threads outside, and timers, may do. */
struct outside {
    bool sets;    /* any event, say */
    bool cancels; /* a task; or it runs one, when it comes to wait for it */
};

static bool may_be_set_going(const struct weft__worker *worker, const struct outside *outside)
{
    if (!worker->blocked)
        return worker->above || /* it waits in a pool on top; for what is not known here */
               (weft__waits(worker) &&
                (worker->awaited->elsewhere || weft__limit_ends(worker->awaited->limit) ||
                 (worker->awaited->limit && outside->cancels)));
    if (other_pool_moves(worker) || weft__limit_ends(worker->blocked->limit))
        return true;
    if (worker->blocked->kind == BLOCKED_OUTSIDE) /* a program that has a handler wants to know */
        return !worker->pool->config.deadlock;
    const struct weft__owned *owned = weft__owned_wanted(worker);
    if (!owned)
        return outside->sets || others_use(worker->blocked);
    const struct weft__worker *holder = weft__holder_in(worker->pool, owned);
    return holder ? is_outside(holder) : !weft__holder_waits_outside(worker->pool, owned);
}

static bool waits_for_live_child(const struct weft__worker *worker)
{
    struct weft__worker *other = NULL;
    while ((other = weft__next_worker(worker->pool, other)))
        if (other->alive && weft__waits_for_child(worker, other))
            return true;
    return false;
}

/* There is a live thread, and any live thread may set an event, send, receive, or end a task. */
static bool waits_for_live(const struct weft__worker *worker)
{
    const struct weft__owned *owned = weft__owned_wanted(worker);
    if (owned) {
        const struct weft__worker *holder = weft__holder_in(worker->pool, owned);
        return !holder || holder->alive; /* no holder in the pool: it waits outside, for a task */
    }
    if (worker->blocked)
        return worker->blocked->kind != BLOCKED_OUTSIDE;
    if (weft__thief_of(worker))
        return weft__thief_of(worker)->alive;
    if (weft__waits(worker) && worker->awaited->scope)
        return waits_for_live_child(worker);
    return weft__waits(worker);
}

void weft__find_alive(struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    bool any = false, more;
    struct submitters submitters = find_submitters(pool);
    bool others = is_outside(pool->workers[0]) || pool->blocking.timers;
    struct outside outside = {.sets = others || (submitters.any && !submitters.waiting),
                              .cancels = others || submitters.unwaited > 0};
    while ((worker = weft__next_worker(pool, worker)))
        any |= worker->alive = may_be_set_going(worker, &outside);
    do {
        more = false;
        while (any && (worker = weft__next_worker(pool, worker)))
            if (!worker->alive && waits_for_live(worker))
                worker->alive = more = true;
    } while (more);
}

/* The holder of a mutex takes no jobs of others while it waits, and neither does a wait with a
 * limit: they count as blocked. */
static bool is_stuck(struct weft__worker *worker)
{
    bool takes_none = weft__is_careful(worker) || (weft__waits(worker) && worker->awaited->limit);
    return !worker->alive && (worker->blocked || (weft__waits(worker) && takes_none));
}

bool weft__anybody_stuck(struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        if (is_stuck(worker))
            return true;
    return false;
}
