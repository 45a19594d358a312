/* SPDX-License-Identifier: MIT */
/* guest.h: workers that come and go: outside threads inside weft_run(), and spares. They have
 * the smallest free numbers above the workers'.
 *
 *   made -get-> present -put-> left -get-> present
 *                              left -a second without use-> freed
 *
 * Guests that are present are in a list, which thieves walk without a lock. Guests that have left
 * are not in it. A guest that has left is freed if its number is above all numbers that were in use
 * in the last second; the guest with the smallest number always stays. Before it is freed, no thief
 * may be looking at it. So a thief says that it walks, which costs it a plain store, and the thread
 * that frees has every thread execute a barrier before it reads that (G2). Where there is no such
 * barrier, guests are kept. */
#ifndef WEFT_CORE_GUEST_H
#define WEFT_CORE_GUEST_H

#include "core/worker.h"
#include "os/lock.h"

struct weft__guests {
    struct weft__lock lock;    /* for everything here; thieves read the list without it */
    struct atomic_ptr present; /* struct weft__worker: the list's first, the last to come in */
    struct weft__worker **all; /* by number; NULL: not made, or freed */
    unsigned room;             /* how many elements `all` has */
    struct atomic_u32 made;    /* how many guests exist; written under the lock */
    unsigned lowest;           /* all numbers below this are in use */
    unsigned peak;             /* all numbers in use in this second are below this */
};

struct weft__worker *weft__guest_get(struct weft_pool *pool, enum worker_kind kind); /* or NULL */
void weft__guest_put(struct weft__worker *guest);

/* Are there so many guests that those not in use should be freed? A hint. */
bool weft__guests_are_many(struct weft_pool *pool);

/* Once a second: frees guests that were not in use since the last call. */
void weft__guests_trim(struct weft_pool *pool);

/* Frees all. No thread is in the pool any more. */
void weft__guests_free(struct weft_pool *pool);

/* ---- Walking ---- */

/* A thief, which is a worker of the pool, reads the list and the guests in it between these two. */
void weft__walk_begin(struct weft__worker *me);
void weft__walk_end(struct weft__worker *me);
struct weft__worker *weft__guests_first(struct weft_pool *pool);
struct weft__worker *weft__guests_next(struct weft__worker *guest);

/* By any thread: all workers, then all guests. The walk holds the lock while it is among the
 * guests. A caller that stops before it got NULL has to call weft__walk_stop(). */
struct weft__walk {
    struct weft_pool *pool;
    struct weft__worker *at;
    bool locked;
};
struct weft__worker *weft__walk_next(struct weft__walk *walk);
void weft__walk_stop(struct weft__walk *walk);

/* The same for a caller that has the lock. NULL gives the first worker. */
struct weft__worker *weft__next_worker(struct weft_pool *pool, struct weft__worker *worker);

#endif
