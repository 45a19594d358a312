/* SPDX-License-Identifier: MIT */
/* worker.h: a thread that runs jobs.
 *
 * A struct weft__worker is a worker thread of a pool, or a guest: an outside thread for as long as
 * it is inside weft_run(). The pool does not count on guests: new work does not wake a guest, only
 * its own latch does (one exception: weft__wake_helpers()).
 *
 * A thread may be several workers at once. A worker of pool A that calls weft_run(B) is a guest of
 * B on top; the guest's `host` is the worker of A below. When the thread waits in B, it looks for
 * work in B, then in A, and it sleeps as a worker of A. So pools that wait for each other can't all
 * stand still (bug 21). */
#ifndef WEFT_CORE_WORKER_H
#define WEFT_CORE_WORKER_H

#include "core/context.h"
#include "core/deque.h"
#include "core/group.h"
#include "core/pile.h"
#include "core/queue.h"
#include "core/stock.h"
#include "os/stats.h"
#include "os/thread.h"

struct weft__awaited;
struct weft__blocked;
struct weft__mutex;
struct weft__task;

/* As enum weft_stats_worker_kind. */
enum worker_kind {
    WORKER_THREAD, /* a thread of the pool */
    WORKER_CALLER, /* the thread that made the pool (WEFT_USE_CALLER) */
    WORKER_GUEST,
    WORKER_SPARE, /* a thread of the pool in the place of a blocked one; see spare.h */
};

/* Whether a worker looks for work. The look-out asks before it takes the worker's place. */
enum worker_seeks {
    SEEKS_NOTHING, /* it is busy, or waits in a job that may go on at any time */
    SEEKS_FREELY,  /* it has no job, and has seen none that it could take; or it sleeps */
    SEEKS_TAKES,   /* it is about to begin a job */
};

/* As enum weft_stats_state. */
enum worker_state { WORKER_OUTSIDE, WORKER_BUSY, WORKER_SEARCHING, WORKER_BLOCKED };

/* A job that runs on this thread. Lies in the frame of weft__execute_untold(). */
struct weft__frame {
    struct weft__frame *self;  /* points to this; if not, the record was overwritten, and its job
                                  never returned */
    struct weft__frame *outer; /* of the job below */
    const char *address;       /* of the C frame: a sanitizer may keep this record elsewhere */
    unsigned depth;

    /* For reports. */
    weft *w;                   /* where it runs */
    struct weft__worker *from; /* as in struct weft__found */
    weft *slot;                /* as in struct weft__found */
    struct weft__task *task;   /* the task that the job is, or NULL */
    weft_fn *fn;
    struct weft__group *group;
};

/* How to tell the waiting threads that a job is over: tell(of). */
struct weft__news {
    void (*tell)(void *of); /* NULL: no thread waits */
    void *of;
};

/* What a worker has done and does: a record of the statistics page, or memory of its own; the
 * atomic form of struct weft_stats_worker. Written by the worker only, with plain loads and stores;
 * read by other threads, and by other processes, as a hint. */
struct weft__counts {
    struct atomic_u64 jobs, steals, injected, sleeps;

    /* For weft_pool_dump(). What a pointer leads to may be gone: dumps compare it, or make sure
     * first that it can be followed. */
    struct atomic_fn fn;     /* what the job on top runs, or NULL */
    struct atomic_ptr group; /* struct weft__group of the job on top, or NULL */
    struct atomic_u32 depth; /* how many jobs lie on top of each other */
    struct atomic_u32 state; /* enum worker_state */
    struct atomic_u32 depth_max;
    struct atomic_i32 cpu;        /* the CPU on which it last began to work */
    struct atomic_i32 thread;     /* the kernel's number of its thread; 0: unknown */
    struct atomic_u32 executor;   /* the number of the actors' executor that it drives, plus 1; or
                                     0 */
    struct atomic_u64 since;      /* when it last began or ended a search, or was blocked; 0:
                                     unknown */
    struct atomic_u64 jobs_then;  /* how many jobs it had begun at that time */
    struct atomic_ptr awaits;     /* const char: static words for the innermost wait, or NULL */
    struct atomic_ptr awaits_for; /* what it waits for. weft__awaits_thief: `thief` of a slot in its
                                     own context; weft__awaits_children: struct weft__group */

    /* For the readers of the page. */
    struct weft__phases phases;
    struct weft__waits waits;         /* what it is blocked in */
    struct atomic_u64 thief, visitor; /* as in the page */
    struct atomic_u64 reserved, id, address, pool;
    struct atomic_u32 index, kind;
};

_Static_assert(
    sizeof(struct weft__counts) == sizeof(struct weft_stats_worker) &&
        offsetof(struct weft__counts, fn) == offsetof(struct weft_stats_worker, fn) &&
        offsetof(struct weft__counts, state) == offsetof(struct weft_stats_worker, state) &&
        offsetof(struct weft__counts, thread) == offsetof(struct weft_stats_worker, thread) &&
        offsetof(struct weft__counts, since) == offsetof(struct weft_stats_worker, since) &&
        offsetof(struct weft__counts, awaits) == offsetof(struct weft_stats_worker, awaits) &&
        offsetof(struct weft__counts, phases) == offsetof(struct weft_stats_worker, phases) &&
        offsetof(struct weft__counts, waits) == offsetof(struct weft_stats_worker, waits) &&
        offsetof(struct weft__counts, thief) == offsetof(struct weft_stats_worker, awaits_thief) &&
        offsetof(struct weft__counts, id) == offsetof(struct weft_stats_worker, id) &&
        offsetof(struct weft__counts, index) == offsetof(struct weft_stats_worker, index),
    "struct weft_stats_worker");

static inline void weft__count_up(struct atomic_u64 *count)
{
    /* relaxed, and no read-modify-write: one writer; readers want a hint. */
    atomic_store_relaxed(count, atomic_load_relaxed(count) + 1);
}

struct weft__worker {
    struct weft_pool *pool;
    unsigned index;
    enum worker_kind kind; /* of guests: written under their lock */
    int home;              /* the CPU it sleeps on */
    struct weft__context *context;
    struct weft__context *fiber; /* the fiber that its thread runs now, or NULL; see fiber.h */
    struct weft__park *park;     /* where its thread sleeps: own_park, or its host's park */
    struct weft__park *own_park;
    struct weft__stack stack; /* of its thread */
    ptrdiff_t help_most;      /* it takes jobs of others while less than this of `stack` is used */

    struct weft__worker *host;  /* the worker that the same thread is below this one, or NULL */
    struct weft__worker *above; /* the worker that the same thread is on top of this one, or NULL */
    struct weft__worker *outer; /* the worker whose job was running when this one came on top */

    unsigned limited_waits;      /* how many are on its stack; see weft__wait() */
    bool limited_last;           /* it was the last thread of its pool to begin a limited wait */
    struct weft__frame *frame;   /* of the innermost job, or NULL */
    struct weft__news news;      /* of the job that ended last; see weft__tell() */
    bool overtakes;              /* it has the place of a searcher that does not run; see sleep.h */
    bool saw_young;              /* the last search saw a right side that was too young */
    bool saw_foreign;            /* the last search saw a job of another computation */
    unsigned own_jobs;           /* how many it ran since it last looked at mail and injector */
    unsigned brief_spells;       /* how many idle spells in a row were short; see descent.c */
    struct weft__counts *counts; /* a record of the statistics page, or own_counts */
    uint64_t random;
    uint32_t short_loops;                   /* see weft__pace_is_turn() */
    struct weft__stock stocks[STOCK_SIZES]; /* nodes of spawned jobs, to use again */
    struct weft__offers offers;

    /* Why the worker does not move. Written by its thread; reports read it while the thread
     * rests. */
    const struct weft__blocked *blocked; /* what it is blocked in, or NULL */
    const struct weft__awaited *awaited; /* the innermost wait, or NULL */
    struct weft__mutex *held_mutexes;    /* the mutex locked last comes first. Only in the outermost
                                            worker of a thread */
    unsigned held; /* how many mutexes and other locks it holds. Only in the outermost
                      worker of a thread */
    struct atomic_ptr careful_at; /* weft *: jobs from this slot on are part of what the holder of a
                                     mutex does; NULL: none are. Written by its thread; read by
                                     thieves */
    bool careful_by_lock;         /* careful_at is set because the worker itself holds a lock */
    struct atomic_uptr visitor;   /* the number of its thread, if the thread is a guest or caller
                                     that is in no other pool; or 0. Written by its thread; read by
                                     dumps */
    unsigned block_depth;         /* how many weft_block_begin() were not ended yet */
    struct atomic_i32 rests;      /* 1: blocked, and not roused yet. Its own thread adds 1, the
                                     thread that rouses it subtracts 1 under the pool's lock for
                                     that; in either order */

    /* Notes of reports and dumps, under the guests' lock. */
    bool alive;                   /* of a report: see stuck.h */
    uint64_t seen_jobs;           /* how many jobs it had begun at seen_at */
    uint64_t seen_at;             /* when a dump first saw the worker in its state; 0: not yet */
    enum worker_state seen_state; /* the state that it was in at seen_at */

    struct weft__spin_latch stop; /* set when a WORKER_THREAD or a WORKER_SPARE should end */
    pthread_t thread;
    bool started; /* a thread was started for it, and is joined unless `counted` */
    bool counted; /* its thread is not joined, but counted in pool->threads */

    WEFT__ALIGNED struct weft__pile pile;
    WEFT__ALIGNED struct weft__deque deque;
    WEFT__ALIGNED struct weft__queue mailbox;     /* broadcasts: jobs for this worker alone */
    WEFT__ALIGNED struct weft__counts own_counts; /* used if the page has no record */

    struct atomic_u32 seeks;     /* enum worker_seeks; see weft__may_begin() */
    struct atomic_bool walks;    /* it walks through the list of guests; see guest.h */
    struct atomic_bool waits_by; /* it waits, and would run jobs of the kind weft__awaited.by */

    /* Of a guest, written under the guests' lock; see guest.h. */
    bool taken;                   /* a thread uses it */
    bool was_spare;               /* a spare has used it, now or before */
    struct atomic_ptr next_guest; /* struct weft__worker: in the list */
    struct weft__worker *previous_guest;
};

/* The outermost worker that the thread of `me` is. */
static inline struct weft__worker *weft__outermost(struct weft__worker *me)
{
    while (me->host)
        me = me->host;
    return me;
}

/* Is the worker careful? A thread that holds a mutex must not take jobs of others while it waits:
 * they may want the same mutex. Neither must a thread that runs a part of what the holder does; so
 * forked and spawned jobs carry the note along. */
static inline bool weft__is_careful(struct weft__worker *me)
{
    return weft__outermost(me)->held || atomic_load_relaxed(&me->careful_at); /* relaxed: own */
}

/* `me` is careful from w on, until weft__careful_end(). False: it was careful already. */
static inline bool weft__careful_begin(struct weft__worker *me, weft *w)
{
    if (atomic_load_relaxed(&me->careful_at))
        return false;
    atomic_store_relaxed(&me->careful_at, w); /* relaxed: the next fork publishes it */
    return true;
}

static inline void weft__careful_end(struct weft__worker *me)
{
    atomic_store_relaxed(&me->careful_at, NULL); /* relaxed: nothing is handed over */
}

/* Does this thread, worker or not, hold a mutex, or run a part of what a holder does? Then what it
 * hands to a pool is careful from the beginning. */
bool weft__caller_is_careful(void) WEFT__OF_THREAD;

/* A thread that is no worker has locked a mutex (1), or unlocked one (-1). It stays the holder when
 * it enters a pool. */
void weft__note_held_outside(int change) WEFT__OF_THREAD;

/* For a thief that has taken the fork in `slot`: was it forked by the holder of a mutex, or in a
 * part of what a holder does? What was held then is held until the merge. */
static inline bool weft__fork_is_careful(struct weft__worker *owner, weft *slot)
{
    weft *from = atomic_load_relaxed(&owner->careful_at); /* relaxed: acquired with the fork */
    return from && from <= slot;
}

struct weft__worker *weft__worker_make(struct weft_pool *pool, unsigned index,
                                       enum worker_kind kind); /* NULL: no memory */
void weft__worker_free(struct weft__worker *worker);

static inline struct weft__worker *weft__worker_of(weft *w)
{
    return weft__context_of(w)->worker;
}

static inline void weft__state_is(struct weft__worker *worker, enum worker_state state)
{
    atomic_store_relaxed(&worker->counts->state, state); /* relaxed: for weft_pool_dump() */
}

/* When it came to that state. relaxed, all: as above. */
static inline void weft__state_since(struct weft__worker *worker, uint64_t now)
{
    struct weft__counts *counts = worker->counts;
    atomic_store_relaxed(&counts->since, now);
    atomic_store_relaxed(&counts->jobs_then, atomic_load_relaxed(&counts->jobs));
}

/* The clock was not read when the state changed. */
static inline void weft__state_since_unknown(struct weft__worker *worker)
{
    atomic_store_relaxed(&worker->counts->since, 0);
}

/* The worker whose job runs on this thread now; outside jobs, the worker or caller that this thread
 * is; or NULL. */
struct weft__worker *weft__worker_current(void) WEFT__OF_THREAD;

/* For a thread-local word that is read without a call, even in a shared library. It takes 8 of the
 * bytes that the dynamic linker reserves for libraries that are loaded later. */
#ifndef WEFT__TLS_FAST
#define WEFT__TLS_FAST __attribute__((tls_model("initial-exec")))
#endif

/* The context in which this thread's job runs, its fiber's or its own; or NULL. Inlined on x86-64,
 * because every function that takes a context asks for it. There it is read relative to %fs: no
 * address is kept (see WEFT__OF_THREAD). Not for code that may be suspended and go on on another
 * thread. */
extern _Thread_local struct weft__worker *weft__current WEFT__TLS_FAST;
static inline struct weft__context *weft__context_here(void)
{
#if defined __x86_64__
    struct weft__worker *me = weft__current;
#else
    struct weft__worker *me = weft__worker_current();
#endif
    return !me ? NULL : me->fiber ? me->fiber : me->context;
}

/* The number of this thread, by which others know it while it is no worker. No two threads of a
 * process ever have the same one. */
uintptr_t weft__thread_serial(void) WEFT__OF_THREAD;

/* The innermost worker that this thread is, even if it runs a job of another one now; or NULL. */
struct weft__worker *weft__worker_innermost(void) WEFT__OF_THREAD;

/* This thread as a worker or guest of `pool`, however far below; NULL: it is none. */
struct weft__worker *weft__worker_in(const struct weft_pool *pool) WEFT__OF_THREAD;

/* Makes `worker` the innermost worker of this thread, and undoes it. `entry`: the frame of the call
 * that makes it so. */
void weft__worker_push(struct weft__worker *worker, const char *entry);
void weft__worker_remove(struct weft__worker *worker);

void weft__worker_forked(void); /* in a forked child: this thread is no worker any more */

/* How many jobs lie on top of each other in the pool that this thread works for; 0: none. */
unsigned weft__worker_nested(void);

/* Aborts with a message if this thread left a job by longjmp: public calls from outside
 * begin with this. */
void weft__worker_check_abandoned(const char *frame);

/* Its thread works for the pool no more, for now or for ever: the state is WORKER_OUTSIDE. */
void weft__worker_is_outside(struct weft__worker *worker);

/* Is there enough stack for jobs of others? Never on a stack that the program made itself, such as
 * a coroutine's. */
bool weft__may_help(const struct weft__worker *me);

/* The thread of a WORKER_CALLER comes from outside to work, and goes again. */
void weft__worker_caller_in(struct weft__worker *me);
void weft__worker_caller_out(struct weft__worker *me);

/* The newest job of its own, from the pile or else from the deque; or NULL. Owner only. */
static inline struct weft__job *weft__worker_pop(struct weft__worker *me)
{
    struct weft__job *job = weft__pile_pop(&me->pile);
    return job ? job : weft__deque_pop(&me->deque);
}

/* Has it jobs of its own? A hint. */
static inline bool weft__worker_has_jobs(const struct weft__worker *me)
{
    return weft__pile_size(&me->pile) > 0 || weft__deque_size(&me->deque) > 0;
}

/* Puts a spawned job on the deque and tells the pool. -ENOMEM: not done. */
int weft__post_spawn(struct weft__worker *worker, struct weft__job *job);

/* Moves the spawned jobs of the worker to the injector, when its thread leaves them for an
 * unknown time (bug 27). There must be no forks on the deque. */
void weft__worker_spill(struct weft__worker *worker);

#endif
