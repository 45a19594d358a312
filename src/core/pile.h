/* SPDX-License-Identifier: MIT */
/* pile.h: the spawned jobs of a worker that no other thread has been told of.
 *
 *         first         base          end
 *     ... | 7 | 8 | 9 | 10 | 11 | 12 | ...      the newest job is below `end`
 *
 * The owner pushes and pops at the end, with plain instructions: no fence, no read-modify-write. So
 * a thief does the owner's share, as for a lazy fork (steal.c): it takes the lock of the owner's
 * context, raises `floor` above all, waits for the owner's answer or uses a barrier, and takes the
 * oldest jobs. The owner's pop writes `end`, then looks at `floor` (B1).
 *
 * A job on a pile is not counted in its scope's latch. It need not be: a scope is closed by the
 * thread that opened it, after that thread has run what is on its own pile; and a job that another
 * thread gave to this one is not over before the jobs that it left on the pile are counted. For
 * that, jobs from `base` on were pushed since the job or scope on top began (a section). Whoever
 * takes a job away from its pile counts it first (weft__spawn_share()).
 *
 * On the eager road, piles are empty. */
#ifndef WEFT_CORE_PILE_H
#define WEFT_CORE_PILE_H

#include "os/atomic.h"

struct weft__context;
struct weft__group;
struct weft__job;
struct weft__worker;

struct weft__piled {
    struct weft__job *job;
    struct weft__group *group; /* of the job: the owner asks before it has taken the job, when it
                                  must not follow the other pointer */
};

/* When the owner offers a job to a worker that searches, by putting it on the deque.
 *
 * That costs more than a brief child. So if two offers follow each other within WEFT__SOON_NS,
 * twice as many spawned jobs as before are kept back before the next offer, up to WEFT__KEPT_MOST;
 * an offer that comes later sets that back to none. The clock is read for each offer only.
 *
 * Worst case: jobs that were brief so far take long at once. Then up to WEFT__KEPT_MOST of them are
 * not offered. The searching worker takes the oldest half of them itself, when they are a quantum
 * old: it waits for that (be_patient() in descent.c), and the look-out comes within a nap. */
struct weft__offers {
    unsigned kept;  /* jobs since the last offer, while a worker searched */
    unsigned keeps; /* so many are needed for the next offer */
    uint64_t at;    /* when the last one was made */
};

enum { WEFT__SOON_NS = 20000, WEFT__KEPT_MOST = 64 };

/* A worker searches. Should it be offered a job? Owner only. */
bool weft__offer_is_due(struct weft__offers *offers);

struct weft__pile {
    WEFT__ALIGNED struct atomic_uptr end; /* written by the owner */
    uintptr_t base;                       /* see above. Owner only */
    uintptr_t room;                       /* the ring is full, or seems so, if `end` is here. Owner
                                             only */
    struct weft__piled *ring;             /* what follows: owner; thieves under the lock */
    uintptr_t mask;                       /* capacity - 1 */
    struct weft__context *context;        /* whose lock it is. Constant */
    struct atomic_uptr floor;             /* a pop below it takes the slow road. Written under the
                                             lock */

    WEFT__ALIGNED struct atomic_uptr first; /* the oldest job. Written under the lock */
    struct atomic_uptr marked;              /* which job was the oldest, and when; hints, written by
                                               thieves */
    struct atomic_u64 marked_at;
};

int weft__pile_init(struct weft__pile *pile, struct weft__context *context); /* 0 or -ENOMEM */
void weft__pile_destroy(struct weft__pile *pile);

/* How many jobs there are. A hint, unless it is the owner who finds none. */
static inline uintptr_t weft__pile_size(const struct weft__pile *pile)
{
    /* relaxed, both: the owner's own write; no thief takes more than there are. */
    uintptr_t end = atomic_load_relaxed(&pile->end), first = atomic_load_relaxed(&pile->first);
    return end > first ? end - first : 0;
}

/* ---- The owner ---- */

bool weft__pile_grow(struct weft__pile *pile); /* false: no memory */

/* Is there room for one more? If not, it grows. */
static inline bool weft__pile_has_room(const struct weft__pile *pile)
{
    return atomic_load_relaxed(&pile->end) != pile->room; /* relaxed: own */
}

static inline void weft__pile_push_one(struct weft__pile *pile, struct weft__job *job,
                                       struct weft__group *group)
{
    uintptr_t end = atomic_load_relaxed(&pile->end); /* relaxed: own */
    pile->ring[end & pile->mask] = (struct weft__piled){job, group};
    atomic_store_untold_release(&pile->end, end + 1); /* release P1: the job, and its entry */
}

/* False: no memory, and not done. */
static inline bool weft__pile_push(struct weft__pile *pile, struct weft__job *job,
                                   struct weft__group *group)
{
    if (!weft__pile_has_room(pile) && !weft__pile_grow(pile))
        return false;
    weft__pile_push_one(pile, job, group);
    return true;
}

/* Has the section any jobs? Some of them may be stolen. */
static inline bool weft__pile_has_more(const struct weft__pile *pile)
{
    return atomic_load_relaxed(&pile->end) > pile->base; /* relaxed: own */
}

/* The group of the newest job. There is one, though it may be stolen. */
static inline const struct weft__group *weft__pile_next(const struct weft__pile *pile)
{
    uintptr_t next = atomic_load_relaxed(&pile->end) - 1; /* relaxed: own */
    return pile->ring[next & pile->mask].group;
}

/* Where the newest job of that group is, in the section; 0: there is none. It may be stolen. */
uintptr_t weft__pile_find(const struct weft__pile *pile, const struct weft__group *group);

/* The section has no more jobs. True: there are older ones. */
bool weft__pile_dig(struct weft__pile *pile);

/* The newest job was popped, and a thief wants, or wanted, the owner's attention. False: a thief
 * has got that job, and all others. */
bool weft__pile_settle(struct weft__pile *pile);

/* The newest job of the section, which has some; NULL: all are stolen. */
static inline struct weft__job *weft__pile_pop_next(struct weft__pile *pile)
{
    uintptr_t next = atomic_load_relaxed(&pile->end) - 1; /* relaxed: own */
    atomic_store_untold_release(&pile->end, next);        /* release P1: for the jobs below */
    atomic_fence_compiler(); /* in this order; the thief's barrier does the rest (B1) */
    if (next < atomic_load_relaxed(&pile->floor) && !weft__pile_settle(pile))
        return NULL;
    return pile->ring[next & pile->mask].job;
}

/* The newest job; NULL: there is none. */
static inline struct weft__job *weft__pile_pop(struct weft__pile *pile)
{
    return weft__pile_has_more(pile) || weft__pile_dig(pile) ? weft__pile_pop_next(pile) : NULL;
}

/* A job or a scope begins on top. Returns what ends its section. */
static inline uintptr_t weft__pile_begin(struct weft__pile *pile)
{
    uintptr_t outer = pile->base;
    pile->base = atomic_load_relaxed(&pile->end); /* relaxed: own */
    return outer;
}

/* A job may have run older jobs while it waited: then the section around it begins further down. */
static inline void weft__pile_end(struct weft__pile *pile, uintptr_t outer)
{
    if (outer < pile->base)
        pile->base = outer;
}

#define WEFT__PILE_ALL UINTPTR_MAX

/* Counts the jobs from index `from` on, puts at most so many of them, the oldest first, on the
 * deque, and tells the pool. Those for which there is no memory stay on the pile. */
void weft__pile_publish(struct weft__worker *me, uintptr_t from, uintptr_t most);

#endif
