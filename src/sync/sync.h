/* SPDX-License-Identifier: MIT */
/* sync.h: what mutex, event and channel have in common: a lock, a name, and threads that wait
 * in line. Everything is decided under the lock; waiting is done outside it.
 *
 *   QUEUED  -rest--> RESTING   by the waiter, which counts as resting from then on
 *   QUEUED  -rouse-> ROUSED    by the one that ends the wait, under the object's lock: it
 *   RESTING -rouse-> ROUSED    takes the waiter off the resting ones
 *   ROUSED  -go----> GONE      by the same: the waiter may return, its record with it
 *
 * Whoever ends several waits rouses all before any goes (bug 28). */
#ifndef WEFT_SYNC_SYNC_H
#define WEFT_SYNC_SYNC_H

#include "core/block.h"
#include "core/object.h"

struct weft__waiter {
    struct weft__waiter *next;    /* under the object's lock */
    struct weft__worker *worker;  /* NULL: an outside thread, or an actor: */
    struct weft__context *fiber;  /* which, or NULL */
    struct weft__blocked blocked; /* what the worker waits for */
    struct atomic_u32 state;
    void (*withdrawn)(
        struct weft__sync *sync); /* an actor ends, and is not in line any more; or NULL */
    void *item;                   /* channels: what to send, or where to put what is received */
    int result;                   /* written before it goes */
    unsigned
        vain; /* mutexes: how often it was let go, and found it taken; who was is first in line */
};

/* Under the lock: notes who uses it. NULL: an outside thread, or the actor that runs here. */
void weft__sync_used_by(struct weft__sync *sync, const struct weft__worker *me);

/* The worker that calls; NULL for an outside thread and for an actor, which is at no worker for
 * long: reports don't know of it. */
struct weft__worker *weft__sync_caller(weft *w);

/* Under the lock; drops it, waits in the line, and returns when somebody let it go. -ECANCELED: an
 * actor that ends, and holds a mutex; one that waits for a mutex ends here all the same. */
int weft__sync_wait(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter);

/* Under the lock. */
struct weft__waiter *weft__line_pop(struct weft__line *line); /* NULL: nobody waits */

/* Under the lock: the list from `waiter` on can go on, with this result. Let it go after
 * dropping the lock; `waiter` may be NULL. */
void weft__sync_rouse(struct weft__waiter *waiter, int result);
void weft__sync_let_go(struct weft__waiter *waiter);

#endif
