/* SPDX-License-Identifier: MIT */
#include "core/pool.h"

#include "core/config.h"
#include "core/default.h"
#include "core/fiber.h"
#include "core/limit.h"
#include "core/search.h"
#include "core/task.h"
#include "core/threads.h"
#include "core/timer.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/membarrier.h"
#include "os/memory.h"
#include "os/overflow.h"
#include "os/sanitize.h"
#include "os/topology.h"
#include "os/trace.h"
#include "os/unload.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* In a forked child. */
static void forget_parent(void)
{
    weft__worker_forked();
    weft__default_forked();
    weft__park_forked();
    weft__tasks_forked();
    weft__limits_forked();
    weft__alarms_forked();
    weft__roster_forked();
    weft__stats_forked();
    atomic_store_relaxed(&weft__fiber_wakers, 0); /* threads that counted there do not exist here */
}

static int fork_watch_error;

static void start_fork_watch(void)
{
    fork_watch_error = weft__fork_watch(forget_parent);
    weft__trace_from_environment();
}

static int watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_fork_watch);
    return fork_watch_error;
}

/* ---- Coming in and leaving ---- */

void weft__pool_hold(struct weft_pool *pool)
{
    atomic_fetch_add_relaxed(&pool->pending, 1); /* relaxed: the pool is held already */
}

/* The modification order of `pending` decides between this and destroy. Nothing else of the pool is
 * read before. */
int weft__pool_enter_known(struct weft_pool *pool)
{
    uint32_t pending = atomic_load_relaxed(&pool->pending); /* relaxed: the exchange decides */
    do {
        if (pending & POOL_CLOSED)
            return -ESHUTDOWN;
        /* acquire Y2: the pool is made; another default pool may have been in this memory. */
    } while (!atomic_cas_acquire(&pool->pending, &pending, pending + 1));
    if (!weft__pool_is_forked(pool))
        return 0;
    atomic_fetch_sub_relaxed(&pool->pending, 1); /* relaxed: no other thread is here */
    return -ECHILD;
}

int weft__pool_enter(struct weft_pool **pool)
{
    if (*pool)
        return weft__pool_enter_known(*pool);
    int error;
    do {
        *pool = weft_pool_default();
        error = *pool ? weft__pool_enter_known(*pool) : -ENOMEM;
    } while (error == -ESHUTDOWN); /* it was destroyed meanwhile */
    return error;
}

void weft__pool_leave(struct weft_pool *pool)
{
    /* acq_rel X1: what was done in the pool happens before its end. Last touch, unless this is the
     * last thread to leave: destroy waits for that thread. */
    if (atomic_fetch_sub_acq_rel(&pool->pending, 1) == (POOL_CLOSED | 1))
        weft__spin_latch_set(pool->drained);
}

/* ---- Create and destroy ---- */

/* In the statistics page. relaxed, all: for other processes, which see the id last. */
static void show(struct weft_pool *pool)
{
    weft__stats_prepare();
    struct weft__shown *shown = pool->shown = weft__stats_take(WEFT_STATS_POOLS);
    pool->is_shown = true;
    if (!shown)
        return;
    memcpy(shown->name, pool->name, sizeof shown->name);
    atomic_store_relaxed(&shown->address, (uintptr_t)pool);
    atomic_store_relaxed(&shown->made, weft__clock_now());
    atomic_store_relaxed(&shown->workers, pool->config.workers);
    pool->injector.shown = weft__stats_number(shown);
    weft__stats_show(&shown->id);
}

static void hide(struct weft_pool *pool)
{
    if (pool->is_shown)
        weft__stats_give(WEFT_STATS_POOLS, pool->shown);
}

static void release(struct weft_pool *pool)
{
    weft__roster_remove(&pool->listed);
    hide(pool);
    weft__guests_free(pool);
    for (unsigned i = 0; pool->workers && i < pool->config.workers; i++)
        if (pool->workers[i])
            weft__worker_free(pool->workers[i]);
    weft__free(pool->workers);
    for (int size = 0; size < STOCK_SIZES; size++)
        weft__depot_free(&pool->depots[size]);
    weft__spares_free(pool);
    weft__sleep_destroy(&pool->sleep);
    weft__cpus_free(&pool->homes);
    if (pool->is_default)
        weft__default_release(pool);
    else
        weft__free(pool);
}

/* The index of the first worker's home: the pools of a process should not all begin with the same
 * CPU. */
static unsigned first_home(unsigned workers)
{
    static struct atomic_u32 next;
    return atomic_fetch_add_relaxed(&next, workers); /* relaxed: any spread will do */
}

static int make_workers(struct weft_pool *pool)
{
    unsigned n = pool->config.workers;
    unsigned home = first_home(n);
    for (unsigned i = 0; i < n; i++) {
        bool caller = i == 0 && (pool->config.flags & WEFT_USE_CALLER);
        struct weft__worker *worker =
            weft__worker_make(pool, i, caller ? WORKER_CALLER : WORKER_THREAD);
        if (!worker)
            return -ENOMEM;
        pool->workers[i] = worker;
        worker->home = pool->homes.ids[(home + i) % pool->homes.count];
        if (pool->config.pin == WEFT_PIN_ASLEEP && !caller && pool->homes.count > 1)
            atomic_store_relaxed(&worker->park->cpu, worker->home); /* relaxed: E3 publishes it */
        weft__sleep_place(&pool->sleep, i, worker->park);
    }
    return 0;
}

static struct weft_pool *pool_of(struct weft__sleep *sleep)
{
    return (struct weft_pool *)((char *)sleep - offsetof(struct weft_pool, sleep));
}

static void call_spare(struct weft__sleep *sleep)
{
    weft__spare_call(pool_of(sleep));
}

static bool holds_work(struct weft__sleep *sleep)
{
    return weft__pool_holds_work(pool_of(sleep));
}

static bool holds_injected(struct weft__sleep *sleep)
{
    return weft__queue_length(&pool_of(sleep)->injector) > 0;
}

static void every_second(struct weft__sleep *sleep)
{
    weft__guests_trim(pool_of(sleep));
}

static bool used_cpus(struct weft__sleep *sleep, struct weft__used_cpus *used)
{
    return weft__pool_used_cpus(pool_of(sleep), used);
}

static void take_possible_road(struct weft_pool *pool)
{
    if (pool->config.fork != WEFT_FORK_LAZY)
        return;
    if (weft__tsan_is_outside())
        pool->why_eager = "eager (ThreadSanitizer)";
    else if (!weft__membarrier_init())
        pool->why_eager = "eager (no membarrier)";
    if (pool->why_eager)
        pool->config.fork = WEFT_FORK_EAGER;
}

static void make_do_with(struct weft_pool *pool, unsigned threads)
{
    if (threads < pool->config.workers)
        pool->config.workers = threads ? threads : 1;
    pool->threadless = threads == 0;
    if (pool->threadless)
        pool->config.spares = WEFT_NONE;
}

/* All but its threads. */
static int prepare(struct weft_pool *pool, const weft_config *config, unsigned threads)
{
    weft__keep_loaded();
    int error = watch_forks();
    if (!error)
        error = weft__cpus_allowed(&pool->homes);
    if (!error)
        error = weft__config_complete(&pool->config, config, pool->homes.count);
    if (error)
        return error;
    make_do_with(pool, threads);
    snprintf(pool->name, sizeof pool->name, "%s", pool->config.name);
    pool->config.name = pool->name; /* the caller's may go away */
    bool caller = pool->config.flags & WEFT_USE_CALLER;
    if (caller && weft__worker_innermost())
        return -EBUSY;
    show(pool);
    unsigned n = pool->config.workers;
    unsigned rounds = pool->config.spin_rounds > 0 ? (unsigned)pool->config.spin_rounds : 0;
    pool->fork_count = weft__fork_count();
    take_possible_road(pool);
    pool->census.all_rest = weft__block_all_rest;
    error = weft__spares_init(pool);
    if (error)
        return error;
    error = weft__sleep_init(&pool->sleep, pool->config.sleep, n, n + pool->spares.most, rounds,
                             WEFT__JEC_BITS);
    if (error)
        return error;
    for (unsigned i = 0; i < n; i++) /* until its thread runs, or the caller comes */
        weft__sleep_absent(&pool->sleep);
    if (pool->spares.most > 0)
        pool->sleep.call_spare = call_spare;
    pool->sleep.holds_work = holds_work;
    pool->sleep.holds_injected = holds_injected;
    pool->sleep.used_cpus = used_cpus;
    pool->sleep.cpus = &pool->homes;
    pool->sleep.every_second = every_second;
    pool->workers = weft__alloc(n * sizeof pool->workers[0]);
    return pool->workers ? make_workers(pool) : -ENOMEM;
}

int weft__pool_make(struct weft_pool *pool, const weft_config *config, unsigned *threads)
{
    int error = prepare(pool, config, *threads);
    if (!error) {
        weft__roster_add(&pool->listed);
        if (!(pool->config.flags & WEFT_NO_SIGSEGV))
            weft__overflow_watch(weft__worker_nested);
        error = pool->threadless ? 0 : weft__threads_start(pool, threads);
    }
    if (error)
        release(pool);
    return error;
}

int weft_pool_create(weft_pool **out, const weft_config *config)
{
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!out)
        return -EINVAL;
    *out = NULL;
    struct weft_pool *pool = weft__alloc(sizeof *pool);
    if (!pool)
        return -ENOMEM;
    unsigned threads = UINT_MAX;
    int error = weft__pool_make(pool, config, &threads);
    if (!error)
        *out = pool;
    return error;
}

/* Is the caller inside the pool, so that the pool has frames below it on the stack? */
static bool stands_in(struct weft_pool *pool)
{
    struct weft__worker *me = weft__worker_in(pool);
    return me && (me->kind != WORKER_CALLER || me->frame || me != weft__worker_innermost());
}

/* A pool made with WEFT_USE_CALLER is destroyed by the thread that made it, and by no other. */
static bool is_anothers(struct weft_pool *pool)
{
    return pool->config.flags & WEFT_USE_CALLER && !weft__worker_in(pool);
}

/* The caller has entered the pool. Of several threads that try, one goes on and the others
 * leave. */
static int close_pool(struct weft_pool *pool, struct weft__spin_latch *drained)
{
    bool others = false;
    if (is_anothers(pool))
        return -EPERM;
    if (!drained->owner)
        return -ENOMEM;
    if (!atomic_cas_relaxed(&pool->closing, &others, true)) /* relaxed: it publishes nothing */
        return -ESHUTDOWN;
    pool->drained = drained;
    weft__default_forget(pool);
    /* acq_rel X1: nothing gets in from here on, and the last thread to leave sees the latch. */
    atomic_fetch_or_acq_rel(&pool->pending, POOL_CLOSED);
    return 0;
}

/* The pool is closed, and the caller has not left it yet. */
static void wind_up(struct weft_pool *pool, struct weft__spin_latch *drained)
{
    weft__timers_close(pool);
    weft__lock_take(&pool->actors_lock); /* none are made from here on */
    struct weft__actors *actors = atomic_load_relaxed(&pool->actors); /* relaxed: the lock */
    weft__lock_drop(&pool->actors_lock);
    if (actors)
        pool->actors_close(actors);
    /* acq_rel X1: as weft__pool_leave(), but if this thread is the last to leave, there is no
     * thread to wake. */
    if (atomic_fetch_sub_acq_rel(&pool->pending, 1) != (POOL_CLOSED | 1))
        weft__wait_anywhere(drained, (struct weft__awaited){.what = "destroys the pool",
                                                            .elsewhere = weft__is_elsewhere(pool)});
    weft__threads_stop(pool);
    weft__alarms_stop(pool);
    if (actors)
        pool->actors_free(actors);
}

int weft_pool_destroy(weft_pool *pool)
{
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!pool)
        return -EINVAL;
    if (stands_in(pool))
        return weft__pool_is_forked(pool) ? -ECHILD : -EDEADLK;
    int error = weft__pool_enter_known(pool); /* it may be a destroyed default pool */
    if (error)
        return error;
    struct weft__spin_latch drained = {.owner = weft__thread_park()};
    error = close_pool(pool, &drained);
    if (!error)
        wind_up(pool, &drained);
    else
        weft__pool_leave(pool);
    if (drained.owner)
        weft__thread_unpark(drained.owner);
    if (error)
        return error;
    if (pool->config.flags & WEFT_USE_CALLER)
        weft__worker_remove(pool->workers[0]);
    release(pool);
    return 0;
}
