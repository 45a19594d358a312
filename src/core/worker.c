/* SPDX-License-Identifier: MIT */
#include "core/worker.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/spawn.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "os/overflow.h"
#include "os/thread.h"

#include <pthread.h>

enum { DEQUE_CAPACITY = 256 };

static _Thread_local struct weft__worker *innermost; /* the innermost worker that this thread is */
_Thread_local struct weft__worker *weft__current
    WEFT__TLS_FAST; /* the worker whose job runs: `innermost`, or one of its hosts */

/* ---- Threads that end as workers ----
 *
 * A job's pthread_exit is noticed where the unwinder passes the library's frames (misuse.h). But
 * the unwinder does not get there through code that was compiled without unwind tables. So a thread
 * looks once more when it ends: it must not be in a job, nor be the thread of a worker or spare. */

static pthread_key_t ends;
static bool have_ends;

static void thread_ends(void *unused)
{
    (void)unused;
    if (innermost && innermost->fiber)
        weft__actor_threw();
    if (innermost &&
        (innermost->frame || innermost->kind == WORKER_THREAD || innermost->kind == WORKER_SPARE))
        weft__job_threw();
}

static void make_ends(void)
{
    have_ends = pthread_key_create(&ends, thread_ends) == 0;
}

/* Called when a worker is made, and not by its own thread: a child that is forked while another
 * thread is inside pthread_once() would find it half done. */
static void prepare_ends(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_ends);
}

static void watch_end(void)
{
    static _Thread_local bool watched;
    if (watched)
        return;
    watched = true;
    if (have_ends)
        pthread_setspecific(ends, &innermost); /* any address will do but NULL */
}

/* Until a thread comes it is outside. */
static void open_counts(struct weft__worker *worker)
{
    struct weft__counts *counts = weft__stats_take(WEFT_STATS_WORKERS);
    worker->counts = counts ? counts : &worker->own_counts;
    weft__stats_out(&worker->counts->phases);
    if (!counts)
        return;
    /* relaxed, all: for other processes, which see the id last. */
    atomic_store_relaxed(&counts->address, (uintptr_t)worker);
    atomic_store_relaxed(&counts->pool, (uintptr_t)worker->pool);
    atomic_store_relaxed(&counts->index, worker->index);
    atomic_store_relaxed(&counts->kind, worker->kind);
    weft__stats_show(&counts->id);
}

static void close_counts(struct weft__worker *worker)
{
    weft__stats_give(WEFT_STATS_WORKERS,
                     worker->counts == &worker->own_counts ? NULL : worker->counts);
}

struct weft__worker *weft__worker_make(struct weft_pool *pool, unsigned index,
                                       enum worker_kind kind)
{
    struct weft__worker *worker = weft__alloc(sizeof *worker);
    if (!worker)
        return NULL;
    prepare_ends();
    worker->pool = pool;
    worker->index = index;
    worker->kind = kind;
    worker->random = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (weft__deque_init(&worker->deque, DEQUE_CAPACITY))
        goto no_deque;
    worker->deque.flagged = pool->config.sleep == WEFT_SLEEP_TICKLE_FLAG;
    int64_t quantum = pool->config.quantum;
    worker->context = weft__context_make(worker, pool->config.fork == WEFT_FORK_EAGER,
                                         quantum == WEFT_NONE ? 0 : (uint64_t)quantum);
    if (!worker->context)
        goto no_context;
    worker->context->taker = worker->context->eager ? 0 : weft__taker_of(worker);
    if (weft__pile_init(&worker->pile, worker->context))
        goto no_pile;
    worker->park = worker->own_park = weft__park_get();
    if (!worker->park)
        goto no_park;
    worker->park->census = &pool->census;
    worker->stop.owner = worker->park;
    open_counts(worker);
    return worker;

no_park:
    weft__pile_destroy(&worker->pile);
no_pile:
    weft__context_free(worker->context);
no_context:
    weft__deque_destroy(&worker->deque);
no_deque:
    weft__free(worker);
    return NULL;
}

void weft__worker_free(struct weft__worker *worker)
{
    for (int size = 0; size < STOCK_SIZES; size++)
        weft__stock_free(&worker->stocks[size]);
    weft__park_put(worker->own_park);
    weft__pile_destroy(&worker->pile);
    weft__context_free(worker->context);
    weft__deque_destroy(&worker->deque);
    close_counts(worker);
    weft__free(worker);
}

struct weft__worker *weft__worker_current(void)
{
    return weft__current;
}

uintptr_t weft__thread_serial(void)
{
    static _Thread_local uintptr_t number WEFT__TLS_FAST;
    static struct atomic_uptr last;
    if (number == 0)
        number = atomic_fetch_add_relaxed(&last, 1) + 1; /* relaxed: the numbers differ anyway */
    return number;
}

static _Thread_local unsigned held_outside; /* how many mutexes it locked while it was no worker */

void weft__note_held_outside(int change)
{
    held_outside += (unsigned)change;
}

bool weft__caller_is_careful(void)
{
    struct weft__worker *me = weft__current;
    if (!me)
        return held_outside > 0;
    return me->fiber ? me->fiber->mutexes > 0 : weft__is_careful(me);
}

struct weft__worker *weft__worker_innermost(void)
{
    return innermost;
}

struct weft__worker *weft__worker_in(const struct weft_pool *pool)
{
    struct weft__worker *worker = innermost;
    while (worker && worker->pool != pool)
        worker = worker->host;
    return worker;
}

static bool on_own_stack(const struct weft__worker *me, const char *frame)
{
    return frame >= me->stack.low && frame < me->stack.high;
}

/* Half of the stack, if the program chose its size. A default stack is large for single jobs that
 * need much, not for many jobs on top of each other, which would all wait for the last one. */
static ptrdiff_t help_most(const struct weft__worker *me)
{
    enum { MOST_BY_DEFAULT = 4 << 20 };
    ptrdiff_t half = (me->stack.high - me->stack.low) / 2;
    bool by_default = (me->kind == WORKER_THREAD || me->kind == WORKER_SPARE) &&
                      me->pool->config.stack_size == 0 && !me->pool->config.spawn_thread;
    return by_default && half > MOST_BY_DEFAULT ? MOST_BY_DEFAULT : half;
}

void weft__worker_push(struct weft__worker *worker, const char *entry)
{
    watch_end();
    worker->stack = weft__thread_stack();
    if ((worker->kind == WORKER_THREAD || worker->kind == WORKER_SPARE) &&
        on_own_stack(worker, entry))
        worker->stack.high = entry; /* what lies above is the C library's: thread-local data */
    bool visitor = worker->kind == WORKER_GUEST || worker->kind == WORKER_CALLER;
    if (visitor && !(worker->pool->config.flags & WEFT_NO_SIGSEGV))
        weft__overflow_visit(worker->stack.low, worker->stack.high);
    worker->help_most = help_most(worker);
    atomic_store_relaxed(&worker->counts->thread, weft__thread_number()); /* relaxed: a hint */
    weft__state_since_unknown(worker);
    if (worker->kind != WORKER_CALLER)
        weft__stats_in(&worker->counts->phases);
    uintptr_t serial = visitor && !innermost ? weft__thread_serial() : 0;
    weft__stats_note(&worker->counts->visitor, serial ? weft__mutex_name(serial) : 0);
    /* relaxed: a hint; or the reader finds all threads at rest (Z1). */
    atomic_store_relaxed(&worker->visitor, serial);
    worker->host = innermost;
    worker->above = NULL;
    if (innermost)
        innermost->above = worker;
    worker->outer = weft__current;
    innermost = weft__current = worker;
}

unsigned weft__worker_nested(void)
{
    struct weft__worker *me = weft__current;
    return me && me->frame ? me->frame->depth + 1 : 0;
}

void weft__worker_forked(void)
{
    innermost = weft__current = NULL;
}

void weft__worker_remove(struct weft__worker *worker)
{
    weft__stats_note(&worker->counts->visitor, 0);
    atomic_store_relaxed(&worker->visitor, 0); /* relaxed: as before */
    if (innermost == worker) {
        innermost = worker->host;
        if (innermost)
            innermost->above = NULL;
        weft__current = worker->outer;
    } else if (weft__current ==
               worker) { /* a job that forked the process comes back in the child */
        weft__current = NULL;
    }
}

/* The record of the innermost job lies in the frame of weft__execute_untold(). If the stack does
 * not reach that frame any more, or the record was overwritten, the job's frames are gone although
 * it never returned. */
void weft__worker_check_abandoned(const char *frame)
{
    struct weft__worker *me = weft__current;
    const struct weft__frame *record = me ? me->frame : NULL;
    if (record && record->self != record)
        weft__fatal("a job was left by longjmp or an exception; jobs must return");
    const char *job = record ? record->address : NULL;
    if (me && me->fiber && on_own_stack(me, frame))
        weft__fatal("an actor was left by longjmp; actors must return");
    if (job && on_own_stack(me, job) && on_own_stack(me, frame) && frame > job)
        weft__fatal("a job was left by longjmp or an exception; jobs must return");
}

bool weft__may_help(const struct weft__worker *me)
{
    const char *frame = __builtin_frame_address(0);
    return on_own_stack(me, frame) && me->stack.high - frame < me->help_most;
}

void weft__worker_is_outside(struct weft__worker *worker)
{
    weft__state_is(worker, WORKER_OUTSIDE);
    weft__stats_out(&worker->counts->phases);
}

void weft__worker_caller_in(struct weft__worker *me)
{
    weft__census_enter(&me->pool->census);
    weft__block_let_report(me->pool);
    weft__state_since_unknown(me);
    weft__stats_in(&me->counts->phases);
    atomic_store_relaxed(&me->counts->cpu, weft__thread_cpu()); /* relaxed: a hint */
    weft__sleep_present(&me->pool->sleep);
}

void weft__worker_caller_out(struct weft__worker *me)
{
    if (weft__pool_is_forked(me->pool))
        return; /* what is left is the parent's */
    weft__worker_spill(me);
    weft__worker_is_outside(me);
    weft__sleep_absent(&me->pool->sleep);
    weft__pool_has_room(me->pool);
    weft__census_leave(&me->pool->census);
}

int weft__post_spawn(struct weft__worker *worker, struct weft__job *job)
{
    int error = weft__deque_push(&worker->deque, job);
    if (!error)
        weft__sleep_new_jobs(&worker->pool->sleep, 1, false);
    return error;
}

void weft__worker_spill(struct weft__worker *worker)
{
    struct weft__job *job;
    unsigned moved = 0;
    while ((job = weft__worker_pop(worker))) {
        weft__queue_push(&worker->pool->injector, weft__spawn_node(job));
        moved++;
    }
    if (moved)
        weft__sleep_new_jobs(&worker->pool->sleep, moved, true);
}
