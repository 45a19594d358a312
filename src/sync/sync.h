/* SPDX-License-Identifier: MIT */
/* sync.h: what mutex, event and channel have in common: a lock, a name, and threads that wait
 * in line. Everything is decided under the lock; waiting is done outside it.
 *
 *   QUEUED  -rest--> RESTING   by the waiter, which counts as resting from then on
 *   QUEUED  -rouse-> ROUSED    by the waker, the thread that ends the wait, under the object's lock
 *   RESTING -rouse-> ROUSED    by the waker, which takes the waiter off those that rest
 *   ROUSED  -go----> GONE      by the waker: the waiter may return, its record with it
 *
 * A waker that ends several waits rouses all waiters before any goes (bug 28).
 *
 * A waiter that gives up, because its limit is reached or its actor ends, leaves the line under the
 * object's lock, and rouses itself. If it is ROUSED by then, a waker was faster: it has got what it
 * waited for, and waits until it is let go. */
#ifndef WEFT_SYNC_SYNC_H
#define WEFT_SYNC_SYNC_H

#include "core/block.h"
#include "core/limit.h"
#include "core/object.h"

struct weft__waiter {
    struct weft__waiter *next, *previous; /* under the object's lock */
    struct weft__worker *worker;          /* NULL: an outside thread, or an actor */
    struct weft__context *fiber;          /* the actor's, or NULL */
    struct weft__blocked blocked;         /* what it waits for */
    struct weft__limit limit;             /* if `blocked` points to it */
    struct atomic_u32 state;              /* one of the above, and how often it was nudged */
    /* Called under the lock, after the waiter has given up and left the line; or NULL. */
    void (*withdrawn)(struct weft__sync *sync);
    void *item; /* channels: what to send, or where to put what is received */
    int result; /* written before it is GONE */
    /* Mutexes: how often it was let go and found the mutex taken. If ever, it is first in line. */
    unsigned vain;
};

/* Under the lock: notes that `me` uses the object. NULL: an outside thread, or the actor that runs
 * here. */
void weft__sync_used_by(struct weft__sync *sync, const struct weft__worker *me);

/* The worker that calls; NULL for an outside thread and for an actor. An actor changes workers, so
 * reports don't show it as a worker. */
struct weft__worker *weft__sync_caller(weft *w);

/* Before it waits: the waiter gives up at `when`, or when its computation is cancelled. */
void weft__waiter_limit(struct weft__waiter *waiter, uint64_t when);

/* Under the lock; drops it, waits in the line, and returns when a waker lets the waiter go, with
 * the result that the waker gave; or when the waiter gives up: -ETIMEDOUT, -ECANCELED. -ECANCELED,
 * too: an actor that ends, and holds a mutex. An actor that waits for a mutex without a limit ends
 * here all the same. */
int weft__sync_wait(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter);

/* Under the lock. */
struct weft__waiter *weft__line_pop(struct weft__line *line); /* NULL: it is empty */

/* By the waker, for all in the list from `waiter` on; `waiter` may be NULL. First rouse, under the
 * lock, with the result of the wait; then drop the lock, and let them go. */
void weft__sync_rouse(struct weft__waiter *waiter, int result);
void weft__sync_let_go(struct weft__waiter *waiter);

#endif
