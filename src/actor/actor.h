/* SPDX-License-Identifier: MIT */
/* actor.h: what actors are made of. README.md has the words and the rules; what can be done with
 * each of these is in a header of its own.
 *
 *   system    all actors of a pool, and their executors
 *   executor  a queue of fibers that can run; one thread at a time drives it
 *   actor     an independent computation
 *   fiber     a stack, with the context that lies in the same block: what an actor has on one
 *             executor
 *   member    an actor, or a delegate: a right side that was stolen and runs on some fiber */
#ifndef WEFT_ACTOR_ACTOR_H
#define WEFT_ACTOR_ACTOR_H

#include "actor/arena.h"
#include "actor/inbox.h"
#include "core/fiber.h"
#include "core/group.h"
#include "core/pool.h"
#include "os/lock.h"
#include "os/strand.h"
#include "sleep/latch.h"
#include "weft/actor.h"

#include <setjmp.h>

struct weft__actors;
struct weft__executor;
struct weft__fiber;

/* What one executor, or anybody, sends to another. */
enum letter_kind {
    LETTER_DELEGATION, /* in a slot: run it */
    LETTER_WAKE,       /* in a fiber: look again at what it waits for */
    LETTER_FIBER,      /* in a fiber that can run, and has come from another executor */
    LETTER_ACTOR,      /* in an actor that has not started */
};

/* ---- Slots ---- */

/* What an actor's contexts have in the place of struct weft__slot. A slot that is pending becomes
 * stamped when somebody looks at it, and keeps what was true when it was forked; one that is stolen
 * is its delegate's, until that answers; then it holds what the delegate has left. */
struct weft__actor_slot {
    struct atomic_fn fn;
    struct atomic_ptr arg;
    struct weft__group *group;
    union {
        size_t use;                 /* stamped: what its member used when it was forked */
        struct weft__letter letter; /* stolen */
        struct weft__chunk *chunks; /* done: the delegate's memory, */
    };
    struct atomic_u32 state; /* enum stolen_state */
    union {
        uint32_t quantum; /* stamped: the executor's at whose beginning it was, or will have been,
                             pending */
        uint32_t lineage; /* stolen: what its victim's lineage used when it was forked, in units of
                             ARENA_ALIGNMENT */
    };
    union {
        weft_fn *right;                 /* what `fn` was before it was stamped */
        struct weft__cleanup *deferred; /* done: and what it has deferred */
    };
    struct weft__member *victim;
    struct atomic_uptr wanted;
};

_Static_assert(sizeof(struct weft__actor_slot) == sizeof(struct weft__slot) &&
                   offsetof(struct weft__actor_slot, group) == offsetof(struct weft__slot, group) &&
                   offsetof(struct weft__actor_slot, wanted) == offsetof(struct weft__slot, wanted),
               "struct weft__slot");

enum stolen_state {
    STOLEN_PENDING, /* sent, or running; or: */
    STOLEN_CAREFUL, /* and it is part of what somebody does who holds a mutex */
    STOLEN_DONE,
    STOLEN_REFUSED,   /* not started: its victim runs it when it merges it */
    STOLEN_NO_MEMORY, /* its delegate has ended without having done it: past its limit, */
    STOLEN_OVERFLOW,  /* past its stack, */
    STOLEN_KILLED,    /* or because whoever would merge it ends, too */
};

static inline struct weft__actor_slot *weft__actor_slot_of(weft *w)
{
    return (struct weft__actor_slot *)w;
}

/* ---- Members ---- */

enum member_outcome {
    OUTCOME_RUNS,
    OUTCOME_RETURNED,
    OUTCOME_KILLED,
    OUTCOME_NO_MEMORY,
    OUTCOME_OVERFLOW,
};

struct weft__member {
    struct weft__member *victim; /* whose right side it is; NULL: the actor itself */
    struct weft__member *below;  /* on the same fiber */
    struct weft__fiber *fiber;
    weft *base;                /* its first slot */
    weft *cursor;              /* the first that is not stolen */
    struct atomic_u32 pending; /* stolen, and not answered yet */
    struct atomic_u32 outcome; /* enum member_outcome; written by its fiber; its delegates look */
    struct weft__arena arena;  /* its account begins with it, at zero */
    size_t lineage;            /* bytes that its ancestors used when it was forked */
    struct weft__group *group;
    struct weft__cleanup *cleanups; /* of the fiber, when it began */
    const char *stack;              /* where it began */
    unsigned mutexes;               /* of the fiber, when it began */
    bool careful;  /* it is part of what a mutex holder does: nothing may run on top of it */
    jmp_buf entry; /* where it unwinds to */
};

/* ---- Fibers ---- */

enum fiber_state {
    FIBER_READY,
    FIBER_RUNNING,
    FIBER_WAITING,
    FIBER_AWAY, /* between weft_block_begin() and end, with a thread of its own */
};

/* Why a fiber went back to its executor. */
enum fiber_why {
    WHY_QUANTUM,
    WHY_GIVES_WAY, /* to an actor that has just come */
    WHY_WAITS,
    WHY_OVER,
    WHY_AWAY,     /* it needs another thread: see away.c */
    WHY_DETACHED, /* it comes back from there */
};

struct weft__fiber {
    struct weft__context context; /* first: `w` leads here */
    struct weft__strand strand;
    struct weft_actor *actor;
    struct atomic_ptr executor; /* struct weft__executor: whose it is; written by that one */
    struct weft__strand *home;  /* of the thread that runs it */
    struct weft__member *top;
    enum fiber_state state; /* as what follows: its executor's business */
    enum fiber_why why;
    bool full;           /* it has run, and not waited, since the quantum began */
    bool is_root;        /* it is the actor's own, not a delegate's */
    bool may_steal;      /* a delegate has ended, or a quantum, since it looked for more to steal */
    bool takes_any;      /* there is no other thread for it: see away.c */
    bool is_open;        /* what its stack has to spare can be used: see fiber.c */
    bool gave_way;       /* to a newcomer, in this turn */
    unsigned quanta_due; /* quanta that it may still run before it goes to the end of the queue */
    unsigned
        young_quanta; /* that were short, and after which it gave nothing, since it last gave */
    unsigned blocks;  /* weft_block_begin() without end */
    void *arrivals, **arrivals_end; /* letters: delegations that wait for room on top */
    struct weft__fiber *next;       /* in the executor's queue, or among free ones */
    struct weft__fiber *next_ageing, **ageing_link;
    weft *waits_at;       /* its first free slot, while it waits for delegates; else NULL */
    uint64_t ready_since; /* by the system's clock */
    size_t used;          /* by its members */
    size_t depth;         /* bytes of its stack, when it waited for delegates, or looked for some */
    size_t timer;         /* its place in the ticker's heap, and 1; 0: none; the ticker's lock */
    unsigned valgrind;    /* its stack's number there */
    struct weft__park park;
    struct atomic_bool merging; /* it waits for delegates, for nothing else, and still does */
    struct atomic_bool woken;   /* its letter is on its way */
    struct weft__letter wake, move;
};

/* ---- Actors ---- */

struct weft__actor_waiter {
    struct weft__spin_latch latch;
    struct weft__actor_waiter *next;
    void *message; /* of a sender */
    int result;
};

/* A member that waits for a message. */
struct weft__receiver {
    struct weft__receiver *next;
    struct weft__fiber *fiber;
};

/* Some of its numbers, which everybody may read. */
struct weft__actor_counts {
    struct atomic_u64 quanta, steals, delegates, given_back, moves;
    struct atomic_u64 run_ns, runnable_ns;
    struct atomic_size memory, memory_peak;
    struct atomic_u32 activity; /* enum weft_actor_state, but RUNNABLE for RUNNING */
    struct atomic_i32 executor; /* where it ran last */

    /* Why it was suspended last. Written by itself. */
    struct atomic_ptr waits_for;     /* const char: static words */
    struct atomic_u64 waits_name[3]; /* a name, cut off to be that long; or all 0 */
    struct atomic_u64 waits_since;   /* by the system's clock */
};

/* What the actor itself waits for that other actors may do; see deadlock.h. */
struct weft__awaits {
    struct atomic_ptr actor;             /* struct weft_actor: its end, or room in its mailbox */
    const struct weft__blocked *blocked; /* a mutex, an event or a channel; the actor's lock */
    struct atomic_u64 changes;           /* how often any of this has changed */
};

enum actor_state { ACTOR_NEW, ACTOR_STARTED, ACTOR_OVER };

/* What its owner has done with the handle. Not small numbers: what lies in memory that was freed,
 * or never was an actor, is none of these. */
enum actor_handle {
    HANDLE_KEPT = 0x3ac70e55,
    HANDLE_RELEASED, /* it may go on for a while, and others may use it as long */
    HANDLE_GONE,
};

struct weft_actor {
    struct weft__actors *system;
    weft_actor_fn *fn;
    void *arg;
    char name[32];
    unsigned executors;          /* the system's, which may be gone when somebody asks */
    size_t limit;                /* bytes that it may use beside its stack and mailbox */
    struct atomic_size unmerged; /* bytes that delegates have left, and nobody has merged yet */
    unsigned cabal_max, share;
    bool strict;
    struct atomic_i32 pin;    /* executor, or -1 */
    struct atomic_u32 refs;   /* the handle, and the system until it is over */
    struct atomic_u32 handle; /* enum actor_handle */
    struct atomic_u32 state;  /* enum actor_state */
    struct atomic_bool killed;
    struct atomic_ptr fiber;    /* struct weft__fiber of the actor itself, once it has one */
    struct weft__letter letter; /* to start it */
    struct weft__group group;
    struct weft__member root;
    int reason;
    void (*supervisor)(weft_actor *, int reason, void *data);
    void (*drop)(void *message, void *data);
    void *data;
    struct weft_actor *next, *prev; /* of the system's; its lock */

    struct weft__lock lock; /* the mailbox, and who waits for its end */
    void **messages;
    size_t mailbox, first, count;
    struct weft__receiver *receivers; /* that wait for a message */
    bool closed;                      /* it is over, or about to be */
    struct weft__actor_waiter *senders, **senders_end;
    struct weft__actor_waiter *waiters;
    struct weft__awaits awaits;

    struct weft__lock posse_lock;
    struct weft__place *places; /* one per executor; NULL: nothing was ever stolen */
    unsigned cabal;             /* executors that serve it; under the lock */

    struct weft__actor_counts counts;
};

/* An executor's part in a posse. */
struct weft__place {
    struct atomic_ptr fiber; /* written by that executor */
    unsigned served;         /* delegations there, sent or running; under the lock */
};

/* ---- Executors ---- */

struct weft__fifo {
    struct weft__fiber *first, **end;
};

struct weft__executor {
    struct weft__actors *system;
    unsigned index;
    struct weft__node node; /* stands in the injector: somebody should drive it */

    /* The driver's. */
    struct weft__fifo ready, woken;
    void *fresh, **fresh_end;   /* letters: actors that have not run */
    bool fresh_came_first;      /* the last choice preferred an actor that has not run */
    bool begun;                 /* a fiber has run since the quantum began */
    struct weft__fiber *ageing; /* wait for delegates, and have more to steal */
    struct weft__fiber *free;
    unsigned free_count;
    uint64_t random;
    uint32_t quanta;
    uint64_t began, lasted; /* the quantum, and the one before; by the system's clock */
    bool hungry;    /* it was driven for a delegate, or by one that waits for delegates now */
    unsigned polls; /* left in this quantum, if they are counted, */
    bool polled;    /* as always in simulations; constant */
    unsigned runnable;

    /* For others. */
    WEFT__ALIGNED struct weft__inbox inbox;
    struct atomic_bool tick;      /* the quantum is over */
    struct atomic_bool newcomer;  /* an actor has come that has not run */
    struct atomic_ptr reserved;   /* struct weft_actor that will send it a delegation */
    struct atomic_ptr current;    /* struct weft__fiber */
    struct atomic_u64 load;       /* see load.h; written by the driver */
    struct atomic_bool is_ageing; /* `ageing` is not empty */
};

struct weft__timer {
    uint64_t when;
    struct weft__fiber *fiber;
};

struct weft__ticker {
    pthread_t thread;
    bool started;
    struct weft__lock lock;     /* all that follows, but the words */
    struct weft__timer *timers; /* a heap, the earliest first */
    size_t count, room;
    struct atomic_u32 word;   /* changes if it has to look again */
    struct atomic_bool dozes; /* for ever, unless the word changes */
    struct atomic_bool hurry; /* somebody has asked for a short quantum */
    struct atomic_u64 last;   /* when the last tick was; written by whoever ticks */
    struct atomic_bool stop;
};

/* What happened, for tests. */
enum weft__event_kind {
    EVENT_QUANTUM, /* over; `full` */
    EVENT_STEAL,
    EVENT_START, /* of a delegate */
    EVENT_END,
    EVENT_ANSWER, /* its victim is about to be told so; or */
    EVENT_REFUSE, /* that it was not started */
    EVENT_COUNT,  /* it is told, and about to be counted */
    EVENT_MERGE,  /* a stolen slot is merged */
    EVENT_RESUME, /* a victim goes on */
    EVENT_SWITCH, /* to a fiber */
    EVENT_MOVE,
    EVENT_WAIT,
    EVENT_ATTEMPT, /* to steal */
    EVENT_RETIRE,  /* a fiber has nothing left */
};

struct weft__event {
    enum weft__event_kind kind;
    struct weft__executor *executor, *to; /* STEAL: where it goes; NULL: nowhere */
    struct weft__fiber *fiber;
    struct weft__member *member; /* STEAL: the victim */
    weft *slot;
    bool full, self, seamless, runnable; /* STEAL: self: not sent away; seamless: when another
                                            ended; runnable: its victim was running */
    uint32_t age;                        /* quanta */
};

struct weft__actors {
    struct weft_pool *pool;
    uint64_t quantum;
    unsigned counted;
    bool simulated; /* nobody drives the executors but weft__executor_step() */
    bool rescues;   /* a handler of faults looks after stacks */
    unsigned executor_count;
    struct weft__executor *executors;
    struct weft__ticker ticker;
    struct atomic_u32 busy;  /* executors that are posted */
    struct atomic_u64 clock; /* nanoseconds: now, or at the last tick; it may go back a little */
    struct atomic_u32 next;  /* executor to try first */

    struct weft__lock lock; /* the actors */
    struct weft_actor *actors;
    size_t actor_count;
    bool closed;

    struct weft__lock fiber_lock;
    struct weft__fiber *free;
    struct weft__slab *slabs;
    size_t fiber_count;

    void (*trace)(void *data, const struct weft__event *event);
    void *trace_data;
};

static inline void weft__trace(struct weft__actors *system, struct weft__event event)
{
    if (__builtin_expect(system->trace != NULL, 0))
        system->trace(system->trace_data, &event);
}

static inline uint64_t weft__actors_clock(const struct weft__actors *system)
{
    return atomic_load_relaxed(&system->clock); /* relaxed: statistics */
}

static inline void weft__actors_set_clock(struct weft__actors *system, uint64_t now)
{
    atomic_store_relaxed(&system->clock, now); /* relaxed: as above */
}

#endif
