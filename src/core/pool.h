/* SPDX-License-Identifier: MIT */
/* pool.h: workers that share an injector and a sleep module. */
#ifndef WEFT_CORE_POOL_H
#define WEFT_CORE_POOL_H

#include "core/alarm.h"
#include "core/block.h"
#include "core/guest.h"
#include "core/habit.h"
#include "core/spare.h"
#include "core/worker.h"
#include "os/roster.h"
#include "os/stats.h"
#include "os/thread.h"
#include "os/topology.h"
#include "sleep/sleep.h"

#include <errno.h>
#include <stdio.h>

struct weft__actors;

/* The atomic form of struct weft_stats_pool. */
struct weft__shown {
    struct atomic_u64 id, address;
    char name[16];
    struct atomic_u64 made, queued;
    struct atomic_u32 workers, unused;
    struct atomic_u64 reports, reserved[7];
};

_Static_assert(sizeof(struct weft__shown) == sizeof(struct weft_stats_pool) &&
                   offsetof(struct weft__shown, queued) ==
                       offsetof(struct weft_stats_pool, queued) &&
                   offsetof(struct weft__shown, reports) ==
                       offsetof(struct weft_stats_pool, reports),
               "struct weft_stats_pool");

struct weft_pool {
    weft_config config;      /* with defaults filled in; constant while the pool is in use */
    const char *why_eager;   /* why the pool is eager, if lazy was wanted; or NULL */
    char name[16];           /* the kernel takes no longer names */
    struct weft__cpus homes; /* CPUs to sleep on, in order */
    uint32_t fork_count;     /* of the process, when the pool was made */
    struct weft__worker **workers;
    struct weft__sleep sleep;
    struct weft__queue injector;
    struct weft__depot depots[STOCK_SIZES]; /* nodes of spawned jobs; see stock.h */
    struct weft__habits habits;
    struct weft__census census;
    struct weft__blocking blocking;
    struct weft__spares spares;
    struct weft__alarms alarms;

    /* Counts what has to end before the pool: guests, submitted tasks, detached jobs. The highest
     * bit, POOL_CLOSED, is set by destroy. From then on nothing new is let in, so only that bit
     * remains in the end. The last thread to leave sets the latch that destroy waits for. */
    WEFT__ALIGNED struct atomic_u32 pending;
    struct atomic_bool closing;       /* a thread is in destroy */
    struct weft__spin_latch *drained; /* written by destroy before it sets the bit */

    struct weft__guests guests;

    /* Actors (../actor). The functions are written before `actors`, and not again. */
    struct weft__lock actors_lock; /* for making struct weft__actors */
    struct atomic_ptr actors;      /* struct weft__actors, or NULL before the first actor; written
                                      under actors_lock */
    void (*actors_close)(struct weft__actors *actors); /* ends all actors */
    void (*actors_free)(struct weft__actors *actors);
    void (*actors_dump)(struct weft__actors *actors, FILE *out); /* for weft_pool_dump() */

    bool is_default;
    bool threadless;             /* no thread could be started: only guests run jobs */
    struct weft_pool *next_kept; /* of a destroyed default pool; see default.c */
    struct weft__shown *shown;   /* its record in the statistics page, or NULL */
    bool is_shown;               /* a record was asked for */
    struct weft__listed listed;  /* from before its threads start until it is released */

    struct atomic_u32 threads; /* how many threads run that are not joined; destroy waits on it */
    struct atomic_u32 limited; /* how many worker threads are in a limited wait; see wait.h */
};

#define POOL_CLOSED (UINT32_C(1) << 31) /* an enum is an int in C17 */

/* Counts the caller in `pending`, so that the pool is not destroyed before the caller leaves.
 * Returns 0, -ECHILD, -ESHUTDOWN or -ENOMEM; after 0 the caller has to leave again. *pool NULL
 * becomes the default pool, which is made if there is none. */
int weft__pool_enter(struct weft_pool **pool);

/* The same for a pool that is not NULL; never -ENOMEM. It may be a destroyed default pool. */
int weft__pool_enter_known(struct weft_pool *pool);

/* The same for a caller that knows that the pool is not closed, or that `pending` is not zero, and
 * that it stays so during the call. */
void weft__pool_hold(struct weft_pool *pool);

/* Ends an enter or a hold. Last touch of the pool, unless the caller is one of its workers. */
void weft__pool_leave(struct weft_pool *pool);

/* Enters for what only a worker's thread can do. -EAGAIN: there is none; see default.h. */
static inline int weft__pool_enter_threads(struct weft_pool **pool)
{
    int error = weft__pool_enter(pool);
    if (error || !(*pool)->threadless)
        return error;
    weft__pool_leave(*pool);
    return -EAGAIN;
}

static inline bool weft__pool_is_forked(const struct weft_pool *pool)
{
    return pool->fork_count != weft__fork_count();
}

/* Makes a pool in memory that is zero, except for `pending`, with *threads threads at most. If it
 * fails, the memory is released, and *threads is the number of threads that could be started. */
int weft__pool_make(struct weft_pool *pool, const weft_config *config, unsigned *threads);

#endif
