/* SPDX-License-Identifier: MIT */
/* guest.h: workers that come and go: outside threads inside weft_run(), and spares. They have
 * the smallest free numbers above the workers'.
 *
 *   made -get-> present -put-> left -get-> present
 *                              left -a second without use-> freed
 *
 * Who is present is in a list that thieves walk without a lock; who has left is not. A guest whose
 * number is above all that were in use in the last second is freed, one always stays. That a thief
 * is not just looking at one that has left is made sure of as forks are stolen, from the other
 * side: a thief says that it walks, which costs it a plain store, and who frees has every thread
 * execute a barrier (G2). Where there is no such barrier, guests are kept. */
#ifndef WEFT_CORE_GUEST_H
#define WEFT_CORE_GUEST_H

#include "core/worker.h"
#include "os/lock.h"

struct weft__guests {
    struct weft__lock lock;    /* all but the list's links, which are written under it */
    struct atomic_ptr present; /* struct weft__worker: the newest one in */
    struct weft__worker **all; /* by number; NULL: not made, or freed */
    unsigned room;             /* in `all` */
    struct atomic_u32 made;    /* how many there are; written under the lock */
    unsigned lowest;           /* all below are in use */
    unsigned peak;             /* all that were in use in this second are below */
};

struct weft__worker *weft__guest_get(struct weft_pool *pool, enum worker_kind kind); /* or NULL */
void weft__guest_put(struct weft__worker *guest);

/* Are there so many that some should be freed when they are not in use any more? A hint. */
bool weft__guests_are_many(struct weft_pool *pool);

/* Once a second: frees those that were not in use since the last time. */
void weft__guests_trim(struct weft_pool *pool);

/* Nobody is in the pool any more. */
void weft__guests_free(struct weft_pool *pool);

/* ---- Walking ---- */

/* A worker of the pool, as a thief: what it reads of the list, and of whom it finds there, it reads
 * between these. */
void weft__walk_begin(struct weft__worker *me);
void weft__walk_end(struct weft__worker *me);
struct weft__worker *weft__guests_first(struct weft_pool *pool);
struct weft__worker *weft__guests_next(struct weft__worker *guest);

/* Anybody: all workers, then all guests, under the lock as long as it is among the guests. Who
 * stops before NULL ends the walk. */
struct weft__walk {
    struct weft_pool *pool;
    struct weft__worker *at;
    bool locked;
};
struct weft__worker *weft__walk_next(struct weft__walk *walk);
void weft__walk_stop(struct weft__walk *walk);

/* The same for who has the lock: start with NULL. */
struct weft__worker *weft__next_worker(struct weft_pool *pool, struct weft__worker *worker);

#endif
