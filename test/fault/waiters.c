/* SPDX-License-Identifier: MIT */
/* waiters.c: a waiter goes on the moment that what it waits for is done. It frees the task or the
 * scope, or destroys the pool, while the thread that has just ended that still does so; and it is
 * always woken. */
#include "child.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 3 }; /* of a scope */

static void burn(void *memory, size_t size)
{
    memset(memory, 0xa5, size);
    free(memory);
}

/* ---- The memory is gone ---- */

/* A task is freed by who waited for it, while its worker still ends it. */
static void bug_01_task_gone_after_wait(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, way);
        for (int i = 0; i < rounds_of(SCALED(4000, 10)); i++) {
            weft_task *task = malloc(sizeof *task);
            CHECK_EQUAL(weft_submit(pool, task, nothing, NULL), 0);
            if (i % 4 == 0)
                CHECK(weft_task_fd(task) >= 0);
            CHECK_EQUAL(weft_task_wait(task), 0);
            burn(task, sizeof *task);
        }
        child_pool_end(pool);
    }
}

struct pair {
    weft_pool *pool; /* not the job's own */
    int rounds;
};

/* The waiter is a job: it owns a latch in its frame, and frees the task. */
static void wait_and_free(weft *w, void *arg)
{
    struct pair *pair = arg;
    for (int i = 0; i < pair->rounds; i++) {
        weft_task *task = malloc(sizeof *task);
        CHECK_EQUAL(weft_submit(pair->pool, task, nothing, NULL), 0);
        CHECK_EQUAL(weft_task_wait(task), 0);
        burn(task, sizeof *task);
    }
}

static void bug_01_task_gone_after_wait_by_job(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, WEFT_NO_GUESTS, way);
        struct pair pair = {child_pool(1, WEFT_NO_GUESTS, way), SCALED(2000, 10)};
        CHECK_EQUAL(weft_run(pool, wait_and_free, &pair), 0);
        child_pool_end(pair.pool);
        child_pool_end(pool);
    }
}

/* ---- The pool is gone ---- */

/* Whose right side a worker has, as a rule: the guest leaves as soon as that is set. */
static void fork_and_wait(weft *w, void *flag)
{
    weft *in = weft_fork(w, count_up, flag);
    for (int i = 0; i < 200 && weft_has_pending(in); i++)
        wait_a_moment();
    if (!weft_merge(w))
        count_up(w, flag);
}

static void bug_02_pool_gone_after_set(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(300, 5)); i++) {
            atomic_int runs = 0;
            weft_pool *pool = child_pool(2, i % 2 ? WEFT_NO_GUESTS : 0, way);
            CHECK_EQUAL(weft_run(pool, fork_and_wait, &runs), 0);
            child_pool_end(pool);
            CHECK_EQUAL(atomic_load(&runs), 1);
        }
    }
}

/* The owner of the latch is a worker of one pool, the setter one of another that the owner
 * destroys at once. */
static void make_and_end(weft *w, void *arg)
{
    enum way way = *(enum way *)arg;
    for (int i = 0; i < rounds_of(SCALED(200, 5)); i++) {
        atomic_int runs = 0;
        weft_pool *other = child_pool(1, WEFT_NO_GUESTS, way);
        weft_task task;
        CHECK_EQUAL(weft_submit(other, &task, count_up, &runs), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        child_pool_end(other);
        CHECK_EQUAL(atomic_load(&runs), 1);
    }
}

static void bug_02_pool_gone_after_wait_by_job(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, WEFT_NO_GUESTS, way);
        CHECK_EQUAL(weft_run(pool, make_and_end, &way), 0);
        child_pool_end(pool);
    }
}

/* ---- Many are waited for ---- */

/* A scope on the heap, freed as soon as it is closed. */
static void open_and_free(weft *w, void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        atomic_int runs = 0;
        weft_scope *scope = malloc(sizeof *scope);
        weft_scope_open(w, scope);
        for (int j = 0; j < CHILDREN; j++)
            CHECK_EQUAL((i % 2 ? weft_spawn : weft_spawn_fifo)(w, scope, count_up, &runs), 0);
        if (i % 8 < 2)
            UNTIL(!weft_has_pending(w)); /* the last ones are just being run by others */
        CHECK_EQUAL(weft_scope_close(w, scope), 0);
        burn(scope, sizeof *scope);
        CHECK_EQUAL(atomic_load(&runs), CHILDREN);
    }
}

static void bug_03_scope_gone_after_close(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(3, 0, way);
        CHECK_EQUAL(weft_run(pool, open_and_free, &(int){SCALED(5000, 20)}), 0);
        child_pool_end(pool);
    }
}

static void bug_03_broadcast_gone_after_all_ran(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(3, 0, way);
        atomic_int runs = 0;
        for (int i = 1; i <= SCALED(1500, 10); i++) {
            CHECK_EQUAL(weft_broadcast(pool, count_up, &runs), 0);
            CHECK_EQUAL(atomic_load(&runs), 3 * i);
        }
        child_pool_end(pool);
    }
}

/* ---- Nobody hears it ---- */

/* A pool whose right sides are taken at once, by workers that go on looking for a while. */
static weft_pool *hasty_pool(enum way way, int spin)
{
    weft_config config = child_config(2, 0, way);
    config.quantum = WEFT_NONE;
    config.spin_rounds = spin;
    return child_pool_of(&config);
}

/* Right sides that are just being stolen or just over. */
static void fork_often(weft *w, void *arg)
{
    atomic_int runs = 0;
    for (int i = 0; i < *(int *)arg; i++) {
        weft *in = weft_fork(w, count_up, &runs);
        if (i % 8 == 0)
            UNTIL(!weft_has_pending(in)); /* stolen, and just starting or just over */
        for (volatile int j = 0; j < i % 512; j++)
            ;
        if (!weft_merge(w))
            count_up(w, &runs);
    }
    CHECK_EQUAL(atomic_load(&runs), *(int *)arg);
}

static void steal_right_sides(enum way way)
{
    for (int spin = -1; spin <= 10000; spin += 10001) {
        weft_pool *pool = hasty_pool(way, spin);
        int forks = spin < 0 ? SCALED(1000, 5) : SCALED(40000, 20);
        CHECK_EQUAL(weft_run(pool, fork_often, &forks), 0);
        child_pool_end(pool);
    }
}

static void bug_07_stolen_right_sides_lazy(void)
{
    steal_right_sides(WAY_SPIN);
}

static void bug_07_stolen_right_sides_eager(void)
{
    steal_right_sides(WAY_EAGER_SPIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_01_task_gone_after_wait),    IN_CHILD(bug_01_task_gone_after_wait_by_job),
        IN_CHILD(bug_02_pool_gone_after_set),     IN_CHILD(bug_02_pool_gone_after_wait_by_job),
        IN_CHILD(bug_03_scope_gone_after_close),  IN_CHILD(bug_03_broadcast_gone_after_all_ran),
        IN_CHILD(bug_07_stolen_right_sides_lazy), IN_CHILD(bug_07_stolen_right_sides_eager),
    };
    return cmocka_run_group_tests_name("waiters", tests, NULL, NULL);
}
