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
 * again after waking (faults 1 to 3: waking through memory that died with its owner). */
#ifndef WEFT_CORE_PARK_H
#define WEFT_CORE_PARK_H

#include "core/atomic.h"
#include "core/census.h"

enum park_state {
    PARK_AWAKE,
    PARK_DROWSY,
    PARK_NUDGED,
    PARK_ASLEEP,
    PARK_WAKING,
    PARK_UNCOUNTED = 1 << 3, /* beside DROWSY or ASLEEP */
};

struct weft__context;
struct weft__crowd;

struct weft__park {
    WEFT__ALIGNED struct atomic_u32 state; /* enum park_state */
    int cpu;                     /* where the owner sleeps, or -1; written before it is in use */
    struct atomic_u64 *counted;  /* its waker takes 1 off here; NULL: not counted. Written by
                                    the owner while awake, read by the waker in WAKING */
    struct weft__census *census; /* of the pool whose thread sleeps here, or NULL; as `counted` */
    struct weft__crowd *crowd;   /* where its owner may sleep instead, or NULL; as `cpu`, */
    unsigned place;              /* and which one of the sleep module's places it is */
    struct weft__context *fiber; /* which sleeps here, instead of a thread; see fiber.h. As `cpu` */
    struct weft__park *next;     /* in the list of free ones */
};

void weft__park_init(struct weft__park *park);
struct weft__park *weft__park_get(void); /* NULL: no memory */
void weft__park_put(struct weft__park *park);

void weft__park_drowse(struct weft__park *park, bool counted);
void weft__park_rouse(struct weft__park *park);

enum park_result { PARK_WAS_NUDGED, PARK_TIMED_OUT, PARK_WAS_WOKEN };

/* Returns once woken, when `ns` nanoseconds have passed (0: never), or at once if nudged.
 * An owner that drowsed as counted has counted itself in `counted` before; an uncounted one
 * says NULL. Its waker uncounts it; if nobody woke it, the caller does. */
enum park_result weft__park_sleep(struct weft__park *park, struct atomic_u64 *counted, uint64_t ns);

/* Both: true if the owner was asleep or about to sleep and this call changed that. The
 * first is for its latch and its mail, the second for new work, which uncounted owners
 * don't take. */
bool weft__park_wake(struct weft__park *park);
bool weft__park_wake_counted(struct weft__park *park);

/* In the child after fork(): nobody else is left to hold the list's lock, or the crowds'. */
void weft__park_forked(void);

#endif
