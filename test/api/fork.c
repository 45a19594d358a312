/* SPDX-License-Identifier: MIT */
/* fork.c: fork, merge and join compute what a sequential program computes. */
#include "check.h"
#include "pools.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- fib, by the primitive and by join ---- */

static long fib_alone(long n)
{
    return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2);
}

struct fib {
    long n, result;
};

static long fib_fork(weft *w, long n);

static void fib_fork_job(weft *w, void *arg)
{
    struct fib *fib = arg;
    fib->result = fib_fork(w, fib->n);
}

static long fib_fork(weft *w, long n)
{
    if (n < 2)
        return n;
    struct fib right = {n - 2, -1};
    weft *in = weft_fork(w, fib_fork_job, &right);
    long left = fib_fork(in, n - 1);
    if (!weft_merge(w))
        right.result = fib_fork(w, right.n);
    return left + right.result;
}

static void fib_join_job(weft *w, void *arg)
{
    struct fib *fib = arg;
    if (fib->n < 2) {
        fib->result = fib->n;
        return;
    }
    struct fib left = {fib->n - 1, -1}, right = {fib->n - 2, -1};
    weft_join(w, fib_join_job, &left, fib_join_job, &right);
    fib->result = left.result + right.result;
}

static void expect_fib(weft_fn *job)
{
    enum { N = 24 };
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, workers % 2 ? 0 : WEFT_NO_GUESTS);
        for (long n = 0; n <= N; n++) {
            struct fib fib = {n, -1};
            assert_int_equal(weft_run(pool, job, &fib), 0);
            assert_int_equal(fib.result, fib_alone(n));
        }
        pool_drop(pool);
    }
}

static void fib_by_fork(void **state)
{
    expect_fib(fib_fork_job);
}

static void fib_by_join(void **state)
{
    expect_fib(fib_join_job);
}

/* ---- fib, with types ---- */

static long fib_typed(weft *w, long n);
WEFT_FORKABLE(long, fib_typed, long n;, fib_typed(w, a->n))

static long fib_typed(weft *w, long n)
{
    if (n < 2)
        return n;
    WEFT_FORK(w, fib_typed, right, n - 2);
    long left = fib_typed(right_in, n - 1);
    return left + WEFT_MERGE(w, fib_typed, right);
}

static void fib_typed_job(weft *w, void *arg)
{
    struct fib *fib = arg;
    fib->result = fib_typed(w, fib->n);
}

static void fib_with_types(void **state)
{
    expect_fib(fib_typed_job);
}

/* ---- Who runs the right side ---- */

struct sides {
    pthread_t left, right;
    atomic_bool right_started;
    bool merged;
};

static void note_right(weft *w, void *arg)
{
    struct sides *sides = arg;
    sides->right = pthread_self();
    atomic_store(&sides->right_started, true);
}

static void fork_and_wait_for_a_thief(weft *w, void *arg)
{
    struct sides *sides = arg;
    sides->left = pthread_self();
    weft_fork(w, note_right, sides);
    WAIT_UNTIL(atomic_load(&sides->right_started));
    sides->merged = weft_merge(w);
}

static void thief_takes_the_right_side(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(500); i++) {
        struct sides sides = {.merged = false};
        pool_wait_asleep(pool); /* it has to be woken each time */
        assert_int_equal(weft_run(pool, fork_and_wait_for_a_thief, &sides), 0);
        assert_true(sides.merged);
        assert_false(pthread_equal(sides.left, sides.right));
    }
    pool_drop(pool);
}

static void fork_alone(weft *w, void *arg)
{
    struct sides *sides = arg;
    weft *in = weft_fork(w, note_right, sides);
    CHECK(in != w);
    sides->merged = weft_merge(w);
}

static void nobody_takes_it(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS); /* nobody else is there */
    struct sides sides = {.merged = true};
    assert_int_equal(weft_run(pool, fork_alone, &sides), 0);
    assert_false(sides.merged);
    assert_false(atomic_load(&sides.right_started)); /* that is the caller's business */
    pool_drop(pool);
}

/* The owner waits for a right side that a thief holds, and helps meanwhile. */
struct helper {
    struct gate gate;
    atomic_ulong opened;
};

static void open_gate(weft *w, void *arg)
{
    struct helper *helper = arg;
    atomic_fetch_add(&helper->opened, 1);
    gate_open(&helper->gate);
}

static void wait_in_merge(weft *w, void *arg)
{
    struct helper *helper = arg;
    weft_task task;
    weft_fork(w, gate_job, &helper->gate);
    gate_wait_arrived(&helper->gate); /* the other worker has it */
    CHECK(weft_submit(weft_pool_of(w), &task, open_gate, helper) == 0);
    CHECK(weft_merge(w)); /* runs the task, or waits for ever */
    CHECK(weft_task_wait(&task) == 0);
}

static void merge_helps_while_it_waits(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(500); i++) {
        struct helper helper = {.opened = 0};
        assert_int_equal(weft_run(pool, wait_in_merge, &helper), 0);
        assert_int_equal(atomic_load(&helper.opened), 1);
    }
    pool_drop(pool);
}

/* ---- Forks among spawned jobs ---- */

struct mixed {
    unsigned depth;
    atomic_ulong *leaves;
};

static void mixed_job(weft *w, void *arg)
{
    struct mixed *mixed = arg;
    if (mixed->depth == 0) {
        atomic_fetch_add(mixed->leaves, 1);
        return;
    }
    struct mixed next = {mixed->depth - 1, mixed->leaves};
    weft_scope scope;
    weft *in = weft_fork(w, mixed_job, &next);
    weft_scope_open(in, &scope);
    CHECK(weft_spawn(in, &scope, mixed_job, &next) == 0);          /* above the fork on the deque */
    CHECK(weft_spawn_detached(in, count_job, mixed->leaves) == 0); /* left there by the close */
    CHECK(weft_scope_close(in, &scope) == 0);
    CHECK(weft_spawn_detached(in, count_job, mixed->leaves) == 0); /* found there by the merge */
    if (!weft_merge(w))
        mixed_job(w, &next);
}

static void forks_among_spawned_jobs(void **state)
{
    enum { DEPTH = 8, INNER = (1 << DEPTH) - 1 };
    for (unsigned workers = 1; workers <= 3; workers++) {
        for (int r = 0; r < rounds_of(20); r++) {
            weft_pool *pool = pool_make(workers, r % 2 ? 0 : WEFT_NO_GUESTS);
            atomic_ulong leaves = 0;
            struct mixed mixed = {DEPTH, &leaves};
            assert_int_equal(weft_run(pool, mixed_job, &mixed), 0);
            pool_drop(pool);
            assert_int_equal(atomic_load(&leaves), (1 << DEPTH) + 2 * INNER);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fib_by_fork),
        cmocka_unit_test(fib_by_join),
        cmocka_unit_test(fib_with_types),
        cmocka_unit_test(thief_takes_the_right_side),
        cmocka_unit_test(nobody_takes_it),
        cmocka_unit_test(merge_helps_while_it_waits),
        cmocka_unit_test(forks_among_spawned_jobs),
    };
    return RUN_ON_ALL_ROADS(tests);
}
