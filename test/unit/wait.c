/* SPDX-License-Identifier: MIT */
/* wait.c: how workers come to wait, and go. */
#include "check.h"
#include "core/pool.h"

#include <weft.h>

enum { ROUNDS = SCALED(2000, 10) };

/* ---- A worker that has nothing else to do is idle before it tells anybody that its job is over.
 * Whoever is told may take its CPU; and only in the place of an idle worker can somebody else come.
 * ---- */

static void nothing(weft *w, void *arg)
{
}

/* All workers of a pool: its caller computes. */
static void expect_idle(weft_pool *pool)
{
    struct weft__resting resting = weft__sleep_resting(&pool->sleep);
    CHECK(resting.idle + resting.sleeping == weft_pool_workers(pool));
}

static weft_pool *pool_of(unsigned workers)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    weft_pool *pool;
    assert_int_equal(weft_pool_create(&pool, &config), 0);
    WAIT_UNTIL(weft__sleep_resting(&pool->sleep).sleeping == workers); /* all have started */
    return pool;
}

static void after_a_task(void **state)
{
    weft_pool *pool = pool_of(1);
    for (int i = 0; i < rounds_of(ROUNDS); i++) {
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, nothing, NULL), 0);
        WAIT_UNTIL(weft_task_done(&task));
        expect_idle(pool);
        assert_int_equal(weft_task_wait(&task), 0);
    }
    assert_int_equal(weft_pool_destroy(pool), 0);
}

/* ---- A right side, and a child of a scope ---- */

static void start(weft *w, void *arg)
{
    atomic_store((atomic_bool *)arg, true);
}

static void fork_and_look(weft *w, void *arg)
{
    atomic_bool started = false;
    weft_fork(w, start, &started);
    WAIT_UNTIL(atomic_load(&started)); /* somebody else has taken it */
    CHECK(weft_merge(w));
    expect_idle(weft_pool_of(w));
}

static void spawn_and_look(weft *w, void *arg)
{
    weft_scope scope;
    atomic_bool started = false;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, start, &started) == 0);
    WAIT_UNTIL(atomic_load(&started));
    CHECK(weft_scope_close(w, &scope) == 0);
    expect_idle(weft_pool_of(w));
}

static void after_what_was_stolen(weft_fn *look)
{
    weft_pool *pool = pool_of(2);
    for (int i = 0; i < rounds_of(ROUNDS / 10); i++)
        assert_int_equal(weft_run(pool, look, NULL), 0);
    assert_int_equal(weft_pool_destroy(pool), 0);
}

static void after_a_right_side(void **state)
{
    after_what_was_stolen(fork_and_look);
}

static void after_a_child(void **state)
{
    after_what_was_stolen(spawn_and_look);
}

/* ---- A worker whose thread has not begun is not at work: nobody looks out for its forks ---- */

static atomic_bool may_start;

static void hold_all_but_one(weft_pool *pool, unsigned worker, void *data)
{
    if (worker > 0)
        WAIT_UNTIL(atomic_load(&may_start));
}

static void before_all_have_started(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 4;
    config.on_start = hold_all_but_one;
    weft_pool *pool;
    atomic_store(&may_start, false);
    assert_int_equal(weft_pool_create(&pool, &config), 0);
    WAIT_UNTIL(atomic_load_relaxed(&pool->workers[0]->park->state) == PARK_ASLEEP);
    assert_false(weft__sleep_has_lookout(&pool->sleep));
    atomic_store(&may_start, true);
    assert_int_equal(weft_pool_destroy(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_task),
        cmocka_unit_test(after_a_right_side),
        cmocka_unit_test(after_a_child),
        cmocka_unit_test(before_all_have_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
