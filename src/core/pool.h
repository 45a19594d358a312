/* SPDX-License-Identifier: MIT */
/* pool.h: workers that share an injector and a sleep module. */
#ifndef WEFT_CORE_POOL_H
#define WEFT_CORE_POOL_H

#include "core/habit.h"
#include "core/worker.h"
#include "os/thread.h"
#include "os/topology.h"
#include "sleep/sleep.h"

struct weft_pool {
    weft_config config;      /* with defaults filled in; constant while the pool is in use */
    bool no_membarrier;  /* lazy was wanted, but can't be had */
    char name[16];           /* the kernel takes no longer ones */
    struct weft__cpus homes; /* CPUs to sleep on, in order */
    uint32_t fork_count;     /* of the process, when the pool was made */
    struct weft__worker **workers;
    struct weft__sleep sleep;
    struct weft__queue injector;
    struct weft__habits habits;

    /* What has to end before the pool can: guests, submitted tasks, detached jobs. The top
     * bit is set by destroy; from then on nothing new is let in. A futex: destroy sleeps
     * on it until only that bit is left. */
    WEFT__ALIGNED struct atomic_u32 pending;

    /* All guests there ever were at once, newest first; never shrinks. */
    struct atomic_ptr guests; /* struct weft__worker */

    struct atomic_u32 threads; /* started and not yet finished; a futex for destroy */
};

enum { POOL_CLOSED = 1u << 31 };

/* 0, -ECHILD or -ESHUTDOWN. Who got 0 leaves again. */
int weft__pool_enter(struct weft_pool *pool);

/* For those who know that something else is pending, and stays so during the call. */
void weft__pool_hold(struct weft_pool *pool);

/* Last touch of the pool, unless the caller is one of its workers. */
void weft__pool_leave(struct weft_pool *pool);

/* NULL: the default one, made if need be. */
struct weft_pool *weft__pool_or_default(struct weft_pool *pool);

static inline bool weft__pool_is_forked(const struct weft_pool *pool)
{
    return pool->fork_count != weft__fork_count();
}

/* Moves what is left on the worker's deque to the injector, when its thread goes away
 * from it for an unknown time (fault 27). */
void weft__worker_spill(struct weft__worker *worker);

/* Fills in defaults and the environment. 0, -EINVAL or -ENOTSUP. */
int weft__config_complete(weft_config *full, const weft_config *given, unsigned cpus);

#endif
