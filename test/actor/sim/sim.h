/* SPDX-License-Identifier: MIT */
/* sim.h: actors on counted quanta, all on one thread: a seed decides what they do and which
 * executor takes the next step. So a run can be done again, step by step, and every step can be
 * looked at. A failure says with which seed; TEST_SEED=... tries that one alone, TEST_TIMES=100 a
 * hundred times as many.
 *
 * What actors do is a random tree: each node polls, perhaps allocates, marks and releases, yields
 * or receives a message, and forks its right side. Beside the library's own state there is a second
 * account of it, drawn from the trace: which contexts there are, which members are on them, what is
 * pending. What a single thread would use at most is computed from the tree alone.
 */
#ifndef TEST_SIM_H
#define TEST_SIM_H

#include "actor/create.h"
#include "actor/drive.h"
#include "actor/executor.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/system.h"
#include "child.h"
#include "property.h"

/* So many runs; ThreadSanitizer is slow to make a stack. */
enum { TRIALS = SANITIZED_THREAD ? 20 : SANITIZED ? 100 : 400 };

struct sim;

/* Zero: drawn from the seed, or none. */
struct sim_setup {
    uint64_t seed;
    unsigned executors, counted, actors, nodes;
    unsigned cabal_max, share;
    unsigned pace; /* polls between whatever else happens are up to three times this */
    size_t limit;  /* bytes beside the stack; 0: plenty */
    size_t blocks; /* most bytes of one allocation; 0: none are made */
    enum weft_steal steal;
    bool exact; /* the limit is what a single thread needs; or a little less, for every second */
    bool marks, opens, yields, receives, fails, kills, pins, moves_pins;
};

/* A right side that was forked, or a left side. */
struct node {
    struct node *parent, *left, *right;
    struct play *play;
    unsigned before, between, after; /* polls */
    size_t scratch, result;          /* bytes to allocate, before and after its sides */
    bool marks;                      /* what was allocated before `result` is released */
    bool opens;                      /* a scope, around its sides */
    weft_scope scope;
    bool yields, receives, fails, failed;
    uint64_t key, value;
    unsigned char *kept, *bytes;    /* scratch, result */
    const volatile uint64_t *frame; /* in its frame: its key; NULL: it does not run */
    unsigned starts;
    bool ended;
    size_t lineage; /* what its ancestors used when it was forked */
    struct weft__executor *forked_on;
    uint32_t forked_in; /* quantum of that executor */
    uint64_t forked_at; /* sim->now */
};

/* An actor. */
struct play {
    struct sim *sim;
    weft_actor *actor;
    struct node *nodes;
    size_t count;
    uint64_t expected;
    size_t peak;                        /* bytes, of a single thread */
    unsigned delegates, most_delegates; /* that run */
    bool over, killed;
    int reason;
    unsigned reports;
    unsigned failures; /* nodes that failed */
};

/* The second account. */
struct actor_member {
    struct weft__member *member, *victim;
    struct node *entry;
    struct context *context;
    int pending;
    weft *next;       /* the first slot that is not stolen, */
    bool scattered;   /* but something else was stolen, or merged */
    uint64_t zero_at; /* when its last delegate had answered; 0: it has not, or has been noticed */
};

enum { STACKED = 128, CONTEXTS = 256, MEMBERS = 1024 };

struct context {
    struct weft__fiber *fiber;
    struct weft_actor *actor;
    struct play *play;
    struct weft__executor *executor;
    uint64_t came_at; /* to this executor; 0: it started there */
    uint32_t came_in;
    uint32_t first_quantum; /* of its executor, for it */
    struct actor_member *stack[STACKED];
    unsigned depth;
    bool blocks;    /* in this quantum: it yielded, or waited */
    bool blocked;   /* in the last one */
    bool forbidden; /* for a test: nothing may be stolen at the end of this quantum */
    unsigned attempts, seamless_attempts, ends, full, quanta;
    unsigned thefts;   /* at the end of this quantum */
    weft *half;        /* for a test: one of two is stolen */
    bool just_ended;   /* a delegate has, and there was no switch since */
    uint32_t ended_in; /* the quantum */
    bool waits;        /* for delegates, and has not gone on */
    unsigned turns;    /* for a test */
    uint64_t switched_at;
};

/* What a test looks at; any may be NULL. */
struct watch {
    void (*event)(struct sim *, const struct weft__event *, struct context *);
    void (*user)(struct sim *, struct node *, weft *, struct weft__member *); /* code that runs */
    void (*before_step)(struct sim *, struct weft__executor *);
    void (*step)(struct sim *, struct weft__executor *); /* it has taken one */
    void (*over)(struct sim *, struct play *);
};

struct sim {
    struct sim_setup setup;
    const struct watch *watch;
    struct dice dice;
    struct weft__actors *system;
    struct play *plays;
    size_t left; /* that are not over */
    struct context contexts[CONTEXTS];
    struct actor_member members[MEMBERS];
    struct context *contexts_end;
    struct actor_member *members_end;
    bool slow[16];
    uint64_t now, steps; /* events and instructions so far; steps of executors */
    /* How often, so that a test can say that it has seen something. */
    unsigned steals, thefts, seamless, refused, moves, waits, answered, resumes;
    void *data;
};

/* Runs it once. */
void sim_run(struct sim *sim, const struct sim_setup *setup, const struct watch *watch);

/* Runs it `times` times, each with another seed and what `shape` makes of it. Returns the numbers
 * of all runs. */
struct sim_totals {
    unsigned long steals, thefts, seamless, refused, moves, waits, answered, resumes;
};
typedef void sim_shape(struct sim_setup *setup);
struct sim_totals sim_trials(const struct watch *watch, sim_shape *shape, unsigned times);

/* What trials give to a seed. */
void sim_setup_random(struct sim_setup *setup, uint64_t seed);

struct context *sim_context(struct sim *sim, const struct weft__fiber *fiber); /* NULL: none */
struct actor_member *sim_member(struct sim *sim, const struct weft__member *member);

static inline struct actor_member *sim_top(const struct context *context)
{
    return context->depth ? context->stack[context->depth - 1] : NULL;
}

/* Pending in the context, and not stolen: is it old enough? */
bool sim_slot_is_pending(weft *slot);
bool sim_slot_is_eligible(struct context *context, weft *slot);
/* How many there are from the member's cursor on, up to the slots of whoever is above. */
unsigned sim_eligible(struct context *context, struct weft__member *member);

struct node *sim_node(weft *slot); /* what was forked there */

static inline bool sim_is_strict(const struct weft__fiber *fiber)
{
    return fiber->actor->strict;
}

#define SIM_HOLDS(sim, condition) \
    ((condition) ? (void)0 : sim_failed(sim, __FILE__, __LINE__, #condition))
void sim_failed(struct sim *sim, const char *file, int line, const char *what);

extern weft_pool *sim_pool; /* whose threads and guests drive executors */

/* Runs the tests; TEST_ONLY='property_0*' runs some of them. */
#define RUN_SIMULATED(tests)                   \
    (cmocka_set_test_filter(sim_only_those()), \
     cmocka_run_group_tests(tests, sim_pool_setup, sim_pool_teardown))
const char *sim_only_those(void);
int sim_pool_setup(void **state);
int sim_pool_teardown(void **state);

#endif
