/* SPDX-License-Identifier: MIT */
/* right_failed.c: a right side that fails alone, as by an exception of C++, cancels the left side
 * of its fork, with all that belongs to it, up to the merge; and nothing else. */
#include "check.h"
#include "pools.h"
#include "weft/sync.h"

#include <errno.h>

/* A right side that fails when it is told to. */
struct failing {
    atomic_bool started, go;
};

static void fail_alone(weft *w, void *arg)
{
    struct failing *right = arg;
    atomic_store(&right->started, true);
    WAIT_UNTIL(atomic_load(&right->go));
    CHECK(!weft_cancelled(w));
    weft_right_failed_(w);
}

/* Another thread has taken it. */
static weft *fork_failing(weft *w, struct failing *right)
{
    weft *in = weft_fork(w, fail_alone, right);
    WAIT_UNTIL(atomic_load(&right->started));
    CHECK(!weft_cancelled(in));
    return in;
}

static void fails_now(struct failing *right)
{
    atomic_store(&right->go, true);
}

static void set_flag(weft *w, void *flag)
{
    CHECK(!weft_cancelled(w));
    atomic_store((atomic_bool *)flag, true);
}

/* The same slot forks again: that has nothing to do with the first. */
static void goes_on(weft *w)
{
    atomic_bool ran = false;
    CHECK(!weft_cancelled(w));
    weft *in = weft_fork(w, set_flag, &ran);
    CHECK(!weft_cancelled(in));
    if (!weft_merge(w))
        set_flag(w, &ran);
    CHECK(atomic_load(&ran));
}

static void left_learns(weft *w, void *arg)
{
    for (int i = 0; i < 3; i++) {
        struct failing right = {0};
        weft *in = fork_failing(w, &right);
        fails_now(&right);
        WAIT_UNTIL(weft_cancelled(in));
        CHECK(weft_cancelled(in));
        CHECK(weft_merge(w));
        goes_on(w);
    }
}

static void left_is_told(unsigned workers, unsigned flags)
{
    weft_pool *pool = pool_make(workers, flags);
    assert_int_equal(weft_run(pool, left_learns, NULL), 0);
    pool_drop(pool);
}

/* The left side is over: its fork may be given up as well. */
static void merge_late(weft *w, void *give_up)
{
    struct failing right = {0};
    weft *in = fork_failing(w, &right);
    fails_now(&right);
    WAIT_UNTIL(weft_cancelled(in));
    if (give_up)
        weft_fork_cancel(w);
    else
        CHECK(weft_merge(w));
    goes_on(w);
}

static void both_ends(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, merge_late, NULL), 0);
    assert_int_equal(weft_run(pool, merge_late, pool), 0);
    pool_drop(pool);
}

/* ---- All that belongs to the left side ---- */

struct side {
    atomic_bool started, told;
};

static void until_cancelled(weft *w, void *arg)
{
    struct side *side = arg;
    atomic_store(&side->started, true);
    WAIT_UNTIL(weft_cancelled(w));
    atomic_store(&side->told, true);
}

static void until_cancelled_in_a_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    until_cancelled(w, arg);
    CHECK(weft_scope_close(w, &scope) == -ECANCELED);
}

static void check_never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "a child ran in a cancelled scope");
}

/* Others run a child, a right side, and a scope in a right side of that. */
static void left_tree(weft *w, struct side *sides, struct failing *right)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, until_cancelled, &sides[0]) == 0);
    weft *in = weft_fork(w, until_cancelled, &sides[1]);
    weft *inner = weft_fork(in, until_cancelled_in_a_scope, &sides[2]);
    for (int i = 0; i < 3; i++)
        WAIT_UNTIL(atomic_load(&sides[i].started));
    fails_now(right);
    WAIT_UNTIL(weft_cancelled(inner));
    CHECK(weft_merge(in));
    CHECK(weft_merge(w));
    CHECK(weft_spawn(w, &scope, check_never, NULL) == 0);
    CHECK(weft_scope_close(w, &scope) == -ECANCELED);
    for (int i = 0; i < 3; i++)
        CHECK(atomic_load(&sides[i].told));
}

static void fail_a_tree(weft *w, void *arg)
{
    struct side sides[3] = {0};
    struct failing right = {0};
    weft *in = fork_failing(w, &right);
    left_tree(in, sides, &right);
    CHECK(weft_cancelled(in));
    CHECK(weft_merge(w));
    goes_on(w);
}

static void whole_trees(void **state)
{
    weft_pool *pool = pool_make(5, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(weft_run(pool, fail_a_tree, NULL), 0);
    pool_drop(pool);
}

/* A computation in a pool, of which the left side is a part. */
static void run_and_fail(weft *w, void *arg)
{
    struct side side = {0};
    struct failing right = {.go = true};
    weft *in = weft_fork(w, fail_alone, &right);
    CHECK(weft_run(arg, until_cancelled, &side) == -ECANCELED);
    CHECK(weft_cancelled(in));
    CHECK(weft_merge(w));
    goes_on(w);
}

static void other_pools(void **state)
{
    weft_pool *pool = pool_make(2, 0), *other = pool_make(2, WEFT_NO_GUESTS);
    assert_int_equal(weft_run(pool, run_and_fail, pool), 0);
    assert_int_equal(weft_run(pool, run_and_fail, other), 0);
    pool_drop(other);
    pool_drop(pool);
}

/* A left side that forks, and never asks, learns of it by a merge that has skipped something. */
static void note(weft *w, void *flag)
{
    *(bool *)flag = true;
}

static void fork_until_skipped(weft *w, void *arg)
{
    struct failing right = {0};
    weft *in = fork_failing(w, &right);
    fails_now(&right);
    for (;;) {
        bool ran = false;
        weft_fork(in, note, &ran);
        if (weft_merge(in) && !ran)
            break;
    }
    CHECK(weft_merge(w));
    goes_on(w);
}

static void forks_are_skipped(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, fork_until_skipped, NULL), 0);
    pool_drop(pool);
}

/* A left side that waits, with a time limit, is woken. */
static void wait_for_ever(weft *w, void *arg)
{
    weft_channel channel;
    int message;
    CHECK(weft_channel_init(&channel, NULL, sizeof message, 1) == 0);
    struct failing right = {0};
    weft *in = fork_failing(w, &right);
    fails_now(&right);
    CHECK(weft_channel_receive_until(in, &channel, &message, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_merge(w));
    goes_on(w);
    weft_channel_destroy(&channel);
}

static void waits_end(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, wait_for_ever, NULL), 0);
    pool_drop(pool);
}

/* ---- And nothing else ---- */

/* Runs to the end of `until`, and is told of nothing before. */
struct calm {
    atomic_bool started, look, looked;
    struct side rest;
};

static void calm_then_told(weft *w, void *arg)
{
    struct calm *calm = arg;
    atomic_store(&calm->started, true);
    WAIT_UNTIL(atomic_load(&calm->look));
    CHECK(!weft_cancelled(w));
    atomic_store(&calm->looked, true);
    until_cancelled(w, &calm->rest);
}

/* Three forks: the right sides of the first and the last fail, the last one first. The one between
 * them is on the left of the first only. */
static void three_forks(weft *w, void *arg)
{
    struct failing outer = {0}, inner = {0};
    struct calm calm = {0};
    weft *second = fork_failing(w, &outer);
    weft *third = weft_fork(second, calm_then_told, &calm);
    WAIT_UNTIL(atomic_load(&calm.started));
    weft *top = fork_failing(third, &inner);
    fails_now(&inner);
    WAIT_UNTIL(weft_cancelled(top));
    atomic_store(&calm.look, true);
    WAIT_UNTIL(atomic_load(&calm.looked));
    if (arg) { /* the last one is merged before the first fails */
        CHECK(weft_merge(third));
        CHECK(!weft_cancelled(third));
        fails_now(&outer);
        WAIT_UNTIL(atomic_load(&calm.rest.told));
    } else {
        fails_now(&outer);
        WAIT_UNTIL(atomic_load(&calm.rest.told));
        CHECK(weft_merge(third));
    }
    CHECK(weft_cancelled(third));
    CHECK(weft_merge(second));
    CHECK(weft_cancelled(second));
    CHECK(weft_merge(w));
    goes_on(w);
}

static void others_are_not_told(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(weft_run(pool, three_forks, NULL), 0);
        assert_int_equal(weft_run(pool, three_forks, pool), 0);
    }
    pool_drop(pool);
}

/* A job that the owner of the fork runs while it waits on the left side is on top of the fork, and
 * is no part of its left side. */
struct guest {
    struct failing right;
    atomic_bool ran;
};

static void on_top(weft *w, void *arg)
{
    struct guest *guest = arg;
    fails_now(&guest->right);
    for (int i = 0; i < 100; i++) {
        CHECK(!weft_cancelled(w));
        goes_on(w);
    }
    atomic_store(&guest->ran, true);
}

static void wait_and_help(weft *w, void *arg)
{
    struct guest guest = {0};
    weft_task task = {0};
    weft *in = fork_failing(w, &guest.right);
    CHECK(weft_submit(arg, &task, on_top, &guest) == 0);
    CHECK(weft_task_wait(&task) == 0); /* the other worker is in the right side */
    CHECK(atomic_load(&guest.ran));
    WAIT_UNTIL(weft_cancelled(in));
    CHECK(weft_merge(w));
    goes_on(w);
}

static void jobs_on_top_are_not_told(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, wait_and_help, pool), 0);
    pool_drop(pool);
}

/* A right side that its owner runs has no left side any more. */
static void fail_in_place(weft *w, void *arg)
{
    weft *in = weft_fork(w, fail_alone, arg);
    CHECK(!weft_cancelled(in));
    if (!weft_merge(w))
        weft_right_failed_(w);
    goes_on(w);
}

static void nothing_to_cancel(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct failing right = {.go = true};
    assert_int_equal(weft_run(pool, fail_in_place, &right), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORKERS(2, 0, left_is_told),      WITH_WORKERS(2, WEFT_NO_GUESTS, left_is_told),
        WITH_WORKERS(5, 0, left_is_told),      cmocka_unit_test(both_ends),
        cmocka_unit_test(whole_trees),         cmocka_unit_test(other_pools),
        cmocka_unit_test(forks_are_skipped),   cmocka_unit_test(waits_end),
        cmocka_unit_test(others_are_not_told), cmocka_unit_test(jobs_on_top_are_not_told),
        cmocka_unit_test(nothing_to_cancel),
    };
    return RUN_ON_ALL_ROADS(tests);
}
