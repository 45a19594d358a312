/* SPDX-License-Identifier: MIT */
/* crowd.h: where workers sleep together and are woken all at once; for the `tickle`
 * protocols, see ../sleep/README.md. One word says which worker is on the way:
 *
 *   bit 0      a worker sleeps, or is about to and has the lock
 *   the rest   the number of the sleepy worker, which is its place + 1; 0: no worker is sleepy
 *
 *   0, 1         -get_sleepy-> number << 1, and bit 0 as it was   by a worker that found nothing
 *   number << 1  -be_awake---> 0, 1: bit 0 as it was              by that worker, which found work
 *   number << 1  -sleep------> 1                                  by that worker, with the lock
 *   any          -tickle-----> 0                                  by a thread that has news
 *
 * At most one worker is sleepy. It searches at least once more. If it finds nothing, and no thread
 * has tickled meanwhile, it sleeps. A thread that tickles finds 0, and then all workers search
 * after that; or it finds the sleepy worker, which then finds itself awake; or sleepers, and wakes
 * them.
 *
 * Crowds are never freed, only handed to another pool, for the same reason as parking places: the
 * setter of a latch tickles after the set, when the latch's owner and the pool may be gone. A crowd
 * keeps its kind, so that such a late tickle finds it unchanged. */
#ifndef WEFT_SLEEP_CROWD_H
#define WEFT_SLEEP_CROWD_H

#include "os/atomic.h"
#include "os/lock.h"
#include "sleep/park.h"

enum crowd_kind {
    CROWD_ACQ_REL, /* acquire and release on the word: may lose news, see README.md */
    CROWD_SEQ_CST,
    CROWD_SWAPS, /* as ACQ_REL, but a tickle always writes */
};

enum { CROWD_ASLEEP = 1 };

struct weft__crowd {
    WEFT__ALIGNED struct atomic_u32 state;
    enum crowd_kind kind; /* constant */

    WEFT__ALIGNED struct weft__lock lock;
    /* Under the lock; `notices` is read without it, too. */
    struct atomic_u32 notices;   /* the condition: changes when sleepers are woken */
    unsigned asleep;             /* how many workers sleep here */
    struct atomic_u64 *counted;  /* where these are counted as sleeping */
    struct weft__census *census; /* where they are counted as resting, or NULL */
    struct weft__crowd *next;    /* in the list of unused crowds */
};

struct weft__crowd *weft__crowd_get(enum crowd_kind kind); /* NULL: no memory */
void weft__crowd_put(struct weft__crowd *crowd);

/* False: another worker is sleepy. */
bool weft__crowd_get_sleepy(struct weft__crowd *crowd, unsigned number);
bool weft__crowd_is_sleepy(struct weft__crowd *crowd, unsigned number);
void weft__crowd_be_awake(struct weft__crowd *crowd, unsigned number);

/* Called by the sleepy worker, whose number is park->place + 1. NUDGED: it was tickled. The caller
 * has counted itself in `counted`. Its waker uncounts it; if there was none, the caller does. */
enum park_result weft__crowd_sleep(struct weft__crowd *crowd, struct weft__park *park,
                                   struct atomic_u64 *counted, struct weft__naps naps);

void weft__crowd_wake_all(struct weft__crowd *crowd);

static inline uint32_t weft__crowd_state(struct weft__crowd *crowd)
{
    if (crowd->kind == CROWD_SEQ_CST)
        return atomic_load_seq_cst(&crowd->state); /* seq_cst V2 */
    return atomic_load_acquire(&crowd->state);     /* acquire V1 */
}

/* There is news: the caller has posted work, set a latch or sent mail. */
static inline void weft__crowd_tickle(struct weft__crowd *crowd)
{
    /* seq_cst V2: the news before this look; partner: a worker that gets sleepy and then looks
     * for news. acquire V1 is not enough for that: this may read an old 0. */
    if (crowd->kind != CROWD_SWAPS && weft__crowd_state(crowd) == 0)
        return;
    /* release V1: a worker that finds itself tickled, or gets sleepy later, sees the news. */
    uint32_t old = crowd->kind == CROWD_SEQ_CST ? atomic_exchange_seq_cst(&crowd->state, 0)
                                                : atomic_exchange_release(&crowd->state, 0);
    if (old & CROWD_ASLEEP)
        weft__crowd_wake_all(crowd);
}

/* In the child after fork(): the thread that held the list's lock may not exist here. */
void weft__crowd_forked(void);

#endif
