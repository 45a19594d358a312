/* SPDX-License-Identifier: MIT */
/* object.h: what a mutex, an event or a channel is made of, as far as reports look at it: a name,
 * who uses it, and, of a mutex, who holds it. What is done with them is in ../sync.
 *
 * A mutex: one word says who holds it, and what unlocking has to care for: LINE, somebody stands in
 * line and has to be woken; HEIR, the first of the line was woken and is on its way. Until the heir
 * comes, whoever runs may pass it. KEPT: it was passed too often, and nobody but the heir takes it.
 *
 *   FREE          -lock->   HELD                 HELD          -unlock-> FREE
 *   HELD          -queue->  HELD | LINE          by a waiter, under the lock
 *   HELD | LINE   -unlock-> HEIR, HEIR | KEPT    by the holder, under the lock
 *   HEIR          -lock->   HELD | HEIR          by one that passes the heir, and counts it
 *   HELD | HEIR   -unlock-> HEIR                 by the same; or HEIR | KEPT, under the lock
 *   HEIR, HEIR | KEPT -inherit-> HELD, HELD | LINE   by the heir, under the lock
 *   HELD | HEIR   -queue->  HELD | LINE          by the heir, in vain: first in line again */
#ifndef WEFT_CORE_OBJECT_H
#define WEFT_CORE_OBJECT_H

#include "core/worker.h"
#include "os/lock.h"

#include <weft/sync.h>

struct weft__waiter;

struct weft__line {
    struct weft__waiter *first, *last;
};

struct weft__sync {
    struct weft__lock lock;
    struct atomic_bool outside; /* threads use it that no pool knows, or several pools' */
    struct atomic_bool actors;  /* actors do */
    struct atomic_ptr pool;     /* unless `outside`: NULL, or only this one's threads and actors */
    const char *name;
};

enum {
    MUTEX_FREE = 0,
    MUTEX_LINE = 1,
    MUTEX_HEIR = 2,
    MUTEX_KEPT = 4,
    MUTEX_FLAGS = 7,
    MUTEX_OUTSIDE =
        8, /* part of a holder's name: it is no worker, but an outside thread or an actor */
};

struct weft__mutex {
    struct weft__sync sync;
    struct atomic_uptr word; /* the holder's name | flags; flags change under the lock only */
    struct weft__line line;
    struct weft__mutex *next_held; /* by the same thread; its own business */
    unsigned passed; /* how often, since the first in line is that; the holder's business */
};

/* Of a thread outside, by its number (weft__thread_serial()). */
static inline uintptr_t weft__mutex_name(uintptr_t thread)
{
    return thread * (2 * MUTEX_OUTSIDE) | MUTEX_OUTSIDE;
}

/* Of an actor. Numbers of threads are smaller than addresses of fibers. */
static inline uintptr_t weft__mutex_name_of_fiber(const struct weft__context *fiber)
{
    return (uintptr_t)fiber | MUTEX_OUTSIDE;
}

static inline bool weft__mutex_is_of_fiber(uintptr_t holder)
{
    return holder & MUTEX_OUTSIDE && holder > weft__mutex_name(UINT32_MAX);
}

/* A worker's address, or the name of a thread outside or of an actor; MUTEX_FREE: nobody's. For
 * reports, which find all at rest: who takes it, or gives it away, does so before it rests (Z1). It
 * may be the address of a worker of another pool, which may be gone. */
static inline uintptr_t weft__mutex_holder(const struct weft__mutex *mutex)
{
    return atomic_load_relaxed(&mutex->word) & ~(uintptr_t)MUTEX_FLAGS;
}

_Static_assert(sizeof(struct weft__mutex) <= sizeof(weft_mutex), "weft_mutex is too small");
_Static_assert(_Alignof(struct weft__worker) > MUTEX_OUTSIDE, "an address is a name");

#endif
