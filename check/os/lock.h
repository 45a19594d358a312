/* SPDX-License-Identifier: MIT */
/* lock.h: a lock is one step, so that executions are fewer. The library's own lock is checked by
 * harness_lock.c, which includes that one first: so both have the same guard. */
#ifndef WEFT_OS_LOCK_H
#define WEFT_OS_LOCK_H

#include "os/atomic.h"

struct weft__lock {
    struct atomic_u32 state;
};

static inline bool weft__lock_try(struct weft__lock *lock)
{
    return model_trylock(lock);
}

static inline void weft__lock_take(struct weft__lock *lock)
{
    model_lock(lock);
}

static inline void weft__lock_drop(struct weft__lock *lock)
{
    model_unlock(lock);
}

#endif
