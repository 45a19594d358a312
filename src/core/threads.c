/* SPDX-License-Identifier: MIT */
#include "core/threads.h"

#include "core/pool.h"
#include "core/search.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/topology.h"

#include <errno.h>

static void work(struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    const weft_config *config = &pool->config;
    weft__thread_enter(config->name, worker->index, !(config->flags & WEFT_NO_SIGSEGV));
    if (config->pin == WEFT_PIN_ALWAYS)
        weft__thread_pin(worker->home);
    else
        weft__thread_unpin(); /* from the CPU where it was started: first_cpu() */
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
    /* acq_rel X2: all that this thread did happens before the pool is freed. Last touch. */
    if (counted && atomic_fetch_sub_acq_rel(&pool->threads, 1) == 1)
        weft__futex_wake(&pool->threads, 1);
}

static void *run_own_thread(void *p)
{
    run_worker(p);
    return NULL;
}

/* The CPU on which a thread is started. Not the CPU of the calling thread, which goes on there. */
static int first_cpu(const struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    if (pool->config.pin != WEFT_PIN_ASLEEP)
        return pool->config.pin == WEFT_PIN_ALWAYS ? worker->home : -1;
    struct weft__used_cpus used;
    if (!weft__pool_used_cpus(pool, &used))
        return -1;
    weft__cpu_take(&used, weft__thread_cpu());
    return weft__cpu_other(&used, &pool->homes, worker->home, CPU_RECENT);
}

int weft__worker_start(struct weft_pool *pool, struct weft__worker *worker)
{
    const weft_config *config = &pool->config;
    worker->counted = config->spawn_thread != NULL;
    if (!worker->counted)
        return weft__thread_start(&worker->thread, config->stack_size, first_cpu(worker),
                                  run_own_thread, worker);
    atomic_fetch_add_relaxed(&pool->threads, 1); /* relaxed: the thread does not exist yet */
    int error = config->spawn_thread(run_worker, worker, worker->index, config->data);
    if (error)
        atomic_fetch_sub_relaxed(&pool->threads, 1);
    return error > 0 ? -error : error;
}

/* If the system is short of threads, it may be so for a moment only: tries again a few times. */
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

void weft__threads_stop(struct weft_pool *pool)
{
    weft__spares_stop(pool);
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (pool->workers[i]->started)
            weft__spin_latch_set(&pool->workers[i]->stop);
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (pool->workers[i]->started && !pool->config.spawn_thread)
            pthread_join(pool->workers[i]->thread, NULL);
    uint32_t running;
    while ((running = atomic_load_acquire(&pool->threads)) > 0) /* acquire X2 */
        weft__futex_wait(&pool->threads, running);
}

int weft__threads_start(struct weft_pool *pool, unsigned *started)
{
    unsigned i = 0;
    if (pool->config.flags & WEFT_USE_CALLER)
        weft__worker_push(pool->workers[i++], __builtin_frame_address(0));
    for (; i < pool->config.workers; i++) {
        weft__census_enter(&pool->census);
        int error = start(pool, pool->workers[i]);
        if (error) {
            weft__census_leave(&pool->census);
            weft__threads_stop(pool);
            weft__worker_remove(pool->workers[0]); /* with WEFT_USE_CALLER; else without effect */
            *started = i;
            return error;
        }
    }
    return 0;
}
