/* SPDX-License-Identifier: MIT */
/* lifecycle.c: ten thousand pools for each number of workers, each with a little work, some
 * of which is still under way when the pool is destroyed. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"

#include <errno.h>
#include <pthread.h>

/* ---- A little work ---- */

static void fork_some(weft *w, void *arg)
{
    weft_join(w, count_job, arg, count_job, arg);
}

static void spawn_detached(weft *w, void *arg)
{
    CHECK(weft_spawn_detached(w, count_job, arg) == 0);
    CHECK(weft_spawn_detached(w, fork_some, arg) == 0);
}

/* One thing or another, depending on `kind`: how much is counted in the end. */
static unsigned long work_a_little(weft_pool *pool, unsigned kind, atomic_ulong *count,
                                   weft_task *task)
{
    switch (kind) {
    case 0: /* none at all: destroyed while its workers start */
        return 0;
    case 1:
        CHECK(weft_run(pool, fork_some, count) == 0);
        return 2;
    case 2:
        CHECK(weft_submit(pool, task, fork_some, count) == 0);
        return 2;
    case 3:
        CHECK(weft_broadcast_detached(pool, count_job, count) == 0);
        return weft_pool_workers(pool);
    default:
        CHECK(weft_run(pool, spawn_detached, count) == 0);
        return 3;
    }
}

static void live_and_die(unsigned workers, unsigned pools)
{
    enum { KINDS = 5 };
    for (unsigned i = 0; i < pools; i++) {
        static const unsigned flags[] = {0, WEFT_NO_GUESTS, 0, WEFT_USE_CALLER};
        weft_pool *pool = pool_make(workers, flags[i / KINDS % 4]);
        atomic_ulong count = 0;
        weft_task task;
        unsigned long expected = work_a_little(pool, i % KINDS, &count, &task);
        pool_drop(pool);
        assert_int_equal(atomic_load(&count), expected);
    }
}

/* On three roads: ten thousand; and one thousand with 64 workers. */

static void workers_1(void **state)
{
    live_and_die(1, SCALED(3334, 10));
}

static void workers_2(void **state)
{
    live_and_die(2, SCALED(3334, 10));
}

static void workers_8(void **state)
{
    live_and_die(8, SCALED(3334, 20));
}

static void workers_64(void **state)
{
    live_and_die(64, SCALED(334, 10));
}

/* ---- Destroyed by somebody whom the work has told, while the one who sent it is still on
 * its way out of the call ---- */

struct relay {
    weft_pool *pool;
    weft_task task;
    atomic_uint told;
    bool broadcasts;
};

static void tell(weft *w, void *arg)
{
    atomic_fetch_add(&((struct relay *)arg)->told, 1);
}

static void *send(void *arg)
{
    struct relay *relay = arg;
    if (relay->broadcasts)
        CHECK(weft_broadcast_detached(relay->pool, tell, relay) == 0);
    else
        CHECK(weft_submit(relay->pool, &relay->task, tell, relay) == 0);
    return NULL;
}

static void destroy_when_told(bool broadcasts)
{
    for (int r = 0; r < SCALED(1000, 8); r++) {
        unsigned workers = 1 + (unsigned)r % 2;
        struct relay relay = {.pool = pool_make(workers, 0), .broadcasts = broadcasts};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, send, &relay), 0);
        WAIT_UNTIL(atomic_load(&relay.told) == (broadcasts ? workers : 1));
        pool_drop(relay.pool);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static void destroy_when_a_task_says_so(void **state)
{
    destroy_when_told(false);
}

static void destroy_when_a_broadcast_says_so(void **state)
{
    destroy_when_told(true);
}

/* ---- Destroyed while others wait for what they submitted ---- */

enum { WAITERS = 4 };

struct crowd {
    weft_pool *pool;
    pthread_barrier_t submitted;
    atomic_ulong count;
};

static void submit_and_wait(unsigned i, void *arg)
{
    struct crowd *crowd = arg;
    weft_task task;
    if (i == WAITERS) {
        pthread_barrier_wait(&crowd->submitted);
        pool_drop(crowd->pool);
        return;
    }
    CHECK(weft_submit(crowd->pool, &task, fork_some, &crowd->count) == 0);
    pthread_barrier_wait(&crowd->submitted);
    CHECK(weft_task_wait(&task) == 0);
}

static void destroy_while_others_wait(void **state)
{
    for (int r = 0; r < SCALED(400, 8); r++) {
        struct crowd crowd = {.pool = pool_make(2, r % 2 ? 0 : WEFT_NO_GUESTS)};
        assert_int_equal(pthread_barrier_init(&crowd.submitted, NULL, WAITERS + 1), 0);
        in_threads(WAITERS + 1, submit_and_wait, &crowd);
        pthread_barrier_destroy(&crowd.submitted);
        assert_int_equal(atomic_load(&crowd.count), 2 * WAITERS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_1),
        cmocka_unit_test(workers_2),
        cmocka_unit_test(workers_8),
        cmocka_unit_test(workers_64),
        cmocka_unit_test(destroy_when_a_task_says_so),
        cmocka_unit_test(destroy_when_a_broadcast_says_so),
        cmocka_unit_test(destroy_while_others_wait),
    };
    return RUN_ON_ALL_ROADS(tests);
}
