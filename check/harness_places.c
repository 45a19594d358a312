/* SPDX-License-Identifier: MIT */
/* Actors on several executors: what is sent to another one and arrives there, the places of a
 * posse, and fibers that move. executor.c, drive.c, post.c, balance.c, delegate.c and places.c of
 * src/actor are the library's own; what they need of the rest is here and in stand_ins.c. A fiber's
 * turn is a call on its driver's stack: a delegate's fiber runs what has arrived, as always, and
 * the actor's own goes through a list of steps. */
#include "actor/answer.h"
#include "actor/balance.h"
#include "actor/delegate.h"
#include "actor/drive.h"
#include "actor/executor.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/memory.h"
#include "actor/places.h"
#include "actor/post.h"
#include "actor/quantum.h"
#include "actor/rescue.h"
#include "actor/steal.h"
#include "actor/ticker.h"
#include "core/guest.h"
#include "harnesses.h"

enum { EXECUTORS = 2, DRIVERS = 3, SLOTS = 2, CONDITIONS = 2 };

enum step {
    GIVE_0, /* the right side of this number is sent away, if somebody takes it; */
    GIVE_1,
    MERGE_0, /* it is waited for, and run here if it was refused, or not sent; */
    MERGE_1,
    AWAIT_ALL, /* nobody touches this one any more */
    LOOK_0,    /* a condition of this number is waited for */
    LOOK_1,
    GO_TO_0, /* the actor is pinned there, and its quantum ends */
    GO_TO_1,
    END,
};

static weft_pool *pool;
static struct weft__worker *drivers[DRIVERS];
static struct weft__actors system_;
static struct weft__executor executors[EXECUTORS];
static struct weft_actor actor;
static struct weft__group group;
static struct weft__actor_slot *slots; /* of the actor's own fiber */
static struct atomic_bool condition[CONDITIONS];
static int plain[CONDITIONS]; /* written before it is true */

/* The actor's. */
static const enum step *step;
static bool is_sent[SLOTS], is_over, is_held;
static int frame[SLOTS]; /* how many times each right side ran */

static unsigned used[EXECUTORS]; /* fibers that each executor has got and not put back, modulo */

/* ---- What the rest of the library does ---- */

static struct weft__fiber *fiber_of_strand(struct weft__strand *strand)
{
    return (struct weft__fiber *)((char *)strand - offsetof(struct weft__fiber, strand));
}

struct weft__fiber *weft__fiber_get(struct weft__executor *executor, struct weft_actor *whose,
                                    bool is_root)
{
    struct weft__fiber *fiber = executor->free;
    if (!fiber || model_choose(2))
        return NULL; /* no memory */
    executor->free = fiber->next;
    used[executor->index]++;
    fiber->actor = whose;
    fiber->is_root = is_root;
    fiber->top = NULL;
    fiber->arrivals = NULL;
    fiber->waits_at = NULL;
    /* relaxed, all: fiber.c releases the last one (A6), since its blocks are used again. */
    atomic_store_relaxed(&fiber->merging, false);
    atomic_store_relaxed(&fiber->executor, executor);
    atomic_store_relaxed(&fiber->woken, false);
    return fiber;
}

void weft__fiber_put(struct weft__executor *executor, struct weft__fiber *fiber)
{
    used[executor->index]--;
    fiber->next = executor->free;
    executor->free = fiber;
}

void weft__strand_of_thread(struct weft__strand *strand)
{
    strand->sp = NULL;
}

/* The context of a turn is where its fiber leaves for good. */
static jmp_buf leaves[THREADS_MAX];

static void take_turn(struct weft__fiber *fiber);

void weft__strand_switch(struct weft__strand *from, struct weft__strand *to)
{
    struct weft__fiber *fiber = fiber_of_strand(to);
    MODEL_ASSERT(from == fiber->home);
    if (fiber->is_root)
        take_turn(fiber);
    else if (_setjmp(leaves[model_thread()]) == 0)
        weft__fiber_main(fiber);
}

void weft__strand_leave(struct weft__strand *from, struct weft__strand *to)
{
    MODEL_ASSERT(to == fiber_of_strand(from)->home);
    _longjmp(leaves[model_thread()], 1);
}

bool weft__steal_fits(const struct weft__fiber *fiber, size_t lineage)
{
    return true;
}

bool weft__quantum_is_cancelled(struct weft__fiber *fiber)
{
    return false;
}

void weft__memory_hand_over(struct weft__member *member, struct weft__actor_slot *slot)
{
    slot->chunks = NULL;
    slot->deferred = NULL;
}

/* Nothing is left: who still touches it is too late. One who has a reference may. */
void weft__actor_over(struct weft_actor *over, int reason)
{
    MODEL_ASSERT(!is_over && over == &actor);
    is_over = true;
    if (actor.places) {
        unsigned here = 0, there = 0;
        for (unsigned i = 0; i < EXECUTORS; i++) {
            here += atomic_load_relaxed(&actor.places[i].fiber) == over->root.fiber;
            there += actor.places[i].served;
        }
        MODEL_ASSERT(actor.cabal == 1 && there == 1 && here == 1);
    }
    if (!is_held)
        model_gone(&actor, sizeof actor);
}

void weft__ticker_busy(struct weft__actors *system)
{
    atomic_fetch_add_relaxed(&system->busy, 1); /* relaxed: nobody reads it here */
}

/* ---- The actor ---- */

static void right_side(weft *w, void *arg)
{
    ++*(int *)arg; /* a race, if two do */
}

/* As find_destination() and weft__steal_at_quantum() of steal.c. */
static void give(struct weft__fiber *fiber, unsigned i)
{
    struct weft__executor *me = weft__executor_of(fiber);
    struct weft__executor *to = weft__balance_find_underused(me, &actor, weft__posse_may_join);
    if (!to)
        return;
    if (!weft__posse_join(&actor, to)) {
        weft__balance_unreserve(to, &actor);
        return;
    }
    is_sent[i] = true;
    weft__answer_expect(&slots[i], &actor.root, STOLEN_PENDING);
    weft__send(to, &slots[i].letter, LETTER_DELEGATION);
}

static void run_here(unsigned i)
{
    MODEL_ASSERT(frame[i] == 0);
    right_side(NULL, &frame[i]);
}

/* False: it has not come. */
static bool merge(unsigned i)
{
    if (!is_sent[i]) {
        run_here(i);
        return true;
    }
    if (!weft__answer_has_come(&slots[i]))
        return false;
    enum stolen_state state = weft__answer_is(&slots[i]);
    MODEL_ASSERT(state == STOLEN_DONE || state == STOLEN_REFUSED);
    if (state == STOLEN_REFUSED)
        run_here(i);
    MODEL_ASSERT(frame[i] == 1);
    return true;
}

static bool look(unsigned i)
{
    if (!atomic_load_acquire(&condition[i])) /* acquire: `plain`; it may look before it is rung */
        return false;
    MODEL_ASSERT(plain[i] == 1);
    return true;
}

static void leave_turn(struct weft__fiber *fiber, enum fiber_why why, bool merging)
{
    fiber->why = why;
    fiber->waits_at = merging ? fiber->context.first : NULL;
    atomic_store_relaxed(&fiber->merging, merging); /* relaxed: as wait_a_moment() */
}

static void go_to(struct weft__fiber *fiber, int executor)
{
    atomic_store_relaxed(&actor.pin, executor); /* relaxed: a request */
    leave_turn(fiber, WHY_QUANTUM, false);
}

static void take_turn(struct weft__fiber *fiber)
{
    fiber->waits_at = NULL;
    for (;; step++)
        switch (*step) {
        case GIVE_0:
        case GIVE_1:
            give(fiber, *step - GIVE_0);
            break;
        case MERGE_0:
        case MERGE_1:
            if (!merge(*step - MERGE_0)) {
                leave_turn(fiber, WHY_WAITS, true);
                return;
            }
            break;
        case AWAIT_ALL:
            if (!weft__answer_all_have_come(&actor.root)) {
                leave_turn(fiber, WHY_WAITS, true);
                return;
            }
            break;
        case LOOK_0:
        case LOOK_1:
            if (!look(*step - LOOK_0)) {
                leave_turn(fiber, WHY_WAITS, false);
                return;
            }
            break;
        case GO_TO_0:
        case GO_TO_1:
            go_to(fiber, (int)*step++ - GO_TO_0);
            return;
        default:
            fiber->top = NULL;
            weft__lock_take(&actor.sync.lock); /* as weft__actor_close() of life.c */
            actor.closed = true;
            weft__lock_drop(&actor.sync.lock);
            leave_turn(fiber, WHY_OVER, false);
            return;
        }
}

/* ---- Threads ---- */

/* Whoever has posted an executor drives it, or somebody else who is faster. */
static void drive_posted(struct weft__worker *me)
{
    struct weft__node *node;
    while ((node = weft__queue_pop(&pool->injector)))
        weft__executor_execute(me->context->first, &node->job);
}

static void drive(unsigned driver, unsigned executor)
{
    struct weft__worker *me = drivers[driver];
    weft__worker_push(me, __builtin_frame_address(0));
    weft__executor_execute(me->context->first, &executors[executor].node.job);
    drive_posted(me);
}

static void drive_first(void)
{
    drive(0, 0);
}

static void drive_second(void)
{
    drive(1, 1);
}

static void make_true(unsigned i)
{
    plain[i] = 1;
    atomic_store_release(&condition[i], true); /* release: `plain` */
    weft__fiber_wake(actor.root.fiber);
}

static void wake_once(void)
{
    weft__worker_push(drivers[2], __builtin_frame_address(0));
    make_true(0);
    drive_posted(drivers[2]);
}

static void wake_twice(void)
{
    weft__worker_push(drivers[2], __builtin_frame_address(0));
    make_true(0);
    make_true(1);
    drive_posted(drivers[2]);
}

/* As weft_actor_kill() of life.c. */
static void kill(void)
{
    weft__worker_push(drivers[2], __builtin_frame_address(0));
    weft__lock_take(&actor.sync.lock); /* while it is held, the actor is not over */
    if (!actor.closed) {
        atomic_store_relaxed(&actor.killed, true); /* relaxed: it brings nothing here */
        weft__posse_wake(&actor);
    }
    weft__lock_drop(&actor.sync.lock);
    drive_posted(drivers[2]);
}

/* ---- Setup ---- */

static struct weft__fiber *make_fiber(void)
{
    struct weft__fiber *fiber = model_block(WEFT_BLOCK_SIZE_, WEFT_BLOCK_SIZE_);
    fiber->context.first = (weft *)(void *)(fiber + 1);
    fiber->context.last = fiber->context.first + 8;
    fiber->context.end = fiber->context.last + 1;
    fiber->context.eager = true;
    return fiber;
}

static void make_drivers(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = WEFT_USE_CALLER | WEFT_NO_SIGSEGV; /* who is not there */
    config.spin_rounds = config.spares = WEFT_NONE;
    config.fork = WEFT_FORK_EAGER;
    config.quantum = WEFT_NONE;
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
    for (unsigned i = 0; i < DRIVERS; i++) {
        drivers[i] = weft__worker_make(pool, 1 + i, WORKER_GUEST);
        drivers[i]->park->census = NULL;
    }
}

/* The actor's own fiber can run on executor 0. */
static void make_actor(const enum step *steps)
{
    struct weft__fiber *root = make_fiber();
    actor = (struct weft_actor){.system = &system_, .cabal_max = EXECUTORS, .pin = {-1}};
    actor.root.fiber = root;
    actor.root.group = &group;
    actor.counts = &actor.own_counts;
    root->actor = &actor;
    root->is_root = true;
    root->top = &actor.root;
    atomic_store_relaxed(&root->executor, &executors[0]);
    slots = (struct weft__actor_slot *)(void *)root->context.first;
    for (unsigned i = 0; i < SLOTS; i++) {
        slots[i].right = right_side;
        slots[i].group = &group;
        atomic_store_relaxed(&slots[i].arg, &frame[i]);
        is_sent[i] = false;
        frame[i] = 0;
    }
    step = steps;
    is_over = is_held = false;
    used[0] = 1;
    used[1] = 0;
    weft__executor_ready(&executors[0], root, READY_LAST);
}

static void prepare(const enum step *steps)
{
    make_drivers();
    weft__group_begin(&group, NULL);
    system_ = (struct weft__actors){
        .pool = pool, .executor_count = EXECUTORS, .executors = executors, .busy = {EXECUTORS}};
    for (unsigned i = 0; i < EXECUTORS; i++) {
        executors[i] = (struct weft__executor){.system = &system_, .index = i, .random = 1};
        executors[i].node.job.execute = weft__executor_execute;
        executors[i].inbox.posted.value = true; /* a thread drives it from the beginning */
    }
    executors[1].free = make_fiber();
    for (unsigned i = 0; i < CONDITIONS; i++) {
        condition[i] = (struct atomic_bool){0};
        plain[i] = 0;
    }
    make_actor(steps);
}

static void setup_arrival(void)
{
    static const enum step steps[] = {GIVE_0, MERGE_0, AWAIT_ALL, END};
    prepare(steps);
}

static void setup_arrivals(void)
{
    static const enum step steps[] = {GIVE_0, GIVE_1, MERGE_1, MERGE_0, AWAIT_ALL, END};
    prepare(steps);
}

/* The second one is sent when the first has left its place, or is about to. */
static void setup_arrival_again(void)
{
    static const enum step steps[] = {GIVE_0, MERGE_0, GIVE_1, MERGE_1, AWAIT_ALL, END};
    prepare(steps);
}

static void setup_kill(void)
{
    setup_arrival();
    is_held = true;
}

static void setup_move(void)
{
    static const enum step steps[] = {GO_TO_1, LOOK_0, END};
    prepare(steps);
    is_held = true;
}

static void setup_move_back(void)
{
    static const enum step steps[] = {GO_TO_1, LOOK_0, GO_TO_0, LOOK_1, END};
    prepare(steps);
    is_held = true;
}

/* It has places, and the executor where it goes has served it. */
static void setup_move_posse(void)
{
    static const enum step steps[] = {GIVE_0, MERGE_0, AWAIT_ALL, GO_TO_1, LOOK_0, END};
    prepare(steps);
    is_held = true;
}

/* ---- In the end ---- */

static void all_is_over(void)
{
    MODEL_ASSERT(is_over && used[0] + used[1] == 0);
    for (unsigned i = 0; i < EXECUTORS; i++)
        MODEL_ASSERT(!atomic_load_relaxed(&executors[i].inbox.newest) &&
                     !atomic_load_relaxed(&executors[i].reserved));
}

static void one_is_done(void)
{
    all_is_over();
    MODEL_ASSERT(frame[0] == 1);
}

static void both_are_done(void)
{
    one_is_done();
    MODEL_ASSERT(frame[1] == 1);
}

const struct harness places_harnesses[] = {
    {.name = "place-arrival",
     .what = "a right side is sent to another executor, runs there or is refused, and is merged",
     .setup = setup_arrival,
     .thread = {drive_first, drive_second},
     .finish = one_is_done,
     .stale = 1},
    {.name = "place-arrivals",
     .what = "two are sent; the second arrives while the first waits, runs or leaves its place",
     .setup = setup_arrivals,
     .thread = {drive_first, drive_second},
     .finish = both_are_done,
     .stale = 1},
    {.name = "place-again",
     .what = "another one is sent to a place that was just left",
     .setup = setup_arrival_again,
     .thread = {drive_first, drive_second},
     .finish = both_are_done,
     .stale = 1},
    {.name = "place-kill",
     .what = "all fibers of an actor are woken while one of them comes or goes",
     .setup = setup_kill,
     .thread = {drive_first, drive_second, kill},
     .finish = one_is_done,
     .preemptions = 1,
     .stale = 1},
    {.name = "place-move",
     .what = "a fiber is woken while it moves to another executor",
     .setup = setup_move,
     .thread = {drive_first, drive_second, wake_once},
     .finish = all_is_over,
     .stale = 1},
    {.name = "place-move-back",
     .what = "a fiber is woken twice while it moves, and moves back",
     .setup = setup_move_back,
     .thread = {drive_first, drive_second, wake_twice},
     .finish = all_is_over,
     .preemptions = 1,
     .stale = 1},
    {.name = "place-move-posse",
     .what = "a fiber moves to an executor that has served its actor, and is woken",
     .setup = setup_move_posse,
     .thread = {drive_first, drive_second, wake_once},
     .finish = one_is_done,
     .preemptions = 1,
     .stale = 1},
    {0},
};
