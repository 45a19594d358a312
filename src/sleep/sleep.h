/* SPDX-License-Identifier: MIT */
/* sleep.h: when idle workers fall asleep, and whom new work wakes. This is the `events`
 * protocol; README.md beside this file explains and proves it.
 *
 * One word counts, from the top: job events (JEC, wraps around), inactive workers and
 * sleeping workers (who are inactive too).
 *
 *   active -start_looking-> idle -no_work-> sleepy -no_work-> asleep
 *      ^                     |  ^             |                 |
 *      +-----work_found------+  +--JEC moved--+------ woken ----+
 */
#ifndef WEFT_SLEEP_SLEEP_H
#define WEFT_SLEEP_SLEEP_H

#include "core/atomic.h"
#include "core/latch.h"

enum { WEFT__ROUNDS_DEFAULT = 32, WEFT__JEC_BITS = 32, WEFT__DOZE_NS = 1000000 };

struct weft__sleep {
    WEFT__ALIGNED struct atomic_u64 counters;
    /* Guests at work. A fork wakes nobody while guests and awake workers together are as
     * many as the pool has workers: a guest stands in for one. */
    struct atomic_u32 guests;
    struct atomic_bool lookout; /* somebody dozes; see README.md */
    struct atomic_u32 absent;   /* 1: a worker is a caller who does something else now */

    WEFT__ALIGNED uint64_t jec_one; /* constant, as is all below */
    unsigned rounds;                /* searches in vain before getting sleepy */
    uint64_t doze; /* nanoseconds: while others work, a sleeper looks again after so long,
                      then after twice as long, and so on; 0: never */
    unsigned workers;
    struct weft__park **parks; /* one per worker */
};

/* `jec_bits`: width of the event counter; tests use 2, so that it wraps soon. */
int weft__sleep_init(struct weft__sleep *sleep, unsigned workers, unsigned rounds,
                     unsigned jec_bits); /* 0 or -ENOMEM */
void weft__sleep_destroy(struct weft__sleep *sleep);

/* What a worker remembers while it is idle. */
struct weft__idle {
    unsigned round;
    uint64_t jec;  /* as it was when the worker got sleepy */
    uint64_t doze; /* for how long it dozed last; 0: it is not the look-out */
};

/* What a worker needs to fall asleep: its place, its latch, and its last look. */
struct weft__sleeper {
    struct weft__park *park;
    struct weft__latch *latch;
    bool (*last_look)(void *arg); /* is there anything for it in a queue? May be NULL for
                                     weft__sleep_uncounted() */
    void *arg;
};

void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle);

/* The worker searched everything there is and found nothing. True: it slept. */
bool weft__sleep_no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                         const struct weft__sleeper *sleeper);

/* It found something, or its latch is set. True: it was the last one to search while
 * others sleep, so new work may have woken nobody; the caller looks whether there is
 * more, and if so says it with more_work. */
bool weft__sleep_work_found(struct weft__sleep *sleep, struct weft__idle *idle);
void weft__sleep_more_work(struct weft__sleep *sleep, bool forks_only);

/* A new fork, which its owner runs itself if nobody else does. `was_empty`: the owner had
 * no other. False: there was nobody to look at it, and no room to wake anybody. */
bool weft__sleep_new_fork(struct weft__sleep *sleep, bool was_empty);

/* Guesses: may forks wake anybody; and would one do so now? */
bool weft__sleep_has_room(struct weft__sleep *sleep);
bool weft__sleep_would_wake(struct weft__sleep *sleep);

/* New jobs in the injector or on a deque. `waits`: the caller is about to sleep, and its CPU
 * is free. */
void weft__sleep_new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits);

/* A guest starts working, and looks for sleepers afterwards. */
void weft__sleep_guest_entered(struct weft__sleep *sleep);

/* The same for a worker that is the pool's caller. It is absent at first. */
void weft__sleep_caller_entered(struct weft__sleep *sleep);
void weft__sleep_caller_left(struct weft__sleep *sleep);

/* A guest stops working. True: it may have kept a worker from being woken for forks; the
 * caller looks whether there are any, and if so says it with more_work. */
bool weft__sleep_guest_left(struct weft__sleep *sleep);

/* Sleeps until the latch is set, mail comes, or for no reason, without being counted on by
 * anybody; but no longer than `ns` nanoseconds, unless 0. */
enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns);

unsigned weft__sleep_idle(struct weft__sleep *sleep);
unsigned weft__sleep_sleeping(struct weft__sleep *sleep);

#endif
