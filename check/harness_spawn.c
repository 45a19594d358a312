/* SPDX-License-Identifier: MIT */
/* Children of scopes on their owner's pile, against thieves: every child runs once, the scope is
 * closed after all have, and what either side wrote is there. Owner and thieves are guests of a
 * pool without workers, as in harness_fork.c. */
#include "core/deque.h"
#include "core/execute.h"
#include "core/pool.h"
#include "core/steal.h"
#include "harnesses.h"

enum { CHILDREN = 3, GUESTS = 3 };

static weft_pool *pool;
static struct weft__worker *guests[GUESTS];
static int ran[CHILDREN]; /* plain, so that a race is found */
static int before;        /* written by the owner before it spawns */
static weft_scope *open;

static void setup(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = WEFT_USE_CALLER | WEFT_NO_SIGSEGV; /* who is not there */
    config.spin_rounds = config.spares = WEFT_NONE;
    config.quantum = WEFT_NONE;
    config.fork = WEFT_FORK_LAZY;
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
    for (unsigned i = 0; i < GUESTS; i++) {
        guests[i] = weft__worker_make(pool, 1 + i, WORKER_GUEST);
        guests[i]->park->census = NULL;
    }
}

static void child(weft *w, void *of)
{
    MODEL_ASSERT(before == 1);
    *(int *)of += 1;
}

static void spawn(weft *w, weft_scope *scope, weft_fn *fn, int i)
{
    MODEL_ASSERT(weft_spawn(w, scope, fn, &ran[i]) == 0);
}

static void spawn_two(weft *w, void *arg)
{
    weft_scope scope;
    before = 1;
    weft_scope_open(w, &scope);
    spawn(w, &scope, child, 0);
    spawn(w, &scope, child, 1);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
    MODEL_ASSERT(ran[0] == 1 && ran[1] == 1);
}

/* The place on the pile is used again at once, and so is the frame of the scope. */
static void spawn_again(weft *w, void *arg)
{
    before = 1;
    for (int i = 0; i < 2; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        spawn(w, &scope, child, i);
        MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
        MODEL_ASSERT(ran[i] == 1);
    }
}

/* A child spawns into the scope, or into the one around it, and does not wait. */
static void leave_behind(weft *w, void *of)
{
    child(w, of);
    spawn(w, open, child, 2);
}

static void spawn_parent(weft *w, void *arg)
{
    weft_scope scope;
    before = 1;
    weft_scope_open(w, open = &scope);
    spawn(w, &scope, leave_behind, 0);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
    MODEL_ASSERT(ran[0] == 1 && ran[2] == 1);
}

static void spawn_into_outer(weft *w, void *arg)
{
    weft_scope outer, scope;
    before = 1;
    weft_scope_open(w, open = &outer);
    weft_scope_open(w, &scope);
    spawn(w, &scope, leave_behind, 0);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
    MODEL_ASSERT(ran[0] == 1);
    MODEL_ASSERT(weft_scope_close(w, &outer) == 0);
    MODEL_ASSERT(ran[2] == 1);
}

/* The owner puts its children on the deque while it blocks. */
static void spawn_and_block(weft *w, void *arg)
{
    weft_scope scope;
    before = 1;
    weft_scope_open(w, &scope);
    spawn(w, &scope, child, 0);
    weft_block_begin(w);
    weft_block_end(w);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
    MODEL_ASSERT(ran[0] == 1);
}

/* The child is skipped and dropped, or runs, but not both. */
static void fail_there(weft *w, void *of)
{
    weft_fail(w, 7);
}

static void spawn_failing(weft *w, void *arg)
{
    weft_scope scope;
    before = 1;
    weft_scope_open(w, &scope);
    MODEL_ASSERT(weft_spawn_drop(w, &scope, child, &ran[0], child) == 0);
    spawn(w, &scope, fail_there, 1);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 7);
    MODEL_ASSERT(ran[0] == 1);
}

/* A scope of one place: its children run one after the other, and see what those before them did.
 */
static int turn; /* plain, so that a race is found */

static void child_in_turn(weft *w, void *of)
{
    child(w, of);
    MODEL_ASSERT(turn == (int *)of - ran);
    turn++;
}

static void spawn_narrow(weft *w, void *arg)
{
    weft_scope scope;
    before = 1;
    weft_scope_open(w, &scope);
    weft_scope_width(&scope, 1);
    spawn(w, &scope, child_in_turn, 0);
    spawn(w, &scope, child_in_turn, 1);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
    MODEL_ASSERT(ran[0] == 1 && ran[1] == 1 && turn == 2);
}

/* Two places: a child that spawns a third one, for which there may be no room. One token is on the
 * deque, because the owner blocks. */
static void spawn_two_places(weft *w, void *arg)
{
    weft_scope scope;
    before = 1;
    weft_scope_open(w, open = &scope);
    weft_scope_width(&scope, 2);
    spawn(w, &scope, child, 1);
    weft_block_begin(w);
    weft_block_end(w);
    spawn(w, &scope, leave_behind, 0);
    MODEL_ASSERT(weft_scope_close(w, &scope) == 0);
    MODEL_ASSERT(ran[0] == 1 && ran[1] == 1 && ran[2] == 1);
}

static void execute(weft *w, struct weft__job *job)
{
    weft__call(w, job->fn, job->arg, job->group);
}

static void run(weft_fn *fn)
{
    struct weft__worker *me = guests[0];
    struct weft__group group;
    struct weft__job job = {fn, NULL, &group, execute};
    weft__worker_push(me, __builtin_frame_address(0));
    weft__group_begin(&group, NULL);
    weft__execute(me->context->first, &job);
    MODEL_ASSERT(weft__group_end(&group) == 0);
}

static void own_two(void)
{
    run(spawn_two);
}

static void own_again(void)
{
    run(spawn_again);
}

static void own_parent(void)
{
    run(spawn_parent);
}

static void own_into_outer(void)
{
    run(spawn_into_outer);
}

static void own_and_block(void)
{
    run(spawn_and_block);
}

static void own_failing(void)
{
    run(spawn_failing);
}

static void own_narrow(void)
{
    run(spawn_narrow);
}

static void own_two_places(void)
{
    run(spawn_two_places);
}

/* Runs what it has stolen, and what that has left behind. */
static void steal(unsigned guest)
{
    struct weft__worker *me = guests[guest];
    struct weft__found found = {0};
    weft__worker_push(me, __builtin_frame_address(0));
    if (weft__deque_steal(&guests[0]->deque, &found.job) == STEAL_GOT ||
        weft__steal_piled(me, guests[0], NULL, &found) == STEAL_GOT)
        weft__execute_found(me->context->first, &found);
    while ((found.job = weft__worker_pop(me)))
        weft__execute(me->context->first, found.job);
}

static void thief(void)
{
    steal(1);
}

static void thief_of_deque(void)
{
    struct weft__worker *me = guests[1];
    struct weft__found found = {0};
    weft__worker_push(me, __builtin_frame_address(0));
    if (weft__deque_steal(&guests[0]->deque, &found.job) == STEAL_GOT)
        weft__execute_found(me->context->first, &found);
    while ((found.job = weft__worker_pop(me)))
        weft__execute(me->context->first, found.job);
}

static void other_thief(void)
{
    steal(2);
}

#define SPAWN(id, text, few, ...)                                                       \
    {                                                                                   \
        .name = id, .what = text, .setup = setup, .thread = {__VA_ARGS__}, .stale = few \
    }

const struct harness spawn_harnesses[] = {
    SPAWN("pile", "two children, and a thief that stops their owner", 0, own_two, thief),
    SPAWN("pile-thieves", "two children, and two thieves", 1, own_two, thief, other_thief),
    SPAWN("pile-reused", "a child, and another one in its place", 1, own_again, thief),
    SPAWN("pile-parent", "a child that spawns into its scope", 1, own_parent, thief),
    SPAWN("pile-outer", "a child that spawns into a scope further out", 1, own_into_outer, thief),
    SPAWN("pile-block", "a child whose owner blocks", 1, own_and_block, thief),
    SPAWN("pile-failing", "a child is dropped, or runs", 1, own_failing, thief),
    SPAWN("narrow", "two children in a scope of one place", 1, own_narrow, thief),
    {.name = "narrow-two",
     .what = "three children in a scope of two places",
     .setup = setup,
     .thread = {own_two_places, thief_of_deque},
     .stale = 1},
    {0},
};
