/* SPDX-License-Identifier: MIT */
/* mutex.h: what a weft_mutex holds; reports look at it, too. */
#ifndef WEFT_SYNC_MUTEX_H
#define WEFT_SYNC_MUTEX_H

#include "sync/sync.h"

struct weft__mutex {
    struct weft__sync sync;
    struct atomic_bool held;  /* written under the lock */
    struct atomic_ptr holder; /* struct weft__worker; written under the lock, read by reports
                                 without. NULL, if held: an outside thread */
    struct weft__line line;
    union {
        struct weft__mutex *next_held; /* by the same thread; its own business */
        struct weft__context *fiber;   /* that holds it, if no thread of a pool does; or NULL. Under
                                          the lock */
    };
};

/* relaxed: under the lock; or by a report, which finds all at rest: who gives it away has
 * roused the next one before (Z1). */
static inline struct weft__worker *weft__mutex_holder(const struct weft__mutex *mutex)
{
    return atomic_load_relaxed(&mutex->holder);
}

_Static_assert(sizeof(struct weft__mutex) <= sizeof(weft_mutex), "weft_mutex is too small");

#endif
