/* SPDX-License-Identifier: MIT */
/* park.h: the place where one thread sleeps until another wakes it.
 *
 *   AWAKE  -drowse-> DROWSY            by the owner, who now takes its last looks
 *   DROWSY -sleep--> ASLEEP            by the owner, who waits on the word
 *   DROWSY -wake---> NUDGED            by a waker: the owner finds it and does not sleep
 *   ASLEEP -wake---> WAKING -> AWAKE   by one waker: who gets from ASLEEP to WAKING has
 *                                      the sleeper to itself until it says AWAKE
 *   ASLEEP ---------> AWAKE            by the owner, whose time is up
 *   DROWSY, NUDGED -rouse-> AWAKE      by the owner
 *
 * An owner that could not take new work says so: its state is UNCOUNTED as well. New work
 * passes it over and wakes somebody else; its latch and its mail wake it all the same.
 *
 * Parking places are never freed, only handed to another thread: a waker may be late,
 * when its sleeper was woken by somebody else and has left, pool and all. Such a wake
 * finds a live word and is at worst one wake-up for nothing, and everybody here looks
 * again after waking (bugs 1 to 3: waking through memory that died with its owner). */
#ifndef WEFT_SLEEP_PARK_H
#define WEFT_SLEEP_PARK_H

#include "os/atomic.h"
#include "os/thread.h"
#include "sleep/census.h"

enum park_state {
    PARK_AWAKE,
    PARK_DROWSY,
    PARK_NUDGED,
    PARK_ASLEEP,
    PARK_WAKING,
    PARK_UNCOUNTED = 1 << 3, /* beside DROWSY or ASLEEP */
};

struct weft__crowd;
struct weft__latch;

struct weft__park {
    WEFT__ALIGNED struct atomic_u32 state; /* enum park_state */
    struct atomic_i32 cpu;       /* where the owner wakes up, or -1: anywhere. Written by it and
                                    its wakers; a hint */
    struct atomic_i32 thread;    /* the number of its owner, if that may be moved; 0: it may not;
                                    below 0: somebody is at it, */
    struct weft__pin pin;        /* and that one's is this */
    struct atomic_u64 *counted;  /* its waker takes 1 off here; NULL: not counted. Written by
                                    the owner while awake, read by the waker in WAKING */
    struct weft__census *census; /* of the pool whose thread sleeps here, or NULL; as `counted` */
    struct weft__crowd *crowd;   /* where its owner may sleep instead, or NULL; written before it is
                                    in use, */
    unsigned place;              /* and which one of the sleep module's places it is */
    /* If no thread sleeps here, but something else: sets the latch, and wakes that. NULL: a thread.
     * Written before it is in use. */
    void (*set_for)(struct weft__latch *latch, struct weft__park *owner);
    void *sleeper;           /* what sleeps here then */
    struct weft__park *next; /* in the list of free ones */
};

void weft__park_init(struct weft__park *park);
struct weft__park *weft__park_get(void); /* NULL: no memory */
void weft__park_put(struct weft__park *park);

void weft__park_drowse(struct weft__park *park, bool counted);
void weft__park_rouse(struct weft__park *park);

enum park_result { PARK_WAS_NUDGED, PARK_TIMED_OUT, PARK_WAS_WOKEN };

/* A sleeper may look up now and then: after `ns` nanoseconds `look` says for how long it sleeps
 * on, or that it gets up. Without `look` it gets up. */
struct weft__naps {
    uint64_t ns;
    uint64_t (*look)(struct weft__naps *naps);
    void *arg;
    uint64_t end;            /* of this nap; 0: it has not begun */
    struct weft__park *park; /* its own, */
    int cpu, is_on; /* where it should sleep, and where it is pinned so far; -1: anywhere */
};

#define WEFT__GET_UP 0
#define WEFT__SLEEP_ON UINT64_MAX /* until it is woken */

/* One nap of so many nanoseconds; 0: until it is woken. */
static inline struct weft__naps weft__one_nap(uint64_t ns)
{
    return (struct weft__naps){.ns = ns ? ns : WEFT__SLEEP_ON};
}

/* The first nap begins; and the last one is over. In between: waits while the word is `value`, for
 * the rest of the nap at most. False: it gets up. */
void weft__naps_begin(struct weft__naps *naps, struct weft__park *park);
void weft__naps_end(const struct weft__naps *naps);
bool weft__nap_wait(struct weft__naps *naps, struct atomic_u32 *word, uint32_t value);

/* Returns once woken, when its time is up, or at once if nudged. An owner that drowsed as
 * counted has counted itself in `counted` before; an uncounted one says NULL. Its waker uncounts
 * it; if nobody woke it, the caller does. */
enum park_result weft__park_sleep(struct weft__park *park, struct atomic_u64 *counted,
                                  struct weft__naps naps);

/* The owner's thread may be moved from one CPU to another: by its wakers, who choose on which CPU
 * it wakes up, by the look-out, and by itself. Before it ends it takes that back, which waits until
 * nobody is at it. */
void weft__park_lend(struct weft__park *park);
void weft__park_take_back(struct weft__park *park);
void weft__park_go_to(struct weft__park *park, int cpu); /* by the owner; a hint */
void weft__park_unpin(struct weft__park *park);          /* by anybody: it is not pinned any more */

/* Both: true if the owner was asleep or about to sleep and this call changed that. The
 * first is for its latch and its mail, the second for new work, which uncounted owners
 * don't take. By the first it wakes up on its own CPU, by the second on this one; -1: wherever the
 * kernel likes. */
bool weft__park_wake(struct weft__park *park);
bool weft__park_wake_counted(struct weft__park *park, int cpu);

/* In the child after fork(): nobody else is left to hold the list's lock, or the crowds'. */
void weft__park_forked(void);

#endif
