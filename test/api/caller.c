/* SPDX-License-Identifier: MIT */
/* caller.c: WEFT_USE_CALLER, a pool whose worker 0 is the thread that made it. */
#include "check.h"
#include "pools.h"
#include "proc.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* ---- Who runs what ---- */

struct report {
    pthread_t thread;
    unsigned index, times;
};

static void report_job(weft *w, void *arg)
{
    struct report *report = arg;
    report->thread = pthread_self();
    report->index = weft_worker_index(w);
    report->times++;
}

static void run_works_here(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        weft_pool *pool = pool_make(workers, WEFT_USE_CALLER);
        assert_int_equal(weft_pool_workers(pool), workers);
        struct report report = {0};
        assert_int_equal(weft_run(pool, report_job, &report), 0);
        assert_int_equal(report.times, 1);
        assert_int_equal(report.index, 0);
        assert_true(pthread_equal(report.thread, pthread_self()));
        assert_null(weft_here()); /* a worker, but not at work */
        pool_drop(pool);
        assert_null(weft_here());
    }
}

static void wait_works_here(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_USE_CALLER);
    struct report report = {0};
    weft_task task;
    assert_int_equal(weft_submit(pool, &task, report_job, &report), 0);
    assert_int_equal(report.times, 0); /* there is nobody else to do it */
    assert_int_equal(weft_task_wait(&task), 0);
    assert_int_equal(report.times, 1);
    assert_int_equal(report.index, 0);
    pool_drop(pool);
}

static void many_tasks(void **state)
{
    enum { TASKS = 500 };
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        weft_pool *pool = pool_make(workers, WEFT_USE_CALLER);
        weft_task tasks[TASKS];
        atomic_ulong count = 0;
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(weft_submit(pool, &tasks[i], count_job, &count), 0);
        for (int i = TASKS; i-- > 0;)
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
        assert_int_equal(atomic_load(&count), TASKS);
        pool_drop(pool);
    }
}

static void outsiders_are_guests(unsigned i, void *pool)
{
    for (int r = 0; r < rounds_of(500); r++) {
        struct report report = {0};
        CHECK(weft_run(pool, report_job, &report) == 0);
        CHECK(report.index >= weft_pool_workers(pool));
    }
}

static void others_come_as_guests(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        weft_pool *pool = pool_make(workers, WEFT_USE_CALLER);
        in_threads(3, outsiders_are_guests, pool);
        pool_drop(pool);
    }
}

/* ---- Destruction does what is left ---- */

static void spawn_three(weft *w, void *count)
{
    for (int i = 0; i < 3; i++)
        CHECK(weft_spawn_detached(w, count_job, count) == 0);
}

static void destroy_runs_detached_jobs(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        for (int r = 0; r < rounds_of(50); r++) {
            weft_pool *pool = pool_make(workers, WEFT_USE_CALLER);
            atomic_ulong count = 0;
            weft_task task;
            assert_int_equal(weft_run(pool, spawn_three, &count), 0);
            assert_int_equal(weft_submit(pool, &task, spawn_three, &count), 0);
            pool_drop(pool);
            assert_int_equal(atomic_load(&count), 6);
            assert_int_equal(weft_task_wait(&task), 0);
        }
    }
}

static void destroy_self(weft *w, void *arg)
{
    CHECK(weft_pool_destroy(weft_pool_of(w)) == -EDEADLK);
}

static void no_suicide(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_USE_CALLER);
    assert_int_equal(weft_run(pool, destroy_self, NULL), 0);
    pool_drop(pool);
}

/* Work that comes while the caller already destroys the pool: refused, or done. */
struct newcomer {
    weft_pool *pool;
    struct gate gate;
    atomic_ulong count, accepted;
    bool broadcasts;
};

/* Waits without helping, and says so: otherwise its place would not be free for the caller. */
static int hand_over(weft *w, weft_pool *pool, struct newcomer *newcomer)
{
    if (newcomer->broadcasts)
        return weft_broadcast(pool, count_job, &newcomer->count);
    weft_task task;
    int error = weft_submit(pool, &task, count_job, &newcomer->count);
    weft_block_begin(w);
    if (!error)
        WAIT_UNTIL(weft_task_done(&task));
    weft_block_end(w);
    return error;
}

/* Runs as a guest, so that the pool can't go away meanwhile. */
static void come_late(weft *w, void *arg)
{
    struct newcomer *newcomer = arg;
    atomic_store(&newcomer->gate.arrived, true);
    int error = hand_over(w, weft_pool_of(w), newcomer);
    CHECK(error == 0 || error == -ESHUTDOWN);
    atomic_fetch_add(&newcomer->accepted, error == 0);
}

static void *come(void *arg)
{
    struct newcomer *newcomer = arg;
    CHECK(weft_run(newcomer->pool, come_late, newcomer) == 0);
    return NULL;
}

static void destroy_against_newcomers(bool broadcasts)
{
    for (int r = 0; r < rounds_of(SCALED(2000, 10)); r++) {
        struct newcomer newcomer = {.broadcasts = broadcasts};
        newcomer.pool = pool_make(1, WEFT_USE_CALLER);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, come, &newcomer), 0);
        gate_wait_arrived(&newcomer.gate);
        pool_drop(newcomer.pool);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(atomic_load(&newcomer.count), atomic_load(&newcomer.accepted));
    }
}

static void destroy_against_submit(void **state)
{
    destroy_against_newcomers(false);
}

static void destroy_against_broadcast(void **state)
{
    destroy_against_newcomers(true);
}

/* ---- Broadcasts include the caller ---- */

struct calls {
    atomic_uint of[3];
};

static void call(weft *w, void *arg)
{
    unsigned i = weft_worker_index(w);
    CHECK(i < 3);
    atomic_fetch_add(&((struct calls *)arg)->of[i], 1);
}

static void expect_calls(struct calls *calls, unsigned workers, unsigned n)
{
    for (unsigned i = 0; i < workers; i++)
        CHECK(atomic_load(&calls->of[i]) == n);
}

static void broadcast_job(weft *w, void *calls)
{
    CHECK(weft_broadcast(weft_pool_of(w), call, calls) == 0);
}

static void broadcasts(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        weft_pool *pool = pool_make(workers, WEFT_USE_CALLER);
        struct calls calls = {.of = {0}};
        for (unsigned n = 1; n <= 200; n++) {
            assert_int_equal(weft_broadcast(pool, call, &calls), 0);
            expect_calls(&calls, workers, 2 * n - 1);
            assert_int_equal(weft_run(pool, broadcast_job, &calls), 0);
            expect_calls(&calls, workers, 2 * n);
        }
        assert_int_equal(weft_broadcast_detached(pool, call, &calls), 0);
        pool_drop(pool);
        expect_calls(&calls, workers, 401);
    }
}

/* Mail wakes the caller when it sleeps inside a run. */
struct sleeper {
    pid_t caller;
    atomic_bool started;
    struct calls calls;
};

static void wait_until_caller_sleeps(weft *w, void *arg)
{
    struct sleeper *sleeper = arg;
    atomic_store(&sleeper->started, true);
    WAIT_UNTIL(thread_is_asleep(sleeper->caller));
}

static void broadcast_to_sleeper(weft *w, void *arg)
{
    struct sleeper *sleeper = arg;
    wait_until_caller_sleeps(w, sleeper);
    CHECK(weft_broadcast(weft_pool_of(w), call, &sleeper->calls) == 0);
}

/* The caller forks, another worker takes it, and the caller sleeps until that is over. */
static void fork_and_sleep(weft *w, struct sleeper *sleeper, weft_fn *right)
{
    sleeper->caller = gettid();
    weft_fork(w, right, sleeper);
    WAIT_UNTIL(atomic_load(&sleeper->started));
    CHECK(weft_merge(w));
}

static void sleep_in_merge(weft *w, void *arg)
{
    fork_and_sleep(w, arg, wait_until_caller_sleeps);
}

static void sleep_in_merge_for_mail(weft *w, void *arg)
{
    fork_and_sleep(w, arg, broadcast_to_sleeper);
}

static void expect_woken(weft_pool *pool)
{
    for (int r = 0; r < rounds_of(20); r++) {
        struct sleeper sleeper = {.caller = 0};
        CHECK(weft_run(pool, sleep_in_merge, &sleeper) == 0);
        sleeper = (struct sleeper){.caller = 0};
        CHECK(weft_run(pool, sleep_in_merge_for_mail, &sleeper) == 0);
        expect_calls(&sleeper.calls, weft_pool_workers(pool), 1);
    }
}

static void caller_sleeps_and_wakes(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_USE_CALLER);
    expect_woken(pool);
    pool_drop(pool);
}

/* ---- Whose it is ---- */

static int create_another(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = WEFT_USE_CALLER;
    weft_pool *pool;
    int error = weft_pool_create(&pool, &config);
    CHECK(!pool == (error != 0));
    return error;
}

static void caller_inside(weft *w, void *arg)
{
    CHECK(create_another() == -EBUSY);
    CHECK(weft_here() == w);
}

static void one_pool_at_a_time(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_USE_CALLER);
    assert_int_equal(create_another(), -EBUSY);
    assert_int_equal(weft_run(pool, caller_inside, NULL), 0);
    pool_drop(pool);
    pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, caller_inside, NULL), 0); /* a guest's thread is taken */
    pool_drop(pool);
    pool = pool_make(1, WEFT_NO_GUESTS);
    assert_int_equal(weft_run(pool, caller_inside, NULL), 0); /* and so is a worker's */
    pool_drop(pool);
}

static void *destroy_anothers(void *pool)
{
    CHECK(weft_pool_destroy(pool) == -EPERM);
    return NULL;
}

static void others_may_not_destroy_it(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_USE_CALLER);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, destroy_anothers, pool), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    atomic_ulong count = 0;
    assert_int_equal(weft_run(pool, count_job, &count), 0); /* it is as it was */
    assert_int_equal(atomic_load(&count), 1);
    pool_drop(pool);
}

/* Worker 0 is a guest of other pools, and wakes there as it does at home. */
struct trip {
    weft_pool *there;
    struct sleeper sleeper;
};

static void travel(weft *w, void *arg)
{
    struct trip *trip = arg;
    CHECK(weft_run(trip->there, sleep_in_merge, &trip->sleeper) == 0);
}

static void caller_as_a_guest(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_USE_CALLER);
    for (int r = 0; r < rounds_of(20); r++) {
        struct trip trip = {.there = pool_make(2, 0)};
        assert_int_equal(weft_run(r % 2 ? pool : trip.there, travel, &trip), 0);
        pool_drop(trip.there);
    }
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_works_here),
        cmocka_unit_test(wait_works_here),
        cmocka_unit_test(many_tasks),
        cmocka_unit_test(others_come_as_guests),
        cmocka_unit_test(destroy_runs_detached_jobs),
        cmocka_unit_test(no_suicide),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(caller_sleeps_and_wakes),
        cmocka_unit_test(one_pool_at_a_time),
        cmocka_unit_test(others_may_not_destroy_it),
        cmocka_unit_test(caller_as_a_guest),
        cmocka_unit_test(destroy_against_submit),
        cmocka_unit_test(destroy_against_broadcast),
    };
    return RUN_ON_ALL_ROADS(tests);
}
