/* SPDX-License-Identifier: MIT */
/* latch.h: says that something is over. The core latch is one word:
 *
 *   UNSET  -doze--> SLEEPY     by the owner, which is about to sleep
 *   SLEEPY -sleep-> SLEEPING   by the owner, after it made its parking place DROWSY
 *   UNSET  -sleep-> SLEEPING   the same in one step, under `events-latch`
 *   SLEEPY, SLEEPING -get up-> UNSET  by the owner, back from sleep
 *   any    -set---> SET        by the setter; final
 *
 * Every step is a read-modify-write of `state`, so its modification order decides set
 * against sleep: the owner finds SET, or the setter finds SLEEPING and wakes the owner.
 *
 * Three kinds are built on it. The spin latch has one owner, a thread with a parking
 * place. The counting latch is a spin latch set when its count reaches zero. The lock
 * latch is for outside threads, any number of them, which sleep on the word itself.
 *
 * A latch often lies in a frame that its owner leaves as soon as it is set: after the
 * set, the setter touches nothing but parking places and crowds, which are never freed. */
#ifndef WEFT_SLEEP_LATCH_H
#define WEFT_SLEEP_LATCH_H

#include "os/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "sleep/crowd.h"
#include "sleep/park.h"

enum latch_state { LATCH_UNSET, LATCH_SLEEPY, LATCH_SLEEPING, LATCH_SET };

struct weft__latch {
    struct atomic_u32 state; /* zero is UNSET */
};

static inline bool weft__latch_probe(const struct weft__latch *latch)
{
    /* acquire L1: what the setter did before. */
    return atomic_load_acquire(&latch->state) == LATCH_SET;
}

static inline bool weft__latch_doze(struct weft__latch *latch)
{
    /* relaxed: decides nothing yet; on SET the caller probes. */
    uint32_t state = LATCH_UNSET;
    return atomic_cas_relaxed(&latch->state, &state, LATCH_SLEEPY);
}

static inline bool weft__latch_sleep(struct weft__latch *latch)
{
    uint32_t state = LATCH_SLEEPY;
    /* release L2: a setter that finds SLEEPING sees the owner's parking place DROWSY. */
    return atomic_cas_release(&latch->state, &state, LATCH_SLEEPING);
}

/* By an owner that did not doze. */
static inline bool weft__latch_sleep_at_once(struct weft__latch *latch)
{
    uint32_t state = LATCH_UNSET;
    return atomic_cas_release(&latch->state, &state, LATCH_SLEEPING); /* release L2: as above */
}

static inline void weft__latch_get_up(struct weft__latch *latch)
{
    /* relaxed: publishes nothing; the owner probes again. */
    uint32_t state = LATCH_SLEEPING;
    if (!atomic_cas_relaxed(&latch->state, &state, LATCH_UNSET) && state == LATCH_SLEEPY)
        atomic_cas_relaxed(&latch->state, &state, LATCH_UNSET);
}

/* True: the owner sleeps, or is about to; wake it. Last touch of *latch: the owner may
 * return from its frame now. */
static inline bool weft__latch_set(struct weft__latch *latch)
{
    /* acq_rel L1: publishes the result; acquire L2: the owner's parking place. And seq_cst V2:
     * before the look at a crowd that may follow. It is the same instruction. */
    return atomic_exchange_seq_cst(&latch->state, LATCH_SET) == LATCH_SLEEPING;
}

/* Wakes the owner, wherever it sleeps. */
static inline void weft__latch_set_for(struct weft__latch *latch, struct weft__park *owner)
{
    struct weft__crowd *crowd = owner->crowd; /* before the last touch */
    if (owner->set_for) {
        owner->set_for(latch, owner);
        return;
    }
    if (weft__latch_set(latch))
        weft__park_wake(owner);
    if (crowd)
        weft__crowd_tickle(crowd);
}

struct weft__spin_latch {
    struct weft__latch core;
    struct atomic_bool shared; /* of a scope: other threads may have had children. For traces */
    struct weft__park *owner;  /* written by the owner before the latch is shared */
};

static inline void weft__spin_latch_set(struct weft__spin_latch *latch)
{
    weft__latch_set_for(&latch->core, latch->owner); /* read before the last touch */
}

/* Starts with a count of one, the owner's own. */
struct weft__count_latch {
    struct atomic_u64 count;
    struct weft__spin_latch spin;
};

static inline void weft__count_latch_init(struct weft__count_latch *latch, struct weft__park *owner,
                                          uint64_t count)
{
    atomic_store_relaxed(&latch->count, count);
    atomic_store_relaxed(&latch->spin.core.state, LATCH_UNSET);
    latch->spin.owner = owner;
}

static inline void weft__count_latch_up(struct weft__count_latch *latch)
{
    /* relaxed: the caller holds a count itself, so it can't reach zero meanwhile. */
    atomic_fetch_add_relaxed(&latch->count, 1);
}

static inline void weft__count_latch_down(struct weft__count_latch *latch)
{
    /* acq_rel C1 with itself: release C1 by each thread, acquire C1 by the last, which sets the
     * latch for all. Unless this was the last count, it is the last touch: the owner may leave. */
    if (atomic_fetch_sub_acq_rel(&latch->count, 1) == 1)
        weft__spin_latch_set(&latch->spin);
}

static inline void weft__lock_latch_wait(struct weft__latch *latch)
{
    while (!weft__latch_probe(latch)) {
        /* relaxed: the setter touches nothing of the waiter's but this word. */
        uint32_t state = LATCH_UNSET;
        if (atomic_cas_relaxed(&latch->state, &state, LATCH_SLEEPING))
            state = LATCH_SLEEPING;
        if (state != LATCH_SET) /* SLEEPING; or SLEEPY, while another waiter borrows */
            weft__futex_wait(&latch->state, state);
    }
}

/* The same until a point in time. False: that came first. */
static inline bool weft__lock_latch_wait_until(struct weft__latch *latch, uint64_t when)
{
    uint64_t now;
    while (!weft__latch_probe(latch)) {
        if ((now = weft__clock_now()) >= when)
            return false;
        /* relaxed: as above. It stays SLEEPING afterwards, which costs the setter a wake-up. */
        uint32_t state = LATCH_UNSET;
        if (atomic_cas_relaxed(&latch->state, &state, LATCH_SLEEPING))
            state = LATCH_SLEEPING;
        if (state != LATCH_SET)
            weft__futex_wait_for(&latch->state, state, when - now);
    }
    return true;
}

/* The setter of a lock latch may keep a pool alive until the set. A waiter that wants to use the
 * pool borrows it first: the latch is SLEEPY meanwhile. If the setter sets the latch then, the
 * waiter has to let go of the pool instead. */

/* False: it is set. */
static inline bool weft__lock_latch_borrow(struct weft__latch *latch)
{
    /* relaxed, all: the pool lives, and this word alone decides which thread lets go of it. */
    uint32_t state = LATCH_UNSET;
    while (state != LATCH_SET) {
        if (state != LATCH_SLEEPY && atomic_cas_relaxed(&latch->state, &state, LATCH_SLEEPY))
            return true;
        if (state == LATCH_SLEEPY) { /* another waiter borrows: not for long */
            weft__relax();
            state = atomic_load_relaxed(&latch->state);
        }
    }
    return false;
}

/* False: the latch was set meanwhile, and the caller has to let go of the pool. */
static inline bool weft__lock_latch_return(struct weft__latch *latch)
{
    uint32_t state = LATCH_SLEEPY;
    /* release L3: what the waiter did with the pool comes before the setter lets go of it. If the
     * caller has to do that, all that the setter did comes before: the probe's acquire (L1). */
    return atomic_cas_release(&latch->state, &state, LATCH_SLEEPING) || !weft__latch_probe(latch);
}

/* False: a waiter borrows, and lets go of the pool instead of the caller. */
static inline bool weft__lock_latch_set(struct weft__latch *latch)
{
    /* release L1: the result. acquire L3: what waiters did that borrowed before. Last touch; waking
     * uses the address only. */
    uint32_t state = atomic_exchange_acq_rel(&latch->state, LATCH_SET);
    if (state != LATCH_UNSET)
        weft__futex_wake(&latch->state, WEFT__WAKE_ALL);
    return state != LATCH_SLEEPY;
}

#endif
