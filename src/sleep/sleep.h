/* SPDX-License-Identifier: MIT */
/* sleep.h: when idle workers fall asleep, and which sleepers new work wakes. Several protocols
 * decide that, each in a file of its own; README.md beside this file explains them, and proves what
 * each never misses. A pool has one protocol, for all its life.
 *
 *   active -start_looking-> idle -no_work-> sleepy -no_work-> asleep
 *      ^                     |  ^             |                 |
 *      +-----work_found------+  +--new work---+------ woken ----+
 *
 * One word counts, from the top: job events (of `events` and its variants; they wrap around),
 * whether there is a look-out, inactive workers and sleeping workers (which are inactive too).
 *
 * Room. Guests are the caller's own threads and always compute; workers step back for them. The
 * workers that are up, and the guests at work, are together at most as many as the pool has
 * workers, or as there are guests. A worker that has begun a job ends it, but begins none while
 * there are more.
 *
 * The look-out. Not every fork wakes a worker. So one sleeper, the look-out, looks around every
 * 0.8 ms while a thread is at work and for 10 ms afterwards. Then it sleeps until a waker comes,
 * and the next fork wakes a sleeper. If there is work, and a searcher that does not take it, the
 * searcher has no CPU; then the look-out takes its place. Worst case: a right side that a worker
 * could run waits for one nap of the look-out, a short second one, and two quanta; after its last
 * use, a pool costs 13 looks of 3 to 45 us; and a fork that comes later wakes a sleeper, though the
 * job may be brief: once in 10 ms at most. */
#ifndef WEFT_SLEEP_SLEEP_H
#define WEFT_SLEEP_SLEEP_H

#include "os/atomic.h"
#include "sleep/cpus.h"
#include "sleep/latch.h"
#include "weft.h"

enum {
    WEFT__ROUNDS_DEFAULT = 32,
    WEFT__JEC_BITS = 32,
    WEFT__LOOK_NS = 800000,        /* the look-out's nap */
    WEFT__LOOK_AGAIN_NS = 40000,   /* a short nap: does a searcher take the work? */
    WEFT__WATCH_NS = 10000000,     /* how long the look-out stays after the last use */
    WEFT__SILENCE_NS = 1000000000, /* between two calls of every_second() */
    WEFT__STARVED_NS = 20000000,   /* how long injected jobs wait at most because of guests */
};

struct weft__protocol;

struct weft__sleep {
    WEFT__ALIGNED struct atomic_u64 counters;
    struct atomic_u64 guests;      /* guests at work; from bit 32 on, how often a guest came, from
                                      which the look-out sees whether the pool is in use */
    struct atomic_i32 absent;      /* workers that do something else now, or have not begun;
                                      negative: there are more workers than `workers` */
    struct atomic_u32 aside;       /* sleepers that have stepped back. For the `tickle` protocols,
                                      whose other sleepers are in the crowd */
    struct atomic_u32 blocked;     /* workers that are blocked in code that is not the pool's */
    struct atomic_i32 lookout_cpu; /* where the look-out sleeps, or -1; a hint */
    struct atomic_i32 guest_cpu;   /* where the last guest came in, or -1; a hint */
    struct atomic_ptr lookout;     /* struct weft__park: where the look-out sleeps. The thread that
                                      makes it NULL takes the look-out's bit off the counters */
    struct atomic_u64 second; /* when every_second() was called last, or the first look-out came;
                                 0: none has come. The thread that changes it calls */
    struct atomic_ptr rester; /* struct weft__park: where the last look-out rests, which calls
                                 every_second(); a hint. Written by it, or the next one */

    WEFT__ALIGNED const struct weft__protocol *protocol; /* constant, as is all below */
    uint64_t jec_one;
    unsigned rounds;  /* searches in vain before getting sleepy */
    uint64_t look_ns; /* the look-out's nap; 0: there is none */
    unsigned workers;
    unsigned places;
    struct weft__crowd *crowd; /* of protocols that have one, or NULL */
    struct atomic_ptr *parks;  /* struct weft__park, one per place; NULL: not given yet */

    /* There is work, but no worker sleeps or is idle, and some are blocked. May be NULL. */
    void (*call_spare)(struct weft__sleep *sleep);

    /* For the look-out. Is there anything that a worker could take, now or soon? NULL: there may
     * be. */
    bool (*holds_work)(struct weft__sleep *sleep);
    /* Are jobs in the injector? NULL: none. */
    bool (*holds_injected)(struct weft__sleep *sleep);
    /* A second has passed. May be NULL. */
    void (*every_second)(struct weft__sleep *sleep);

    /* On which CPUs the pool's threads are at work. NULL: no thread is moved. False: none may be.
     */
    bool (*used_cpus)(struct weft__sleep *sleep, struct weft__used_cpus *used);
    const struct weft__cpus *cpus; /* that the pool may use */
};

/* What a worker remembers while it is idle. */
struct weft__idle {
    unsigned round;
    bool hurries;    /* other threads want its CPU: no more rounds than are needed */
    uint64_t jec;    /* as it was when the worker got sleepy */
    unsigned sleepy; /* its number in the crowd while it is the sleepy one, or 0 */

    bool woken;       /* a waker ended its last sleep: it did not get up by itself */
    bool looks_out;   /* it is the look-out, or was when its last sleep ended */
    bool rests;       /* it has gone off duty since, and naps for every_second() */
    bool let_in;      /* it may take one injected job, though guests leave no room */
    bool overtakes;   /* it may take work in the place of a searcher that has no CPU */
    bool overlooked;  /* there was such work when it looked last */
    uint32_t entries; /* of guests, when it looked last */
    uint64_t used;    /* when it last saw that the pool is in use */
    uint64_t starved; /* since when injected jobs wait because of guests; 0: none does */
};

/* What a worker needs to fall asleep: its place, its latch, and its last look. */
struct weft__sleeper {
    struct weft__park *park;
    struct weft__latch *latch;
    bool (*last_look)(void *arg); /* is there anything for it in a queue? weft__sleep_uncounted()
                                     does not call it */
    bool (*mail)(void *arg);      /* is there mail? May be NULL for weft__sleep_uncounted() */
    void *arg;
};

/* What the protocols do differently. */
struct weft__protocol {
    const char *name;
    unsigned kind; /* which protocol of its file */
    bool crowded;  /* its workers sleep in a crowd; `kind` is the crowd's */
    bool at_once;  /* its workers' latches go from UNSET to SLEEPING in one step */
    bool (*no_work)(struct weft__sleep *sleep, struct weft__idle *idle,
                    const struct weft__sleeper *sleeper);
    bool (*work_found)(struct weft__sleep *sleep, struct weft__idle *idle);
    void (*more_work)(struct weft__sleep *sleep);
    bool (*new_fork)(struct weft__sleep *sleep, bool was_empty);
    void (*new_jobs)(struct weft__sleep *sleep, unsigned jobs, bool waits);
};

/* `places`: at least `workers`; weft__sleep_place() fills them. `jec_bits`: width of the event
 * counter; tests use 2, so that it wraps soon. 0 or -ENOMEM. */
int weft__sleep_init(struct weft__sleep *sleep, enum weft_sleep protocol, unsigned workers,
                     unsigned places, unsigned rounds, unsigned jec_bits);
void weft__sleep_destroy(struct weft__sleep *sleep);

/* The worker that has this place sleeps in `park`, and can be woken from now on. A place is
 * given once, at any time. */
void weft__sleep_place(struct weft__sleep *sleep, unsigned place, struct weft__park *park);

/* The name of a protocol, and the protocol of that name: WEFT_SLEEP_DEFAULT if there is none. */
const char *weft__sleep_name(enum weft_sleep protocol);
enum weft_sleep weft__sleep_named(const char *name);

/* `used`: when the worker stopped working; 0: it has not done anything yet. */
void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t used);

/* The worker searched everything there is and found nothing. True: it slept. */
static inline bool weft__sleep_no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                                       const struct weft__sleeper *sleeper)
{
    return sleep->protocol->no_work(sleep, idle, sleeper);
}

/* The worker found something, or its latch is set. True: it was the last searcher while others
 * sleep, so new work may have woken none of them. The caller looks whether there is more, and if so
 * calls weft__sleep_more_work(). */
static inline bool weft__sleep_work_found(struct weft__sleep *sleep, struct weft__idle *idle)
{
    return sleep->protocol->work_found(sleep, idle);
}

/* Wakes one sleeper, if there is room. */
static inline void weft__sleep_more_work(struct weft__sleep *sleep)
{
    sleep->protocol->more_work(sleep);
}

/* Are more threads up than there should be? Then a worker begins nothing new, and steps back. A
 * worker that has seen a job of a guest sees the guest here. */
bool weft__sleep_over_full(struct weft__sleep *sleep);

/* Is there just one too many, the caller? The caller sees the parking place of each worker that is
 * counted as asleep at least DROWSY. */
bool weft__sleep_is_one_too_many(struct weft__sleep *sleep);

/* The worker steps back: it sleeps until there is room, its latch is set, or mail comes. False: it
 * need not step back any more. */
bool weft__sleep_step_back(struct weft__sleep *sleep, struct weft__idle *idle,
                           const struct weft__sleeper *sleeper);

/* Is a thread at work, which may have forked, while there is no look-out? `self`: 1 if the caller
 * is counted as a worker at work, else 0. A hint, unless the caller has passed a fence. */
bool weft__sleep_needs_lookout(struct weft__sleep *sleep, unsigned self);

/* A new fork, which its owner runs itself if no thief takes it. `was_empty`: the owner had no
 * other. False: no worker was idle, and there was no room to wake one. */
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

/* Guesses: is there a look-out, on any CPU? Will every_second() be called? */
bool weft__sleep_has_lookout(struct weft__sleep *sleep);
bool weft__sleep_counts_seconds(struct weft__sleep *sleep);

/* Guesses. */
bool weft__sleep_has_room(struct weft__sleep *sleep);          /* may a sleeper be woken? */
bool weft__sleep_would_wake(struct weft__sleep *sleep);        /* would a fork wake one now? */
bool weft__sleep_has_lookout_apart(struct weft__sleep *sleep); /* not on the caller's CPU */
unsigned weft__sleep_searchers(struct weft__sleep *sleep);     /* how many workers search */

/* Does any worker search? Inlined, because every spawn asks. common.h says what the counters
 * are. */
static inline bool weft__sleep_has_searcher(struct weft__sleep *sleep)
{
    uint32_t counters = (uint32_t)atomic_load_relaxed(&sleep->counters); /* relaxed: a guess */
    return (counters >> 16 & 0x7fff) != (counters & 0xffff);
}

/* A guest starts working, and looks for sleepers afterwards. */
void weft__sleep_guest_entered(struct weft__sleep *sleep);

/* A guest stops working. */
void weft__sleep_guest_gone(struct weft__sleep *sleep);
unsigned weft__sleep_guests(struct weft__sleep *sleep);

/* A worker goes away from the pool, and comes back. All workers are present here at first; a pool
 * makes them absent until their threads run. */
void weft__sleep_absent(struct weft__sleep *sleep);
void weft__sleep_present(struct weft__sleep *sleep);

/* After a guest is gone, or a worker is absent. True: there may be work that has woken no sleeper
 * for lack of room. The caller looks whether there is, and if so calls weft__sleep_more_work(). */
bool weft__sleep_room_made(struct weft__sleep *sleep);

/* Sleeps until the latch is set or mail comes, and is not woken for new work. May return for no
 * reason. Sleeps no longer than `ns` nanoseconds, unless that is 0. */
enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns);

/* The same in a pool, whose protocol says by which steps a latch falls asleep. */
enum park_result weft__sleep_uncounted_in(const struct weft__sleep *sleep,
                                          const struct weft__sleeper *sleeper, uint64_t ns);

/* How many workers do not work, both numbers as of one moment. */
struct weft__resting {
    unsigned idle;     /* searchers */
    unsigned sleeping; /* not idle */
};
struct weft__resting weft__sleep_resting(struct weft__sleep *sleep);

#endif
