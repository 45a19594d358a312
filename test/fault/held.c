/* SPDX-License-Identifier: MIT */
/* held.c: a thread locks a weft_mutex, then comes into a pool (bug 22). What it does there takes
 * no jobs of others while it waits: one of them may want that mutex, and whoever runs it on top of
 * a part of the holder's work would wait for itself. The programs here are right, so each has to
 * end. */
#include "child.h"
#include "core/context.h"
#include "core/spawn.h"
#include "weft/sync.h"

#include <stdatomic.h>

static weft_mutex mutex;
static weft_pool *pool;
static weft_task stranger;
static atomic_int child_runs, stranger_may_come, stranger_waits, stranger_runs;

/* Another user's job. It runs for a moment before it wants the mutex. */
static void want_mutex(weft *w, void *arg)
{
    atomic_store(&stranger_runs, 1);
    weft_mutex_lock(w, &mutex);
    weft_mutex_unlock(w, &mutex);
}

static void *submit_stranger(void *arg)
{
    UNTIL(atomic_load(&stranger_may_come));
    CHECK_EQUAL(weft_submit(pool, &stranger, want_mutex, NULL), 0);
    atomic_store(&stranger_waits, 1);
    return NULL;
}

/* Keeps a worker until somebody has taken the other user's job: a spare, if all is well; else the
 * one that waits for this. */
static void until_stranger_runs(weft *w, void *arg)
{
    atomic_store(&child_runs, 1);
    UNTIL(atomic_load(&stranger_runs));
}

/* Waits for a child that another thread runs, and could help meanwhile. */
static void wait_for_child(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, until_stranger_runs, NULL), 0);
    UNTIL(atomic_load(&child_runs));
    atomic_store(&stranger_may_come, 1);
    UNTIL(atomic_load(&stranger_waits)); /* who looks for work now finds it */
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static atomic_int right_runs;

static void right_side(weft *w, void *arg)
{
    atomic_store(&right_runs, 1);
    wait_for_child(w, arg);
}

/* The same on a worker, which has taken a part of what the holder does. */
static void wait_in_right_side(weft *w, void *arg)
{
    weft_fork(w, right_side, arg);
    UNTIL(atomic_load(&right_runs));
    if (!weft_merge(w))
        right_side(w, arg);
}

static void wait_in_child(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, right_side, arg), 0);
    UNTIL(atomic_load(&right_runs));
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

/* ---- The holder ----
 *
 * There are as many workers as threads are kept busy: a guest takes the place of one. */

static void begin(unsigned workers, unsigned flags, enum way way, pthread_t *thread)
{
    atomic_store(&child_runs, 0);
    atomic_store(&right_runs, 0);
    atomic_store(&stranger_may_come, 0);
    atomic_store(&stranger_waits, 0);
    atomic_store(&stranger_runs, 0);
    weft_mutex_init(&mutex, "held from before");
    pool = child_pool(workers, flags, way);
    child_thread(submit_stranger, NULL, thread);
}

static void end(pthread_t thread)
{
    child_thread_join(thread);
    CHECK_EQUAL(weft_task_wait(&stranger), 0);
    child_pool_end(pool);
}

static void run_with_mutex(unsigned workers, unsigned flags, enum way way, weft_fn *fn)
{
    pthread_t thread;
    begin(workers, flags, way, &thread);
    weft_mutex_lock(NULL, &mutex);
    CHECK_EQUAL(weft_run(pool, fn, NULL), 0);
    weft_mutex_unlock(NULL, &mutex);
    end(thread);
}

static void guest_that_helps(void)
{
    FOR_EACH_WAY(way)
    run_with_mutex(2, WEFT_GUESTS_HELP, way, wait_for_child);
}

static void thief_of_a_guest(void)
{
    FOR_EACH_WAY(way)
    {
        run_with_mutex(3, 0, way, wait_in_right_side);
        run_with_mutex(3, WEFT_GUESTS_HELP, way, wait_in_right_side);
        run_with_mutex(3, 0, way, wait_in_child);
    }
}

static void worker_in_its_place(void)
{
    FOR_EACH_WAY(way)
    run_with_mutex(2, WEFT_NO_GUESTS, way, wait_for_child);
}

static void task_of_a_holder(void)
{
    static weft_task task;
    pthread_t thread;
    begin(2, WEFT_NO_GUESTS, WAY_NO_SPIN, &thread);
    weft_mutex_lock(NULL, &mutex);
    CHECK_EQUAL(weft_submit(pool, &task, wait_for_child, NULL), 0);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    weft_mutex_unlock(NULL, &mutex);
    end(thread);
}

/* The holder is a job of another pool. */
static void hold_and_run(weft *w, void *arg)
{
    weft_mutex_lock(w, &mutex);
    CHECK_EQUAL(weft_run(pool, wait_in_right_side, NULL), 0);
    weft_mutex_unlock(w, &mutex);
}

static void job_of_another_pool(void)
{
    FOR_EACH_WAY(way)
    {
        pthread_t thread;
        begin(3, 0, way, &thread);
        weft_pool *other = child_pool(1, WEFT_NO_GUESTS, way);
        CHECK_EQUAL(weft_run(other, hold_and_run, NULL), 0);
        child_pool_end(other);
        end(thread);
    }
}

/* Once it holds nothing any more, it helps again. */
static atomic_int helped;

static void help(weft *w, void *arg)
{
    atomic_store(&helped, 1);
}

static void submit_and_help(weft *w, void *arg)
{
    CHECK_EQUAL(weft_submit(pool, &stranger, help, NULL), 0);
    UNTIL(weft_yield(w) || weft_task_done(&stranger));
}

static void nothing_is_held_any_more(void)
{
    pool = child_pool(1, WEFT_GUESTS_HELP, WAY_NO_SPIN);
    weft_mutex_init(&mutex, NULL);
    weft_mutex_lock(NULL, &mutex);
    weft_mutex_unlock(NULL, &mutex);
    CHECK_EQUAL(weft_run(pool, submit_and_help, NULL), 0);
    CHECK(atomic_load(&helped));
    CHECK_EQUAL(weft_task_wait(&stranger), 0);
    child_pool_end(pool);
}

/* A child of a job that holds any lock is a part of what the holder does. */
static bool newest_child_is_careful(weft *w)
{
    const struct weft__pile *pile = &weft__worker_of(w)->pile;
    uintptr_t newest = atomic_load_relaxed(&pile->end) - 1;
    return ((const struct weft__spawn *)pile->ring[newest & pile->mask].job)->careful;
}

static void spawn_under_locks(weft *w, void *arg)
{
    weft_scope scope;
    weft_rwlock lock;
    weft_rwlock_init(&lock, NULL);
    weft_scope_open(w, &scope);
    for (int i = 0; i < 40; i++) {
        CHECK_EQUAL(weft_spawn(w, &scope, nothing, NULL), 0);
        CHECK(!newest_child_is_careful(w));
    }
    CHECK_EQUAL(weft_scope_close(w, &scope), 0); /* so that the short road has memory */
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, nothing, NULL), 0);
    CHECK(weft__worker_of(w)->stocks[STOCK_PLAIN].some && !newest_child_is_careful(w));
    weft_rwlock_lock_read(w, &lock);
    CHECK_EQUAL(weft_spawn(w, &scope, nothing, NULL), 0);
    CHECK(newest_child_is_careful(w));
    weft_rwlock_unlock(w, &lock);
    weft_mutex_lock(w, &mutex);
    CHECK_EQUAL(weft_spawn(w, &scope, nothing, NULL), 0);
    CHECK(newest_child_is_careful(w));
    weft_mutex_unlock(w, &mutex);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void children_of_a_holder(void)
{
    pool = child_pool(1, WEFT_NO_GUESTS, WAY_NO_SPIN); /* no other thread takes them */
    weft_mutex_init(&mutex, NULL);
    CHECK_EQUAL(weft_run(pool, spawn_under_locks, NULL), 0);
    CHECK_EQUAL(weft_run(pool, spawn_under_locks, NULL), 0);
    child_pool_end(pool);
}

/* ---- What a holder spawns and forks is done, whoever else wants the mutex ---- */

enum { WANTERS = 8, SPARES = 2 };
static weft_task wanters[WANTERS];

static void submit_wanters(void)
{
    for (int i = 0; i < WANTERS; i++)
        CHECK_EQUAL(weft_submit(pool, &wanters[i], want_mutex, NULL), 0);
}

/* The job begins with the mutex and without wanters. */
static void run_before_wanters(const weft_config *config, weft_fn *fn)
{
    weft_mutex_init(&mutex, "wanted by many");
    pool = child_pool_of(config);
    CHECK_EQUAL(weft_run(pool, fn, NULL), 0);
    for (int i = 0; i < WANTERS; i++)
        CHECK_EQUAL(weft_task_wait(&wanters[i]), 0);
    child_pool_end(pool);
}

/* A child of the outer scope is on top of one of the inner scope, which is closed first. */
static void close_inner_first(weft *w, void *arg)
{
    weft_scope outer, inner;
    atomic_int count = 0;
    weft_mutex_lock(w, &mutex);
    weft_scope_open(w, &outer);
    weft_scope_open(w, &inner);
    CHECK_EQUAL(weft_spawn(w, &inner, count_up, &count), 0);
    CHECK_EQUAL(weft_spawn(w, &outer, count_up, &count), 0);
    CHECK_EQUAL(weft_scope_close(w, &inner), 0);
    CHECK_EQUAL(weft_scope_close(w, &outer), 0);
    CHECK_EQUAL(count, 2);
    weft_mutex_unlock(w, &mutex);
}

static void scopes_of_a_holder(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(1, WEFT_USE_CALLER, way);
        config.spares = WEFT_NONE; /* nobody else does it */
        pool = child_pool_of(&config);
        weft_mutex_init(&mutex, NULL);
        CHECK_EQUAL(weft_run(pool, close_inner_first, NULL), 0);
        child_pool_end(pool);
    }
}

/* All threads but the holder and the one that runs its first child wait for the mutex; then that
 * one does, too. So the second child is left to the holder. */
static void spawn_before_and_behind_wanters(weft *w, void *arg)
{
    struct child_gate gate = {0};
    atomic_int count = 0;
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_scope outer, inner;
    weft_mutex_lock(w, &mutex);
    weft_scope_open(w, &outer);
    weft_scope_open(w, &inner);
    CHECK_EQUAL(weft_spawn(w, &inner, pass_gate, &gate), 0);
    UNTIL(atomic_load(&gate.started));
    submit_wanters();
    UNTIL((weft_pool_get_info(pool, &info), info.spares == SPARES));
    CHECK_EQUAL(weft_spawn(w, &outer, count_up, &count), 0);
    atomic_store(&gate.open, true);
    CHECK_EQUAL(weft_scope_close(w, &inner), 0);
    CHECK_EQUAL(weft_scope_close(w, &outer), 0);
    CHECK_EQUAL(count, 1);
    weft_mutex_unlock(w, &mutex);
}

static void child_behind_wanters(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(2, 0, way);
        config.spares = SPARES;
        run_before_wanters(&config, spawn_before_and_behind_wanters);
    }
}

/* A thief has some of the holder's children with it when the wanters come. */
static void child_in_the_middle(weft *w, void *count)
{
    if (atomic_fetch_add((atomic_int *)count, 1) == 30)
        submit_wanters();
    for (int i = 0; i < 20; i++)
        sched_yield();
}

static void spawn_many(weft *w, void *arg)
{
    enum { CHILDREN = 300 };
    weft_scope scope;
    atomic_int count = 0;
    weft_mutex_lock(w, &mutex);
    weft_scope_open(w, &scope);
    for (int i = 0; i < CHILDREN; i++)
        CHECK_EQUAL(weft_spawn(w, &scope, child_in_the_middle, &count), 0);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    CHECK_EQUAL(count, CHILDREN);
    weft_mutex_unlock(w, &mutex);
}

static void children_taken_by_a_thief(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(2, 0, way);
        config.spares = SPARES;
        run_before_wanters(&config, spawn_many);
    }
}

/* While the holder waits for its right side, it does not take the children that want its mutex,
 * of the job below it. */
static void long_right_side(weft *w, void *started)
{
    atomic_store((atomic_int *)started, 1);
    for (int i = 0; i < 2000; i++) /* so that the holder looks for work */
        sched_yield();
}

static void hold_and_merge(weft *w, void *arg)
{
    atomic_int started = 0;
    weft_mutex_lock(w, &mutex);
    weft *inner = weft_fork(w, long_right_side, &started);
    weft_block_begin(inner); /* all that is in the row may be taken, and maybe is */
    for (int i = 0; i < 500 && !atomic_load(&started); i++)
        sched_yield();
    weft_block_end(inner);
    if (!weft_merge(w))
        long_right_side(w, &started);
    weft_mutex_unlock(w, &mutex);
}

static void spawn_below_a_holder(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, count_up, &child_runs), 0);
    UNTIL(atomic_load(&child_runs)); /* a thief has come, and gone */
    for (int i = 0; i < 20; i++)
        CHECK_EQUAL(weft_spawn(w, &scope, want_mutex, NULL), 0);
    CHECK_EQUAL(weft_run(pool, hold_and_merge, NULL), 0);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void merge_of_a_holder(void)
{
    weft_config config = child_config(2, 0, WAY_NO_SPIN);
    config.quantum = 1000000000; /* the right side stays until the block begins */
    config.spares = WEFT_NONE;
    weft_mutex_init(&mutex, NULL);
    pool = child_pool_of(&config);
    until_asleep(pool, 2);
    CHECK_EQUAL(weft_run(pool, spawn_below_a_holder, NULL), 0);
    child_pool_end(pool);
}

/* ---- A child that spawns the next: the stack does not grow with the chain ---- */

struct chain {
    weft_scope scope;
    bool fifo;
    long left;
    uintptr_t lowest; /* address on the stack */
};

static void link_of_chain(weft *w, void *arg)
{
    struct chain *chain = arg;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here < chain->lowest)
        chain->lowest = here;
    if (chain->left-- > 0)
        CHECK_EQUAL(chain->fifo ? weft_spawn_fifo(w, &chain->scope, link_of_chain, chain)
                                : weft_spawn(w, &chain->scope, link_of_chain, chain),
                    0);
}

static void run_chain(weft *w, void *arg)
{
    struct chain *chain = arg;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    chain->lowest = here;
    if (!chain->fifo)
        weft_mutex_lock(w, &mutex);
    weft_scope_open(w, &chain->scope);
    link_of_chain(w, chain);
    CHECK_EQUAL(weft_scope_close(w, &chain->scope), 0);
    if (!chain->fifo)
        weft_mutex_unlock(w, &mutex);
    CHECK_EQUAL(chain->left, -1);
    CHECK(here - chain->lowest < 64 * 1024);
}

static void chains_are_shallow(void)
{
    FOR_EACH_WAY(way)
    {
        pool = child_pool(1, WEFT_USE_CALLER, way);
        weft_mutex_init(&mutex, NULL);
        for (int fifo = 0; fifo < 2; fifo++) {
            struct chain chain = {.fifo = fifo, .left = SCALED(100000, 10)};
            CHECK_EQUAL(weft_run(pool, run_chain, &chain), 0);
        }
        child_pool_end(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(guest_that_helps),     IN_CHILD(thief_of_a_guest),
        IN_CHILD(worker_in_its_place),  IN_CHILD(task_of_a_holder),
        IN_CHILD(job_of_another_pool),  IN_CHILD(nothing_is_held_any_more),
        IN_CHILD(children_of_a_holder), IN_CHILD(scopes_of_a_holder),
        IN_CHILD(child_behind_wanters), IN_CHILD(children_taken_by_a_thief),
        IN_CHILD(merge_of_a_holder),    IN_CHILD(chains_are_shallow),
    };
    return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
