/* SPDX-License-Identifier: MIT */
/* fail.c: the first failure cancels what is left, and goes no further. */
#include "check.h"
#include "pools.h"

#include <errno.h>

/* ---- One worker, so that it is known what runs when ---- */

static weft_pool *alone;

static int make_alone(void **state)
{
    alone = pool_make(1, WEFT_NO_GUESTS);
    return 0;
}

static int drop_alone(void **state)
{
    pool_drop(alone);
    return 0;
}

static void fail_with(weft *w, void *code)
{
    CHECK(!weft_cancelled(w));
    weft_fail(w, *(int *)code);
    CHECK(weft_cancelled(w));
}

static void never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "this one should have been skipped");
}

static int first_code = -EIO, second_code = -EPIPE;

static void fail_in_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn_fifo(w, &scope, fail_with, &first_code) == 0);
    CHECK(weft_spawn_fifo(w, &scope, never, NULL) == 0);
    CHECK(weft_spawn_fifo(w, &scope, fail_with, &second_code) == 0); /* skipped as well */
    CHECK(weft_scope_close(w, &scope) == first_code);
    CHECK(!weft_cancelled(w)); /* the job around it is fine */
    atomic_ulong count = 0;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, count_job, &count) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(atomic_load(&count) == 1);
}

static void scope_fails(void **state)
{
    assert_int_equal(weft_run(alone, fail_in_scope, NULL), 0);
}

static void fail_twice(weft *w, void *arg)
{
    weft_fail(w, first_code);
    weft_fail(w, second_code);
}

static void first_failure_counts(void **state)
{
    assert_int_equal(weft_run(alone, fail_twice, NULL), first_code);
}

static void owner_fails_its_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, never, NULL) == 0);
    weft_fail(w, first_code);
    CHECK(weft_cancelled(w));
    CHECK(weft_spawn(w, &scope, never, NULL) == 0); /* accepted, and skipped */
    CHECK(weft_scope_close(w, &scope) == first_code);
    CHECK(!weft_cancelled(w));
}

static void owner_fails(void **state)
{
    assert_int_equal(weft_run(alone, owner_fails_its_scope, NULL), 0);
}

/* ---- Forks ---- */

struct sides {
    int left, right;
};

static void fork_then_fail(weft *w, void *arg)
{
    struct sides *sides = arg;
    weft *in = weft_fork(w, never, sides);
    weft_fail(in, first_code);
    CHECK(weft_merge(w)); /* true: there is nothing for the caller to do */
}

static void merge_skips(void **state)
{
    struct sides sides = {0};
    assert_int_equal(weft_run(alone, fork_then_fail, &sides), first_code);
}

static void fail_left(weft *w, void *arg)
{
    weft_fail(w, first_code);
}

static void join_and_fail(weft *w, void *arg)
{
    atomic_ulong count = 0;
    weft_join(w, fail_left, NULL, never, NULL);
    CHECK(weft_cancelled(w));
    weft_join(w, count_job, &count, never, NULL); /* the left side is the caller's own */
    CHECK(atomic_load(&count) == 1);
}

static void join_skips(void **state)
{
    assert_int_equal(weft_run(alone, join_and_fail, NULL), first_code);
}

static void fail_right(weft *w, void *arg)
{
    weft_fail(w, first_code);
}

static void nothing(weft *w, void *arg)
{
}

static void fail_on_the_right(weft *w, void *arg)
{
    weft_join(w, nothing, NULL, fail_right, NULL);
    CHECK(weft_cancelled(w));
}

static void right_side_fails(void **state)
{
    assert_int_equal(weft_run(alone, fail_on_the_right, NULL), first_code);
}

/* ---- Nesting ---- */

static void inner_scope_fails(weft *w, void *arg)
{
    weft_scope outer, inner;
    atomic_ulong count = 0;
    weft_scope_open(w, &outer);
    weft_scope_open(w, &inner);
    CHECK(weft_spawn(w, &inner, fail_with, &first_code) == 0);
    CHECK(weft_scope_close(w, &inner) == first_code);
    CHECK(!weft_cancelled(w));
    CHECK(weft_spawn(w, &outer, count_job, &count) == 0);
    CHECK(weft_scope_close(w, &outer) == 0);
    CHECK(atomic_load(&count) == 1);
}

static void inner_failure_stays_inside(void **state)
{
    assert_int_equal(weft_run(alone, inner_scope_fails, NULL), 0);
}

static void fail_outer(weft *w, void *outer_code)
{
    weft_fail(w, *(int *)outer_code);
}

static void outer_scope_fails(weft *w, void *arg)
{
    weft_scope outer, inner;
    weft_scope_open(w, &outer);
    CHECK(weft_spawn(w, &outer, fail_outer, &first_code) == 0);
    weft_scope_open(w, &inner);
    CHECK(!weft_cancelled(w));
    CHECK(weft_yield(w)); /* the outer child */
    CHECK(weft_cancelled(w));
    CHECK(weft_spawn(w, &inner, never, NULL) == 0);
    CHECK(weft_run(weft_pool_of(w), never, NULL) == -ECANCELED);
    CHECK(weft_scope_close(w, &inner) == -ECANCELED);
    CHECK(weft_scope_close(w, &outer) == first_code);
}

static void outer_failure_reaches_inside(void **state)
{
    assert_int_equal(weft_run(alone, outer_scope_fails, NULL), 0);
}

/* Detached jobs and tasks are computations of their own. */
static void fail_and_leave_others(weft *w, void *arg)
{
    weft_task task;
    weft_fail(w, first_code);
    CHECK(weft_spawn_detached(w, count_job, arg) == 0);
    CHECK(weft_submit(weft_pool_of(w), &task, count_job, arg) == 0);
    CHECK(weft_task_wait(&task) == 0);
}

static void others_go_on(void **state)
{
    atomic_ulong count = 0;
    assert_int_equal(weft_run(alone, fail_and_leave_others, &count), first_code);
    WAIT_UNTIL(atomic_load(&count) == 2);
}

static void detached_failure(weft *w, void *arg)
{
    CHECK(weft_spawn_detached(w, fail_with, &first_code) == 0);
    CHECK(weft_yield(w));
    CHECK(!weft_cancelled(w));
}

static void detached_failure_stays_there(void **state)
{
    assert_int_equal(weft_run(alone, detached_failure, NULL), 0);
}

/* ---- Tasks and broadcasts ---- */

static void task_fails(void **state)
{
    weft_task task;
    assert_int_equal(weft_submit(alone, &task, fail_with, &first_code), 0);
    assert_int_equal(weft_task_wait(&task), first_code);
}

static void broadcast_fails(void **state)
{
    assert_int_equal(weft_broadcast(alone, fail_with, &first_code), first_code);
    assert_int_equal(weft_broadcast(alone, nothing, NULL), 0);
}

/* ---- Deadlines ---- */

static void passed_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now());
    CHECK(weft_spawn(w, &scope, never, NULL) == 0);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    CHECK(!weft_cancelled(w));
}

static void too_late(void **state)
{
    assert_int_equal(weft_run(alone, passed_deadline, NULL), 0);
}

static void until_cancelled(weft *w, void *arg)
{
    WAIT_UNTIL(weft_cancelled(w));
}

static void deadline_passes(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 10000000); /* long enough to start the child */
    CHECK(weft_spawn(w, &scope, until_cancelled, NULL) == 0);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
}

static void deadline_ends_a_loop(void **state)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(weft_run(alone, deadline_passes, NULL), 0);
}

/* Forks notice a deadline by themselves, however little they otherwise look up. */
static void fork_until_cancelled(weft *w, void *arg)
{
    do
        weft_fork(w, nothing, NULL);
    while (!weft_merge(w));
    CHECK(weft_cancelled(w));
}

static void deadline_passes_over_forks(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 10000000);
    CHECK(weft_spawn(w, &scope, fork_until_cancelled, NULL) == 0);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
}

static void deadline_ends_forks(void **state)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(weft_run(alone, deadline_passes_over_forks, NULL), 0);
}

static void far_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, UINT64_MAX);
    CHECK(weft_spawn(w, &scope, count_job, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void in_time(void **state)
{
    atomic_ulong count = 0;
    assert_int_equal(weft_run(alone, far_deadline, &count), 0);
    assert_int_equal(atomic_load(&count), 1);
}

/* ---- Many workers ---- */

enum { CHILDREN = 1000 };

struct crowd {
    atomic_ulong started, ended;
    atomic_int code; /* of the one that fails */
};

/* The first one to start fails, the others that run see it, the rest never start. */
static void loop_or_fail(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    if (atomic_fetch_add(&crowd->started, 1) == 0)
        weft_fail(w, first_code);
    WAIT_UNTIL(weft_cancelled(w));
    atomic_fetch_add(&crowd->ended, 1);
}

static void cancel_many(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < CHILDREN; i++)
        CHECK((i % 2 ? weft_spawn : weft_spawn_fifo)(w, &scope, loop_or_fail, crowd) == 0);
    CHECK(weft_scope_close(w, &scope) == first_code);
}

static void running_ones_notice(void **state)
{
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        weft_pool *pool = pool_make(workers, 0);
        for (int r = 0; r < rounds_of(50); r++) {
            struct crowd crowd = {.started = 0};
            assert_int_equal(weft_run(pool, cancel_many, &crowd), 0);
            unsigned long started = atomic_load(&crowd.started);
            assert_in_range(started, 1, workers + 1); /* one per thread, the guest's too */
            assert_int_equal(atomic_load(&crowd.ended), started);
        }
        pool_drop(pool);
    }
}

/* Several fail at once: one of their codes comes back. */
static void fail_with_index(weft *w, void *arg)
{
    weft_fail(w, 1 + (int)weft_worker_index(w));
}

static void one_of_many_failures(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    for (int r = 0; r < rounds_of(200); r++)
        assert_in_range(weft_broadcast(pool, fail_with_index, NULL), 1, 4);
    pool_drop(pool);
}

/* A right side that a thief runs sees the failure of the left side. */
static void wait_for_failure(weft *w, void *started)
{
    atomic_store((atomic_bool *)started, true);
    WAIT_UNTIL(weft_cancelled(w));
}

static void fail_while_right_runs(weft *w, void *arg)
{
    atomic_bool started = false;
    weft *in = weft_fork(w, wait_for_failure, &started);
    WAIT_UNTIL(atomic_load(&started));
    weft_fail(in, first_code);
    CHECK(weft_merge(w));
}

static void thief_notices(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int r = 0; r < rounds_of(200); r++)
        assert_int_equal(weft_run(pool, fail_while_right_runs, NULL), first_code);
    pool_drop(pool);
}

/* A failure travels into a computation that waits in another pool. */
static void wait_there(weft *w, void *started)
{
    wait_for_failure(w, started);
}

struct abroad {
    weft_pool *there;
    atomic_bool started;
};

static void go_abroad(weft *w, void *arg)
{
    struct abroad *abroad = arg;
    CHECK(weft_run(abroad->there, wait_there, &abroad->started) == -ECANCELED);
}

static void fail_once_it_started(weft *w, void *arg)
{
    struct abroad *abroad = arg;
    WAIT_UNTIL(atomic_load(&abroad->started));
    weft_fail(w, first_code);
}

static void fail_abroad(weft *w, void *arg)
{
    weft_join(w, fail_once_it_started, arg, go_abroad, arg);
}

static void reaches_other_pools(void **state)
{
    weft_pool *pool = pool_make(2, 0), *there = pool_make(1, 0);
    for (int r = 0; r < rounds_of(200); r++) {
        struct abroad abroad = {.there = there};
        assert_int_equal(weft_run(pool, fail_abroad, &abroad), first_code);
    }
    pool_drop(there);
    pool_drop(pool);
}

/* And its forks there notice, though they had no reason to look up before. */
static void fork_there(weft *w, void *started)
{
    weft_join(w, nothing, NULL, nothing, NULL);
    atomic_store((atomic_bool *)started, true);
    WAIT_UNTIL(weft_cancelled(w));
    weft_fork(w, never, NULL);
    CHECK(weft_merge(w));
}

static void fork_abroad(weft *w, void *arg)
{
    struct abroad *abroad = arg;
    CHECK(weft_run(abroad->there, fork_there, &abroad->started) == -ECANCELED);
}

static void fail_forks_abroad(weft *w, void *arg)
{
    weft_join(w, fail_once_it_started, arg, fork_abroad, arg);
}

static void reaches_forks_in_other_pools(void **state)
{
    weft_pool *pool = pool_make(2, 0), *there = pool_make(1, 0);
    for (int r = 0; r < rounds_of(50); r++) {
        struct abroad abroad = {.there = there};
        assert_int_equal(weft_run(pool, fail_forks_abroad, &abroad), first_code);
    }
    pool_drop(there);
    pool_drop(pool);
}

/* Forks of a thief notice the failure of what they were stolen from. */
static void fork_until_failure(weft *w, void *started)
{
    for (;;) {
        atomic_ulong count = 0;
        weft_fork(w, count_job, &count);
        atomic_store((atomic_bool *)started, true);
        if (weft_merge(w) && atomic_load(&count) == 0)
            return; /* skipped, not stolen */
    }
}

static void fail_while_right_forks(weft *w, void *arg)
{
    atomic_bool started = false;
    weft *in = weft_fork(w, fork_until_failure, &started);
    WAIT_UNTIL(atomic_load(&started));
    weft_fail(in, first_code);
    CHECK(weft_merge(w));
}

static void forks_of_a_thief_notice(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int r = 0; r < rounds_of(200); r++)
        assert_int_equal(weft_run(pool, fail_while_right_forks, NULL), first_code);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scope_fails),
        cmocka_unit_test(first_failure_counts),
        cmocka_unit_test(owner_fails),
        cmocka_unit_test(merge_skips),
        cmocka_unit_test(join_skips),
        cmocka_unit_test(right_side_fails),
        cmocka_unit_test(inner_failure_stays_inside),
        cmocka_unit_test(outer_failure_reaches_inside),
        cmocka_unit_test(others_go_on),
        cmocka_unit_test(detached_failure_stays_there),
        cmocka_unit_test(task_fails),
        cmocka_unit_test(broadcast_fails),
        cmocka_unit_test(too_late),
        cmocka_unit_test(deadline_ends_a_loop),
        cmocka_unit_test(deadline_ends_forks),
        cmocka_unit_test(in_time),
        cmocka_unit_test(running_ones_notice),
        cmocka_unit_test(one_of_many_failures),
        cmocka_unit_test(thief_notices),
        cmocka_unit_test(forks_of_a_thief_notice),
        cmocka_unit_test(reaches_other_pools),
        cmocka_unit_test(reaches_forks_in_other_pools),
    };
    return run_on_all_roads(tests, sizeof tests / sizeof tests[0], make_alone, drop_alone);
}
