/* SPDX-License-Identifier: MIT */
/* mutex.h: what a weft_mutex holds; reports look at it, too. */
#ifndef WEFT_SYNC_MUTEX_H
#define WEFT_SYNC_MUTEX_H

#include "sync/sync.h"

struct weft__mutex {
    struct weft__sync sync;
    struct atomic_bool held;     /* written under the lock */
    struct weft__worker *holder; /* under the lock. NULL, if held: an outside thread */
    struct weft__line line;
    struct weft__mutex *next_held; /* by the same thread; its own business */
};

_Static_assert(sizeof(struct weft__mutex) <= sizeof(weft_mutex), "weft_mutex is too small");

#endif
