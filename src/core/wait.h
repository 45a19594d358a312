/* SPDX-License-Identifier: MIT */
/* wait.h: waiting for a latch, and working meanwhile.
 *
 * Waiting runs other jobs on top of the waiting one. That is bounded: a waiter whose stack
 * is more than half used (of a default one more than 4 MiB) is *limited*, and takes no jobs of
 * others, so a stack of twice what one job needs does not overflow by helping (bug 23). Only if
 * all threads of a pool are limited and nothing moves for 10 ms, the last one takes a job all the
 * same, since all may wait for that job; README.md has the proof.
 *
 * A thread that holds a weft_mutex is limited, too, and never takes jobs of others: they might
 * want the same mutex, and would wait for the job below them (bug 22). A spare comes in its
 * place. */
#ifndef WEFT_CORE_WAIT_H
#define WEFT_CORE_WAIT_H

#include "core/worker.h"

/* What is known of the thing that is waited for; all may be NULL. */
struct weft__awaited {
    const char *what;          /* static words, such as "waits for a task" */
    struct atomic_ptr *thief;  /* struct weft__worker that runs it: the best one to help */
    struct weft__group *scope; /* its children are run by the waiter even if it is limited */
    bool may_end;              /* if the waiter is an actor that ends: see weft__wait_anywhere() */
    void (*by)(weft *w, struct weft__job *job); /* jobs of this kind in the injector do it: a guest
                                                   runs them, too; see weft__wake_helpers() */
};

/* Two that dumps know, by the words' address. */
extern const char weft__awaits_thief[], weft__awaits_children[];
#define WEFT__AWAITS_THIEF(of) ((struct weft__awaited){.what = weft__awaits_thief, .thief = (of)})
#define WEFT__AWAITS_CHILDREN(of) \
    ((struct weft__awaited){.what = weft__awaits_children, .scope = (of)})

/* Returns when the latch is set; runs other jobs in w meanwhile. False: as weft__wait_anywhere().
 */
bool weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited);

/* The same for a thread that need not be a worker. The latch's owner has to be the parking
 * place that weft__thread_park() gave; end with weft__thread_unpark(). */
struct weft__park *weft__thread_park(void); /* NULL: no memory */
void weft__thread_unpark(struct weft__park *park);
/* False: the caller is an actor that ends, and the latch is not set: it takes back whatever would
 * set it, or waits again. Only if it may_end. */
bool weft__wait_anywhere(struct weft__spin_latch *latch, struct weft__awaited awaited);

/* New jobs wake workers only. A job that guests wait for (`by`) has waited for a while, because all
 * workers are busy: wakes those guests. One that is just about to sleep may miss it: the caller
 * comes again as long as the job waits. */
void weft__wake_helpers(struct weft_pool *pool);

bool weft__run_one(weft *w); /* one job of any kind; false: none found */

/* Works until `stop` is set. */
void weft__worker_serve(struct weft__worker *worker);

/* Life of a WORKER_THREAD: the same, and ends what is left. */
void weft__worker_loop(struct weft__worker *worker);

#endif
