/* SPDX-License-Identifier: MIT */
/* actor.h: the structures of actors. README.md has the words and the rules. The functions of each
 * structure are in a header of its own.
 *
 *   system    all actors of a pool, and their executors
 *   executor  a queue of fibers that can run; one thread at a time drives it
 *   actor     an independent computation
 *   fiber     a stack and a context in one block: what an actor has on one executor
 *   member    an actor, or a delegate: a right side that was stolen and runs on some fiber */
#ifndef WEFT_ACTOR_ACTOR_H
#define WEFT_ACTOR_ACTOR_H

#include "actor/arena.h"
#include "actor/inbox.h"
#include "core/fiber.h"
#include "core/group.h"
#include "core/heap.h"
#include "core/pool.h"
#include "os/lock.h"
#include "os/stats.h"
#include "os/strand.h"
#include "sleep/latch.h"
#include "sync/sync.h"
#include "weft/actor.h"

#include <setjmp.h>

struct weft__actors;
struct weft__executor;
struct weft__fiber;

/* What any thread sends to an executor. */
enum letter_kind {
    LETTER_DELEGATION, /* in a slot: run it */
    LETTER_WAKE,       /* in a fiber: it looks again at what it waits for */
    LETTER_FIBER,      /* in a fiber that can run: it was moved here, or comes back (away.c) */
    LETTER_ACTOR,      /* in an actor that has not started */
};

/* ---- Slots ---- */

/* What an actor's contexts have in the place of struct weft__slot. A pending slot is stamped later
 * (age.h): the stamp notes what its member used at the fork. A stolen slot belongs to its delegate
 * until the delegate answers. Then it has what the delegate hands over to the victim. */
struct weft__actor_slot {
    struct atomic_fn fn;
    struct atomic_ptr arg;
    uint64_t words[4], guard;
    struct atomic_uptr wanted;
    union {
        size_t use;                 /* stamped: bytes that its member used when it was forked */
        struct weft__letter letter; /* stolen */
        struct weft__chunk *chunks; /* done: the delegate's memory */
    };
    struct atomic_u32 state; /* enum stolen_state */
    union {
        uint32_t quantum; /* stamped: the first quantum of the executor that it is pending in from
                             its beginning on */
        uint32_t lineage; /* stolen: what its victim's lineage used when it was forked, in units of
                             ARENA_ALIGNMENT */
    };
    struct weft__group *group;
    union {
        weft_fn *right;                 /* what `fn` was before it was stamped */
        struct weft__cleanup *deferred; /* done: what the delegate has deferred */
    };
    struct weft__member *victim;
    struct atomic_bool given_up; /* written by the victim between fork and merge; see group.h */
    uint64_t unused[2];
};

_Static_assert(sizeof(struct weft__actor_slot) == sizeof(struct weft__slot) &&
                   offsetof(struct weft__actor_slot, group) == offsetof(struct weft__slot, group) &&
                   offsetof(struct weft__actor_slot, wanted) == offsetof(struct weft__slot, wanted),
               "struct weft__slot");

enum stolen_state {
    STOLEN_PENDING, /* sent, or running */
    STOLEN_CAREFUL, /* the same, and its victim held a mutex, or was careful itself */
    STOLEN_DONE,
    STOLEN_REFUSED,   /* not started: its victim runs it when it merges it */
    STOLEN_NO_MEMORY, /* its delegate ended before it was done: past its limit */
    STOLEN_OVERFLOW,  /* its delegate ended before it was done: past its stack */
    STOLEN_KILLED,    /* its delegate ended before it was done: killed, or its victim ends */
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
    struct weft__member *victim; /* the member that forked its right side; NULL: an actor */
    struct weft__member *below;  /* on the same fiber */
    struct weft__fiber *fiber;
    weft *base;                /* its first slot */
    weft *cursor;              /* its first slot that is not stolen */
    struct atomic_u32 pending; /* slots that are stolen and not answered yet */
    struct atomic_u32 outcome; /* enum member_outcome; written by its fiber */
    struct weft__arena arena;  /* its account begins at zero */
    size_t lineage;            /* bytes that its ancestors used when it was forked */
    struct weft__group *group;
    struct weft__cleanup *cleanups; /* the fiber's, when it began */
    const char *stack;              /* the address of its first frame */
    unsigned mutexes;               /* how many the fiber held when it began */
    size_t in_place;                /* forks that ran in place when it began */
    bool careful; /* works for a member that holds a mutex: nothing may run on top of it */
    struct weft__exceptions exceptions; /* of C++, where it began */
    jmp_buf entry;                      /* where weft__unwind() jumps to */
};

/* ---- Fibers ---- */

enum fiber_state {
    FIBER_READY,
    FIBER_RUNNING,
    FIBER_WAITING,
    FIBER_AWAY, /* between weft_block_begin() and weft_block_end(), with a thread of its own */
};

/* Why a fiber went back to its executor. */
enum fiber_why {
    WHY_QUANTUM,
    WHY_GIVES_WAY, /* to an actor that has just come */
    WHY_WAITS,
    WHY_OVER,
    WHY_AWAY,     /* it needs another thread: see away.c */
    WHY_DETACHED, /* weft_block_end(): it gives up the thread that it had for itself */
};

struct weft__fiber {
    struct weft__context context; /* first: `w` leads here */
    struct weft__strand strand;
    struct weft_actor *actor;
    struct atomic_ptr executor; /* struct weft__executor; written by its driver */
    struct weft__strand *home;  /* of the thread that runs it */
    struct weft__member *top;   /* the member that runs, or ran last; the others wait below it */

    /* Used by the driver of its executor, and by the fiber itself while it runs. */
    enum fiber_state state;
    enum fiber_why why;
    bool full;             /* it has run, and not waited, since the quantum began */
    bool is_root;          /* it is the actor's own, not a delegate's */
    bool may_steal;        /* a delegate or a quantum has ended after its last attempt to steal */
    bool takes_any;        /* no other thread could be had for it: see away.c */
    bool is_open;          /* the spare part of its stack is open: see fiber.h */
    bool is_new;           /* it runs its first quanta */
    bool gave_way;         /* to a newcomer; cleared when its quanta are used up */
    unsigned quanta_due;   /* quanta that it may still run before it goes to the end of the queue */
    unsigned young_quanta; /* short quanta that it asked for since it last gave work away */
    unsigned blocks;       /* weft_block_begin() without weft_block_end() */
    void *arrivals, **arrivals_end; /* letters: delegations that wait to run on top of it */
    struct weft__fiber *next;       /* in a queue of its executor, or in a list of free fibers */
    struct weft__fiber *next_ageing, **ageing_link;
    weft *called;             /* the merges of all slots below take the slow road; see quantum.c */
    weft *waits_at;           /* its first free slot, while it waits for delegates; else NULL */
    uint64_t ready_since;     /* by the system's clock */
    size_t used;              /* bytes, by all its members */
    size_t depth;             /* bytes of its stack in use, when that was last looked at */
    struct weft__moment time; /* when the ticker wakes it; the ticker's lock, both */
    bool is_timed;            /* `time` is in the ticker's heap */
    unsigned valgrind;        /* its stack's number in valgrind */
    struct weft__park park;
    struct atomic_bool merging; /* it waits for delegates, and delegates may run on top of it */
    struct atomic_bool woken;   /* `wake` is under way */
    struct weft__letter wake, move;
};

/* ---- Actors ---- */

/* A member that waits for a message. */
struct weft__receiver {
    struct weft__receiver *next;
    struct weft__fiber *fiber;
};

/* Numbers that any thread may read: in a record of the statistics page, or in the actor. */
struct weft__actor_counts {
    struct atomic_u64 quanta, steals, delegates, given_back, moves;
    struct atomic_u64 run_ns, runnable_ns;
    struct atomic_size memory, memory_peak;
    struct atomic_u32 activity; /* enum weft_actor_state, but RUNNABLE for RUNNING */
    struct atomic_i32 executor; /* where it ran last */

    /* Why it was suspended last. Written by the actor itself. */
    struct atomic_ptr waits_for;     /* const char: static words */
    struct atomic_u64 waits_name[3]; /* the object's name, cut off; or all 0 */
    struct atomic_u64 waits_since;   /* by the system's clock */
    struct atomic_u64 waits_object;  /* its address, or 0; for readers of the page, as the next */
    struct atomic_u64 waits_actor;   /* the actor that it waits for, or 0 */
};

/* The atomic form of struct weft_stats_actor. */
struct weft__actor_shown {
    struct weft__actor_counts counts;
    struct atomic_u64 id, address, fiber, pool, fn, memory_limit;
    char name[32];
    uint64_t reserved[5];
};

_Static_assert(
    sizeof(struct weft__actor_shown) == sizeof(struct weft_stats_actor) &&
        offsetof(struct weft__actor_counts, memory) == offsetof(struct weft_stats_actor, memory) &&
        offsetof(struct weft__actor_counts, waits_for) ==
            offsetof(struct weft_stats_actor, waits) &&
        offsetof(struct weft__actor_counts, waits_actor) ==
            offsetof(struct weft_stats_actor, waits_actor) &&
        offsetof(struct weft__actor_shown, id) == offsetof(struct weft_stats_actor, id) &&
        offsetof(struct weft__actor_shown, name) == offsetof(struct weft_stats_actor, name),
    "struct weft_stats_actor");

/* What the actor itself waits for; see deadlock.h. */
struct weft__awaits {
    struct atomic_ptr actor;             /* struct weft_actor: its end, or room in its mailbox */
    struct weft__lock lock;              /* of `blocked`; taken with the lock of the object held */
    const struct weft__blocked *blocked; /* a mutex, an event, a channel and so on; or an actor, for
                                            which it waits with a limit */
    struct atomic_u64 changes;           /* counts the changes of `actor` and `blocked` */
};

enum actor_state { ACTOR_NEW, ACTOR_STARTED, ACTOR_OVER };

/* What its owner has done with the handle. The numbers are unusual: memory that was freed, or never
 * was an actor, is unlikely to contain one of them. */
enum actor_handle {
    HANDLE_KEPT = 0x3ac70e55,
    HANDLE_RELEASED, /* until it is over, others may use the actor */
    HANDLE_GONE,
};

struct weft_actor {
    struct weft__actors *system;
    weft_actor_fn *fn;
    void *arg;
    char name[32];
    unsigned executors;          /* a copy of the system's number, which may be freed before */
    size_t limit;                /* bytes that it may use beside its stack and mailbox */
    struct atomic_size unmerged; /* bytes of ended delegates that are not merged yet */
    unsigned cabal_max, share;
    bool strict;
    struct atomic_i32 pin;    /* executor, or -1 */
    struct atomic_u32 refs;   /* the handle; the system, until it is over; threads that wait */
    struct atomic_u32 handle; /* enum actor_handle */
    struct atomic_u32 state;  /* enum actor_state */
    struct atomic_bool killed;
    struct atomic_ptr fiber;    /* struct weft__fiber of the actor itself, once it has one */
    struct weft__letter letter; /* to start it */
    struct weft__group group;
    int reason;
    void (*supervisor)(weft_actor *, int reason, void *data);
    void (*drop)(void *message, void *data);
    void *data;
    struct weft_actor *next, *prev; /* in the system's list; the system's lock */

    struct weft__sync sync; /* its lock: of what follows, up to `waiters`; its name: the actor's */
    void **messages;
    size_t mailbox, first, count;
    struct weft__receiver *receivers; /* its parts that wait for a message */
    bool closed;                      /* it is over, or about to be */
    struct weft__line senders;        /* wait for room in the mailbox */
    struct weft__line waiters;        /* wait for its end */
    struct weft__awaits awaits;

    struct weft__lock posse_lock;
    struct weft__place *places; /* one per executor; NULL: no steal was ever tried */
    unsigned cabal;             /* executors that serve it; under the posse's lock */

    struct weft__actor_shown *shown;   /* its record in the statistics page, or NULL */
    struct weft__actor_counts *counts; /* in that record, or own_counts */
    struct weft__actor_counts own_counts;
    struct weft__member root; /* last: its `entry` is not set to zeros */
};

/* An executor's part in a posse. */
struct weft__place {
    struct atomic_ptr fiber; /* struct weft__fiber of the posse there; written by its driver */
    unsigned served;         /* the root, and delegations sent or running; the posse's lock */
};

/* ---- Executors ---- */

struct weft__fifo {
    struct weft__fiber *first, **end;
};

struct weft__executor {
    struct weft__actors *system;
    unsigned index;
    struct weft__node node; /* in the injector: a worker takes it, and drives the executor */

    /* Used by the driver only. */
    struct weft__fifo ready, woken;
    void *fresh, **fresh_end;   /* letters: actors that have not run */
    bool fresh_came_first;      /* the last choice preferred an actor that has not run */
    bool begun;                 /* a fiber has run since the quantum began */
    struct weft__fiber *ageing; /* fibers that wait for delegates, and have more to steal */
    struct weft__fiber *free;
    unsigned free_count;
    uint64_t random;
    uint32_t quanta;
    uint64_t began;    /* when the quantum began, by the system's clock */
    uint64_t lasted;   /* the length of the quantum before */
    bool hungry;       /* a delegate has ended here, or a fiber came to wait for delegates */
    unsigned polls;    /* counted quanta: polls until the end of this one */
    bool polled;       /* every poll takes the slow road: counted, or a simulation; constant */
    unsigned runnable; /* fibers and fresh actors that can run, or run */

    /* Used by other threads, too. */
    WEFT__ALIGNED struct weft__inbox inbox;
    struct atomic_bool tick;      /* the quantum is over */
    struct atomic_u64 seen;       /* when a fiber saw the last tick; 0: no tick hurries */
    struct atomic_bool newcomer;  /* an actor has come that has not run */
    struct atomic_ptr reserved;   /* struct weft_actor: it, or a delegation of it, will come */
    struct atomic_ptr current;    /* struct weft__fiber that runs */
    struct atomic_u64 load;       /* see load.h; written by the driver */
    struct atomic_bool is_ageing; /* `ageing` is not empty */
};

struct weft__ticker {
    pthread_t thread;
    bool started;
    struct weft__lock lock;   /* of `started`, and of the heap */
    struct weft__heap times;  /* of fibers that wait for a time */
    struct atomic_u32 word;   /* changes if the ticker's thread has to look again */
    struct atomic_bool dozes; /* its thread sleeps until the word changes, or a timer is due */
    struct atomic_bool hurry; /* a short quantum is wanted */
    struct atomic_u64 last;   /* the time of the last tick; written by the thread that ticks */
    struct atomic_bool stop;
};

/* What happened, for tests. */
enum weft__event_kind {
    EVENT_QUANTUM, /* a quantum is over; `full` */
    EVENT_STEAL,
    EVENT_START,  /* a delegate starts */
    EVENT_END,    /* a delegate has ended */
    EVENT_ANSWER, /* the delegate is about to answer */
    EVENT_REFUSE, /* a delegation was not started, and is about to be answered */
    EVENT_COUNT,  /* the answer is given, and about to be counted */
    EVENT_MERGE,  /* a stolen slot is merged */
    EVENT_RESUME, /* a victim goes on */
    EVENT_SWITCH, /* to a fiber */
    EVENT_MOVE,
    EVENT_WAIT,
    EVENT_ATTEMPT, /* to steal */
    EVENT_RETIRE,  /* a fiber has no member any more */
};

struct weft__event {
    enum weft__event_kind kind;
    struct weft__executor *executor, *to; /* STEAL: where it goes; NULL: nowhere */
    struct weft__fiber *fiber;
    struct weft__member *member; /* STEAL: the victim */
    weft *slot;
    bool full;
    bool self;     /* STEAL: not sent away */
    bool seamless; /* STEAL: by a fiber that waits for delegates */
    bool runnable; /* STEAL: its victim was the topmost member */
    uint32_t age;  /* quanta */
};

struct weft__actors {
    struct weft_pool *pool;
    uint64_t quantum;
    unsigned counted; /* polls in a quantum; 0: a quantum is a time */
    bool simulated;   /* a test drives the executors by weft__executor_step() */
    bool rescues;     /* a fault handler opens the closed parts of stacks */
    unsigned executor_count;
    struct weft__executor *executors;
    struct weft__ticker ticker;
    struct atomic_u32 busy;  /* executors that are posted */
    struct atomic_u64 clock; /* nanoseconds: now, or at the last tick; it may go back a little */
    struct atomic_u32 next;  /* executor to try first */

    struct weft__lock lock; /* of the list of actors */
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
