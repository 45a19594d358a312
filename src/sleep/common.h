/* SPDX-License-Identifier: MIT */
/* common.h: what the protocols share, for their files alone: the word that counts, which sleepers
 * to wake, and how a worker sleeps in its parking place. The look-out is in lookout.h. */
#ifndef WEFT_SLEEP_COMMON_H
#define WEFT_SLEEP_COMMON_H

#include "sleep/sleep.h"

extern const struct weft__protocol weft__events, weft__events_plain, weft__events_latch,
    weft__counters, weft__counters_local, weft__counters_blocks, weft__counters_all,
    weft__counters_two, weft__tickle, weft__tickle_seqcst, weft__tickle_flag, weft__tickle_swap;

/* ---- The counters: | job events | look-out, 1 bit | inactive, 15 bits | sleeping, 16 bits | ----
 */

enum { THREAD_BITS = 16 };
static const uint64_t one_sleeping = 1; /* wakers take this off, in sleep/park.c and crowd.c */
static const uint64_t one_inactive = (uint64_t)1 << THREAD_BITS;
static const uint64_t one_lookout = (uint64_t)1 << 31;
static const uint64_t one_guest_came = ((uint64_t)1 << 32) + 1;

static inline unsigned sleeping_in(uint64_t counters)
{
    return (unsigned)(counters & 0xffff);
}

static inline unsigned inactive_in(uint64_t counters)
{
    return (unsigned)(counters >> THREAD_BITS & 0x7fff);
}

static inline unsigned idle_in(uint64_t counters)
{
    return inactive_in(counters) - sleeping_in(counters);
}

static inline bool lookout_in(uint64_t counters)
{
    return counters & one_lookout;
}

static inline int guests_at_work(struct weft__sleep *sleep)
{
    /* relaxed: a heuristic, or the caller has passed a fence, or has seen the guest's job. */
    return (int)(uint32_t)atomic_load_relaxed(&sleep->guests);
}

/* How often a guest has come. */
static inline uint32_t entries_of(struct weft__sleep *sleep)
{
    return (uint32_t)(atomic_load_relaxed(&sleep->guests) >> 32); /* relaxed: a hint */
}

static inline int workers_at_work(struct weft__sleep *sleep, uint64_t counters)
{
    /* relaxed: the caller has passed a fence, or wants a hint. */
    int absent = atomic_load_relaxed(&sleep->absent);
    return (int)sleep->workers - absent - (int)inactive_in(counters);
}

static inline bool at_work(struct weft__sleep *sleep, uint64_t counters)
{
    return workers_at_work(sleep, counters) > 0 || guests_at_work(sleep) > 0;
}

/* How many more threads may be up; negative: there are too many. */
static inline int free_room(struct weft__sleep *sleep, uint64_t counters)
{
    int absent = atomic_load_relaxed(&sleep->absent); /* relaxed: as above */
    return (int)sleeping_in(counters) + absent - guests_at_work(sleep);
}

/* ---- Waking ---- */

static inline unsigned at_most(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* What sleepers are woken for. */
enum weft__for {
    FOR_FORKS, /* work that its owner runs at the latest */
    FOR_JOBS,  /* work that no other thread runs. So a woken sleeper is not pinned to the look-out's
                  CPU: if neither of them got that CPU, the job would wait. If no other CPU is
                  free, the kernel chooses */
};

/* Wakes up to n of the sleepers in parking places. Sleepers on another CPU than the caller's come
 * first, because the caller goes on working on its own; if it `waits`, it is about to sleep, and
 * they come last. Returns how many it woke; if all sleep and there is no look-out, it wakes one
 * more, which is not counted. */
unsigned weft__wake_any(struct weft__sleep *sleep, unsigned n, enum weft__for what, bool waits);

/* How many sleepers may be woken: a guest at work takes the place of one. */
static inline unsigned room(struct weft__sleep *sleep, uint64_t counters)
{
    int more = free_room(sleep, counters);
    return more > 0 ? at_most((unsigned)more, sleeping_in(counters)) : 0;
}

/* There is no room for a worker, because of guests, so new jobs have to wait. True: there is no
 * look-out that lets a worker in later. Then a sleeper is woken; it finds no room, and becomes the
 * look-out. */
static inline bool lacks_lookout(const struct weft__sleep *sleep, uint64_t counters)
{
    return sleep->look_ns && sleeping_in(counters) > 0 && !lookout_in(counters);
}

/* There is work for one more worker. If the counters say that none is idle or asleep, a spare may
 * take the place of a blocked worker. */
static inline void call_spare_if_all_work(struct weft__sleep *sleep, uint64_t counters)
{
    /* relaxed: a heuristic. */
    if (idle_in(counters) + sleeping_in(counters) == 0 &&
        atomic_load_relaxed(&sleep->blocked) > 0 && sleep->call_spare)
        sleep->call_spare(sleep);
}

/* ---- Falling asleep ---- */

/* The protocols' work_found and more_work, but for those that wake all at once. */
bool weft__work_found_counted(struct weft__sleep *sleep, struct weft__idle *idle);
void weft__more_work_counted(struct weft__sleep *sleep);

/* The caller stops searching: takes it off the inactive workers. Returns the counters before that.
 * What follows is after a fence. */
uint64_t weft__stop_looking(struct weft__sleep *sleep);

/* Doze. False: the latch is set. `at_once`: the latch is never SLEEPY. */
bool weft__doze_off(const struct weft__sleeper *sleeper, bool counted, bool at_once);

/* Takes back what the sleeper announced. */
void weft__stay_awake(const struct weft__sleeper *sleeper);

enum sleep_outcome { LATCH_WAS_SET, WORK_WAS_POSTED, LOOKED_OUT, SLEPT };

/* The caller has dozed off and counted itself as sleeping: fence, last look, sleep. If the last
 * look returns true, there is something to do, and the caller does not sleep. */
typedef bool weft__last_look(const struct weft__sleeper *sleeper, struct weft__sleep *sleep);
enum sleep_outcome weft__sleep_unless(weft__last_look *last_look, struct weft__sleep *sleep,
                                      struct weft__idle *idle, const struct weft__sleeper *sleeper);

/* The same, with a last look at the queues. */
enum sleep_outcome weft__sleep_counted(struct weft__sleep *sleep, struct weft__idle *idle,
                                       const struct weft__sleeper *sleeper);

#endif
