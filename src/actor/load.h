/* SPDX-License-Identifier: MIT */
/* load.h: how much an executor has to do, in one word: readers never see half of it. Only its
 * driver writes it. */
#ifndef WEFT_ACTOR_LOAD_H
#define WEFT_ACTOR_LOAD_H

#include "os/atomic.h"

enum {
    LOAD_ONE = 256,          /* one fiber that always wants to run */
    LOAD_LOW = LOAD_ONE / 2, /* below this, it could do more */
};

static inline uint32_t weft__load_average(const struct atomic_u64 *load)
{
    return (uint32_t)(atomic_load_relaxed(load) >> 32); /* relaxed, all: statistics */
}

static inline uint32_t weft__load_runnable(const struct atomic_u64 *load)
{
    return (uint32_t)atomic_load_relaxed(load);
}

/* At the end of a quantum. */
static inline void weft__load_note(struct atomic_u64 *load, unsigned runnable)
{
    uint64_t average = (weft__load_average(load) + (uint64_t)runnable * LOAD_ONE) / 2;
    atomic_store_relaxed(load, average << 32 | runnable);
}

/* It was idle, and is not any more. */
static inline void weft__load_begins(struct atomic_u64 *load)
{
    atomic_store_relaxed(load, (uint64_t)LOAD_LOW << 32 | 1);
}

static inline void weft__load_is_idle(struct atomic_u64 *load)
{
    atomic_store_relaxed(load, 0);
}

static inline bool weft__load_is_low(const struct atomic_u64 *load)
{
    return weft__load_average(load) < LOAD_LOW;
}

#endif
