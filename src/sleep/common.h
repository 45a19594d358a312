/* SPDX-License-Identifier: MIT */
/* common.h: what the protocols share, for their files alone: the word that counts, whom to
 * wake, and the way to sleep in one's own parking place. */
#ifndef WEFT_SLEEP_COMMON_H
#define WEFT_SLEEP_COMMON_H

#include "sleep/sleep.h"

extern const struct weft__protocol weft__events, weft__counters, weft__counters_local,
    weft__counters_blocks, weft__counters_all, weft__tickle, weft__tickle_seqcst, weft__tickle_flag,
    weft__tickle_swap;

/* ---- The counters: | job events | inactive, 16 bits | sleeping, 16 bits | ---- */

enum { THREAD_BITS = 16 };
static const uint64_t one_sleeping = 1; /* wakers take this off, in core/park.c and crowd.c */
static const uint64_t one_inactive = (uint64_t)1 << THREAD_BITS;
static const uint64_t thread_mask = ((uint64_t)1 << THREAD_BITS) - 1;

static inline unsigned sleeping_in(uint64_t counters)
{
    return (unsigned)(counters & thread_mask);
}

static inline unsigned idle_in(uint64_t counters)
{
    return (unsigned)(counters >> THREAD_BITS & thread_mask) - sleeping_in(counters);
}

/* ---- Waking ---- */

static inline unsigned at_most(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Wakes up to n sleepers, those on another CPU than the caller's first, because the
 * caller goes on working on its own; if it is about to sleep, the other way round. */
void weft__wake_any(struct weft__sleep *sleep, unsigned n, bool waits);

/* How many more workers forks may wake: a guest at work stands in for one. */
static inline unsigned room(struct weft__sleep *sleep, uint64_t counters)
{
    unsigned sleeping = sleeping_in(counters);
    /* relaxed: a heuristic. */
    unsigned guests = atomic_load_relaxed(&sleep->guests);
    return guests < sleeping ? sleeping - guests : 0;
}

/* There is work for one more worker, by the counters: is everybody at it who could be? Then a
 * spare one may take the place of one that is blocked. */
static inline void call_spare_if_none_is_left(struct weft__sleep *sleep, uint64_t counters)
{
    /* relaxed: a heuristic. */
    if (idle_in(counters) + sleeping_in(counters) == 0 &&
        atomic_load_relaxed(&sleep->blocked) > 0 && sleep->call_spare)
        sleep->call_spare(sleep);
}

/* ---- Falling asleep ---- */

/* The protocols' work_found and more_work, but for those that wake all at once. */
bool weft__work_found_counted(struct weft__sleep *sleep, struct weft__idle *idle);
void weft__more_work_counted(struct weft__sleep *sleep, bool forks_only);

/* Doze: false if the latch is set. */
bool weft__doze_off(const struct weft__sleeper *sleeper, bool counted);

/* Takes back what the sleeper announced. */
void weft__stay_awake(const struct weft__sleeper *sleeper);

enum outcome { LATCH_WAS_SET, WORK_WAS_POSTED, DOZED, SLEPT };

/* The caller has dozed off and counted itself as sleeping: fence, last look, sleep. */
enum outcome weft__sleep_counted(struct weft__sleep *sleep, struct weft__idle *idle,
                                 const struct weft__sleeper *sleeper);

/* How long to sleep; 0: until woken. The caller is counted as sleeping, and has a fence
 * behind it. */
uint64_t weft__doze_time(struct weft__sleep *sleep, struct weft__idle *idle);
void weft__stop_looking_out(struct weft__sleep *sleep, struct weft__idle *idle);

#endif
