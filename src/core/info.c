/* SPDX-License-Identifier: MIT */
/* Questions about the context, the pool and its workers. */
#include "core/cancel.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/sized.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/membarrier.h"

#include <errno.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *weft_version(void)
{
    return STRING(WEFT_VERSION_MAJOR) "." STRING(WEFT_VERSION_MINOR) "." STRING(WEFT_VERSION_PATCH);
}

unsigned weft_version_number(void)
{
    return WEFT_VERSION;
}

weft *weft_here(void)
{
    struct weft__worker *me = weft__worker_current();
    if (me && !me->frame)
        return NULL; /* a worker, but not in a job */
    return me ? weft__context_top(weft__context_now(me)) : NULL;
}

weft_pool *weft_pool_of(weft *w)
{
    WEFT__EXPECT_OWN(w);
    return weft__worker_of(w)->pool;
}

unsigned weft_worker_index(weft *w)
{
    WEFT__EXPECT_OWN(w);
    return weft__is_fiber(w) ? weft__hook_index(w) : weft__worker_of(w)->index;
}

unsigned weft_pool_workers(const weft_pool *given)
{
    if (given)
        return given->config.workers;
    weft_pool *pool = NULL;
    if (weft__pool_enter(&pool))
        return 0;
    unsigned workers = pool->config.workers;
    weft__pool_leave(pool);
    return workers;
}

static inline bool yield(weft *w)
{
    return weft__is_fiber(w) ? weft__hook_yield(w) : weft__run_one(w);
}

static __attribute__((noinline)) bool yield_in_doubt(weft *w)
{
    weft__look_at_context(w, "weft_yield");
    return yield(w);
}

/* The call in doubt is a function of its own: the registers that it needs would cost each switch of
 * an actor ten instructions. */
bool weft_yield(weft *w)
{
    return weft__context_is_right(w) ? yield(w) : yield_in_doubt(w);
}

bool weft_has_pending(weft *w)
{
    WEFT__EXPECT_OWN(w);
    struct weft__context *context = weft__context_of(w);
    /* relaxed: a hint; on the eager road all forks are in the deque. */
    if (weft__is_fiber(w))
        return w > context->first && atomic_load_relaxed(&weft__slot_of(w - 1)->fn);
    bool forks = !context->eager && (weft *)atomic_load_relaxed(&context->oldest) < w;
    return forks || weft__worker_has_jobs(context->worker);
}

uint64_t weft_now(void)
{
    return weft__clock_now();
}

void weft_fail(weft *w, int code)
{
    WEFT__EXPECT_OWN(w);
    if (code)
        weft__fail(w, code);
}

bool weft_cancelled(weft *w)
{
    /* Asked often, and nearly always answered here. */
    if (weft__context_is_here(w) && !weft__group_alarm(weft__context_of(w)->group))
        return false;
    WEFT__EXPECT_OWN(w);
    return weft__is_cancelled_slow(w);
}

static const char *road_of(const struct weft_pool *pool)
{
    if (pool->config.fork == WEFT_FORK_LAZY)
        return weft__membarrier_is_gone() ? "eager (no membarrier)" : "lazy";
    return pool->why_eager ? pool->why_eager : "eager";
}

static unsigned threads_of(const struct weft_pool *pool)
{
    bool caller = pool->config.flags & WEFT_USE_CALLER;
    return pool->threadless ? 0 : pool->config.workers - caller;
}

static int get_info(struct weft_pool *pool, weft_pool_info *info)
{
    struct weft__resting resting = weft__sleep_resting(&pool->sleep);
    const weft_pool_info full = {
        .workers = pool->config.workers,
        .cpus = pool->homes.count,
        .idle = resting.idle,
        .sleeping = resting.sleeping,
        .guests = weft__sleep_guests(&pool->sleep),
        .queued = weft__queue_length(&pool->injector),
        .sleep = weft__sleep_name(pool->config.sleep),
        .fork = road_of(pool),
        .quantum = pool->config.quantum,
        .blocked = atomic_load_relaxed(&pool->blocking.count), /* relaxed, both: hints */
        .spares = weft__spares_active(pool),
        .threads = threads_of(pool),
    };
    return weft__sized_write(info, &full, sizeof full);
}

int weft_pool_get_info(weft_pool *pool, weft_pool_info *info)
{
    bool given = pool;
    int error = given ? 0 : weft__pool_enter(&pool);
    if (error)
        return error;
    error = get_info(pool, info);
    if (!given)
        weft__pool_leave(pool);
    return error;
}

/* relaxed, all below: counts that other threads write, read as hints. */

static int get_worker_info(struct weft_pool *pool, unsigned index, weft_worker_info *info)
{
    if (index >= pool->config.workers)
        return -EINVAL;
    struct weft__worker *worker = pool->workers[index];
    struct weft__counts *counts = worker->counts;
    bool ours = worker->started && !pool->config.spawn_thread;
    const weft_worker_info full = {
        .jobs = atomic_load_relaxed(&counts->jobs),
        .steals = atomic_load_relaxed(&counts->steals),
        .injected = atomic_load_relaxed(&counts->injected),
        .sleeps = atomic_load_relaxed(&counts->sleeps),
        .depth_max = atomic_load_relaxed(&counts->depth_max),
        .cpu_ns = ours ? weft__thread_cpu_time(worker->thread) : 0,
    };
    return weft__sized_write(info, &full, sizeof full);
}

int weft_worker_get_info(weft_pool *pool, unsigned index, weft_worker_info *info)
{
    bool given = pool;
    int error = given ? 0 : weft__pool_enter(&pool);
    if (error)
        return error;
    error = get_worker_info(pool, index, info);
    if (!given)
        weft__pool_leave(pool);
    return error;
}
