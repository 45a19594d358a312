/* SPDX-License-Identifier: MIT */
/* sleep.h: when idle workers fall asleep, and whom new work wakes. Several protocols decide
 * that, each in a file of its own; README.md beside this file explains them, and proves what
 * each never misses. A pool has one of them, for all its life.
 *
 *   active -start_looking-> idle -no_work-> sleepy -no_work-> asleep
 *      ^                     |  ^             |                 |
 *      +-----work_found------+  +--new work---+------ woken ----+
 *
 * One word counts, from the top: job events (of `events` and its variants; they wrap around),
 * whether there is a look-out, inactive workers and sleeping workers (who are inactive too).
 *
 * Who may be up. Guests are the caller's own threads and always compute; workers step back for
 * them. Workers that are up and guests at work together are at most as many as the pool has
 * workers, or as there are guests. A worker that has begun a job ends it; but none begins one while
 * there are more.
 *
 * The look-out. Not every fork tells somebody. So one sleeper, the look-out, looks around every
 * 0.8 ms while anybody is at work and for a second afterwards; it then sleeps for good, and the
 * next fork wakes somebody. If a searcher is there already and takes nothing, it has no CPU; then
 * the look-out takes its place. Worst case: a right side that a worker could run waits for one nap
 * of the look-out, a short second one, and two quanta; a pool costs 1250 looks of 3 to 30 us in the
 * second after its last use. */
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
    WEFT__LOOK_AGAIN_NS = 40000,   /* a shorter one: does a searcher take what there is? */
    WEFT__SILENCE_NS = 1000000000, /* how long it goes on after the last use */
    WEFT__STARVED_NS = 20000000,   /* how long injected jobs wait at most because of guests */
};

struct weft__protocol;

struct weft__sleep {
    WEFT__ALIGNED struct atomic_u64 counters;
    struct atomic_u64 guests;      /* at work; above them, from bit 32 on, how often one came: the
                                      look-out sees by that whether the pool is in use */
    struct atomic_i32 absent;      /* workers that do something else now, or have not begun;
                                      negative: there are more workers than `workers` */
    struct atomic_u32 aside;       /* of the sleeping ones: those who stepped back. For the `tickle`
                                      protocols, whose other sleepers are in the crowd */
    struct atomic_u32 blocked;     /* workers that are blocked in other people's code */
    struct atomic_i32 lookout_cpu; /* where the look-out sleeps, or -1; a hint, as is */
    struct atomic_i32 guest_cpu;   /* where the last guest came in, or -1 */
    struct atomic_ptr lookout; /* struct weft__park: where the look-out sleeps. Who makes it NULL
                                  takes the look-out's bit off the counters */

    WEFT__ALIGNED const struct weft__protocol *protocol; /* constant, as is all below */
    uint64_t jec_one;
    unsigned rounds;  /* searches in vain before getting sleepy */
    uint64_t look_ns; /* the look-out's nap; 0: there is none */
    unsigned workers;
    unsigned places;
    struct weft__crowd *crowd; /* of protocols that have one, or NULL */
    struct atomic_ptr *parks;  /* struct weft__park, one per place; NULL: nobody is there yet */

    /* Work should wake somebody, but nobody sleeps, nobody is idle, and some are blocked. May
     * be NULL. */
    void (*call_spare)(struct weft__sleep *sleep);

    /* For the look-out: is there anything that a worker could take, or soon; jobs in the injector;
     * and a second has passed. May be NULL: then there may be something. */
    bool (*holds_work)(struct weft__sleep *sleep);
    bool (*holds_injected)(struct weft__sleep *sleep);
    void (*every_second)(struct weft__sleep *sleep);

    /* Where those are who work for the pool, and which CPUs there are. May be NULL: then nobody is
     * moved. False: nobody may be. */
    bool (*used_cpus)(struct weft__sleep *sleep, struct weft__used_cpus *used);
    const struct weft__cpus *cpus;
};

/* What a worker remembers while it is idle. */
struct weft__idle {
    unsigned round;
    bool hurries;    /* others want its CPU: no more rounds than are needed */
    uint64_t jec;    /* as it was when the worker got sleepy */
    unsigned sleepy; /* its number in the crowd while it is the sleepy one, or 0 */

    bool woken;       /* from its last sleep, by somebody: it did not get up by itself */
    bool looks_out;   /* it was the look-out when it slept last */
    bool relieves;    /* it may take one injected job whatever guests are there */
    bool overtakes;   /* it may take work in the place of a searcher that does not get to it */
    bool overlooked;  /* there was such work when it looked last */
    uint32_t entries; /* of guests, when it looked last */
    uint64_t used;    /* when the pool was in use last, as far as it knows */
    uint64_t second;  /* when every_second() was called last */
    uint64_t starved; /* since when injected jobs wait because of guests; 0: they don't */
};

/* What a worker needs to fall asleep: its place, its latch, and its last look. */
struct weft__sleeper {
    struct weft__park *park;
    struct weft__latch *latch;
    bool (*last_look)(void *arg); /* is there anything for it in a queue? Not for
                                     weft__sleep_uncounted() */
    bool (*mail)(void *arg);      /* is there mail? May be NULL for weft__sleep_uncounted() */
    void *arg;
};

/* What the protocols do differently. */
struct weft__protocol {
    const char *name;
    unsigned kind; /* which one of its file's */
    bool crowded;  /* its workers sleep in a crowd, of that kind */
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

/* Whoever sleeps at this place sleeps in `park`, and can be woken from now on. A place is
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

/* It found something, or its latch is set. True: it was the last one to search while
 * others sleep, so new work may have woken nobody; the caller looks whether there is
 * more, and if so says it with more_work. */
static inline bool weft__sleep_work_found(struct weft__sleep *sleep, struct weft__idle *idle)
{
    return sleep->protocol->work_found(sleep, idle);
}

/* Wakes one, if there is room. */
static inline void weft__sleep_more_work(struct weft__sleep *sleep)
{
    sleep->protocol->more_work(sleep);
}

/* Are more threads up than there should be? Then a worker begins nothing new, and steps back. Who
 * has seen a job of a guest's sees the guest here. */
bool weft__sleep_over_full(struct weft__sleep *sleep);

/* Just one, the caller? Whoever is counted as asleep here has left AWAKE. */
bool weft__sleep_is_one_too_many(struct weft__sleep *sleep);

/* The worker does that: it sleeps until there is room, its latch is set, or mail comes. False: it
 * need not any more. */
bool weft__sleep_step_back(struct weft__sleep *sleep, struct weft__idle *idle,
                           const struct weft__sleeper *sleeper);

/* Is somebody at work, who may have forked, while nobody looks out for that? `self`: so many of
 * those who work are the caller. A hint, unless the caller has a fence behind it. */
bool weft__sleep_needs_lookout(struct weft__sleep *sleep, unsigned self);

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

/* Does anybody look out, wherever it sleeps? A guess. */
bool weft__sleep_has_lookout(struct weft__sleep *sleep);

/* Guesses: may anybody be woken; would a fork do so now; does anybody look out; how many
 * search? */
bool weft__sleep_has_room(struct weft__sleep *sleep);
bool weft__sleep_would_wake(struct weft__sleep *sleep);
bool weft__sleep_has_lookout_apart(struct weft__sleep *sleep); /* not on the caller's CPU */
unsigned weft__sleep_hungry(struct weft__sleep *sleep);

/* A guest starts working, and looks for sleepers afterwards. */
void weft__sleep_guest_entered(struct weft__sleep *sleep);

/* A guest stops working. */
void weft__sleep_guest_gone(struct weft__sleep *sleep);
unsigned weft__sleep_guests(struct weft__sleep *sleep);

/* A worker does something else than work for the pool, and comes back. All are present here at
 * first; a pool makes them absent until their threads run. */
void weft__sleep_absent(struct weft__sleep *sleep);
void weft__sleep_present(struct weft__sleep *sleep);

/* After a guest has left, or a worker is absent. True: it may have kept a worker from being woken;
 * the caller looks whether there is work, and if so says it with more_work. */
bool weft__sleep_room_made(struct weft__sleep *sleep);

/* Sleeps until the latch is set, mail comes, or for no reason, without being counted on by
 * anybody; but no longer than `ns` nanoseconds, unless 0. */
enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns);

/* The same in a pool, whose protocol says by which steps a latch falls asleep. */
enum park_result weft__sleep_uncounted_in(const struct weft__sleep *sleep,
                                          const struct weft__sleeper *sleeper, uint64_t ns);

/* How many do not work, both as of one moment. */
struct weft__resting {
    unsigned idle;     /* searching */
    unsigned sleeping; /* these are not idle */
};
struct weft__resting weft__sleep_resting(struct weft__sleep *sleep);

#endif
