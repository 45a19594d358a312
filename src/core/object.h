/* SPDX-License-Identifier: MIT */
/* object.h: the part of a mutex, an event, a channel and so on that reports look at: its name,
 * which threads use it, and the holder of a mutex. The functions are in ../sync.
 *
 * A mutex has one word: the name of its holder, and flags for the unlocking thread. LINE: a waiter
 * stands in line and has to be woken. HEIR: the first waiter of the line, the heir, was woken and
 * is on its way. Until the heir comes, any running thread may lock the mutex before it, and so pass
 * it. KEPT: the heir was passed too often, and only the heir may lock the mutex.
 *
 *   FREE          -lock->   HELD                 HELD          -unlock-> FREE
 *   HELD          -queue->  HELD | LINE          by a waiter, under the lock
 *   HELD | LINE   -unlock-> HEIR, HEIR | KEPT    by the holder, under the lock
 *   HEIR          -lock->   HELD | HEIR          by a thread that passes the heir, and counts it
 *   HELD | HEIR   -unlock-> HEIR                 by that thread; or HEIR | KEPT, under the lock
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
    struct atomic_bool outside; /* threads of no pool, or of several pools, use it */
    struct atomic_bool actors;  /* actors use it */
    struct atomic_ptr pool;     /* unless `outside`: the only pool whose threads and actors use it,
                                   or NULL */
    const char *name;           /* or NULL */
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

/* What a mutex, a read-write lock and a once begin with: objects that one thread may hold. */
struct weft__owned {
    struct weft__sync sync;
    struct atomic_uptr word; /* the holder's name, and flags of a mutex */
};

struct weft__mutex {
    struct weft__sync sync;
    struct atomic_uptr word; /* the holder's name | flags; flags change under the lock only */
    struct weft__line line;
    struct weft__mutex *next_held; /* the next mutex that the same thread holds; holder only */
    unsigned passed; /* how often the waiter that is first in line was passed; holder only */
};

struct weft__rwlock {
    struct weft__sync sync;
    struct atomic_uptr word;            /* the writer's name. All is written under the lock */
    struct atomic_u32 readers;          /* how many hold it */
    struct weft__line reading, writing; /* those that wait */
};

/* The name of a thread outside, by its number (weft__thread_serial()). */
static inline uintptr_t weft__mutex_name(uintptr_t thread)
{
    return thread * (2 * MUTEX_OUTSIDE) | MUTEX_OUTSIDE;
}

/* The name of an actor. Numbers of threads are smaller than addresses of fibers. */
static inline uintptr_t weft__mutex_name_of_fiber(const struct weft__context *fiber)
{
    return (uintptr_t)fiber | MUTEX_OUTSIDE;
}

static inline bool weft__mutex_is_of_fiber(uintptr_t holder)
{
    return holder & MUTEX_OUTSIDE && holder > weft__mutex_name(UINT32_MAX);
}

/* The name of the thread that holds it: a worker's address, or the name of a thread outside or of
 * an actor. MUTEX_FREE: there is no holder; or threads hold a read-write lock to read. For reports,
 * which find all threads at rest: a thread locks or unlocks before it rests (Z1). A worker may be
 * one of another pool, and may be gone. */
static inline uintptr_t weft__owned_holder(const struct weft__owned *owned)
{
    return atomic_load_relaxed(&owned->word) & ~(uintptr_t)MUTEX_FLAGS;
}

_Static_assert(offsetof(struct weft__mutex, word) == offsetof(struct weft__owned, word) &&
                   offsetof(struct weft__rwlock, word) == offsetof(struct weft__owned, word),
               "they begin as a struct weft__owned");
_Static_assert(sizeof(struct weft__rwlock) <= sizeof(weft_rwlock), "weft_rwlock is too small");
_Static_assert(sizeof(struct weft__mutex) <= sizeof(weft_mutex), "weft_mutex is too small");
_Static_assert(_Alignof(struct weft__worker) > MUTEX_OUTSIDE, "an address is a name");

#endif
