/* SPDX-License-Identifier: MIT */
/* task_cancel.c: tasks whose result nobody wants any more. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/parallel.h"
#include "weft/task.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static void never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "this one should have been skipped");
}

/* ---- Not begun ---- */

/* It is over at once, though all workers are busy, and the pool can go before it is waited for. */
static void one_that_has_not_begun(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(1, flags);
        struct held held;
        weft_task tasks[3];
        atomic_ulong count = 0;
        pool_hold(pool, &held, 1);
        assert_int_equal(weft_submit(pool, &tasks[0], count_job, &count), 0);
        assert_int_equal(weft_submit(pool, &tasks[1], never, NULL), 0);
        assert_int_equal(weft_submit(pool, &tasks[2], count_job, &count), 0);
        int fd = weft_task_fd(&tasks[1]);
        assert_int_equal(weft_task_cancel(&tasks[1]), 0);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 0), 1);
        assert_true(weft_task_done(&tasks[1]));
        assert_int_equal(weft_task_cancel(&tasks[1]), 0);
        assert_int_equal(weft_task_wait(&tasks[1]), -ECANCELED);
        assert_int_equal(weft_task_cancel(&tasks[1]), 0);
        assert_int_equal(weft_submit(pool, &tasks[1], count_job, &count), 0); /* used again */
        pool_let_go(&held);
        pool_drop(pool);
        assert_int_equal(atomic_load(&count), 3);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(weft_task_cancel(&tasks[i]), 0); /* over: it stays as it is */
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
        }
    }
}

static void wait_for_cancelled(unsigned i, void *task)
{
    if (i == 0) {
        CHECK(weft_task_cancel(task) == 0);
        return;
    }
    int result = weft_task_wait(task);
    CHECK(result == -ECANCELED || result == 0);
}

/* Those who wait, and those who cancel, and the workers: one of them gets it. */
static void while_others_wait_for_it(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int r = 0; r < rounds_of(SCALED(1000, 10)); r++) {
        weft_task task;
        atomic_ulong count = 0;
        assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
        in_threads(3, wait_for_cancelled, &task);
        int result = weft_task_wait(&task);
        assert_true(result == 0 ? atomic_load(&count) == 1 : result == -ECANCELED);
    }
    pool_drop(pool);
}

/* ---- Running ---- */

struct running {
    weft_task task;
    atomic_bool begun;
    atomic_ulong left;
};

static void run_until_cancelled(weft *w, void *arg)
{
    struct running *running = arg;
    atomic_store(&running->begun, true);
    WAIT_UNTIL(weft_cancelled(w));
}

static void join_until_cancelled(weft *w, void *arg)
{
    struct running *running = arg;
    atomic_store(&running->begun, true);
    while (!weft_cancelled(w))
        weft_join(w, count_job, &running->left, count_job, &running->left);
}

/* In all its parts. */
static void loop_until_cancelled(weft *w, size_t lo, size_t hi, void *arg)
{
    run_until_cancelled(w, arg);
}

static void for_until_cancelled(weft *w, void *arg)
{
    weft_for(w, 0, 64, loop_until_cancelled, arg);
    CHECK(weft_cancelled(w));
}

static void nested_until_cancelled(weft *w, void *arg)
{
    CHECK(weft_run(weft_pool_of(w), for_until_cancelled, arg) == -ECANCELED);
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, never, NULL) == 0);
    CHECK(weft_scope_close(w, &scope) == -ECANCELED);
}

static void cancel_it(struct running *running)
{
    WAIT_UNTIL(atomic_load(&running->begun));
    CHECK(weft_task_cancel(&running->task) == 0);
    CHECK(weft_task_wait(&running->task) == -ECANCELED);
}

static void one_that_runs(void **state)
{
    static weft_fn *const jobs[] = {run_until_cancelled, join_until_cancelled, for_until_cancelled,
                                    nested_until_cancelled};
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < 4 * rounds_of(100); i++) {
            struct running running = {.begun = false};
            assert_int_equal(weft_submit(pool, &running.task, jobs[i % 4], &running), 0);
            cancel_it(&running);
        }
        pool_drop(pool);
    }
}

/* The owner looks at nothing but its merges: the right sides that nobody took are skipped. */
struct forker {
    struct running running;
    atomic_bool go_on;
};

static void fork_then_wait(weft *w, void *arg)
{
    struct forker *forker = arg;
    weft *in = weft_fork(w, never, NULL);
    weft *in2 = weft_fork(in, never, NULL);
    atomic_store(&forker->running.begun, true);
    WAIT_UNTIL(atomic_load(&forker->go_on));
    (void)in2;
    if (!weft_merge(in))
        never(in, NULL);
    if (!weft_merge(w))
        never(w, NULL);
}

static void forks_are_skipped(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int i = 0; i < rounds_of(500); i++) {
        struct forker forker = {.go_on = false};
        weft_task *task = &forker.running.task;
        assert_int_equal(weft_submit(pool, task, fork_then_wait, &forker), 0);
        WAIT_UNTIL(atomic_load(&forker.running.begun));
        assert_int_equal(weft_task_cancel(task), 0);
        atomic_store(&forker.go_on, true);
        assert_int_equal(weft_task_wait(task), -ECANCELED);
    }
    pool_drop(pool);
}

/* The task fails before: its own code stays. */
static void fail_and_wait(weft *w, void *arg)
{
    weft_fail(w, -EIO);
    run_until_cancelled(w, arg);
    CHECK(weft_task_cancel(&((struct running *)arg)->task) == 0); /* by itself */
}

static void the_first_failure_counts(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct running running = {.begun = false};
    assert_int_equal(weft_submit(pool, &running.task, fail_and_wait, &running), 0);
    WAIT_UNTIL(atomic_load(&running.begun));
    assert_int_equal(weft_task_cancel(&running.task), 0);
    assert_int_equal(weft_task_wait(&running.task), -EIO);
    pool_drop(pool);
}

static void cancel_itself(weft *w, void *task)
{
    CHECK(!weft_cancelled(w));
    CHECK(weft_task_cancel(task) == 0);
    CHECK(weft_cancelled(w));
    weft *in = weft_fork(w, never, NULL);
    (void)in;
    if (!weft_merge(w))
        never(w, NULL);
}

static void by_itself(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(500); i++) {
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, cancel_itself, &task), 0);
        WAIT_UNTIL(weft_task_done(&task)); /* by a worker */
        assert_int_equal(weft_task_wait(&task), -ECANCELED);
    }
    pool_drop(pool);
}

/* ---- By jobs and actors ---- */

static void submit_and_cancel(weft *w, void *arg)
{
    struct running running = {.begun = false};
    CHECK(weft_submit(weft_pool_of(w), &running.task, run_until_cancelled, &running) == 0);
    cancel_it(&running);
    CHECK(!weft_cancelled(w));
}

static int submit_and_cancel_in_actor(weft *w, void *arg)
{
    submit_and_cancel(w, arg);
    return 0;
}

static void by_a_job(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(200); i++) {
        assert_int_equal(weft_run(pool, submit_and_cancel, NULL), 0);
        assert_int_equal(run_one(pool, submit_and_cancel_in_actor, NULL), 0);
    }
    pool_drop(pool);
}

/* ---- While it begins and ends ---- */

struct ending {
    weft_pool *pool;
    weft_task task;
};

static void cancel_or_destroy(unsigned i, void *arg)
{
    struct ending *ending = arg;
    if (i == 0)
        pool_drop(ending->pool);
    else
        CHECK(weft_task_cancel(&ending->task) == 0);
}

static void join_a_little(weft *w, void *count)
{
    weft_join(w, count_job, count, count_job, count);
}

/* The pool ends with the task: a thread that cancels the task must not touch the pool then. */
static void while_its_pool_ends(void **state)
{
    for (int r = 0; r < rounds_of(SCALED(300, 3)); r++) {
        struct ending ending = {.pool = pool_make(2, 0)};
        atomic_ulong count = 0;
        assert_int_equal(weft_submit(ending.pool, &ending.task, join_a_little, &count), 0);
        in_threads(3, cancel_or_destroy, &ending);
        int result = weft_task_wait(&ending.task);
        assert_true(result == 0 ? atomic_load(&count) == 2 : atomic_load(&count) <= 2);
        assert_true(result == 0 || result == -ECANCELED);
    }
}

static void bad_arguments(void **state)
{
    weft_task task;
    memset(&task, 0, sizeof task);
    assert_int_equal(weft_task_cancel(NULL), -EINVAL);
    assert_int_equal(weft_task_cancel(&task), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_has_not_begun),
        cmocka_unit_test(while_others_wait_for_it),
        cmocka_unit_test(one_that_runs),
        cmocka_unit_test(forks_are_skipped),
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(by_itself),
        cmocka_unit_test(by_a_job),
        cmocka_unit_test(while_its_pool_ends),
        cmocka_unit_test(bad_arguments),
    };
    return RUN_ON_ALL_ROADS(tests);
}
