/* SPDX-License-Identifier: MIT */
/* pool.h: workers that share an injector and a sleep module. */
#ifndef WEFT_CORE_POOL_H
#define WEFT_CORE_POOL_H

#include "core/block.h"
#include "core/guest.h"
#include "core/habit.h"
#include "core/spare.h"
#include "core/worker.h"
#include "os/thread.h"
#include "os/topology.h"
#include "sleep/sleep.h"

#include <stdio.h>

struct weft__actors;

struct weft_pool {
    weft_config config;      /* with defaults filled in; constant while the pool is in use */
    const char *why_eager;   /* lazy was wanted, but can't be had; or NULL */
    char name[16];           /* the kernel takes no longer ones */
    struct weft__cpus homes; /* CPUs to sleep on, in order */
    uint32_t fork_count;     /* of the process, when the pool was made */
    struct weft__worker **workers;
    struct weft__sleep sleep;
    struct weft__queue injector;
    struct weft__habits habits;
    struct weft__census census;
    struct weft__blocking blocking;
    struct weft__spares spares;

    /* What has to end before the pool can: guests, submitted tasks, detached jobs. The top
     * bit is set by destroy; from then on nothing new is let in, so only that bit remains
     * at last. The thread that leaves then sets the latch that destroy waits for. */
    WEFT__ALIGNED struct atomic_u32 pending;
    struct atomic_bool closing;       /* a thread is in destroy */
    struct weft__spin_latch *drained; /* written by destroy before it sets the bit */

    struct weft__guests guests;

    /* Actors (../actor), once there is one. */
    struct weft__lock actors_lock; /* making them */
    struct atomic_ptr actors;      /* struct weft__actors; written under the lock */
    void (*actors_close)(struct weft__actors *actors); /* ends them all; with `actors` */
    void (*actors_free)(struct weft__actors *actors);
    void (*actors_dump)(struct weft__actors *actors, FILE *out); /* what they do, for people */

    bool is_default;
    struct weft_pool *next_kept; /* of default pools that are gone */

    struct atomic_u32 threads; /* started and not yet finished; a futex for destroy */
    struct atomic_u32 limited; /* threads of the pool that are in a limited wait; see wait.h */
};

enum { POOL_CLOSED = 1u << 31 };

/* 0, -ECHILD, -ESHUTDOWN, or -ENOMEM. After 0 the caller has to leave again. NULL becomes the
 * default pool, made if need be. */
int weft__pool_enter(struct weft_pool **pool);

/* The same without -ENOMEM, for a pool that is not NULL; it may be a default pool that is gone. */
int weft__pool_enter_known(struct weft_pool *pool);

/* For a caller that knows that something else is pending, and stays so during the call. */
void weft__pool_hold(struct weft_pool *pool);

/* Last touch of the pool, unless the caller is one of its workers. */
void weft__pool_leave(struct weft_pool *pool);

static inline bool weft__pool_is_forked(const struct weft_pool *pool)
{
    return pool->fork_count != weft__fork_count();
}

/* weft_pool_create() in memory that is zero, but for `pending`, and is released if that fails. */
int weft__pool_make(struct weft_pool *pool, const weft_config *config);

#endif
