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

/* A thread that waits in several lines, for the first of several things; see select.c. In each line
 * stands a waiter of its own, a *case*. The first waker that claims a case serves it; other wakers
 * pass over the others. */
struct weft__choice {
    struct weft__waiter *waiter; /* the thread: what is roused and let go */
    struct atomic_ptr chosen;    /* struct weft__waiter: the case that was claimed, or the waiter
                                    itself, if it has given up; or NULL. Written once */
};

struct weft__waiter {
    struct weft__waiter *next, *previous; /* under the object's lock */
    struct weft__worker *worker;          /* NULL: an outside thread, or an actor */
    struct weft__context *fiber;          /* the actor's, or NULL */
    struct weft__blocked blocked;         /* what it waits for */
    struct weft__limit limit;             /* if `blocked` points to it */
    struct atomic_u32 state;              /* one of the above, and how often it was nudged */
    /* Called under the lock, after the waiter has given up and left the line; or NULL. Returns the
       waiters whose waits end by that, in a list; or NULL. */
    struct weft__waiter *(*withdrawn)(struct weft__sync *sync);
    void *item;                  /* channels: what to send, or where to put what is received */
    int result;                  /* written before it is GONE */
    struct weft__choice *choice; /* of a case, and of the waiter that it stands for; or NULL */
    bool in_line;                /* of a case; under the object's lock */
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

/* The same in two steps. The first drops the lock: the waiter stands in line. */
void weft__sync_queue(struct weft__sync *sync, struct weft__line *line,
                      struct weft__waiter *waiter);
int weft__sync_await(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter);

/* The same, but an actor that ends returns here, too, and has to be ended by the caller. `sync` and
 * `line` are NULL if the waiter stands in several lines, as cases; then the first waker, or the
 * waiter that gives up, is the first to claim. */
int weft__sync_sleep(struct weft__sync *sync, struct weft__line *line, struct weft__waiter *waiter);

/* Under the lock. Cases that were claimed are passed over, and leave the line. */
struct weft__waiter *weft__line_pop(struct weft__line *line);  /* NULL: it is empty */
struct weft__waiter *weft__line_take(struct weft__line *line); /* all, in a list; or NULL */
void weft__line_push(struct weft__line *line, struct weft__waiter *waiter);
void weft__line_remove(struct weft__line *line, struct weft__waiter *waiter);

/* By the waker, for all in the list from `waiter` on; `waiter` may be NULL. First rouse, under the
 * lock, with the result of the wait; then drop the lock, and let them go. */
void weft__sync_rouse(struct weft__waiter *waiter, int result);
void weft__sync_let_go(struct weft__waiter *waiter);

#endif
