/* SPDX-License-Identifier: MIT */
/* task_until.c: waits for a task that end at a time. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/sync.h"
#include "weft/task.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum { CODE = -EPROTO };

static const uint64_t never = UINT64_MAX;

static uint64_t soon(void)
{
    return weft_now() + 300000;
}

/* Runs until it may end, and fails. */
struct slow {
    struct gate gate;
    weft_task task;
};

static void slow_job(weft *w, void *arg)
{
    gate_job(w, arg);
    weft_fail(w, CODE);
}

static void slow_start(weft_pool *pool, struct slow *slow)
{
    memset(slow, 0, sizeof *slow);
    CHECK(weft_submit(pool, &slow->task, slow_job, &slow->gate) == 0);
    gate_wait_arrived(&slow->gate);
}

/* From wherever it is called: times out, again and again, and gets the result in the end. */
static void wait_for_slow(struct slow *slow)
{
    uint64_t when = weft_now();
    CHECK(weft_task_wait_until(&slow->task, 0) == -ETIMEDOUT);
    CHECK(weft_task_wait_until(&slow->task, when) == -ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        when = soon();
        CHECK(weft_task_wait_until(&slow->task, when) == -ETIMEDOUT);
        CHECK(weft_now() >= when);
        CHECK(!weft_task_done(&slow->task));
    }
    gate_open(&slow->gate);
    CHECK(weft_task_wait_until(&slow->task, never) == CODE);
    CHECK(weft_task_wait_until(&slow->task, 0) == CODE); /* it is over: no time is too early */
    CHECK(weft_task_wait(&slow->task) == CODE);
}

static void from_outside(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(1, flags);
        for (int i = 0; i < 20; i++) {
            struct slow slow;
            slow_start(pool, &slow);
            wait_for_slow(&slow);
        }
        pool_drop(pool);
    }
}

/* Its descriptor says that it is over, so no time is too early, though the thread that has ended
 * the task may not have come so far. */
static void told_by_descriptor(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int i = 0; i < 500; i++) {
        struct slow slow;
        slow_start(pool, &slow);
        struct pollfd poll_fd = {.fd = weft_task_fd(&slow.task), .events = POLLIN};
        gate_open(&slow.gate);
        CHECK(poll(&poll_fd, 1, -1) == 1);
        CHECK(weft_task_done(&slow.task));
        CHECK(weft_task_wait_until(&slow.task, 0) == CODE);
    }
    pool_drop(pool);
}

static void wait_in_job(weft *w, void *arg)
{
    struct slow slow;
    slow_start(weft_pool_of(w), &slow);
    wait_for_slow(&slow);
}

static int wait_in_actor(weft *w, void *arg)
{
    struct slow slow;
    slow_start(weft_pool_of(w), &slow);
    wait_for_slow(&slow);
    return 0;
}

/* A guest, a worker, the caller of WEFT_USE_CALLER, an actor. The other worker has the task. */
static void from_jobs(void **state)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    for (unsigned i = 0; i < 3; i++) {
        weft_pool *pool = pool_make(2, flags[i]);
        for (int r = 0; r < 20; r++)
            assert_int_equal(weft_run(pool, wait_in_job, NULL), 0);
        if (flags[i] != WEFT_USE_CALLER)
            pool_wait_asleep(pool);
        assert_int_equal(weft_run(pool, wait_in_job, NULL), 0);
        assert_int_equal(run_one(pool, wait_in_actor, NULL), 0);
        pool_drop(pool);
    }
}

/* The thread that made the pool, outside its jobs. */
static void from_the_caller(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_USE_CALLER);
    struct slow slow;
    slow_start(pool, &slow);
    wait_for_slow(&slow);
    pool_drop(pool);
}

/* It ran the task itself, for longer than it wanted to wait: the task is over, and it says so. */
struct helping {
    uint64_t when;
    atomic_bool over;
};

static void outlast(weft *w, void *arg)
{
    struct helping *helping = arg;
    WAIT_UNTIL(weft_now() > helping->when + 1000000);
    atomic_store(&helping->over, true);
}

static void caller_comes_late(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_USE_CALLER);
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    weft_task task, *over;
    CHECK(weft_completions_create(&options.completions) == 0);
    for (int i = 0; i < 6; i++) {
        struct helping helping = {.when = weft_now() + 5000000};
        CHECK(weft_submit_with(pool, &task, outlast, &helping, i % 2 ? &options : NULL) == 0);
        int error = i % 2 ? weft_completions_next_until(options.completions, &over, helping.when)
                          : weft_task_wait_until(&task, helping.when);
        CHECK(error == 0 || !weft_task_done(&task)); /* it came too late to begin */
        CHECK(weft_task_wait(&task) == 0);
        CHECK(i % 2 == 0 || !error || weft_completions_next(options.completions, &over) == 0);
    }
    CHECK(weft_completions_destroy(options.completions) == 0);
    pool_drop(pool);
}

/* A job that nobody else can run is run by the job that waits for it: on its only worker. */
static void wait_for_own(weft *w, void *arg)
{
    weft_task task;
    atomic_ulong count = 0;
    CHECK(weft_submit(weft_pool_of(w), &task, count_job, &count) == 0);
    CHECK(weft_task_wait_until(&task, never) == 0);
    CHECK(atomic_load(&count) == 1);
}

static void with_one_worker(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    for (int i = 0; i < 200; i++)
        assert_int_equal(weft_run(pool, wait_for_own, NULL), 0);
    pool_drop(pool);
}

/* ---- It runs another job when its time comes ---- */

static void help_for_long(weft *w, void *arg)
{
    struct slow slow;
    slow_start(weft_pool_of(w), &slow);
    struct helping helping = {.when = soon()};
    weft_task other;
    CHECK(weft_submit(weft_pool_of(w), &other, outlast, &helping) == 0);
    CHECK(weft_task_wait_until(&slow.task, helping.when) == -ETIMEDOUT);
    CHECK(atomic_load(&helping.over) || !weft_task_done(&other));
    CHECK(weft_task_wait(&other) == 0);
    gate_open(&slow.gate);
    CHECK(weft_task_wait(&slow.task) == CODE);
}

static void time_comes_while_it_helps(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, help_for_long, NULL), 0);
    pool_drop(pool);
}

/* ---- The task ends when the time comes ---- */

static void end_about_when(weft *w, void *arg)
{
    uint64_t when = *(uint64_t *)arg;
    while (weft_now() < when)
        ;
    weft_fail(w, CODE);
}

static void race(weft_pool *pool)
{
    weft_task task;
    uint64_t when = weft_now() + 30000;
    CHECK(weft_submit(pool, &task, end_about_when, &when) == 0);
    int result = weft_task_wait_until(&task, when + 3000);
    CHECK(result == CODE || result == -ETIMEDOUT);
    CHECK(weft_task_wait(&task) == CODE);
}

static void race_in_job(weft *w, void *arg)
{
    for (int i = 0; i < rounds_of(SCALED(1000, 10)); i++)
        race(weft_pool_of(w));
}

static int race_in_actor(weft *w, void *arg)
{
    race_in_job(w, arg);
    return 0;
}

static void task_ends_at_the_limit(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(SCALED(1000, 10)); i++)
        race(pool);
    assert_int_equal(weft_run(pool, race_in_job, NULL), 0);
    assert_int_equal(run_one(pool, race_in_actor, NULL), 0);
    pool_drop(pool);
}

/* ---- No deadlock ---- */

static void told(weft_pool *pool, const char *report, const char *graph, void *data)
{
    check_failed(__FILE__, __LINE__, "no deadlock");
}

static void wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

/* All threads rest until the time comes. */
static void wait_then_set(weft *w, void *arg)
{
    weft_event event = WEFT_EVENT_INIT;
    weft_task task;
    CHECK(weft_submit(weft_pool_of(w), &task, wait_for_event, &event) == 0);
    CHECK(weft_task_wait_until(&task, weft_now() + 20000000) == -ETIMEDOUT);
    weft_event_set(w, &event);
    CHECK(weft_task_wait(&task) == 0);
}

static void wait_then_set_outside(weft_pool *pool)
{
    weft_event event = WEFT_EVENT_INIT;
    weft_task task;
    CHECK(weft_submit(pool, &task, wait_for_event, &event) == 0);
    CHECK(weft_task_wait_until(&task, weft_now() + 20000000) == -ETIMEDOUT);
    weft_event_set(NULL, &event);
    CHECK(weft_task_wait(&task) == 0);
}

static void is_no_deadlock(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.deadlock = told;
    weft_pool *pool = pool_make_with(&config);
    assert_int_equal(weft_run(pool, wait_then_set, NULL), 0);
    wait_then_set_outside(pool);
    pool_drop(pool);
}

/* A worker waits, its only one too: the task, which waits for what comes after, is not on top of
 * it. */
static void worker_waits_then_sets(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_config config = WEFT_CONFIG_INIT;
        config.workers = workers;
        config.deadlock = told;
        weft_pool *pool = pool_make_with(&config);
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, wait_then_set, NULL), 0);
        WAIT_UNTIL(weft_task_done(&task)); /* this thread runs nothing of it */
        assert_int_equal(weft_task_wait(&task), 0);
        pool_drop(pool);
    }
}

/* ---- An actor that is killed while it waits ---- */

struct killed {
    struct slow slow;
    atomic_bool waits;
};

static int wait_for_ever(weft *w, void *arg)
{
    struct killed *killed = arg;
    slow_start(weft_pool_of(w), &killed->slow);
    atomic_store(&killed->waits, true);
    /* Does not return, unless weft_actor_kill() is half way: its group is cancelled first. */
    CHECK(weft_task_wait_until(&killed->slow.task, never) == -ECANCELED);
    return 0;
}

static void killed_actor_leaves_no_alarm(void **state)
{
    for (int i = 0; i < 20; i++) {
        weft_pool *pool = pool_make(2, 0);
        struct killed killed = {.waits = false};
        weft_actor *actor = start(pool, wait_for_ever, &killed, NULL);
        WAIT_UNTIL(atomic_load(&killed.waits));
        weft_actor_kill(actor);
        assert_int_equal(end(actor), -ECANCELED);
        assert_int_equal(weft_task_wait_until(&killed.slow.task, soon()), -ETIMEDOUT);
        gate_open(&killed.slow.gate);
        assert_int_equal(weft_task_wait(&killed.slow.task), CODE);
        pool_drop(pool);
    }
}

static void wait_for_itself(weft *w, void *task)
{
    CHECK(weft_task_wait_until(task, never) == -EDEADLK);
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_task task;
    memset(&task, 0, sizeof task);
    assert_int_equal(weft_task_wait_until(NULL, never), -EINVAL);
    assert_int_equal(weft_task_wait_until(&task, never), -EINVAL);
    assert_int_equal(weft_submit(pool, &task, wait_for_itself, &task), 0);
    assert_int_equal(weft_task_wait_until(&task, never), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_outside),
        cmocka_unit_test(told_by_descriptor),
        cmocka_unit_test(from_jobs),
        cmocka_unit_test(from_the_caller),
        cmocka_unit_test(caller_comes_late),
        cmocka_unit_test(with_one_worker),
        cmocka_unit_test(time_comes_while_it_helps),
        cmocka_unit_test(task_ends_at_the_limit),
        cmocka_unit_test(is_no_deadlock),
        cmocka_unit_test(worker_waits_then_sets),
        cmocka_unit_test(killed_actor_leaves_no_alarm),
        cmocka_unit_test(bad_arguments),
    };
    return RUN_ON_ALL_ROADS(tests);
}
