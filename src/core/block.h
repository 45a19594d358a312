/* SPDX-License-Identifier: MIT */
/* block.h: workers that are blocked in code that is not the pool's, who takes their place, and
 * finding out that nobody can go on.
 *
 * A blocked worker is marked (it says by what, lets others take its forks whatever their age,
 * and calls somebody in its place), then rests (census.h). Whoever ends the wait rouses it. If
 * all threads of the pool rest, sleepers included, and one is blocked, the last one to rest
 * looks for a deadlock (report.h), under the lock that rousing needs, too: so what it reads
 * stays as it is. A thread that stands in several pools, one on top of the other, is blocked in
 * each of them. */
#ifndef WEFT_CORE_BLOCK_H
#define WEFT_CORE_BLOCK_H

#include "core/worker.h"
#include "os/lock.h"
#include "sleep/census.h"

struct weft__sync;

enum blocked_kind {
    BLOCKED_OUTSIDE, /* in the program's own code */
    BLOCKED_MUTEX,
    BLOCKED_EVENT,
    BLOCKED_SEND,
    BLOCKED_RECEIVE,
};

/* What a worker waits for. Lives in the waiting frame. */
struct weft__blocked {
    enum blocked_kind kind;
    const struct weft__sync *object; /* NULL: OUTSIDE */
};

/* A pool's. */
struct weft__blocking {
    struct weft__lock lock;       /* rousing a blocked worker; looking for deadlocks */
    struct atomic_u32 count;      /* workers and guests that are marked */
    struct atomic_u32 marks;      /* how often anybody was marked: wraps around */
    uint32_t looked;              /* that number, when somebody was woken to look again; lock */
    struct atomic_u32 settled;    /* the same, when there was nothing to be woken for; written under
                                     the lock, read by other pools */
    uint32_t reported;            /* the same, when a deadlock was reported; lock */
    uint32_t noted;               /* the same, when all were reported to rest, by the plain rule of
                                     WEFT_DEADLOCK_PLAIN; lock */
    struct atomic_bool reporting; /* who wakes up meanwhile waits for the lock */
    struct atomic_i32 reporter;   /* the kernel's number of the thread that calls the deadlock
                                     handler,   and has the lock; or 0 */
};

void weft__block_mark(struct weft__worker *me, const struct weft__blocked *what);
void weft__block_rest(struct weft__worker *me);
void weft__block_rouse(struct weft__worker *worker); /* anybody, while it rests */
void weft__block_unmark(struct weft__worker *me);    /* after it was roused */

/* Under the pool's lock: does it rest, and can't be roused until that is dropped? Then what it left
 * can be read: by what it is blocked, that object, and the jobs on its stack. */
static inline bool weft__block_rests(const struct weft__worker *worker)
{
    return atomic_load_acquire(&worker->rests) == 1; /* acquire Z5 */
}

/* In the program's own code, which may block. */
void weft__block_outside(struct weft__worker *me);
void weft__block_outside_ends(struct weft__worker *me);

/* A waiter that holds a mutex is about to sleep: it helps nobody, so somebody else should be
 * there in its place. Ends with uncount. */
void weft__block_count(struct weft_pool *pool);
void weft__block_uncount(struct weft_pool *pool);

/* The census's call: looks for a deadlock. */
void weft__block_all_rest(struct weft__census *census);

/* The same by a thread outside, which comes to wait for the pool and has said so: before that it
 * was one that could have ended a wait. The pool has to be there until it returns. */
void weft__block_look(struct weft_pool *pool);

/* Who has rested lets a report end before it changes anything. */
void weft__block_let_report(struct weft_pool *pool);

#endif
