/* SPDX-License-Identifier: MIT */
/* census.h: how many threads are in a pool, and how many of them rest: asleep, or blocked in
 * code that is not the pool's. Both stand in one word, so that "all threads rest" is one
 * observation and not two numbers from two moments.
 *
 * A thread counts itself as resting just before it sleeps. Its waker takes it off the count
 * before the sleeper runs. So if the waker itself rests next, there is no moment in which all
 * threads seem to rest. */
#ifndef WEFT_SLEEP_CENSUS_H
#define WEFT_SLEEP_CENSUS_H

#include "os/atomic.h"

struct weft__census {
    struct atomic_u64 word;                        /* present << 32 | resting */
    void (*all_rest)(struct weft__census *census); /* called by the thread that came to rest last,
                                                      or that left while all others rest */
};

static inline bool weft__census_full(uint64_t word)
{
    return word >> 32 == (uint32_t)word;
}

static inline void weft__census_enter(struct weft__census *census)
{
    /* acq_rel Z1, all of these with each other: a thread that finds all at rest sees what they did
     * before; above all that they are blocked, and by what. */
    atomic_fetch_add_acq_rel(&census->word, (uint64_t)1 << 32);
}

static inline void weft__census_leave(struct weft__census *census)
{
    uint64_t one = (uint64_t)1 << 32;
    if (weft__census_full(atomic_fetch_sub_acq_rel(&census->word, one) - one)) /* acq_rel Z1 */
        census->all_rest(census);
}

/* Takes off a thread that was counted, but was not made. Nothing is called: the thread that counted
 * it is in the census, or looks itself whether all rest. */
static inline void weft__census_withdraw(struct weft__census *census)
{
    atomic_fetch_sub_acq_rel(&census->word, (uint64_t)1 << 32); /* acq_rel Z1 */
}

/* True: the caller is the last thread to rest. It has to call all_rest, once it has dropped a lock
 * that may be needed there. */
static inline bool weft__census_rests_last(struct weft__census *census)
{
    return weft__census_full(atomic_fetch_add_acq_rel(&census->word, 1) + 1); /* acq_rel Z1 */
}

static inline void weft__census_rest(struct weft__census *census)
{
    if (weft__census_rests_last(census))
        census->all_rest(census);
}

/* n threads rest no more. Called by their waker, or by a sleeper that wakes up by itself. */
static inline void weft__census_rouse(struct weft__census *census, unsigned n)
{
    atomic_fetch_sub_acq_rel(&census->word, n); /* acq_rel Z1 */
}

#endif
