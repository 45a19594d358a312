/* SPDX-License-Identifier: MIT */
#include "core/pool.h"
#include "core/config.h"
#include "core/wait.h"

#include "core/fiber.h"
#include "core/search.h"
#include "core/task.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/membarrier.h"
#include "os/memory.h"
#include "os/overflow.h"
#include "os/sanitize.h"
#include "os/topology.h"
#include "os/unload.h"

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

/* The word's own order decides between this and destroy. Nothing else of the pool is looked at
 * before: it may be a default pool that is gone. */
static int enter(struct weft_pool *pool)
{
    uint32_t pending = atomic_load_relaxed(&pool->pending); /* relaxed: the exchange decides */
    do {
        if (pending & POOL_CLOSED)
            return -ESHUTDOWN;
        /* acquire Y2: the pool is made, if another one was there before. */
    } while (!atomic_cas_acquire(&pool->pending, &pending, pending + 1));
    if (!weft__pool_is_forked(pool))
        return 0;
    atomic_fetch_sub_relaxed(&pool->pending, 1); /* relaxed: nobody else is here */
    return -ECHILD;
}

int weft__pool_enter(struct weft_pool **pool)
{
    if (*pool)
        return enter(*pool);
    int error;
    do {
        *pool = weft_pool_default();
        error = *pool ? enter(*pool) : -ENOMEM;
    } while (error == -ESHUTDOWN); /* it has been destroyed meanwhile */
    return error;
}

void weft__pool_leave(struct weft_pool *pool)
{
    /* acq_rel X1: what was done in the pool happens before its end. Last touch, unless it is
     * the last one to leave: that one destroy waits for. */
    if (atomic_fetch_sub_acq_rel(&pool->pending, 1) == (POOL_CLOSED | 1))
        weft__spin_latch_set(pool->drained);
}

/* ---- Worker threads ---- */

static void work(struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    const weft_config *config = &pool->config;
    weft__thread_enter(config->name, worker->index, !(config->flags & WEFT_NO_SIGSEGV));
    if (config->pin == WEFT_PIN_ALWAYS)
        weft__thread_pin(worker->home);
    else
        weft__thread_unpin(); /* from where it was started */
    if (config->pin == WEFT_PIN_ASLEEP)
        weft__park_lend(worker->own_park);
    weft__worker_push(worker, __builtin_frame_address(0));
    if (config->on_start)
        config->on_start(pool, worker->index, config->data);
    if (worker->kind == WORKER_SPARE) {
        weft__spare_loop(worker);
    } else {
        weft__sleep_present(&pool->sleep);
        weft__worker_loop(worker);
    }
    if (config->on_exit)
        config->on_exit(pool, worker->index, config->data);
    weft__worker_remove(worker);
    weft__park_take_back(worker->own_park);
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

/* Who makes the pool goes on on its own CPU. */
static int first_cpu(const struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    if (pool->config.pin != WEFT_PIN_ASLEEP)
        return pool->config.pin == WEFT_PIN_ALWAYS ? worker->home : -1;
    struct weft__used_cpus used;
    if (!weft__pool_used_cpus(pool, &used))
        return -1;
    weft__cpu_take(&used, weft__thread_cpu());
    return weft__cpu_other(&used, &pool->homes, worker->home, CPU_LEFT);
}

int weft__worker_start(struct weft_pool *pool, struct weft__worker *worker)
{
    const weft_config *config = &pool->config;
    worker->counted = config->spawn_thread != NULL;
    if (!worker->counted)
        return weft__thread_start(&worker->thread, config->stack_size, first_cpu(worker),
                                  run_own_thread, worker);
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
        if (pool->workers[i]->started)
            weft__spin_latch_set(&pool->workers[i]->stop);
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (pool->workers[i]->started && !pool->config.spawn_thread)
            pthread_join(pool->workers[i]->thread, NULL);
    uint32_t left;
    while ((left = atomic_load_acquire(&pool->threads)) > 0) /* acquire X2 */
        weft__futex_wait(&pool->threads, left);
}

/* ---- Create and destroy ---- */

static void release_memory(struct weft_pool *pool);

static void release(struct weft_pool *pool)
{
    weft__guests_free(pool);
    for (unsigned i = 0; pool->workers && i < pool->config.workers; i++)
        if (pool->workers[i])
            weft__worker_free(pool->workers[i]);
    weft__free(pool->workers);
    weft__spares_free(pool);
    weft__sleep_destroy(&pool->sleep);
    weft__cpus_free(&pool->homes);
    release_memory(pool);
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
        worker->home = pool->homes.ids[(home + i) % pool->homes.count];
        if (pool->config.pin == WEFT_PIN_ASLEEP && !caller && pool->homes.count > 1)
            atomic_store_relaxed(&worker->park->cpu, worker->home); /* relaxed: E3 publishes it */
        weft__sleep_place(&pool->sleep, i, worker->park);
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

/* All but its threads. */
static int prepare(struct weft_pool *pool, const weft_config *config)
{
    weft__keep_loaded();
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

/* In memory that is zero, but for `pending`. */
static int create(struct weft_pool *pool, const weft_config *config)
{
    int error = prepare(pool, config);
    if (!error) {
        if (!(pool->config.flags & WEFT_NO_SIGSEGV))
            weft__overflow_watch(weft__worker_explain, weft__worker_nested);
        error = start_workers(pool);
    }
    if (error)
        release(pool);
    return error;
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
    int error = create(pool, config);
    if (!error)
        *out = pool;
    return error;
}

static void default_forget(struct weft_pool *pool);

/* Is something of the pool below the caller on its stack? */
static bool stands_in(struct weft_pool *pool)
{
    struct weft__worker *me = weft__worker_in(pool);
    return me && (me->kind != WORKER_CALLER || me->frame || me != weft__worker_top());
}

/* The caller of WEFT_USE_CALLER, and it alone, destroys its pool. */
static bool is_anothers(struct weft_pool *pool)
{
    return pool->config.flags & WEFT_USE_CALLER && !weft__worker_in(pool);
}

/* With a hold. Several may try: one of them goes on, the others leave. */
static int close_pool(struct weft_pool *pool, struct weft__spin_latch *drained)
{
    bool others = false;
    if (is_anothers(pool))
        return -EPERM;
    if (!drained->owner)
        return -ENOMEM;
    if (!atomic_cas_relaxed(&pool->closing, &others, true)) /* relaxed: that is all it says */
        return -ESHUTDOWN;
    pool->drained = drained;
    default_forget(pool);
    /* acq_rel X1: nothing gets in from here on, and who leaves last sees the latch. */
    atomic_fetch_or_acq_rel(&pool->pending, POOL_CLOSED);
    return 0;
}

/* Closed, and the caller's hold is still there. */
static void wind_up(struct weft_pool *pool, struct weft__spin_latch *drained)
{
    weft__lock_take(&pool->actors_lock); /* nobody makes them from here on */
    struct weft__actors *actors = atomic_load_relaxed(&pool->actors); /* relaxed: the lock */
    weft__lock_drop(&pool->actors_lock);
    if (actors)
        pool->actors_close(actors);
    /* acq_rel X1: as weft__pool_leave(), but the last one to leave has nobody to wake. */
    if (atomic_fetch_sub_acq_rel(&pool->pending, 1) != (POOL_CLOSED | 1))
        weft__wait_anywhere(drained, (struct weft__awaited){.what = "destroys the pool"});
    stop_all(pool);
    if (actors)
        pool->actors_free(actors);
}

int weft_pool_destroy(weft_pool *pool)
{
    weft__worker_check_left(__builtin_frame_address(0));
    if (!pool)
        return -EINVAL;
    if (stands_in(pool))
        return weft__pool_is_forked(pool) ? -ECHILD : -EDEADLK;
    int error = enter(pool); /* it may be a default pool that is gone */
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

/* ---- The default pool ---- */

/* Who uses it knows its address, and may come to it when somebody else has destroyed it. So its
 * memory is never freed, only used for the next one: there, too, `pending` says whether anybody may
 * come in, and nothing else is looked at before. */
static struct {
    struct weft__lock making; /* the next one */
    struct atomic_ptr pool;
    struct weft__lock lock;
    struct weft_pool *kept; /* memory of those that are gone; under the lock */
} standard;

static void release_memory(struct weft_pool *pool)
{
    if (!pool->is_default) {
        weft__free(pool);
        return;
    }
    weft__lock_take(&standard.lock);
    pool->next_kept = standard.kept;
    standard.kept = pool;
    weft__lock_drop(&standard.lock);
}

/* Zero, but for `pending`, which says that nobody may come in. */
static struct weft_pool *get_memory(void)
{
    weft__lock_take(&standard.lock);
    struct weft_pool *pool = standard.kept;
    if (pool)
        standard.kept = pool->next_kept;
    weft__lock_drop(&standard.lock);
    if (!pool) {
        pool = weft__alloc(sizeof *pool);
        if (pool)
            atomic_store_relaxed(&pool->pending, POOL_CLOSED); /* relaxed: Y1 publishes it */
        return pool;
    }
    char *before = (char *)pool, *after = (char *)(&pool->pending + 1);
    memset(before, 0, offsetof(struct weft_pool, pending));
    memset(after, 0, (size_t)(before + sizeof *pool - after));
    return pool;
}

static struct weft_pool *make_default(void)
{
    struct weft_pool *pool = get_memory();
    if (!pool)
        return NULL;
    pool->is_default = true;
    if (create(pool, NULL))
        return NULL;
    atomic_store_release(&pool->pending, 0); /* release Y2: open */
    return pool;
}

weft_pool *weft_pool_default(void)
{
    struct weft_pool *pool = atomic_load_acquire(&standard.pool); /* acquire Y1 */
    if (pool)
        return pool;
    weft__lock_take(&standard.making);
    pool = atomic_load_relaxed(&standard.pool); /* relaxed: under the lock */
    if (!pool && (pool = make_default()))
        atomic_store_release(&standard.pool, pool); /* release Y1: the pool is made */
    weft__lock_drop(&standard.making);
    return pool;
}

struct weft_pool *weft__pool_enter_default(void)
{
    struct weft_pool *pool = atomic_load_acquire(&standard.pool); /* acquire Y1 */
    return pool && !enter(pool) ? pool : NULL;
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
    standard.making = standard.lock = (struct weft__lock){0};
    atomic_store_relaxed(&standard.pool, NULL);
    weft__park_forked();
    weft__tasks_forked();
    atomic_store_relaxed(&weft__fiber_wakers, 0); /* who was about to wake one is not here */
}
