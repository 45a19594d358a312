/* SPDX-License-Identifier: MIT */
/* tell.c: a worker that has nothing else to do is idle before it tells anybody that its job is
 * over. Whoever is told may take its CPU; and only in the place of an idle worker can somebody else
 * come. */
#include "check.h"
#include "core/pool.h"

#include <weft.h>

enum { ROUNDS = SCALED(2000, 10) };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_task),
        cmocka_unit_test(after_a_right_side),
        cmocka_unit_test(after_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
