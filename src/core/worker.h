/* SPDX-License-Identifier: MIT */
/* worker.h: a thread that runs jobs.
 *
 * A struct weft__worker is a worker thread of a pool, or a guest: an outside thread for
 * as long as it is inside weft_run(). Guests differ in that nobody counts on them: new
 * work never wakes a guest, only its own latch does.
 *
 * A thread may be several at once: a worker of pool A that calls weft_run(B) is a guest
 * of B on top, its `host` the worker of A below. Whenever it waits in B it looks for
 * work in B, then in A, and it sleeps as a worker of A: so pools that wait for each other
 * can't all stand still (fault 21).
 *
 * Waiting runs other jobs on top of the waiting one. That is bounded: a waiter whose stack
 * is more than half used is *limited*, and takes no jobs of others, so a stack of twice what
 * one job needs does not overflow by helping (fault 23). Only if all threads of a pool are
 * limited and nothing moves for 10 ms, the last one takes a job all the same, since what all
 * wait for may be that one; README.md has the proof. */
#ifndef WEFT_CORE_WORKER_H
#define WEFT_CORE_WORKER_H

#include "core/context.h"
#include "core/deque.h"
#include "core/group.h"
#include "core/queue.h"
#include "os/thread.h"

enum worker_kind {
    WORKER_THREAD, /* a thread of the pool */
    WORKER_CALLER, /* the thread that made the pool (WEFT_USE_CALLER) */
    WORKER_GUEST,
};

enum worker_state { WORKER_OUTSIDE, WORKER_BUSY, WORKER_SEARCHING };

/* A job that runs on this thread, innermost first. Lies in weft__execute()'s frame. */
struct weft__frame {
    struct weft__frame *outer;
    const char *address; /* of that frame; a sanitizer may keep this record elsewhere */
    unsigned depth;
};

/* Written by the worker only, with plain loads and stores; read by anybody as a hint. */
struct weft__counts {
    struct atomic_u64 jobs, steals, injected, sleeps;
    struct atomic_u32 depth_max;
    struct atomic_u32 state; /* enum worker_state */
};

struct weft__worker {
    struct weft_pool *pool;
    unsigned index;
    enum worker_kind kind;
    int home; /* the CPU it sleeps on */
    struct weft__context *context;
    struct weft__park *park; /* its thread's: its own, or its host's */
    struct weft__park *own_park;
    struct weft__stack stack; /* its thread's */

    struct weft__worker *host;  /* what this thread is below this; NULL: an ordinary thread */
    struct weft__worker *outer; /* whose job was running when this one came on top */

    unsigned limited_waits; /* on its stack; see weft__wait() */
    bool last_left;
    struct weft__frame *frame;
    struct weft__job stolen; /* from the lazy road, on its way from search to execution */
    struct weft__slot *stolen_slot;
    bool saw_young; /* the last search saw a right side that was too young */
    uint64_t random;
    struct weft__node *spare; /* spawn nodes to use again */
    unsigned spares;

    struct weft__spin_latch stop; /* set when a WORKER_THREAD should end */
    pthread_t thread;
    bool started; /* `thread` is ours to join */

    WEFT__ALIGNED struct weft__deque deque;
    WEFT__ALIGNED struct weft__queue mailbox; /* broadcasts: jobs for this worker alone */
    WEFT__ALIGNED struct weft__counts counts;

    bool taken;                      /* guests: in use by a thread. Under the pool's guest_lock */
    struct weft__worker *next_guest; /* in the pool's list; written before it is shared */
};

struct weft__worker *weft__worker_make(struct weft_pool *pool, unsigned index,
                                       enum worker_kind kind); /* NULL: no memory */
void weft__worker_free(struct weft__worker *worker);

static inline struct weft__worker *weft__worker_of(weft *w)
{
    return weft__context_of(w)->worker;
}

/* The one whose job runs now, or, outside jobs, a caller or worker; NULL: none. */
struct weft__worker *weft__worker_current(void);

/* The innermost one this thread is, whichever it works for now; NULL: none. */
struct weft__worker *weft__worker_top(void);

/* This thread as a worker or guest of `pool`, however far below; NULL: it is none. */
struct weft__worker *weft__worker_in(const struct weft_pool *pool);

/* Makes `worker` the innermost one of this thread, and undoes it. `entry`: the frame of
 * the call that does so. */
void weft__worker_push(struct weft__worker *worker, const char *entry);
void weft__worker_remove(struct weft__worker *worker);

void weft__worker_forked(void); /* in a forked child: this thread is none any more */

/* What it means that this thread may not touch the address; NULL: nothing known. */
const char *weft__worker_explain(const void *address);

/* Aborts with a message if this thread left a job by longjmp: public calls from outside
 * begin with this. */
void weft__worker_check_left(const char *frame);

/* Life of a WORKER_THREAD: works until `stop` is set. */
void weft__worker_loop(struct weft__worker *worker);

/* Its thread does something else now. */
void weft__worker_rest(struct weft__worker *worker);

/* Runs a job from a queue in w. */
void weft__execute(weft *w, struct weft__job *job);

/* Calls fn(w, arg) as part of `group`, unless that is cancelled. */
void weft__call(weft *w, weft_fn *fn, void *arg, struct weft__group *group);

/* The same for a whole computation from outside: how long it takes is remembered. */
void weft__call_whole(weft *w, weft_fn *fn, void *arg, struct weft__group *group);

/* A computation of its own: fails and is cancelled by itself. Its error or 0. */
int weft__call_root(weft *w, weft_fn *fn, void *arg, struct weft__group *parent);

/* Is there stack for other people's jobs? Not on a stack that is the program's own
 * business, such as a coroutine's. */
bool weft__may_help(const struct weft__worker *me);

/* Is the computation that runs in w cancelled? Noticing that a deadline has passed calls
 * the attention of everybody in the pool. */
bool weft__cancelled(weft *w);
void weft__fail(weft *w, int code);
void weft__call_attention(struct weft_pool *pool);

/* What is known of the thing that is waited for; both may be NULL. */
struct weft__awaited {
    struct atomic_ptr *thief;  /* struct weft__worker that runs it: the best one to help */
    struct weft__group *scope; /* its children are run by the waiter even if it is limited; */
    int64_t base;              /* they lie above this place of its own deque */
};

/* Returns when the latch is set; runs other jobs in w meanwhile. */
void weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited);

/* The same for a thread that need not be a worker. The latch's owner has to be the parking
 * place that weft__thread_park() gave; end with weft__thread_unpark(). */
struct weft__park *weft__thread_park(void); /* NULL: no memory */
void weft__thread_unpark(struct weft__park *park);
void weft__wait_anywhere(struct weft__spin_latch *latch);

bool weft__run_one(weft *w); /* one job of any kind; false: none found */

/* The thread of a WORKER_CALLER comes to work from outside, and goes. */
void weft__worker_caller_in(struct weft__worker *me);
void weft__worker_caller_out(struct weft__worker *me);

/* Puts a fork, or a spawned job, on the deque and tells the pool. -ENOMEM: not done. */
int weft__post_fork(struct weft__worker *worker, struct weft__job *job);
int weft__post_spawn(struct weft__worker *worker, struct weft__job *job);

#endif
