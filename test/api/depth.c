/* SPDX-License-Identifier: MIT */
/* depth.c: jobs that wait with most of their stack in use, and so help little. What others
 * do must not depend on their help, and what they need must get done. */
#include "check.h"
#include "pools.h"
#include "proc.h"

#include <pthread.h>
#include <unistd.h>

/* Calls fn(w, arg) with two thirds of the stack in use. */
static void descend(weft *w, weft_fn *fn, void *arg, const char *until)
{
    /* All of it, since ThreadSanitizer has room for 65,000 frames only. */
    volatile char room[1024];
    __asm__ volatile("" : : "r"(room) : "memory");
    room[0] = 1;
    if ((const char *)__builtin_frame_address(0) > until)
        descend(w, fn, arg, until);
    else
        fn(w, arg);
    CHECK(room[0] == 1); /* and no tail call */
}

static void call_deep(weft *w, weft_fn *fn, void *arg)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
    CHECK(pthread_attr_getstack(&attr, &low, &size) == 0);
    pthread_attr_destroy(&attr);
    descend(w, fn, arg, (const char *)low + size / 3);
}

/* Small stacks, workers that sleep at once, and are woken in the order of their numbers. */
static weft_pool *make_shallow(unsigned workers, unsigned flags)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.flags = flags;
    config.stack_size = (size_t)512 << 10;
    config.spin_rounds = WEFT_NONE;
    config.pin = WEFT_PIN_NEVER;
    return pool_make_with(&config);
}

/* ---- A wake-up that a deep sleeper can't use ---- */

struct sleeper {
    pid_t tid;
    struct gate right;
};

static void wait_for_right_side(weft *w, void *arg)
{
    struct sleeper *sleeper = arg;
    weft_fork(w, gate_job, &sleeper->right);
    gate_wait_arrived(&sleeper->right); /* another worker has it */
    CHECK(weft_merge(w));
}

static void wait_deep(weft *w, void *arg)
{
    ((struct sleeper *)arg)->tid = gettid();
    call_deep(w, wait_for_right_side, arg);
}

/* Three workers: one sleeps deep, one holds what that one waits for, one sleeps. Submitted
 * work has to wake the last one. */
static void wakes_somebody_who_can(void **state)
{
    weft_pool *pool = make_shallow(3, WEFT_NO_GUESTS);
    for (int r = 0; r < rounds_of(30); r++) { /* the workers change their parts */
        struct sleeper sleeper = {.tid = 0};
        weft_task deep, task;
        atomic_ulong count = 0;
        assert_int_equal(weft_submit(pool, &deep, wait_deep, &sleeper), 0);
        gate_wait_arrived(&sleeper.right);
        WAIT_UNTIL(thread_is_asleep(sleeper.tid));
        assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
        WAIT_UNTIL(weft_task_done(&task)); /* without help */
        gate_open(&sleeper.right);
        assert_int_equal(weft_task_wait(&deep), 0);
        assert_int_equal(weft_task_wait(&task), 0);
    }
    pool_drop(pool);
}

/* ---- A child that somebody else left behind ---- */

struct orphan {
    weft_scope *scope;
    atomic_bool started;
    struct gate first;
    atomic_ulong second;
};

static void spawn_second(weft *w, void *arg)
{
    struct orphan *orphan = arg;
    gate_job(w, &orphan->first);
    CHECK(weft_spawn(w, orphan->scope, count_job, &orphan->second) == 0);
}

static void spawn_first(weft *w, void *arg)
{
    struct orphan *orphan = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    orphan->scope = &scope;
    CHECK(weft_spawn(w, &scope, spawn_second, orphan) == 0);
    atomic_store(&orphan->started, true);
    gate_wait_arrived(&orphan->first); /* a guest has it */
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(atomic_load(&orphan->second) == 1);
}

static void spawn_first_deep(weft *w, void *arg)
{
    call_deep(w, spawn_first, arg);
}

/* Runs one job of the pool's, and leaves what that spawned. */
static void visit(weft *w, void *arg)
{
    struct orphan *orphan = arg;
    gate_open(&orphan->first);
    WAIT_UNTIL(weft_yield(w));
}

/* The pool's only worker waits deep for a child that a guest spawned and left. */
static void children_left_by_guests(void **state)
{
    weft_pool *pool = make_shallow(1, 0);
    for (int r = 0; r < rounds_of(30); r++) {
        struct orphan orphan = {.second = 0};
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, spawn_first_deep, &orphan), 0);
        WAIT_UNTIL(atomic_load(&orphan.started));
        assert_int_equal(weft_run(pool, visit, &orphan), 0);
        WAIT_UNTIL(weft_task_done(&task));
        assert_int_equal(weft_task_wait(&task), 0);
    }
    pool_drop(pool);
}

/* ---- Pools that need each other ---- */

struct bounce {
    weft_pool *pools[2];
    unsigned left;
    atomic_ulong *done;
};

static void bounce_job(weft *w, void *arg);

static void bounce_on(weft *w, void *arg)
{
    struct bounce next = *(struct bounce *)arg;
    next.left--;
    CHECK(weft_run(next.pools[next.left % 2], bounce_job, &next) == 0);
}

static void bounce_job(weft *w, void *arg)
{
    struct bounce *bounce = arg;
    if (bounce->left == 0)
        atomic_fetch_add(bounce->done, 1);
    else
        call_deep(w, bounce_on, bounce);
}

/* Each pool's only worker waits deep for the other pool, which needs it once more. */
static void mutual_pools(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        atomic_ulong done = 0;
        struct bounce bounce = {{make_shallow(1, flags), make_shallow(1, flags)}, 3, &done};
        for (unsigned r = 1; r <= 20; r++) {
            assert_int_equal(weft_run(bounce.pools[1], bounce_job, &bounce), 0);
            assert_int_equal(atomic_load(&done), r);
        }
        pool_drop(bounce.pools[0]);
        pool_drop(bounce.pools[1]);
    }
}

/* ---- Mail reaches them ---- */

static void broadcast_job(weft *w, void *arg)
{
    struct sleeper *sleeper = arg;
    atomic_store(&sleeper->right.arrived, true);
    WAIT_UNTIL(thread_is_asleep(sleeper->tid));
    atomic_ulong count = 0;
    CHECK(weft_broadcast(weft_pool_of(w), count_job, &count) == 0);
    CHECK(atomic_load(&count) == weft_pool_workers(weft_pool_of(w)));
}

static void wait_for_broadcast(weft *w, void *arg)
{
    struct sleeper *sleeper = arg;
    weft_fork(w, broadcast_job, sleeper);
    gate_wait_arrived(&sleeper->right);
    CHECK(weft_merge(w));
}

static void wait_deep_for_broadcast(weft *w, void *arg)
{
    ((struct sleeper *)arg)->tid = gettid();
    call_deep(w, wait_for_broadcast, arg);
}

static void broadcasts_reach_deep_sleepers(void **state)
{
    weft_pool *pool = make_shallow(3, WEFT_NO_GUESTS);
    for (int r = 0; r < rounds_of(30); r++) {
        struct sleeper sleeper = {.tid = 0};
        assert_int_equal(weft_run(pool, wait_deep_for_broadcast, &sleeper), 0);
    }
    pool_drop(pool);
}

/* ---- Forks, scopes and children in each other, deep ---- */

struct tangle {
    atomic_ulong forks, children;
};

static void count_fork(weft *w, void *arg)
{
    atomic_fetch_add(&((struct tangle *)arg)->forks, 1);
}

static void count_child(weft *w, void *arg)
{
    atomic_fetch_add(&((struct tangle *)arg)->children, 1);
}

/* An outer fork is pending while the scope in its left side waits for a child that an inner
 * fork's left side spawned. */
static void tangle_deep(weft *w, void *arg)
{
    struct tangle *tangle = arg;
    weft_scope scope;
    weft *in = weft_fork(w, count_fork, tangle);
    weft_scope_open(in, &scope);
    weft *inner = weft_fork(in, count_fork, tangle);
    CHECK(weft_spawn(inner, &scope, count_child, tangle) == 0);
    CHECK(weft_spawn_fifo(inner, &scope, count_child, tangle) == 0);
    CHECK(weft_spawn_detached(inner, count_child, tangle) == 0);
    if (!weft_merge(in))
        count_fork(in, tangle);
    CHECK(weft_scope_close(in, &scope) == 0);
    if (!weft_merge(w))
        count_fork(w, tangle);
}

static void tangle_job(weft *w, void *arg)
{
    call_deep(w, tangle_deep, arg);
}

static void forks_and_children(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        for (int r = 0; r < rounds_of(30); r++) {
            weft_pool *pool = make_shallow(workers, WEFT_NO_GUESTS);
            struct tangle tangle = {.forks = 0};
            struct held held;
            weft_task task;
            pool_hold(pool, &held, workers - 1); /* so that nobody steals */
            assert_int_equal(weft_submit(pool, &task, tangle_job, &tangle), 0);
            WAIT_UNTIL(atomic_load(&tangle.forks) >= 1);
            pool_let_go(&held);
            assert_int_equal(weft_task_wait(&task), 0);
            pool_drop(pool);
            assert_int_equal(atomic_load(&tangle.forks), 2);
            assert_int_equal(atomic_load(&tangle.children), 3);
        }
    }
}

/* ---- Scopes whose children ran early ---- */

/* What was spawned into the outer scope is run by weft_yield() after the inner one was opened: so
 * the inner scope's children lie where the outer one's did. */
struct nest {
    weft_scope outer, inner;
    unsigned yields; /* of two children */
    atomic_ulong outer_children, inner_children;
};

static void close_both(weft *w, void *arg)
{
    struct nest *nest = arg;
    CHECK(weft_scope_close(w, &nest->inner) == 0);
    CHECK(atomic_load(&nest->inner_children) == 3);
    CHECK(weft_scope_close(w, &nest->outer) == 0);
    CHECK(atomic_load(&nest->outer_children) == 2);
}

static void spawn_after_yields(weft *w, void *arg)
{
    struct nest *nest = arg;
    weft_scope_open(w, &nest->outer);
    for (int i = 0; i < 2; i++)
        CHECK(weft_spawn(w, &nest->outer, count_job, &nest->outer_children) == 0);
    weft_scope_open(w, &nest->inner);
    for (unsigned i = 0; i < nest->yields; i++)
        CHECK(weft_yield(w));
    for (int i = 0; i < 3; i++)
        CHECK(weft_spawn(w, &nest->inner, count_job, &nest->inner_children) == 0);
    call_deep(w, close_both, nest);
}

/* The same with one of the inner scope's children in between, which is yielded to first. */
static void spawn_around_yields(weft *w, void *arg)
{
    struct nest *nest = arg;
    weft_scope_open(w, &nest->outer);
    for (int i = 0; i < 2; i++)
        CHECK(weft_spawn_fifo(w, &nest->outer, count_job, &nest->outer_children) == 0);
    weft_scope_open(w, &nest->inner);
    CHECK(weft_spawn_fifo(w, &nest->inner, count_job, &nest->inner_children) == 0);
    for (unsigned i = 0; i < nest->yields + 1; i++)
        CHECK(weft_yield(w));
    for (int i = 0; i < 2; i++)
        CHECK(weft_spawn_fifo(w, &nest->inner, count_job, &nest->inner_children) == 0);
    call_deep(w, close_both, nest);
}

static void children_below_the_scope(void **state)
{
    weft_pool *pool = make_shallow(1, WEFT_NO_GUESTS);
    for (unsigned r = 0; r < (unsigned)rounds_of(30); r++) {
        weft_fn *job = r % 2 ? spawn_around_yields : spawn_after_yields;
        struct nest nest = {.yields = r % 3};
        assert_int_equal(weft_run(pool, job, &nest), 0);
    }
    pool_drop(pool);
}

/* ---- Waiting by weft_yield() ---- */

static void yield_until_all_ran(weft *w, void *arg)
{
    struct nest *nest = arg;
    while (atomic_load(&nest->inner_children) < 3 || atomic_load(&nest->outer_children) < 2)
        weft_yield(w);
}

static void spawn_and_yield(weft *w, void *arg)
{
    struct nest *nest = arg;
    weft_scope_open(w, &nest->outer);
    for (int i = 0; i < 2; i++)
        CHECK(weft_spawn(w, &nest->outer, count_job, &nest->outer_children) == 0);
    weft_scope_open(w, &nest->inner);
    for (int i = 0; i < 3; i++)
        CHECK(weft_spawn(w, &nest->inner, count_job, &nest->inner_children) == 0);
    call_deep(w, yield_until_all_ran, nest);
    close_both(w, nest);
}

/* Nobody else is there to run them. */
static void children_of_those_who_yield(void **state)
{
    weft_pool *pool = make_shallow(1, WEFT_NO_GUESTS);
    assert_int_equal(weft_run(pool, spawn_and_yield, &(struct nest){.yields = 0}), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wakes_somebody_who_can),
        cmocka_unit_test(children_left_by_guests),
        cmocka_unit_test(mutual_pools),
        cmocka_unit_test(broadcasts_reach_deep_sleepers),
        cmocka_unit_test(forks_and_children),
        cmocka_unit_test(children_below_the_scope),
        cmocka_unit_test(children_of_those_who_yield),
    };
    return RUN_ON_ALL_ROADS(tests);
}
