/* SPDX-License-Identifier: MIT */
/* bedtime.c: work that comes just when a worker falls asleep (bugs 4, 5, 8 and 9), under every
 * protocol. One worker, which does not spin: it is on its way to sleep as soon as it has done
 * something. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"

enum { ROUNDS = SCALED(1500, 3), DELAYS = 600 };

static enum weft_sleep protocol; /* the one that is tried now */

static weft_pool *make_sleepy(unsigned workers)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spin_rounds = WEFT_NONE;
    config.sleep = protocol;
    return pool_make_with(&config);
}

/* A little while, another one each time: the moment to be hit is a few nanoseconds long. */
static void delay(unsigned round)
{
    for (volatile unsigned i = round * 7 % DELAYS; i > 0; i--)
        ;
}

static void mail(void **state)
{
    weft_pool *pool = make_sleepy(1);
    atomic_ulong count = 0;
    for (unsigned r = 0; r < ROUNDS; r++) {
        assert_int_equal(weft_broadcast_detached(pool, count_job, &count), 0);
        while (atomic_load(&count) <= r)
            ; /* no yield: it has to see it at once */
        delay(r);
        if (r % 1024 == 0)
            watchdog_kick();
    }
    pool_drop(pool);
    assert_int_equal(atomic_load(&count), ROUNDS);
}

static void submitted(void **state)
{
    weft_pool *pool = make_sleepy(1);
    atomic_ulong count = 0;
    for (unsigned r = 0; r < ROUNDS; r++) {
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
        while (!weft_task_done(&task))
            ;
        delay(r);
        if (r % 1024 == 0)
            watchdog_kick();
    }
    pool_drop(pool);
    assert_int_equal(atomic_load(&count), ROUNDS);
}

/* One worker's job against the other's way to sleep: a spawned job, then the latch. */
struct relay {
    atomic_ulong count;
    unsigned round;
};

static void spawn_and_wait(weft *w, void *arg)
{
    struct relay *relay = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    unsigned long before = atomic_load(&relay->count);
    CHECK(weft_spawn(w, &scope, count_job, &relay->count) == 0);
    delay(relay->round);
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(atomic_load(&relay->count) == before + 1);
}

static void spawned(void **state)
{
    weft_pool *pool = make_sleepy(2);
    struct relay relay = {.count = 0};
    for (unsigned r = 0; r < ROUNDS; r++) {
        relay.round = r;
        assert_int_equal(weft_run(pool, spawn_and_wait, &relay), 0);
        if (r % 1024 == 0)
            watchdog_kick();
    }
    pool_drop(pool);
    assert_int_equal(atomic_load(&relay.count), ROUNDS);
}

/* The same for a fork: the left side waits for its thief, on its way to sleep, while the thief
 * ends. */
static void end_soon(weft *w, void *arg)
{
    struct relay *relay = arg;
    delay(relay->round);
    atomic_fetch_add(&relay->count, 1);
}

static void fork_and_wait(weft *w, void *arg)
{
    struct relay *relay = arg;
    weft_fork(w, end_soon, relay);
    if (!weft_merge(w))
        end_soon(w, relay);
}

static void forked(void **state)
{
    weft_pool *pool = make_sleepy(2);
    struct relay relay = {.count = 0};
    for (unsigned r = 0; r < ROUNDS; r++) {
        weft_task task;
        relay.round = r;
        assert_int_equal(weft_submit(pool, &task, fork_and_wait, &relay), 0);
        while (!weft_task_done(&task))
            ;
        if (r % 1024 == 0)
            watchdog_kick();
    }
    pool_drop(pool);
    assert_int_equal(atomic_load(&relay.count), ROUNDS);
}

/* Stopping it is such a moment, too. */
static void stopped(void **state)
{
    for (unsigned r = 0; r < ROUNDS / 30; r++) {
        weft_pool *pool = make_sleepy(1);
        atomic_ulong count = 0;
        assert_int_equal(weft_broadcast_detached(pool, count_job, &count), 0);
        while (atomic_load(&count) == 0)
            ;
        delay(r);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail),   cmocka_unit_test(submitted), cmocka_unit_test(spawned),
        cmocka_unit_test(forked), cmocka_unit_test(stopped),
    };
    int failed = 0;
    for (protocol = WEFT_SLEEP_TICKLE; protocol <= WEFT_SLEEP_COUNTERS_TWO; protocol++)
        failed += RUN_ON_ALL_ROADS(tests);
    return failed;
}
