/* SPDX-License-Identifier: MIT */
/* worker.h: a thread that runs jobs.
 *
 * A struct weft__worker is a worker thread of a pool, or a guest: an outside thread for
 * as long as it is inside weft_run(). Guests differ in that the pool does not count on them: new
 * work never wakes a guest, only its own latch does.
 *
 * A thread may be several at once: a worker of pool A that calls weft_run(B) is a guest
 * of B on top, its `host` the worker of A below. Whenever it waits in B it looks for
 * work in B, then in A, and it sleeps as a worker of A: so pools that wait for each other
 * can't all stand still (bug 21). */
#ifndef WEFT_CORE_WORKER_H
#define WEFT_CORE_WORKER_H

#include "core/context.h"
#include "core/deque.h"
#include "core/group.h"
#include "core/queue.h"
#include "os/thread.h"

struct weft__awaited;
struct weft__blocked;
struct weft__mutex;
struct weft__task;

enum worker_kind {
    WORKER_THREAD, /* a thread of the pool */
    WORKER_CALLER, /* the thread that made the pool (WEFT_USE_CALLER) */
    WORKER_GUEST,
    WORKER_SPARE, /* a thread of the pool in the place of a blocked one; see spare.h */
};

/* What a worker does that looks for work, for the look-out that would take its place. */
enum worker_seeks {
    SEEKS_NOTHING, /* it is busy, or waits in a job that may go on at any time; */
    SEEKS_FREELY,  /* it has no job, and has seen nothing yet; or it sleeps; */
    SEEKS_TAKES,   /* it is about to begin one */
};

enum worker_state { WORKER_OUTSIDE, WORKER_BUSY, WORKER_SEARCHING, WORKER_BLOCKED };

/* A job that runs on this thread, innermost first. Lies in weft__execute()'s frame. */
struct weft__frame {
    struct weft__frame *self; /* or it has been overwritten: its job never returned */
    struct weft__frame *outer;
    const char *address; /* of that frame; a sanitizer may keep this record elsewhere */
    unsigned depth;

    /* For reports. */
    weft *w;                   /* where it runs */
    struct weft__worker *from; /* as in struct weft__found, both */
    weft *slot;
    struct weft__task *task; /* the task that it is, or NULL */
    weft_fn *fn;
    struct weft__group *group;
};

/* How to tell the threads that wait for a job that it is over. */
struct weft__news {
    void (*tell)(void *of); /* NULL: none waits */
    void *of;
};

/* Written by the worker only, with plain loads and stores; read by other threads as a hint. */
struct weft__counts {
    struct atomic_u64 jobs, steals, injected, sleeps;
    struct atomic_u32 depth_max;
    struct atomic_u32 state; /* enum worker_state */
    struct atomic_i32 cpu;   /* where it was when it began to work last */

    /* For weft_pool_dump(). Addresses are looked at as such: what they lead to may be gone. */
    struct atomic_i32 thread;     /* the kernel's number of its thread; 0: unknown */
    struct atomic_u32 depth;      /* jobs on top of each other */
    struct atomic_fn fn;          /* what the one on top runs, or NULL */
    struct atomic_ptr group;      /* struct weft__group of that */
    struct atomic_u64 since;      /* when it last began or ended a search, or was blocked: where the
                                     clock is read anyway. 0: unknown */
    struct atomic_u64 jobs_then;  /* how many jobs it had begun at that time */
    struct atomic_ptr awaits;     /* const char: static words for the innermost wait, or NULL */
    struct atomic_ptr awaits_for; /* for what: the `thief` of a slot in its own context, or
                                     struct weft__group of a scope; as the words say */
    struct atomic_u32 executor;   /* of actors, which it drives, plus 1; or 0 */
};

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
    struct weft__context *fiber; /* that its thread runs now, or NULL; see fiber.h */
    struct weft__park *park;     /* its thread's: its own, or its host's */
    struct weft__park *own_park;
    struct weft__stack stack; /* its thread's */
    ptrdiff_t help_most;      /* it takes jobs of others while less than this is in use of it */

    struct weft__worker *host;  /* the worker that this thread is below this one; NULL: none */
    struct weft__worker *above; /* the worker that it is on top of this one; NULL: none */
    struct weft__worker *outer; /* the worker whose job was running when this one came on top */

    unsigned limited_waits; /* on its stack; see weft__wait() */
    bool limited_last;      /* it was the last thread of its pool to begin one */
    struct weft__frame *frame;
    struct weft__news news; /* of the job that ended last; see weft__tell() */
    bool overtakes;         /* it has the place of a searcher that does not run; see sleep.h */
    bool saw_young;         /* the last search saw a right side that was too young */
    bool saw_foreign;       /* the last search saw a job of another computation */
    unsigned own_jobs;      /* in a row, without a look at the injector */
    unsigned brief_spells;  /* idle ones in a row that were short; see descent.c */
    uint64_t random;
    uint32_t short_loops;          /* see weft__pace_is_turn() */
    struct weft__node *free_nodes; /* of spawned jobs, to use again */
    unsigned free_count;           /* so many */

    /* Why it does not move. Its own, and read by reports when it does not. */
    const struct weft__blocked *blocked; /* in what, or NULL */
    const struct weft__awaited *awaited; /* the innermost wait, or NULL */
    struct weft__mutex *held_mutexes;    /* the last one first; in the thread's outermost worker */
    struct atomic_ptr careful_at; /* weft *: what it does from this slot on is part of what the
                                     holder of a mutex does; NULL: nothing is. Written by itself;
                                     thieves look at it */
    bool careful_by_lock;         /* careful_at is set because it is itself the holder */
    struct atomic_uptr visitor;   /* the number of its thread, if that is not the pool's, and is in
                                     no other pool. Written by itself; dumps look at it */
    unsigned block_depth;
    struct atomic_i32 rests; /* 1: blocked, and not roused yet. Up by itself, down by the thread
                                that rouses it, under the pool's lock for that: in either order */
    bool alive;              /* a report's note; under the guests' lock, as those of dumps below */
    uint64_t seen_jobs;      /* the jobs that it had begun when a dump first saw it so */
    uint64_t seen_at;        /* when that was */
    enum worker_state seen_state; /* and what it did */

    struct weft__spin_latch stop; /* set when a WORKER_THREAD or a WORKER_SPARE should end */
    pthread_t thread;
    bool started; /* `thread` is ours to join */
    bool counted; /* its thread is not joined, but is one of pool->threads */

    WEFT__ALIGNED struct weft__deque deque;
    WEFT__ALIGNED struct weft__queue mailbox; /* broadcasts: jobs for this worker alone */
    WEFT__ALIGNED struct weft__counts counts;

    /* See guest.h. Guests: under its lock. */
    struct atomic_u32 seeks;      /* enum worker_seeks; see weft__may_begin() */
    struct atomic_bool walks;     /* it looks through the guests */
    struct atomic_bool waits_by;  /* it waits, and would run what weft__awaited.by says */
    bool taken;                   /* in use by a thread */
    bool was_spare;               /* at some time */
    struct atomic_ptr next_guest; /* struct weft__worker: in the list */
    struct weft__worker *previous_guest;
};

static inline struct weft__worker *weft__root_of(struct weft__worker *me)
{
    while (me->host)
        me = me->host;
    return me;
}

/* A thread that holds a mutex must not take jobs of others while it waits for its own: they may
 * want the same mutex. Neither must a thread that runs a part of what the holder does; so that goes
 * with what is forked and spawned. */
static inline bool weft__is_careful(struct weft__worker *me)
{
    return weft__root_of(me)->held_mutexes ||
           atomic_load_relaxed(&me->careful_at); /* relaxed: own */
}

/* From w on, until weft__careful_end(); false: it was careful already. */
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

/* Does this thread, whatever it is, hold a mutex, or run a part of what a holder does? Then what it
 * hands to a pool is careful from its beginning on. */
bool weft__caller_is_careful(void);

/* A thread that is no worker has locked a mutex, or unlocked one. It stays its holder when it comes
 * into a pool. */
void weft__note_held_outside(int change);

/* For a thief that has taken the fork: what was held then is held until its merge. */
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
    atomic_store_relaxed(&worker->counts.state, state); /* relaxed: for weft_pool_dump() */
}

/* Since when it is in that state. relaxed, all: as above. */
static inline void weft__state_since(struct weft__worker *worker, uint64_t now)
{
    struct weft__counts *counts = &worker->counts;
    atomic_store_relaxed(&counts->since, now);
    atomic_store_relaxed(&counts->jobs_then, atomic_load_relaxed(&counts->jobs));
}

/* The clock has not been read. */
static inline void weft__state_since_unknown(struct weft__worker *worker)
{
    atomic_store_relaxed(&worker->counts.since, 0);
}

/* The worker whose job runs on this thread now; outside jobs, the worker or caller that this thread
 * is; NULL: none. */
struct weft__worker *weft__worker_current(void);

/* A word that can be read without a call, in a shared library, too. It takes 8 bytes of what the
 * dynamic linker keeps for libraries that are loaded later. */
#ifndef WEFT__TLS_FAST
#define WEFT__TLS_FAST __attribute__((tls_model("initial-exec")))
#endif

/* The context in which its job runs, a fiber's or its own; NULL: none. In place, because every
 * function that takes a context asks; not for code that may go on on another thread. */
extern _Thread_local struct weft__worker *weft__current WEFT__TLS_FAST;
static inline struct weft__context *weft__context_here(void)
{
    struct weft__worker *me = weft__current;
    return !me ? NULL : me->fiber ? me->fiber : me->context;
}

/* This thread's, by which others know it while it is no worker: of no other one before or later. */
uintptr_t weft__thread_serial(void);

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

/* How many jobs are on top of each other in this thread's innermost pool; 0: it is in none. */
unsigned weft__worker_nested(void);

/* Aborts with a message if this thread left a job by longjmp: public calls from outside
 * begin with this. */
void weft__worker_check_abandoned(const char *frame);

/* Its thread does something else now. */
void weft__worker_rest(struct weft__worker *worker);

/* Is there stack for other people's jobs? Not on a stack that is the program's own
 * business, such as a coroutine's. */
bool weft__may_help(const struct weft__worker *me);

/* The thread of a WORKER_CALLER comes to work from outside, and goes. */
void weft__worker_caller_in(struct weft__worker *me);
void weft__worker_caller_out(struct weft__worker *me);

/* Puts a spawned job on the deque and tells the pool. -ENOMEM: not done. */
int weft__post_spawn(struct weft__worker *worker, struct weft__job *job);

/* Moves the spawned jobs on the worker's deque to the injector, when its thread goes away
 * from them for an unknown time (bug 27). No forks may be on it. */
void weft__worker_spill(struct weft__worker *worker);

#endif
