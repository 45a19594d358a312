/* SPDX-License-Identifier: MIT */
/* blocking.h: for harnesses of what blocks: a pool whose workers are the harness's threads. */
#ifndef CHECK_BLOCKING_H
#define CHECK_BLOCKING_H

#include "core/pool.h"
#include "core/wait.h"
#include "harnesses.h"

static weft_pool *pool;
static enum weft_sleep sleep_protocol; /* of make_pool(), if a setup says so */

static inline int start_nobody(void (*run)(void *arg), void *arg, unsigned worker, void *data)
{
    return 0;
}

static inline void make_pool(unsigned workers, int spares, weft_deadlock_fn *deadlock)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.flags = WEFT_NO_SIGSEGV;
    config.fork = WEFT_FORK_EAGER;
    config.quantum = WEFT_NONE;
    config.spin_rounds = WEFT_NONE;
    config.spares = spares;
    config.sleep = sleep_protocol;
    config.deadlock = deadlock;
    config.spawn_thread = start_nobody;
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
    pool->config.spawn_thread = NULL; /* spares are threads */
    for (unsigned i = 0; i < workers; i++)
        weft__sleep_present(&pool->sleep);
}

/* The thread is a worker of the pool, in a job, from the beginning. */
static inline weft *be_worker(unsigned i)
{
    weft__worker_push(pool->workers[i], __builtin_frame_address(0));
    return pool->workers[i]->context->first;
}

/* It ends, as when the pool does. */
static inline void leave_pool(unsigned i)
{
    weft__worker_remove(pool->workers[i]);
    weft__census_leave(&pool->census);
}

/* Its job is over: it looks for others until it is told to stop. */
static inline void serve(unsigned i)
{
    weft__worker_serve(pool->workers[i]);
}

/* The same for one that takes no jobs: smaller. */
static inline void sleep_until_stopped(unsigned i)
{
    struct weft__worker *me = pool->workers[i];
    struct weft__sleeper sleeper = {.park = me->park, .latch = &me->stop.core};
    while (!weft__latch_probe(&me->stop.core)) {
        (void)weft__sleep_uncounted(&sleeper, 0);
        weft__block_let_report(pool);
    }
}

static inline void stop(unsigned i)
{
    weft__spin_latch_set(&pool->workers[i]->stop);
}

static inline void false_report(weft_pool *reported, const char *text, const char *graph,
                                void *data)
{
    model_fail("a false report: %s", text);
}

#endif
