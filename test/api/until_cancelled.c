/* SPDX-License-Identifier: MIT */
/* until_cancelled.c: a job that waits for a task, or for a completion, goes on when its computation
 * is cancelled. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/task.h"

#include <errno.h>

#define MS UINT64_C(1000000)
#define HOUR (3600 * 1000 * MS)

/* What a job waits for: a task that runs until the gate is opened. */
struct waiting {
    weft_pool *pool; /* of the task */
    bool queue;      /* waits for a completion */
    uint64_t when;
    atomic_bool begun;
    int result;
    struct gate gate;
    weft_completions *completions;
    weft_task task;
};

static void prepare(struct waiting *waiting)
{
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    CHECK(weft_completions_create(&waiting->completions) == 0);
    options.completions = waiting->completions;
    CHECK(weft_submit_with(waiting->pool, &waiting->task, gate_job, &waiting->gate, &options) == 0);
    gate_wait_arrived(&waiting->gate);
}

static void finish(struct waiting *waiting)
{
    weft_task *over;
    gate_open(&waiting->gate);
    CHECK(weft_completions_next_until(waiting->completions, &over, WEFT_FOREVER) == 0);
    CHECK(over == &waiting->task && weft_task_wait(over) == 0);
    CHECK(weft_completions_destroy(waiting->completions) == 0);
}

static void wait_job(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_task *over;
    atomic_store(&waiting->begun, true);
    waiting->result = waiting->queue
                          ? weft_completions_next_until(waiting->completions, &over, waiting->when)
                          : weft_task_wait_until(&waiting->task, waiting->when);
    if (waiting->result == -ECANCELED)
        CHECK(weft_cancelled(w));
}

/* ---- What ends the wait ---- */

static void deadline_before(weft *w, struct waiting *waiting)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 3 * MS);
    wait_job(w, waiting);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    CHECK(waiting->result == -ECANCELED);
}

/* A child waits while the owner of the scope does something. In an actor the child does not run
 * before the owner waits, too. */
static void deadline_meanwhile(weft *w, struct waiting *waiting)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + HOUR);
    CHECK(weft_spawn(w, &scope, wait_job, waiting) == 0);
    WAIT_UNTIL(weft_actor_self(w) || atomic_load(&waiting->begun));
    weft_scope_deadline(&scope, weft_now() + 2 * MS);
    int result = weft_scope_close(w, &scope);
    CHECK(result == -ETIMEDOUT);
    CHECK(waiting->result == -ECANCELED || !atomic_load(&waiting->begun));
}

static void failure(weft *w, struct waiting *waiting)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, wait_job, waiting) == 0);
    WAIT_UNTIL(weft_actor_self(w) || atomic_load(&waiting->begun));
    weft_fail(w, -EIO);
    int result = weft_scope_close(w, &scope);
    CHECK(result == -EIO);
    CHECK(waiting->result == -ECANCELED || !atomic_load(&waiting->begun));
}

/* It was cancelled before: no time passes. */
static void failed_before(weft *w, struct waiting *waiting)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_fail(w, -EIO);
    wait_job(w, waiting);
    CHECK(waiting->result == -ECANCELED);
    waiting->when = 0; /* it says so even if its time is past */
    wait_job(w, waiting);
    CHECK(waiting->result == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -EIO);
}

/* ---- What does not end it ---- */

static void own_time_is_first(weft *w, struct waiting *waiting)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + HOUR);
    waiting->when = weft_now() + MS;
    wait_job(w, waiting);
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(waiting->result == -ETIMEDOUT);
}

/* The first deadline is set again before it comes: the second one counts. */
static void deadline_is_moved(weft *w, struct waiting *waiting)
{
    weft_scope scope;
    uint64_t until = weft_now() + 8 * MS;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + HOUR);
    CHECK(weft_spawn(w, &scope, wait_job, waiting) == 0);
    WAIT_UNTIL(weft_actor_self(w) || atomic_load(&waiting->begun));
    weft_scope_deadline(&scope, weft_now() + HOUR / 2);
    weft_scope_deadline(&scope, until);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    CHECK(weft_now() >= until);
    CHECK(waiting->result == -ECANCELED || !atomic_load(&waiting->begun));
}

/* ---- In jobs, and in actors ---- */

typedef void history(weft *w, struct waiting *waiting);
static history *const histories[] = {deadline_before, deadline_meanwhile, failure,
                                     failed_before,   own_time_is_first,  deadline_is_moved};
enum { HISTORIES = sizeof histories / sizeof histories[0] };

static void all_histories(weft *w, void *arg)
{
    for (unsigned i = 0; i < 2 * HISTORIES; i++) {
        struct waiting waiting = {.pool = arg, .queue = i % 2, .when = WEFT_FOREVER};
        prepare(&waiting);
        histories[i / 2](w, &waiting);
        CHECK(!weft_task_done(&waiting.task));
        finish(&waiting);
    }
}

static int all_in_actor(weft *w, void *arg)
{
    all_histories(w, arg);
    return 0;
}

/* The tasks run in a pool of their own: what is tested is the wait. */
static void cancelled_waits(void **state)
{
    static const unsigned workers[] = {1, 2, 8};
    for (unsigned i = 0; i < 3; i++) {
        weft_pool *tasks = pool_make(1, WEFT_NO_GUESTS);
        weft_pool *pool = pool_make(workers[i], 0);
        for (int r = 0; r < 3; r++) {
            if (workers[i] > 1) /* the owner waits for its child to begin */
                assert_int_equal(weft_run(pool, all_histories, tasks), 0);
            assert_int_equal(run_one(pool, all_in_actor, tasks), 0);
        }
        pool_drop(pool);
        pool_drop(tasks);
    }
}

/* A thread outside belongs to no computation. */
static void outside(void **state)
{
    weft_pool *tasks = pool_make(1, WEFT_NO_GUESTS);
    for (int queue = 0; queue < 2; queue++) {
        struct waiting waiting = {.pool = tasks, .queue = queue, .when = weft_now() + MS};
        prepare(&waiting);
        wait_job(NULL, &waiting);
        assert_int_equal(waiting.result, -ETIMEDOUT);
        finish(&waiting);
    }
    pool_drop(tasks);
}

/* ---- The task's end and the cancellation at once ---- */

enum { ROUNDS = SCALED(200, 4) };

static void open_gate(weft *w, void *arg)
{
    gate_open(arg);
}

static void race_job(weft *w, void *arg)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct waiting waiting = {.pool = arg, .queue = i % 2, .when = WEFT_FOREVER};
        weft_scope scope;
        prepare(&waiting);
        weft_scope_open(w, &scope);
        CHECK(weft_spawn(w, &scope, wait_job, &waiting) == 0);
        CHECK(weft_spawn(w, &scope, open_gate, &waiting.gate) == 0);
        WAIT_UNTIL(atomic_load(&waiting.begun));
        for (volatile unsigned n = 0; n < i * 20; n++)
            ;
        weft_fail(w, -EIO);
        CHECK(weft_scope_close(w, &scope) == -EIO);
        CHECK(waiting.result == 0 || waiting.result == -ECANCELED);
        if (waiting.result == 0 && waiting.queue) { /* the child has taken it out */
            CHECK(weft_task_wait(&waiting.task) == 0);
            CHECK(weft_completions_destroy(waiting.completions) == 0);
        } else {
            finish(&waiting);
        }
    }
}

static void ends_while_cancelled(void **state)
{
    weft_pool *tasks = pool_make(1, WEFT_NO_GUESTS), *pool = pool_make(3, 0);
    assert_int_equal(weft_run(pool, race_job, tasks), 0);
    pool_drop(pool);
    pool_drop(tasks);
}

/* ---- The queue is destroyed as soon as that works ---- */

/* Takes the only task out. Its time comes again and again. */
static void take_at_last(weft *w, void *arg)
{
    weft_task *over;
    while (weft_completions_next_until(arg, &over, weft_now() + 50000) == -ETIMEDOUT)
        ;
}

/* Until the call has returned, the queue is in use. */
static void destroyed_when_none_waits(void **state)
{
    weft_pool *tasks = pool_make(1, WEFT_NO_GUESTS), *pool = pool_make(1, WEFT_NO_GUESTS);
    for (int i = 0; i < ROUNDS; i++) {
        struct waiting waiting = {.pool = tasks};
        weft_task task;
        prepare(&waiting);
        assert_int_equal(weft_submit(pool, &task, take_at_last, waiting.completions), 0);
        for (volatile int n = 0; n < i * 100; n++)
            ;
        gate_open(&waiting.gate);
        WAIT_UNTIL(weft_completions_destroy(waiting.completions) == 0);
        assert_int_equal(weft_task_wait(&task), 0);
        assert_int_equal(weft_task_wait(&waiting.task), 0);
    }
    pool_drop(pool);
    pool_drop(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled_waits),
        cmocka_unit_test(outside),
        cmocka_unit_test(ends_while_cancelled),
        cmocka_unit_test(destroyed_when_none_waits),
    };
    return RUN_ON_ALL_ROADS(tests);
}
