/* SPDX-License-Identifier: MIT */
/* wait.h: waiting for a latch, and working meanwhile.
 *
 * Waiting runs other jobs on top of the waiting one. That is bounded: a waiter that has used more
 * than half of its stack, or more than 4 MiB of a default stack, is *limited*: it takes no jobs of
 * others. So a stack of twice what one job needs does not overflow by helping (bug 23). There is
 * one exception: if all threads of a pool are limited and no job begins for 10 ms, the last thread
 * that became limited takes a job, since all may wait for that job; README.md has the proof.
 *
 * A thread that holds a weft_mutex is limited, too, and never takes jobs of others: they might
 * want the same mutex, and would wait for the job below them (bug 22). A spare comes in its
 * place. */
#ifndef WEFT_CORE_WAIT_H
#define WEFT_CORE_WAIT_H

#include "core/worker.h"

struct weft__limit;

/* What is known of the awaited event. All pointers may be NULL. */
struct weft__awaited {
    const char *what;          /* static words, such as "waits for a task" */
    struct atomic_ptr *thief;  /* struct weft__worker that runs the awaited right side: to be helped
                                  first */
    struct weft__group *scope; /* the waiter runs children of this scope even if it is limited */
    bool elsewhere;            /* another pool, or an actor, ends the wait: when is not known */
    bool may_end;              /* the wait may end early if the waiter is an actor that ends; see
                                  weft__wait_anywhere() */
    const struct weft__limit *limit;            /* a wait with a limit takes no jobs of others */
    void (*by)(weft *w, struct weft__job *job); /* jobs of this kind in the injector end the wait: a
                                                   guest runs them, too; see weft__wake_helpers() */
};

/* Is a thread of this pool, for a caller that waits, one of another pool? */
bool weft__is_elsewhere(const struct weft_pool *pool);

/* Two words that dumps know by their addresses. */
extern const char weft__awaits_thief[], weft__awaits_children[];
#define WEFT__AWAITS_THIEF(of) ((struct weft__awaited){.what = weft__awaits_thief, .thief = (of)})
#define WEFT__AWAITS_CHILDREN(of) \
    ((struct weft__awaited){.what = weft__awaits_children, .scope = (of)})

/* Returns when the latch is set; runs other jobs in w meanwhile. False: as
 * weft__wait_anywhere(). */
bool weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited);

/* The same for a thread that need not be a worker. The latch's owner has to be the parking place
 * that weft__thread_park() gave; weft__thread_unpark() gives it back. False, only if may_end: the
 * caller is an actor that ends, and the latch is not set. The caller has to make sure that no
 * thread will set the latch, or wait again. */
struct weft__park *weft__thread_park(void); /* NULL: no memory */
void weft__thread_unpark(struct weft__park *park);
bool weft__wait_anywhere(struct weft__spin_latch *latch, struct weft__awaited awaited);

/* New jobs wake workers only. If all workers are busy, a job of a kind that guests would run (`by`)
 * may have waited for a while: this wakes those guests. A guest that is just about to sleep may
 * miss it, so the caller calls again as long as the job waits. */
void weft__wake_helpers(struct weft_pool *pool);

/* After so many jobs of its own, a thread looks at its mail and the injector first. */
enum { WEFT__OWN_TURN = 32 };
void weft__run_in_turn(weft *w); /* a thread that has counted so many looks there */

/* Moves a spawned job that the caller has popped to the injector. */
void weft__leave_to_others(struct weft__worker *me, struct weft__job *job);

bool weft__run_one(weft *w); /* one job of any kind; false: none found */

/* Works until `stop` is set. */
void weft__worker_serve(struct weft__worker *worker);

/* The life of a WORKER_THREAD: the same, then runs what is left. */
void weft__worker_loop(struct weft__worker *worker);

#endif
