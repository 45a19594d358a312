/* SPDX-License-Identifier: MIT */
#include "core/pool.h"
#include "core/wait.h"

#include "core/fatal.h"
#include "core/fiber.h"
#include "core/guest.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/membarrier.h"
#include "os/memory.h"
#include "os/overflow.h"
#include "os/topology.h"

#include <errno.h>
#include <string.h>

static void forget_parent(void);

static int fork_watch_error;

static void start_fork_watch(void)
{
    fork_watch_error = weft__fork_watch(forget_parent);
}

static int watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_fork_watch);
    return fork_watch_error;
}

/* ---- Who may be in ---- */

void weft__pool_hold(struct weft_pool *pool)
{
    atomic_fetch_add_relaxed(&pool->pending, 1); /* relaxed: a hold of another's is there */
}

int weft__pool_enter(struct weft_pool *pool)
{
    if (weft__pool_is_forked(pool))
        return -ECHILD;
    /* relaxed, both: the word's own order decides between this and destroy. */
    uint32_t pending = atomic_load_relaxed(&pool->pending);
    do {
        if (pending & POOL_CLOSED)
            return -ESHUTDOWN;
    } while (!atomic_cas_relaxed(&pool->pending, &pending, pending + 1));
    return 0;
}

void weft__pool_leave(struct weft_pool *pool)
{
    /* acq_rel X1: what was done in the pool happens before its end. Last touch, unless it is
     * the last one to leave: that one destroy waits for. */
    if (atomic_fetch_sub_acq_rel(&pool->pending, 1) == (POOL_CLOSED | 1))
        weft__spin_latch_set(pool->drained);
}

/* ---- Worker threads ---- */

static void left_by_exit(void *p)
{
    struct weft__worker *worker = p;
    weft__fatal("a job ended the thread of worker %u with pthread_exit or threw an exception; "
                "jobs must return",
                worker->index);
}

static void work(struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    const weft_config *config = &pool->config;
    weft__thread_enter(config->name, worker->index, !(config->flags & WEFT_NO_SIGSEGV));
    if (config->pin == WEFT_PIN_ALWAYS)
        weft__thread_pin(worker->home);
    weft__worker_push(worker, __builtin_frame_address(0));
    if (config->on_start)
        config->on_start(pool, worker->index, config->data);
    pthread_cleanup_push(left_by_exit, worker);
    if (worker->kind == WORKER_SPARE)
        weft__spare_loop(worker);
    else
        weft__worker_loop(worker);
    pthread_cleanup_pop(0);
    if (config->on_exit)
        config->on_exit(pool, worker->index, config->data);
    weft__worker_remove(worker);
    weft__thread_leave();
}

static void run_worker(void *p)
{
    struct weft__worker *worker = p;
    struct weft_pool *pool = worker->pool;
    work(worker);
    bool counted = worker->counted;
    if (worker->kind == WORKER_SPARE)
        weft__guest_put(worker);
    else
        weft__census_leave(&pool->census);
    /* acq_rel X2: all it did happens before the pool is freed. Last touch. */
    if (counted && atomic_fetch_sub_acq_rel(&pool->threads, 1) == 1)
        weft__futex_wake(&pool->threads, 1);
}

static void *run_own_thread(void *p)
{
    run_worker(p);
    return NULL;
}

int weft__worker_start(struct weft_pool *pool, struct weft__worker *worker)
{
    const weft_config *config = &pool->config;
    worker->counted = config->spawn_thread != NULL;
    if (!worker->counted)
        return weft__thread_start(&worker->thread, config->stack_size, run_own_thread, worker);
    atomic_fetch_add_relaxed(&pool->threads, 1); /* relaxed: before the thread is there */
    int error = config->spawn_thread(run_worker, worker, worker->index, config->data);
    if (error)
        atomic_fetch_sub_relaxed(&pool->threads, 1);
    return error > 0 ? -error : error;
}

/* The system may be short of threads for a moment only. */
static int start(struct weft_pool *pool, struct weft__worker *worker)
{
    enum { TRIES = 5, FIRST_WAIT_NS = 1000000 };
    int error = weft__worker_start(pool, worker);
    for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
        weft__clock_sleep((uint64_t)FIRST_WAIT_NS << i);
        error = weft__worker_start(pool, worker);
    }
    worker->started = error == 0;
    return error;
}

static void stop_all(struct weft_pool *pool)
{
    weft__spares_stop(pool);
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (pool->workers[i]->started && WEFT__FAULT(8))
            (void)weft__latch_set(&pool->workers[i]->stop.core);
        else if (pool->workers[i]->started)
            weft__spin_latch_set(&pool->workers[i]->stop);
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (pool->workers[i]->started && !pool->config.spawn_thread)
            pthread_join(pool->workers[i]->thread, NULL);
    uint32_t left;
    while ((left = atomic_load_acquire(&pool->threads)) > 0) /* acquire X2 */
        weft__futex_wait(&pool->threads, left);
}

/* ---- Create and destroy ---- */

static void release(struct weft_pool *pool)
{
    struct weft__worker *guest = atomic_load_relaxed(&pool->guests); /* nobody else is here */
    while (guest) {
        struct weft__worker *next = guest->next_guest;
        weft__worker_free(guest);
        guest = next;
    }
    for (unsigned i = 0; pool->workers && i < pool->config.workers; i++)
        if (pool->workers[i])
            weft__worker_free(pool->workers[i]);
    weft__free(pool->workers);
    weft__spares_free(pool);
    weft__sleep_destroy(&pool->sleep);
    weft__cpus_free(&pool->homes);
    weft__free(pool);
}

/* Which CPU the first worker of the next pool calls home: pools, and processes, should
 * not all begin at the same one. */
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
        weft__sleep_place(&pool->sleep, i, worker->park);
        worker->home = pool->homes.ids[(home + i) % pool->homes.count];
        if (pool->config.pin == WEFT_PIN_ASLEEP && !caller && pool->homes.count > 1)
            worker->park->cpu = worker->home;
    }
    return 0;
}

static int start_workers(struct weft_pool *pool)
{
    unsigned i = 0;
    if (pool->config.flags & WEFT_USE_CALLER)
        weft__worker_push(pool->workers[i++], __builtin_frame_address(0));
    for (; i < pool->config.workers; i++) {
        weft__census_enter(&pool->census);
        int error = start(pool, pool->workers[i]);
        if (error) {
            weft__census_leave(&pool->census);
            stop_all(pool);
            weft__worker_remove(pool->workers[0]); /* if it is this thread's */
            return error;
        }
    }
    return 0;
}

static void call_spare(struct weft__sleep *sleep)
{
    weft__spare_call((struct weft_pool *)((char *)sleep - offsetof(struct weft_pool, sleep)));
}

/* All but its threads. */
static int prepare(struct weft_pool *pool, const weft_config *config)
{
    int error = watch_forks();
    if (!error)
        error = weft__cpus_allowed(&pool->homes);
    if (!error)
        error = weft__config_complete(&pool->config, config, pool->homes.count);
    if (error)
        return error;
    snprintf(pool->name, sizeof pool->name, "%s", pool->config.name);
    pool->config.name = pool->name; /* the caller's may go away */
    bool caller = pool->config.flags & WEFT_USE_CALLER;
    if (caller && weft__worker_top())
        return -EBUSY;
    unsigned n = pool->config.workers;
    unsigned rounds = pool->config.spin_rounds > 0 ? (unsigned)pool->config.spin_rounds : 0;
    pool->fork_count = weft__fork_count();
    if (pool->config.fork == WEFT_FORK_LAZY && !weft__membarrier_init()) {
        pool->config.fork = WEFT_FORK_EAGER;
        pool->no_membarrier = true;
    }
    pool->census.all_rest = weft__block_all_rest;
    error = weft__spares_init(pool);
    if (error)
        return error;
    error = weft__sleep_init(&pool->sleep, pool->config.sleep, n, n + pool->spares.most, rounds,
                             WEFT__JEC_BITS);
    if (error)
        return error;
    if (caller)
        weft__sleep_absent(&pool->sleep);
    if (pool->config.fork == WEFT_FORK_LAZY)
        pool->sleep.doze = WEFT__DOZE_NS;
    if (pool->spares.most > 0)
        pool->sleep.call_spare = call_spare;
    pool->workers = weft__alloc(n * sizeof pool->workers[0]);
    return pool->workers ? make_workers(pool) : -ENOMEM;
}

int weft_pool_create(weft_pool **out, const weft_config *config)
{
    weft__worker_check_left(__builtin_frame_address(0));
    if (!out)
        return -EINVAL;
    *out = NULL;
    struct weft_pool *pool = weft__alloc(sizeof *pool);
    if (!pool)
        return -ENOMEM;
    int error = prepare(pool, config);
    if (!error) {
        if (!(pool->config.flags & WEFT_NO_SIGSEGV))
            weft__overflow_watch(weft__worker_explain);
        error = start_workers(pool);
    }
    if (error)
        release(pool);
    else
        *out = pool;
    return error;
}

static void default_forget(struct weft_pool *pool);

/* The caller of WEFT_USE_CALLER, and it alone, destroys its pool, when nothing of the pool
 * is below it on its stack. */
static int may_destroy(struct weft_pool *pool)
{
    if (weft__pool_is_forked(pool))
        return -ECHILD;
    struct weft__worker *me = weft__worker_in(pool);
    if (me && (me->kind != WORKER_CALLER || me->frame || me != weft__worker_top()))
        return -EDEADLK;
    return !me && (pool->config.flags & WEFT_USE_CALLER) ? -EPERM : 0;
}

int weft_pool_destroy(weft_pool *pool)
{
    weft__worker_check_left(__builtin_frame_address(0));
    if (!pool)
        return -EINVAL;
    int error = may_destroy(pool);
    if (error)
        return error;
    struct weft__spin_latch drained = {.owner = weft__thread_park()};
    if (!drained.owner)
        return -ENOMEM;
    bool others = false;
    if (!atomic_cas_relaxed(&pool->closing, &others, true)) { /* relaxed: one of them goes on */
        weft__thread_unpark(drained.owner);
        return -ESHUTDOWN;
    }
    pool->drained = &drained;
    /* acq_rel X1: nothing gets in from here on, and who leaves last sees the latch. */
    uint32_t pending = atomic_fetch_or_acq_rel(&pool->pending, POOL_CLOSED);
    default_forget(pool);
    weft__lock_take(&pool->actors_lock); /* nobody makes them from here on */
    struct weft__actors *actors = atomic_load_relaxed(&pool->actors); /* relaxed: the lock */
    weft__lock_drop(&pool->actors_lock);
    if (actors)
        pool->actors_close(actors);
    if (pending)
        weft__wait_anywhere(&drained);
    stop_all(pool);
    if (actors)
        pool->actors_free(actors);
    weft__thread_unpark(drained.owner);
    if (pool->config.flags & WEFT_USE_CALLER)
        weft__worker_remove(pool->workers[0]);
    release(pool);
    return 0;
}

/* ---- The default pool ---- */

static struct {
    struct weft__lock lock;
    struct atomic_ptr pool;
} standard;

weft_pool *weft_pool_default(void)
{
    struct weft_pool *pool = atomic_load_acquire(&standard.pool); /* acquire Y1 */
    if (pool)
        return pool;
    weft__lock_take(&standard.lock);
    pool = atomic_load_relaxed(&standard.pool); /* relaxed: under the lock */
    if (!pool && weft_pool_create(&pool, NULL) == 0)
        atomic_store_release(&standard.pool, pool); /* release Y1: the pool is made */
    weft__lock_drop(&standard.lock);
    return pool;
}

struct weft_pool *weft__pool_or_default(struct weft_pool *pool)
{
    return pool ? pool : weft_pool_default();
}

static void default_forget(struct weft_pool *pool)
{
    void *known = pool;
    atomic_cas_relaxed(&standard.pool, &known, NULL); /* relaxed: nothing follows it */
}

/* In a forked child: locks may be held by threads that are not here, and the parent's
 * default pool has no workers. What it occupied is left alone. */
static void forget_parent(void)
{
    weft__worker_forked();
    standard.lock = (struct weft__lock){0};
    atomic_store_relaxed(&standard.pool, NULL);
    weft__park_forked();
    atomic_store_relaxed(&weft__fiber_wakers, 0); /* who was about to wake one is not here */
}
