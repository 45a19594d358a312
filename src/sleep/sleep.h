/* SPDX-License-Identifier: MIT */
/* sleep.h: when idle workers fall asleep, and whom new work wakes. Several protocols decide
 * that, each in a file of its own; README.md beside this file explains them, and proves what
 * each never misses. A pool has one of them, for all its life.
 *
 *   active -start_looking-> idle -no_work-> sleepy -no_work-> asleep
 *      ^                     |  ^             |                 |
 *      +-----work_found------+  +--new work---+------ woken ----+
 *
 * One word counts, from the top: job events (`events` alone; they wrap around), inactive
 * workers and sleeping workers (who are inactive too). */
#ifndef WEFT_SLEEP_SLEEP_H
#define WEFT_SLEEP_SLEEP_H

#include "core/atomic.h"
#include "core/latch.h"
#include "weft.h"

enum { WEFT__ROUNDS_DEFAULT = 32, WEFT__JEC_BITS = 32, WEFT__DOZE_NS = 1000000 };

struct weft__protocol;

struct weft__sleep {
    WEFT__ALIGNED struct atomic_u64 counters;
    /* Guests at work. A fork wakes nobody while guests and awake workers together are as
     * many as the pool has workers: a guest stands in for one. */
    struct atomic_u32 guests;
    struct atomic_bool lookout; /* somebody dozes; see README.md */
    struct atomic_i32 absent;   /* workers that do something else now; negative: there are more
                                   workers than `workers` */
    struct atomic_u32 blocked;  /* workers that are blocked in other people's code */

    WEFT__ALIGNED const struct weft__protocol *protocol; /* constant, as is all below */
    uint64_t jec_one;
    unsigned rounds; /* searches in vain before getting sleepy */
    uint64_t doze;   /* nanoseconds: while others work, a sleeper looks again after so long,
                        then after twice as long, and so on; 0: never */
    unsigned workers;
    unsigned places;
    struct weft__crowd *crowd; /* of protocols that have one, or NULL */
    struct atomic_ptr *parks;  /* struct weft__park, one per place; NULL: nobody is there yet */

    /* Work should wake somebody, but nobody sleeps, nobody is idle, and some are blocked. May
     * be NULL. */
    void (*call_spare)(struct weft__sleep *sleep);
};

/* What a worker remembers while it is idle. */
struct weft__idle {
    unsigned round;
    uint64_t jec;    /* as it was when the worker got sleepy */
    unsigned sleepy; /* its number in the crowd while it is the sleepy one, or 0 */
    uint64_t doze;   /* for how long it dozed last; 0: it is not the look-out */
};

/* What a worker needs to fall asleep: its place, its latch, and its last look. */
struct weft__sleeper {
    struct weft__park *park;
    struct weft__latch *latch;
    bool (*last_look)(void *arg); /* is there anything for it in a queue? May be NULL for
                                     weft__sleep_uncounted() */
    void *arg;
};

/* What the protocols do differently. */
struct weft__protocol {
    const char *name;
    unsigned kind;  /* which one of its file's */
    bool crowded;   /* its workers sleep in a crowd, of that kind */
    bool looks_out; /* a sleeper looks now and then, even on the eager road */
    bool (*no_work)(struct weft__sleep *sleep, struct weft__idle *idle,
                    const struct weft__sleeper *sleeper);
    bool (*work_found)(struct weft__sleep *sleep, struct weft__idle *idle);
    void (*more_work)(struct weft__sleep *sleep, bool forks_only);
    bool (*new_fork)(struct weft__sleep *sleep, bool was_empty);
    void (*new_jobs)(struct weft__sleep *sleep, unsigned jobs, bool waits);
};

/* `places`: at least `workers`; weft__sleep_place() fills them. `jec_bits`: width of the event
 * counter; tests use 2, so that it wraps soon. 0 or -ENOMEM. */
int weft__sleep_init(struct weft__sleep *sleep, enum weft_sleep protocol, unsigned workers,
                     unsigned places, unsigned rounds, unsigned jec_bits);
void weft__sleep_destroy(struct weft__sleep *sleep);

/* Whoever sleeps at this place sleeps in `park`, and can be woken from now on. A place is
 * given once, at any time. */
void weft__sleep_place(struct weft__sleep *sleep, unsigned place, struct weft__park *park);

/* The name of a protocol, and the protocol of that name: WEFT_SLEEP_DEFAULT if there is none. */
const char *weft__sleep_name(enum weft_sleep protocol);
enum weft_sleep weft__sleep_named(const char *name);

void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle);

/* The worker searched everything there is and found nothing. True: it slept. */
static inline bool weft__sleep_no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                                       const struct weft__sleeper *sleeper)
{
    return sleep->protocol->no_work(sleep, idle, sleeper);
}

/* It found something, or its latch is set. True: it was the last one to search while
 * others sleep, so new work may have woken nobody; the caller looks whether there is
 * more, and if so says it with more_work. */
static inline bool weft__sleep_work_found(struct weft__sleep *sleep, struct weft__idle *idle)
{
    return sleep->protocol->work_found(sleep, idle);
}

static inline void weft__sleep_more_work(struct weft__sleep *sleep, bool forks_only)
{
    sleep->protocol->more_work(sleep, forks_only);
}

/* A new fork, which its owner runs itself if nobody else does. `was_empty`: the owner had
 * no other. False: there was nobody to look at it, and no room to wake anybody. */
static inline bool weft__sleep_new_fork(struct weft__sleep *sleep, bool was_empty)
{
    return sleep->protocol->new_fork(sleep, was_empty);
}

/* New jobs in the injector or on a deque. `waits`: the caller is about to sleep, and its CPU
 * is free. */
static inline void weft__sleep_new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    sleep->protocol->new_jobs(sleep, jobs, waits);
}

/* Guesses: may forks wake anybody; and would one do so now? */
bool weft__sleep_has_room(struct weft__sleep *sleep);
bool weft__sleep_would_wake(struct weft__sleep *sleep);

/* A guest starts working, and looks for sleepers afterwards. */
void weft__sleep_guest_entered(struct weft__sleep *sleep);

/* A guest stops working. True: it may have kept a worker from being woken for forks; the
 * caller looks whether there are any, and if so says it with more_work. */
bool weft__sleep_guest_left(struct weft__sleep *sleep);

/* A worker does something else than work for the pool, and comes back. All are present at
 * first. */
void weft__sleep_absent(struct weft__sleep *sleep);
void weft__sleep_present(struct weft__sleep *sleep);

/* Sleeps until the latch is set, mail comes, or for no reason, without being counted on by
 * anybody; but no longer than `ns` nanoseconds, unless 0. */
enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns);

/* How many do not work, both as of one moment. */
struct weft__resting {
    unsigned idle;     /* searching */
    unsigned sleeping; /* these are not idle */
};
struct weft__resting weft__sleep_resting(struct weft__sleep *sleep);

#endif
