/* SPDX-License-Identifier: MIT */
/* broadcast.c: once on each worker, whoever asks, whatever the workers are doing. */
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { WORKERS = 4 };

struct calls {
    atomic_uint of[WORKERS];
    pthread_t threads[WORKERS];
};

static void call(weft *w, void *arg)
{
    struct calls *calls = arg;
    unsigned i = weft_worker_index(w);
    CHECK(i < WORKERS);
    CHECK(weft_here() == w);
    calls->threads[i] = pthread_self();
    atomic_fetch_add(&calls->of[i], 1);
}

struct shared {
    weft_pool *pool;
    struct calls calls;
};

static void expect_calls(struct calls *calls, unsigned n)
{
    for (int i = 0; i < WORKERS; i++)
        CHECK(atomic_load(&calls->of[i]) == n);
}

static void from_outside(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    struct calls calls;
    memset(&calls, 0, sizeof calls);
    for (unsigned n = 1; n <= 500; n++) {
        assert_int_equal(weft_broadcast(pool, call, &calls), 0);
        expect_calls(&calls, n);
        if (n % 10 == 0)
            pool_wait_asleep(pool);
    }
    for (int i = 0; i < WORKERS; i++) /* each on a thread of its own */
        for (int j = 0; j < i; j++)
            assert_false(pthread_equal(calls.threads[i], calls.threads[j]));
    pool_drop(pool);
}

static void broadcast_job(weft *w, void *calls)
{
    CHECK(weft_broadcast(weft_pool_of(w), call, calls) == 0);
    CHECK(weft_here() == w);
}

static void from_a_job(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(WORKERS, flags);
        struct calls calls;
        memset(&calls, 0, sizeof calls);
        for (unsigned n = 1; n <= 500; n++) {
            assert_int_equal(weft_run(pool, broadcast_job, &calls), 0);
            expect_calls(&calls, n);
        }
        pool_drop(pool);
    }
}

/* Every worker broadcasts at once, and each runs the others' while it waits. */
static void from_everywhere_at_once(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    struct calls calls;
    memset(&calls, 0, sizeof calls);
    for (unsigned n = 1; n <= 200; n++) {
        assert_int_equal(weft_broadcast(pool, broadcast_job, &calls), 0);
        expect_calls(&calls, n * WORKERS);
    }
    pool_drop(pool);
}

static void broadcast_often(unsigned i, void *arg)
{
    struct shared *shared = arg;
    for (int n = 0; n < 200; n++)
        CHECK(weft_broadcast(shared->pool, call, &shared->calls) == 0);
}

static void from_many_threads(void **state)
{
    struct shared shared;
    memset(&shared, 0, sizeof shared);
    shared.pool = pool_make(WORKERS, 0);
    in_threads(4, broadcast_often, &shared);
    expect_calls(&shared.calls, 800);
    pool_drop(shared.pool);
}

/* From a job of another pool, whose worker goes on working for its own. */
static void broadcast_elsewhere(weft *w, void *arg)
{
    struct shared *shared = arg;
    CHECK(weft_broadcast(shared->pool, call, &shared->calls) == 0);
    CHECK(weft_here() == w);
}

static void from_another_pool(void **state)
{
    struct shared shared;
    memset(&shared, 0, sizeof shared);
    weft_pool *home = pool_make(1, WEFT_NO_GUESTS);
    shared.pool = pool_make(WORKERS, 0);
    for (unsigned n = 1; n <= 200; n++) {
        assert_int_equal(weft_run(home, broadcast_elsewhere, &shared), 0);
        expect_calls(&shared.calls, n);
    }
    pool_drop(shared.pool);
    pool_drop(home);
}

/* It reaches a worker that waits inside a job, too. */
struct waiting {
    struct gate gate;
    struct calls calls;
};

static void broadcast_then_open(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    atomic_store(&waiting->gate.arrived, true);
    CHECK(weft_broadcast(weft_pool_of(w), call, &waiting->calls) == 0);
}

static void wait_for_the_broadcast(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_fork(w, broadcast_then_open, waiting);
    gate_wait_arrived(&waiting->gate); /* another worker has it, and needs this one */
    CHECK(weft_merge(w));
}

static void to_a_worker_that_waits(void **state)
{
    weft_pool *pool = pool_make(WORKERS, WEFT_NO_GUESTS);
    for (int r = 0; r < rounds_of(300); r++) {
        struct waiting waiting;
        memset(&waiting, 0, sizeof waiting);
        assert_int_equal(weft_run(pool, wait_for_the_broadcast, &waiting), 0);
        expect_calls(&waiting.calls, 1);
    }
    pool_drop(pool);
}

static void detached_then_destroy(void **state)
{
    for (unsigned r = 0; r < (unsigned)rounds_of(100); r++) {
        weft_pool *pool = pool_make(WORKERS, 0);
        struct calls calls;
        memset(&calls, 0, sizeof calls);
        if (r % 2)
            pool_wait_asleep(pool);
        for (unsigned n = 0; n <= r % 3; n++)
            assert_int_equal(weft_broadcast_detached(pool, call, &calls), 0);
        pool_drop(pool); /* at once */
        expect_calls(&calls, 1 + r % 3);
    }
}

static void detached_from_a_job(weft *w, void *calls)
{
    CHECK(weft_broadcast_detached(weft_pool_of(w), call, calls) == 0);
}

static void detached_inside(void **state)
{
    for (int r = 0; r < rounds_of(100); r++) {
        weft_pool *pool = pool_make(WORKERS, r % 2 ? 0 : WEFT_NO_GUESTS);
        struct calls calls;
        memset(&calls, 0, sizeof calls);
        assert_int_equal(weft_run(pool, detached_from_a_job, &calls), 0);
        pool_drop(pool);
        expect_calls(&calls, 1);
    }
}

static void no_function(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_broadcast(pool, NULL, NULL), -EINVAL);
    assert_int_equal(weft_broadcast_detached(pool, NULL, NULL), -EINVAL);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_outside),
        cmocka_unit_test(from_a_job),
        cmocka_unit_test(from_everywhere_at_once),
        cmocka_unit_test(from_many_threads),
        cmocka_unit_test(from_another_pool),
        cmocka_unit_test(to_a_worker_that_waits),
        cmocka_unit_test(detached_then_destroy),
        cmocka_unit_test(detached_inside),
        cmocka_unit_test(no_function),
    };
    return RUN_ON_ALL_ROADS(tests);
}
