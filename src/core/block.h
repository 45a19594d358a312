/* SPDX-License-Identifier: MIT */
/* block.h: workers that are blocked in code that is not the pool's, the threads that take their
 * place, and how a deadlock is found.
 *
 * A blocked worker is marked first: it says what blocks it, lets thieves take its forks whatever
 * their age, and calls another thread to work in its place. Then it rests (census.h). The thread
 * that ends the wait rouses it. If all threads of the pool rest, sleepers included, and one of
 * them is blocked, the last thread to rest looks for a deadlock (report.h). It does so under the
 * lock that rousing needs, so what it reads does not change. A thread that stands in several
 * pools, one on top of the other, is blocked in each of them. */
#ifndef WEFT_CORE_BLOCK_H
#define WEFT_CORE_BLOCK_H

#include "core/worker.h"
#include "os/lock.h"
#include "sleep/census.h"

struct weft__limit;
struct weft__sync;

enum blocked_kind {
    BLOCKED_OUTSIDE, /* in the program's own code */
    BLOCKED_MUTEX,
    BLOCKED_EVENT,
    BLOCKED_SEND,
    BLOCKED_RECEIVE,
    BLOCKED_READ,
    BLOCKED_WRITE,
    BLOCKED_SEMAPHORE,
    BLOCKED_CONDITION,
    BLOCKED_BARRIER,
    BLOCKED_ONCE,
    BLOCKED_SELECT,
    BLOCKED_ACTOR,   /* with a limit: the end of an actor */
    BLOCKED_MAILBOX, /* with a limit: room in an actor's mailbox */
};

/* What a worker waits for. Lives in the waiting frame. */
struct weft__blocked {
    enum blocked_kind kind;
    const struct weft__sync *object;  /* NULL for BLOCKED_OUTSIDE */
    const struct weft__limit *limit;  /* NULL: only another thread ends the wait */
    const struct weft__blocked *more; /* BLOCKED_SELECT: what else it waits for; or NULL */
};

/* Part of a pool. "Lock": under `lock`. */
struct weft__blocking {
    struct weft__lock lock;       /* taken to rouse a blocked worker, and to look for deadlocks */
    struct atomic_u32 count;      /* workers and guests that count as blocked now */
    struct atomic_u32 marks;      /* how often a thread began to count as blocked; wraps around */
    uint32_t looked;              /* `marks` when a thread was last woken to look again; lock */
    struct atomic_u32 settled;    /* `marks` when all rested and none was woken to look again;
                                     written under the lock, read by threads of other pools */
    uint32_t reported;            /* `marks` when a deadlock was last reported; lock */
    uint32_t noted;               /* `marks` at the last report by the plain rule of
                                     WEFT_DEADLOCK_PLAIN; lock */
    bool timers;                  /* were any set before the last look at the census? lock */
    struct atomic_bool reporting; /* a thread looks for a deadlock: a thread that wakes up
                                     meanwhile waits for the lock */
    struct atomic_i32 reporter;   /* the kernel's number of the thread that calls the deadlock
                                     handler, and has the lock; or 0 */
};

void weft__block_mark(struct weft__worker *me, const struct weft__blocked *what);
void weft__block_rest(struct weft__worker *me);
void weft__block_rouse(struct weft__worker *worker); /* by any thread, while the worker rests */
void weft__block_unmark(struct weft__worker *me);    /* after it was roused */

/* Under the pool's lock: does the worker rest, so that it can't be roused before the lock is
 * dropped? Then what it left can be read: what blocks it, that object, and the jobs on its
 * stack. */
static inline bool weft__block_rests(const struct weft__worker *worker)
{
    return atomic_load_acquire(&worker->rests) == 1; /* acquire Z5 */
}

/* In the program's own code, which may block. */
void weft__block_outside(struct weft__worker *me);
void weft__block_outside_ends(struct weft__worker *me);

/* A waiter that holds a mutex is about to sleep. It takes no jobs of others, so it counts as
 * blocked, and another thread is called to work in its place. Ends with uncount. */
void weft__block_count(struct weft_pool *pool);
void weft__block_uncount(struct weft_pool *pool);

/* Called by the census when all threads rest: looks for a deadlock. */
void weft__block_all_rest(struct weft__census *census);

/* Looks for a deadlock, too. The caller is a thread outside that is about to wait for a task of the
 * pool, and has said so; until then it could have ended a wait in the pool. The pool must exist
 * until this returns. */
void weft__block_look(struct weft_pool *pool);

/* A thread that has rested, or comes in, calls this before it changes anything: it waits until the
 * report is over. */
void weft__block_let_report(struct weft_pool *pool);

#endif
