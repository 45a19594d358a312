/* SPDX-License-Identifier: MIT */
#include "core/timer.h"

#include "core/alarm.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/wait.h"
#include "os/clock.h"

#include <errno.h>
#include <weft/timer.h>

enum timer_state { TIMER_OFF, TIMER_SET, TIMER_QUEUED, TIMER_RUNS };

enum timer_again {
    AGAIN_NOT,
    AGAIN_LATER, /* a period after the last time */
    AGAIN_ANEW,  /* at a time that the program has given since */
};

/* A thread that waits for the end of the job. Lies in its frame. */
struct stopper {
    struct stopper *next;
    struct weft__spin_latch latch;
};

/* Under the lock for alarms. */
struct weft__timed {
    struct weft__alarm alarm;
    struct weft__node node;
    struct weft__group group; /* of the job that runs */
    struct weft_pool *pool;   /* valid unless OFF */
    uint64_t when, period;
    enum timer_state state;
    uint32_t fork_count;    /* of the process that started it */
    enum timer_again again; /* at the end of its job, if that RUNS */
    struct stopper *stoppers;
    struct weft__timed *next, *prev; /* in the pool's list, while it is SET */
};

_Static_assert(sizeof(struct weft__timed) <= sizeof(weft_timer), "weft_timer is too small");

static struct weft__timed *timed_of(weft_timer *timer)
{
    return (struct weft__timed *)(void *)timer;
}

/* ---- Under the lock ---- */

static void list(struct weft__timed *timer)
{
    struct weft__alarms *alarms = &timer->pool->alarms;
    timer->prev = NULL;
    timer->next = alarms->timers;
    if (timer->next)
        timer->next->prev = timer;
    alarms->timers = timer;
    atomic_fetch_add_relaxed(&alarms->timers_set, 1); /* relaxed: a hint */
}

static void unlist(struct weft__timed *timer)
{
    struct weft__alarms *alarms = &timer->pool->alarms;
    if (timer->prev)
        timer->prev->next = timer->next;
    else
        alarms->timers = timer->next;
    if (timer->next)
        timer->next->prev = timer->prev;
    atomic_fetch_sub_acq_rel(&alarms->timers_set, 1); /* release Z6: its job is in the injector */
}

/* By the thread for alarms. Either the pool is not closed, or the thread that destroys it has not
 * left it yet, and waits for the lock: so it can be held. */
static void timer_is_due(struct weft__alarm *alarm)
{
    struct weft__timed *timer = (struct weft__timed *)alarm;
    struct weft_pool *pool = timer->pool;
    timer->state = TIMER_QUEUED;
    weft__alarm_expect(pool, true);
    weft__pool_hold(pool);
    weft__queue_push(&pool->injector, &timer->node);
    weft__sleep_new_jobs(&pool->sleep, 1, false);
    unlist(timer); /* last: until then, the report of deadlocks takes it for set */
}

static int set(struct weft__timed *timer)
{
    struct weft_pool *pool = timer->pool;
    if (pool->alarms.closed)
        return -ESHUTDOWN;
    int error = weft__alarm_set_locked(pool, &timer->alarm, timer->when, timer_is_due);
    if (error)
        return error;
    timer->state = TIMER_SET;
    list(timer);
    return 0;
}

/* Periods that have passed already count as one. */
static void next_period(struct weft__timed *timer)
{
    uint64_t now = weft__clock_now(), period = timer->period;
    timer->when = period > UINT64_MAX - timer->when ? UINT64_MAX : timer->when + period;
    if (timer->when < now)
        timer->when += (now - timer->when) / period * period;
}

static void job_is_over(struct weft__timed *timer)
{
    struct weft_pool *pool = timer->pool;
    struct stopper *stopper = timer->stoppers;
    timer->stoppers = NULL;
    timer->state = TIMER_OFF;
    if (timer->again == AGAIN_LATER)
        next_period(timer);
    if (timer->again != AGAIN_NOT)
        (void)set(timer); /* its thread is there; if the pool is closed, it stays OFF */
    weft__alarm_expect(pool, false);
    while (stopper) {
        struct stopper *next = stopper->next;
        weft__spin_latch_set(&stopper->latch); /* last touch of the stopper */
        stopper = next;
    }
}

/* ---- The job ---- */

static void execute_timer(weft *w, struct weft__job *job)
{
    struct weft__timed *timer =
        (struct weft__timed *)((char *)job - offsetof(struct weft__timed, node));
    struct weft_pool *pool = weft__worker_of(w)->pool;
    weft__alarms_lock();
    bool stopped = timer->stoppers;
    timer->state = TIMER_RUNS;
    timer->again = !stopped && timer->period ? AGAIN_LATER : AGAIN_NOT;
    weft__group_begin(&timer->group, NULL);
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    weft__alarms_unlock();
    if (!stopped)
        weft__call_whole(w, fn, arg, &timer->group);
    weft__alarms_lock();
    job_is_over(timer);
    weft__alarms_unlock(); /* last touch of the timer */
    weft__pool_leave(pool);
}

/* ---- Start ---- */

static int start(struct weft__timed *timer, struct weft_pool *pool, const struct weft__timed *as)
{
    bool own = timer->state != TIMER_OFF && timer->fork_count == pool->fork_count;
    if (own && timer->state == TIMER_RUNS && timer->pool == pool && timer->again == AGAIN_NOT &&
        !timer->stoppers) {
        timer->node.job = as->node.job;
        timer->when = as->when;
        timer->period = as->period;
        timer->again = AGAIN_ANEW;
        return pool->alarms.closed ? -ESHUTDOWN : 0;
    }
    if (own)
        return -EBUSY;
    *timer = *as;
    return set(timer);
}

/* The library's own copy of what weft/timer.h puts in place. */
extern int weft_timer_start(weft_pool *pool, weft_timer *timer, uint64_t when, uint64_t period,
                            weft_fn *fn, void *arg);

int weft_timer_start_(weft_pool *pool, weft_timer *timer, uint64_t when, uint64_t period,
                      weft_fn *fn, void *arg, unsigned layout)
{
    weft__expect_layout(layout, "weft_timer_start");
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!timer || !fn)
        return -EINVAL;
    int error = weft__pool_enter_threads(&pool);
    if (error)
        return error;
    struct weft__timed as = {
        .node.job = {.fn = fn, .arg = arg, .execute = execute_timer},
        .pool = pool,
        .when = when,
        .period = period,
        .fork_count = pool->fork_count,
    };
    weft__alarms_lock();
    error = start(timed_of(timer), pool, &as);
    weft__alarms_unlock();
    weft__pool_leave(pool);
    return error;
}

/* ---- Stop ---- */

/* Is the caller a part of the timer's job? */
static bool is_part(const struct weft__timed *timer)
{
    struct weft__worker *me = weft__worker_current();
    struct weft__group *group = me ? weft__context_now(me)->group : NULL;
    while (group && group != &timer->group)
        group = group->parent;
    return group;
}

/* Does the timer's job run below the caller on the same stack? */
static bool is_above(const struct weft__timed *timer)
{
    struct weft__worker *me = weft__fiber_here() ? NULL : weft__worker_innermost();
    for (; me; me = me->host)
        for (const struct weft__frame *frame = me->frame; frame; frame = frame->outer)
            if (frame->group == &timer->group)
                return true;
    return false;
}

/* The job waits in the injector, or has begun. True: no thread has begun it, and none will. */
static bool take_job(struct weft__timed *timer)
{
    struct weft_pool *pool = timer->pool;
    if (timer->state != TIMER_QUEUED || !weft__node_claim(&timer->node))
        return false;
    weft__queue_remove(&pool->injector, &timer->node);
    timer->state = TIMER_OFF;
    weft__alarm_expect(pool, false);
    return true;
}

/* Has the lock, and drops it. */
static int wait_for_job(struct weft__timed *timer)
{
    struct stopper stopper = {.next = timer->stoppers, .latch.owner = weft__thread_park()};
    struct weft__awaited awaited = {.what = "waits for the job of a timer",
                                    .elsewhere = weft__is_elsewhere(timer->pool)};
    if (!stopper.latch.owner) {
        timer->again = AGAIN_NOT;
        timer->period = 0;
        weft__alarms_unlock();
        return -ENOMEM;
    }
    timer->stoppers = &stopper;
    timer->again = AGAIN_NOT;
    weft__alarms_unlock();
    weft__wait_anywhere(&stopper.latch, awaited);
    weft__thread_unpark(stopper.latch.owner);
    return 0;
}

int weft_timer_stop(weft_timer *public)
{
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!public)
        return -EINVAL;
    struct weft__timed *timer = timed_of(public);
    weft__fiber_expect_room();
    weft__alarms_lock();
    struct weft_pool *left = NULL;
    int error = 0;
    if (timer->state != TIMER_OFF && timer->fork_count != weft__fork_count()) {
        timer->state = TIMER_OFF; /* in a forked child: it is the parent's */
    } else if (timer->state == TIMER_SET) {
        weft__alarm_take_back_locked(&timer->alarm);
        unlist(timer);
        timer->state = TIMER_OFF;
    } else if (timer->state != TIMER_OFF && take_job(timer)) {
        left = timer->pool;
    } else if (timer->state == TIMER_RUNS && (is_part(timer) || is_above(timer))) {
        error = is_part(timer) ? 0 : -EDEADLK;
        timer->again = AGAIN_NOT;
    } else if (timer->state != TIMER_OFF) {
        return wait_for_job(timer);
    }
    weft__alarms_unlock();
    if (left)
        weft__pool_leave(left); /* the hold of the job */
    return error;
}

/* ---- The pool ---- */

void weft__timers_close(struct weft_pool *pool)
{
    struct weft__alarms *alarms = &pool->alarms;
    struct weft__timed *timer;
    weft__alarms_lock();
    alarms->closed = true;
    while ((timer = alarms->timers)) {
        weft__alarm_take_back_locked(&timer->alarm);
        unlist(timer);
        timer->state = TIMER_OFF;
    }
    weft__alarms_unlock();
}

bool weft__timers_are_set(struct weft_pool *pool)
{
    return atomic_load_acquire(&pool->alarms.timers_set) > 0; /* acquire Z6 */
}
