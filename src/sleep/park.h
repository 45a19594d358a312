/* SPDX-License-Identifier: MIT */
/* park.h: the place where one thread sleeps until another wakes it.
 *
 *   AWAKE  -drowse-> DROWSY            by the owner, which now takes its last looks
 *   DROWSY -sleep--> ASLEEP            by the owner, which waits on the word
 *   DROWSY -wake---> NUDGED            by a waker: the owner finds it and does not sleep
 *   ASLEEP -wake---> WAKING -> AWAKE   by one waker: in WAKING it has the sleeper to
 *                                      itself, until it says AWAKE
 *   ASLEEP ---------> AWAKE            by the owner, whose time is up
 *   DROWSY, NUDGED -get up-> AWAKE     by the owner
 *
 * An owner that can't take new work says so: its state is UNCOUNTED as well. New work wakes
 * another sleeper; the owner's latch and its mail wake it all the same.
 *
 * Parking places are never freed, only handed to another thread. A waker may be late: another
 * waker has woken the sleeper, and the sleeper and its pool are gone. A late wake finds a live
 * word, and is at worst one wake-up for nothing: every sleeper looks again after it was woken
 * (bugs 1 to 3: waking through memory that died with its owner). */
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
    struct atomic_i32 cpu;       /* where the owner wakes up; -1: anywhere. Written by the owner and
                                    its wakers; a hint */
    struct atomic_i32 thread;    /* the kernel's number of the owner, if other threads may move it;
                                    0: they may not; AT_IT: a thread has claimed it; see park.c */
    struct weft__pin pin;        /* belongs to the thread that has claimed `thread` */
    struct atomic_u64 *counted;  /* the waker takes 1 off here; NULL: not counted. Written by
                                    the owner while awake, read by the waker in WAKING */
    int sleeper_number;          /* the kernel's, for traces; as `counted` */
    struct weft__census *census; /* of the pool whose thread sleeps here, or NULL; as `counted` */
    struct weft__crowd *crowd;   /* where the owner may sleep instead, or NULL. Written before the
                                    parking place is in use */
    struct atomic_bool in_crowd; /* the owner sleeps there. Written by the owner, for reports */
    unsigned place;              /* its index in weft__sleep.parks; as `crowd` */
    /* If an actor's fiber sleeps here: sets the latch, and wakes the fiber. NULL: a thread sleeps
     * here. Written before the parking place is in use. */
    void (*set_for)(struct weft__latch *latch, struct weft__park *owner);
    void *sleeper;           /* with `set_for`: the fiber */
    struct weft__park *next; /* in the list of unused parking places */
};

void weft__park_init(struct weft__park *park);
struct weft__park *weft__park_get(void); /* NULL: no memory */
void weft__park_put(struct weft__park *park);

void weft__park_drowse(struct weft__park *park, bool counted);
void weft__park_get_up(struct weft__park *park);

enum park_result { PARK_WAS_NUDGED, PARK_TIMED_OUT, PARK_WAS_WOKEN };

/* How a sleeper sleeps: in naps. After a nap of `ns` nanoseconds, `look` returns how long the next
 * nap is, or WEFT__GET_UP. Without `look` the sleeper gets up. */
struct weft__naps {
    uint64_t ns;
    uint64_t (*look)(struct weft__naps *naps);
    void *arg;
    uint64_t end;            /* of this nap; 0: it has not begun */
    struct weft__park *park; /* the sleeper's own */
    int cpu;                 /* where it should sleep; -1: anywhere */
    int is_on;               /* where it is pinned so far; -1: nowhere */
};

#define WEFT__GET_UP 0
#define WEFT__SLEEP_ON UINT64_MAX /* until a waker comes */

/* One nap of `ns` nanoseconds; 0: until a waker comes. */
static inline struct weft__naps weft__one_nap(uint64_t ns)
{
    return (struct weft__naps){.ns = ns ? ns : WEFT__SLEEP_ON};
}

/* Before the first nap, and after the last one. In between, weft__nap_wait() waits while the word
 * is `value`, until the nap ends at most. False: the sleeper gets up. */
void weft__naps_begin(struct weft__naps *naps, struct weft__park *park);
void weft__naps_end(const struct weft__naps *naps);
bool weft__nap_wait(struct weft__naps *naps, struct atomic_u32 *word, uint32_t value);

/* Returns when a waker has woken the caller, when its time is up, or at once if it was nudged. A
 * caller that drowsed as counted has counted itself in `counted` before; an uncounted caller says
 * NULL. The waker uncounts it; if there was no waker, the caller does. */
enum park_result weft__park_sleep(struct weft__park *park, struct atomic_u64 *counted,
                                  struct weft__naps naps);

/* From `lend` on, other threads may move the owner's thread from one CPU to another: its wakers,
 * which choose on which CPU it wakes up, and the look-out. `take_back` ends that, before the thread
 * ends; it waits while another thread has claimed it. */
void weft__park_lend(struct weft__park *park);
void weft__park_take_back(struct weft__park *park);
void weft__park_go_to(struct weft__park *park, int cpu); /* by the owner; a hint */
void weft__park_unpin(struct weft__park *park);          /* by any thread */

/* Both return true if the owner was asleep or about to sleep, and this call changed that. The first
 * is for its latch and its mail; the owner wakes up on its own CPU. The second is for new work,
 * which uncounted owners don't take; the owner wakes up on `cpu`. -1: the kernel chooses. */
bool weft__park_wake(struct weft__park *park);
bool weft__park_wake_counted(struct weft__park *park, int cpu);

/* In the child after fork(): the thread that held the list's lock, or the crowds', may not exist
 * here. */
void weft__park_forked(void);

#endif
