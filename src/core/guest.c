/* SPDX-License-Identifier: MIT */
#include "core/guest.h"

#include "core/pool.h"
#include "os/membarrier.h"
#include "os/memory.h"

#include <string.h>

/* ---- Numbers: under the lock ---- */

static unsigned number_of(const struct weft__worker *guest)
{
    return guest->index - guest->pool->config.workers;
}

static bool make_room(struct weft__guests *guests)
{
    enum { FIRST = 8 };
    unsigned room = guests->room ? 2 * guests->room : FIRST;
    struct weft__worker **all = weft__alloc(room * sizeof all[0]);
    if (!all)
        return false;
    if (guests->all)
        memcpy(all, guests->all, guests->room * sizeof all[0]);
    weft__free(guests->all);
    guests->all = all;
    guests->room = room;
    return true;
}

/* The place of the smallest number that is not in use; NULL: no memory. */
static struct weft__worker **find_place(struct weft__guests *guests)
{
    unsigned i = guests->lowest;
    while (i < guests->room && guests->all[i] && guests->all[i]->taken)
        i++;
    guests->lowest = i;
    if (i == guests->room && !make_room(guests))
        return NULL;
    return &guests->all[i];
}

/* ---- The list: written under the lock ---- */

struct weft__worker *weft__guests_first(struct weft_pool *pool)
{
    return atomic_load_acquire(&pool->guests.present); /* acquire G1 */
}

struct weft__worker *weft__guests_next(struct weft__worker *guest)
{
    return atomic_load_acquire(&guest->next_guest); /* acquire G1 */
}

static void come_in(struct weft__guests *guests, struct weft__worker *guest)
{
    struct weft__worker *next = atomic_load_relaxed(&guests->present); /* relaxed: the lock */
    /* release G1, both: a thief that still stands on this guest, from the last time that it was in
     * the list, goes on from here. */
    atomic_store_release(&guest->next_guest, next);
    guest->previous_guest = NULL;
    if (next)
        next->previous_guest = guest;
    atomic_store_release(&guests->present, guest); /* release G1: thieves look at it from now on */
}

/* The guest keeps its own link: a thief that stands on it finds back to the list. */
static void go_out(struct weft__guests *guests, struct weft__worker *guest)
{
    struct weft__worker *next = atomic_load_relaxed(&guest->next_guest); /* relaxed: the lock */
    struct weft__worker *previous = guest->previous_guest;
    /* release G1: the next guest was made before. */
    atomic_store_release(previous ? &previous->next_guest : &guests->present, next);
    if (next)
        next->previous_guest = previous;
}

static void add_made(struct weft__guests *guests, unsigned change)
{
    /* relaxed, both: written under the lock; read without it as a hint. */
    atomic_store_relaxed(&guests->made, atomic_load_relaxed(&guests->made) + change);
}

bool weft__guests_are_many(struct weft_pool *pool)
{
    enum { FEW = 4 };
    return atomic_load_relaxed(&pool->guests.made) > FEW; /* relaxed: a hint */
}

struct weft__worker *weft__guest_get(struct weft_pool *pool, enum worker_kind kind)
{
    struct weft__guests *guests = &pool->guests;
    weft__lock_take(&guests->lock);
    struct weft__worker **place = find_place(guests);
    unsigned number = place ? (unsigned)(place - guests->all) : 0;
    if (place && !*place) {
        *place = weft__worker_make(pool, pool->config.workers + number, kind);
        add_made(guests, *place ? 1 : 0);
    }
    struct weft__worker *guest = place ? *place : NULL;
    if (guest) {
        guest->taken = true;
        guest->kind = kind;
        weft__stats_kind(&guest->counts->kind, kind);
        guest->was_spare |= kind == WORKER_SPARE;
        guest->park = guest->own_park; /* not the park of an earlier host */
        guests->lowest = number + 1;
        if (guests->peak <= number)
            guests->peak = number + 1;
        come_in(guests, guest);
    }
    weft__lock_drop(&guests->lock);
    return guest;
}

void weft__guest_put(struct weft__worker *guest)
{
    struct weft__guests *guests = &guest->pool->guests;
    weft__lock_take(&guests->lock);
    guest->taken = false;
    if (number_of(guest) < guests->lowest)
        guests->lowest = number_of(guest);
    go_out(guests, guest);
    weft__lock_drop(&guests->lock);
}

/* ---- Freeing ---- */

void weft__walk_begin(struct weft__worker *me)
{
    /* relaxed G2: before anything is read of the list. Only the compiler has to keep that order:
     * the thread that frees guests has every thread execute a barrier before it reads this. */
    atomic_store_relaxed(&me->walks, true);
    atomic_fence_compiler();
}

void weft__walk_end(struct weft__worker *me)
{
    atomic_store_release(&me->walks, false); /* release G2: all was read before this */
}

/* Under the lock, after the barrier. A guest that has left is not in the list any more: so a thief
 * that is not walking now does not meet it when it walks again. */
static bool anybody_walks(struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        if (atomic_load_acquire(&worker->walks)) /* acquire G2 */
            return true;
    return false;
}

/* Under the lock: takes out the guests that can be freed, as a list linked by previous_guest. A
 * guest that was a spare can't be: the sleep module knows its parking place for ever. */
static struct weft__worker *take_out(struct weft__guests *guests, unsigned from)
{
    struct weft__worker *old = NULL;
    for (unsigned i = from; i < guests->room; i++) {
        struct weft__worker *guest = guests->all[i];
        if (!guest || guest->taken || guest->was_spare)
            continue;
        guests->all[i] = NULL;
        add_made(guests, -1u);
        guest->previous_guest = old;
        old = guest;
    }
    return old;
}

static bool anything_to_free(struct weft__guests *guests, unsigned from)
{
    for (unsigned i = from; i < guests->room; i++)
        if (guests->all[i] && !guests->all[i]->taken && !guests->all[i]->was_spare)
            return true;
    return false;
}

static unsigned highest_taken(struct weft__guests *guests)
{
    unsigned i = guests->room;
    while (i > 0 && !(guests->all[i - 1] && guests->all[i - 1]->taken))
        i--;
    return i;
}

void weft__guests_trim(struct weft_pool *pool)
{
    struct weft__guests *guests = &pool->guests;
    struct weft__worker *old = NULL;
    weft__lock_take(&guests->lock);
    unsigned from = guests->peak > 1 ? guests->peak : 1;
    /* fence G2: in every thread; partner: weft__walk_begin(). */
    if (anything_to_free(guests, from) && weft__membarrier_init() && weft__membarrier() &&
        !anybody_walks(pool))
        old = take_out(guests, from);
    guests->peak = highest_taken(guests);
    weft__lock_drop(&guests->lock);
    while (old) {
        struct weft__worker *next = old->previous_guest;
        weft__worker_free(old);
        old = next;
    }
}

void weft__guests_free(struct weft_pool *pool)
{
    struct weft__guests *guests = &pool->guests;
    for (unsigned i = 0; i < guests->room; i++)
        if (guests->all[i])
            weft__worker_free(guests->all[i]);
    weft__free(guests->all);
}

/* ---- Walking ---- */

struct weft__worker *weft__next_worker(struct weft_pool *pool, struct weft__worker *worker)
{
    unsigned next = worker ? worker->index + 1 : 0;
    if (next > pool->config.workers)
        return weft__guests_next(worker);
    if (next < pool->config.workers)
        return pool->workers[next];
    return weft__guests_first(pool);
}

struct weft__worker *weft__walk_next(struct weft__walk *walk)
{
    struct weft_pool *pool = walk->pool;
    unsigned next = walk->at ? walk->at->index + 1 : 0;
    if (next == pool->config.workers) {
        if (!weft__guests_first(pool)) /* a guest that comes in now is not met */
            return walk->at = NULL;
        weft__lock_take(&pool->guests.lock); /* no guest is looked at without the lock */
        walk->locked = true;
    }
    walk->at = weft__next_worker(pool, walk->at);
    if (!walk->at)
        weft__walk_stop(walk);
    return walk->at;
}

void weft__walk_stop(struct weft__walk *walk)
{
    if (walk->locked)
        weft__lock_drop(&walk->pool->guests.lock);
    walk->locked = false;
}
