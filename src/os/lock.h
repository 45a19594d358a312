/* SPDX-License-Identifier: MIT */
/* lock.h: a small mutex on a futex, for short sections off the fast path. Zero is free.
 *   FREE -take-> HELD        HELD -take-> CONTENDED   by another thread, which sleeps
 *   HELD -drop-> FREE        CONTENDED -drop-> FREE   by the holder, which wakes one sleeper */
#ifndef WEFT_OS_LOCK_H
#define WEFT_OS_LOCK_H

#include "os/atomic.h"
#include "os/futex.h"

#ifndef WEFT__LOCK_SPINS
#define WEFT__LOCK_SPINS 100 /* sections are short */
#endif

enum lock_state { LOCK_FREE, LOCK_HELD, LOCK_CONTENDED };

struct weft__lock {
    struct atomic_u32 state;
};

static inline bool weft__lock_try(struct weft__lock *lock)
{
    uint32_t state = LOCK_FREE;
    return atomic_cas_acquire(&lock->state, &state, LOCK_HELD); /* acquire K1 */
}

static inline void weft__lock_take(struct weft__lock *lock)
{
    for (int i = WEFT__LOCK_SPINS; i > 0; i--) {
        if (weft__lock_try(lock))
            return;
        weft__relax();
    }
    /* acquire K1. CONTENDED even if no other thread waits: this thread can't know any more. */
    while (atomic_exchange_acquire(&lock->state, LOCK_CONTENDED) != LOCK_FREE)
        weft__futex_wait(&lock->state, LOCK_CONTENDED);
}

static inline void weft__lock_drop(struct weft__lock *lock)
{
    /* release K1. Last touch: the next holder may free it; waking uses the address only. */
    if (atomic_exchange_release(&lock->state, LOCK_FREE) == LOCK_CONTENDED)
        weft__futex_wake(&lock->state, 1);
}

#endif
