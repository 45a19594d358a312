/* SPDX-License-Identifier: MIT */
/* actor.h: what actors are made of. README.md has the words and the rules.
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
#include "core/latch.h"
#include "core/lock.h"
#include "core/pool.h"
#include "os/strand.h"
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

/* What an actor's contexts have in the place of struct weft__slot. */
struct weft__actor_slot {
    struct atomic_fn fn;
    struct atomic_ptr arg;
    struct weft__group *group;
    struct weft__letter letter;
    struct atomic_u32 state; /* enum stolen_state */
    uint32_t since;          /* pending: the executor's quantum at whose beginning it was, or
                                will have been, marked; stolen: what its victim's lineage uses,
                                in units */
    weft_fn *right;          /* what `fn` was before it was marked */
    struct weft__member *victim;
    struct atomic_uptr wanted;
};

_Static_assert(sizeof(struct weft__actor_slot) == sizeof(struct weft__slot) &&
                   offsetof(struct weft__actor_slot, group) == offsetof(struct weft__slot, group) &&
                   offsetof(struct weft__actor_slot, wanted) == offsetof(struct weft__slot, wanted),
               "struct weft__slot");

enum stolen_state {
    STOLEN_PENDING = 0, /* sent, or running; with one of these, or both: */
    STOLEN_LIBRARY = 1, /* a function of the library may have forked it that holds memory */
    STOLEN_CAREFUL = 2, /* it is part of what somebody does who holds a mutex */
    STOLEN_DONE = 4,
    STOLEN_GIVEN_BACK, /* its victim runs it when it merges it */
};

static inline struct weft__actor_slot *weft__actor_slot_of(weft *w)
{
    return (struct weft__actor_slot *)w;
}

/* ---- Members ---- */

enum outcome {
    OUTCOME_RUNS,
    OUTCOME_RETURNED,
    OUTCOME_KILLED,
    OUTCOME_NO_MEMORY,
    OUTCOME_OVERFLOW
};

struct weft__member {
    struct weft__member *victim; /* whose right side it is; NULL: the actor itself */
    struct weft__member *below;  /* on the same fiber */
    struct weft__fiber *fiber;
    weft *base;                /* its first slot */
    weft *cursor;              /* the first that is not stolen */
    struct atomic_u32 pending; /* stolen, and not answered yet */
    struct weft__arena scratch, results;
    struct weft__lock adopt_lock; /* what delegates leave: */
    struct weft__arena adopted;
    size_t lineage; /* bytes that its ancestors used when it was stolen */
    struct weft__group *group;
    unsigned keeps;   /* it runs what was given back, and so many more inside of that */
    unsigned library; /* of the fiber, at its entry */
    unsigned mutexes; /* the same */
    bool careful;     /* it is part of what a mutex holder does: nothing may run on top of it */
    enum outcome outcome;
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
enum fiber_why { WHY_QUANTUM, WHY_WAITS, WHY_OVER, WHY_DETACHED };

struct weft__fiber {
    struct weft__context context; /* first: `w` leads here */
    struct weft__strand strand;
    struct weft_actor *actor;
    struct atomic_ptr executor; /* struct weft__executor: whose it is; written by that one */
    struct weft__strand *home;  /* of the thread that runs it */
    struct weft__member *top;
    enum fiber_state state; /* as what follows: its executor's business */
    enum fiber_why why;
    bool full;      /* it has run, and not waited, since the quantum began */
    bool held;      /* it is the actor's own, not a delegate's */
    bool may_steal; /* a delegate has ended, or a quantum, since it looked for more to steal */
    unsigned left;  /* quanta in this turn */
    unsigned young_quanta; /* in which all it had to give was too young, since it last gave */
    unsigned blocks;       /* weft_block_begin() without end */
    void *arrivals, **arrivals_end; /* letters: delegations that wait for room on top */
    struct weft__fiber *next;       /* in the executor's queue, or among free ones */
    struct weft__fiber *next_ageing, **ageing_link;
    weft *waits_at;       /* its first free slot, while it waits for delegates; else NULL */
    uint64_t ready_since; /* by the system's clock */
    size_t used;          /* of its members' arenas */
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
    unsigned executors; /* the system's, which may be gone when somebody asks */
    size_t limit;       /* bytes for arenas, on each executor */
    size_t elsewhere_max;
    struct atomic_size elsewhere; /* bytes that arenas on other fibers than its own hold, and
                                     results that are not collected */
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
    bool receiving;
    bool closed; /* it is over, or about to be */
    struct weft__actor_waiter *senders, **senders_end;
    struct weft__actor_waiter *waiters;

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
    void *fresh, **fresh_end; /* letters: actors that have not run */
    bool fresh_turn;
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
    struct atomic_bool stop;
};

/* What happened, for tests. */
enum weft__event_kind {
    EVENT_QUANTUM, /* over; `full` */
    EVENT_STEAL,
    EVENT_START, /* of a delegate */
    EVENT_END,
    EVENT_DONE, /* its victim is about to be told so; or */
    EVENT_GIVE_BACK,
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

/* ---- system.c ---- */

int weft__actors_make(struct weft__actors **system, struct weft_pool *pool,
                      const weft_actors_config *config, bool simulated);
void weft__actors_free(struct weft__actors *system);

/* The pool's, made if need be; NULL config: the default. NULL, or they were made before with
 * another config: *error. */
struct weft__actors *weft__actors_of(struct weft_pool *pool, const weft_actors_config *config,
                                     int *error);

/* Create in a given system: pools' actors, and those of tests. */
int weft__actor_make(struct weft_actor **actor, struct weft__actors *system, weft_actor_fn *fn,
                     void *arg, const weft_actor_config *config);

/* ---- fiber.c ---- */

extern const struct weft__fiber_ops weft__actor_ops;

/* For the actor itself (held) or its delegates; NULL: no memory. */
struct weft__fiber *weft__fiber_get(struct weft__executor *executor, struct weft_actor *actor,
                                    bool held);
void weft__fiber_put(struct weft__executor *executor, struct weft__fiber *fiber);
void weft__fibers_unmap(struct weft__actors *system);
bool weft__fiber_rescue(const void *address); /* from the handler of a fault */

static inline struct weft__fiber *weft__fiber_of(weft *w)
{
    return (struct weft__fiber *)weft__context_of(w);
}

static inline struct weft__executor *weft__executor_of(struct weft__fiber *fiber)
{
    return atomic_load_relaxed(&fiber->executor); /* relaxed: its own executor asks */
}

static inline bool weft__fiber_is_killed(struct weft__fiber *fiber)
{
    return atomic_load_acquire(&fiber->actor->killed); /* acquire A14 */
}

static inline void weft__fiber_guard(struct weft__fiber *fiber, bool raised)
{
    /* relaxed: its own thread reads it; the ticker raises it, as a request. */
    atomic_store_relaxed(&fiber->context.guard,
                         raised ? UINTPTR_MAX : (uintptr_t)fiber->context.first);
}

/* Why it will be suspended, in static words. */
static inline void weft__fiber_waits_for(struct weft__fiber *fiber, const char *what)
{
    struct weft__actor_counts *counts = &fiber->actor->counts;
    if (!fiber->held)
        return; /* a delegate */
    /* relaxed, all: for people; who looks does so twice. */
    atomic_store_relaxed(&counts->waits_for, (void *)(uintptr_t)what);
    atomic_store_relaxed(&counts->waits_name[0], 0);
    atomic_store_relaxed(&counts->waits_since, weft__actors_clock(fiber->actor->system));
}

/* ---- dump.c ---- */

void weft__actors_dump(struct weft__actors *system, FILE *out);

/* ---- executor.c ---- */

static inline bool weft__executor_is_idle(const struct weft__executor *executor)
{
    return !atomic_load_relaxed(&executor->inbox.posted); /* relaxed: a hint */
}

void weft__send(struct weft__executor *executor, struct weft__letter *letter,
                enum letter_kind kind);
void weft__fiber_wake(struct weft__fiber *fiber); /* by anybody */

/* By the fiber: back to the executor, until it runs again. */
void weft__fiber_switch_out(struct weft__fiber *fiber, enum fiber_why why);

bool weft__fiber_yield(weft *w); /* true: somebody else ran meanwhile */

/* Is there somebody else to run, or a reason to leave? */
bool weft__executor_should_turn(struct weft__executor *executor);

/* Its quantum is over. */
void weft__executor_quantum(struct weft__executor *executor);

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber);

/* Somebody should drive it. */
void weft__executor_post(struct weft__executor *executor);

/* The driver's thread goes on with the fiber, and loses the executor. */
void weft__executor_detach(struct weft__executor *executor);

void weft__executor_execute(weft *w, struct weft__job *job); /* the job that drives it */

void weft__fiber_move(struct weft__fiber *fiber, struct weft__executor *to);

/* Tests: one fiber runs until it comes back; false: there was nothing to do. */
bool weft__executor_step(struct weft__executor *executor, struct weft__worker *me);

/* An executor that could do more: reserved for the actor, until it gets a delegation or a fiber;
 * NULL: none. `may`: asked about each, for delegations. NULL: for a whole actor, which may also go
 * where there is a good deal less to do than here. */
struct weft__executor *weft__executor_underused(struct weft__executor *me, struct weft_actor *actor,
                                                bool (*may)(struct weft_actor *,
                                                            struct weft__executor *));
void weft__executor_unreserve(struct weft__executor *executor, struct weft_actor *actor);

/* At the end of a quantum: moves a whole actor away, if there is somewhere; true: it did. */
bool weft__executor_move_one(struct weft__executor *executor);

struct weft__executor *weft__executor_for_new(struct weft_actor *actor);

/* ---- places.c ---- */

/* Could a delegation go there? A hint, asked before the executor is reserved. */
bool weft__posse_may_join(struct weft_actor *actor, struct weft__executor *executor);

/* One more, or less, is sent there or runs there. False: there are executors enough. */
bool weft__posse_join(struct weft_actor *actor, struct weft__executor *executor);
void weft__posse_leave(struct weft_actor *actor, struct weft__executor *executor);

/* Is the actor on this fiber alone? Then it can be moved. */
bool weft__actor_is_whole(struct weft__fiber *fiber);
void weft__posse_moves(struct weft_actor *actor, struct weft__executor *from,
                       struct weft__executor *to, struct weft__fiber *fiber);

void weft__posse_wake(struct weft_actor *actor); /* wherever it waits */

/* ---- posse.c ---- */

void weft__fiber_main(void *fiber);
void weft__fiber_suspend(struct weft__fiber *fiber);
void weft__fiber_rejuvenate(struct weft__fiber *fiber, uint32_t quantum);

void weft__actor_fork(weft *w);
bool weft__actor_merge(weft *w);
void weft__actor_poll(weft *w);

/* A delegation arrives at its executor. */
void weft__delegation_arrives(struct weft__executor *executor, struct weft__actor_slot *slot);
void weft__give_back_arrivals(struct weft__fiber *fiber);

/* A waiting fiber has slots that are old enough by now. */
bool weft__fiber_can_steal(struct weft__fiber *fiber);

/* The members on the fiber, all but the actor's own, are unwound; does not return. */
_Noreturn void weft__unwind(weft *top, enum outcome outcome);

/* The same for one whose delegates have all answered. */
_Noreturn void weft__unwind_now(struct weft__member *member, enum outcome outcome);

/* The first slot from w on that is free. */
weft *weft__first_free(weft *w);

/* In a fiber: ends it here if its actor was killed. */
void weft__check_killed(weft *top);

/* ---- life.c ---- */

bool weft__actor_is_running(struct weft_actor *actor); /* under its lock; a hint */
struct weft_actor *weft__actor_here(void);        /* whose fiber this thread runs; NULL: none */
void weft__actor_start(struct weft_actor *actor); /* if it has not yet */
void weft__actor_close(struct weft_actor *actor); /* no messages, no kill from now on */
void weft__actor_over(struct weft_actor *actor, int reason);
void weft__actor_over_unrun(struct weft_actor *actor, int reason); /* it never had a fiber */
void weft__actor_unref(struct weft_actor *actor);

/* Can it be seen that there is none? Others than the owner may use one that is released, until it
 * is over. */
_Noreturn void weft__actor_is_gone(const char *function);
static inline void weft__actor_expect(const struct weft_actor *actor, const char *function)
{
    uint32_t handle = atomic_load_relaxed(&actor->handle); /* relaxed: a mistake or none */
    if (handle != HANDLE_KEPT && handle != HANDLE_RELEASED)
        weft__actor_is_gone(function);
}

void weft__actor_memory(struct weft_actor *actor, size_t more, size_t less);
bool weft__actor_elsewhere(struct weft_actor *actor, size_t more); /* false: too much */
void weft__actor_not_elsewhere(struct weft_actor *actor, size_t less);

/* ---- ticker.c ---- */

int weft__ticker_start(struct weft__actors *system);  /* 0 or a negative errno value */
void weft__ticker_busy(struct weft__actors *system);  /* one more executor has a driver */
void weft__ticker_hurry(struct weft__actors *system); /* a short quantum, if somebody is idle */
void weft__ticker_stop(struct weft__actors *system);
bool weft__ticker_at(struct weft__actors *system, uint64_t when, struct weft__fiber *fiber);

#endif
