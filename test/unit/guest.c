/* SPDX-License-Identifier: MIT */
/* guest.c: who is present is in the list, who has left is not, and who was not needed for a while
 * is freed, unless somebody looks at it. */
#include "core/guest.h"
#include "check.h"
#include "core/pool.h"

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 2, MANY = 40 };

static weft_pool *pool;

static int open_pool(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WORKERS;
    int error = weft_pool_create(&pool, &config);
    while (!error && weft__sleep_resting(&pool->sleep).sleeping < WORKERS)
        wait_a_moment(); /* who searches walks through the guests */
    return error;
}

static int close_pool(void **state)
{
    return weft_pool_destroy(pool);
}

static struct weft__worker *get(void)
{
    struct weft__worker *guest = weft__guest_get(pool, WORKER_GUEST);
    assert_non_null(guest);
    return guest;
}

static unsigned present(void)
{
    unsigned n = 0;
    struct weft__worker *guest = weft__guests_first(pool);
    for (; guest; guest = weft__guests_next(guest))
        n++;
    return n;
}

static unsigned made(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < pool->guests.room; i++)
        n += pool->guests.all[i] != NULL;
    return n;
}

static void get_many(struct weft__worker **guests, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        guests[i] = get();
}

static void put_many(struct weft__worker **guests, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        weft__guest_put(guests[i]);
}

static void numbers_are_the_smallest_free_ones(void **state)
{
    struct weft__worker *guests[MANY];
    get_many(guests, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(guests[i]->index, WORKERS + i);
    weft__guest_put(guests[7]);
    weft__guest_put(guests[3]);
    assert_ptr_equal(get(), guests[3]);
    assert_ptr_equal(get(), guests[7]);
    put_many(guests, MANY);
    assert_ptr_equal(get(), guests[0]);
    weft__guest_put(guests[0]);
}

static void who_has_left_is_in_no_list(void **state)
{
    struct weft__worker *guests[MANY];
    get_many(guests, MANY);
    assert_int_equal(present(), MANY);
    weft__guest_put(guests[MANY - 1]); /* the first in the list, */
    weft__guest_put(guests[0]);        /* the last, */
    weft__guest_put(guests[5]);        /* and one in between */
    assert_int_equal(present(), MANY - 3);
    for (unsigned i = 0; i < MANY; i++)
        if (guests[i]->taken)
            weft__guest_put(guests[i]);
    assert_null(weft__guests_first(pool));
    assert_int_equal(made(), MANY);
}

/* A second of use keeps what it used; the second without it does not. */
static void what_nobody_used_is_freed(void **state)
{
    struct weft__worker *guests[MANY];
    get_many(guests, MANY);
    put_many(guests, MANY);
    weft__guests_trim(pool); /* they were in use until now */
    assert_int_equal(made(), MANY);
    get_many(guests, 3);
    put_many(guests, 3);
    weft__guests_trim(pool);
    assert_int_equal(made(), 3);
    weft__guests_trim(pool);
    assert_int_equal(made(), 1); /* one is always there */
    get_many(guests, 2);
    assert_int_equal(guests[1]->index, WORKERS + 1);
    weft__guest_put(guests[0]);
    weft__guests_trim(pool);
    weft__guests_trim(pool);
    assert_int_equal(made(), 2); /* it is in use, and so are the numbers below it */
    weft__guest_put(guests[1]);
}

static void who_is_looked_at_stays(void **state)
{
    struct weft__worker *guests[MANY], *thief = pool->workers[0];
    get_many(guests, MANY);
    put_many(guests, MANY);
    weft__guests_trim(pool);
    atomic_store_relaxed(&thief->walks, true); /* its own thread sleeps */
    weft__guests_trim(pool);
    assert_int_equal(made(), MANY);
    atomic_store_relaxed(&thief->walks, false);
    weft__guests_trim(pool);
    assert_int_equal(made(), 1);
}

/* The sleep module knows a spare's parking place for ever. */
static void spares_stay(void **state)
{
    struct weft__worker *guests[2];
    get_many(guests, 1);
    guests[1] = weft__guest_get(pool, WORKER_SPARE);
    put_many(guests, 2);
    for (int i = 0; i < 3; i++)
        weft__guests_trim(pool);
    assert_int_equal(made(), 2);
}

static void walk_meets_all(void **state)
{
    struct weft__worker *guests[3], *worker;
    get_many(guests, 3);
    struct weft__walk walk = {.pool = pool};
    unsigned n = 0;
    while ((worker = weft__walk_next(&walk)))
        assert_int_equal(worker->index, n < WORKERS ? n : WORKERS + 2 - (n - WORKERS)), n++;
    assert_int_equal(n, WORKERS + 3);
    assert_false(walk.locked);
    struct weft__walk part = {.pool = pool};
    for (unsigned i = 0; i < WORKERS + 1; i++)
        assert_non_null(weft__walk_next(&part));
    assert_true(part.locked);
    weft__walk_stop(&part);
    put_many(guests, 3); /* the lock is free */
}

/* As a debugger calls it, in a thread that it has stopped with the lock. */
static void dump_takes_no_lock(void **state)
{
    struct weft__worker *guest = get();
    FILE *out = tmpfile();
    assert_non_null(out);
    weft__lock_take(&pool->guests.lock);
    weft_pool_dump(pool, out);
    weft__lock_drop(&pool->guests.lock);
    assert_true(ftell(out) > 0);
    fclose(out);
    weft__guest_put(guest);
}

static void meet(weft *w, void *all_here)
{
    if (pthread_barrier_wait(all_here) == PTHREAD_BARRIER_SERIAL_THREAD)
        CHECK(atomic_load_relaxed(&pool->guests.made) == MANY);
    pthread_barrier_wait(all_here);
}

static void come_in(unsigned i, void *all_here)
{
    CHECK(weft_run(pool, meet, all_here) == 0);
}

/* The workers sleep for good, and there is no place for them while the guests are here: the last
 * guest calls somebody who looks after what they leave behind. */
static void a_crowd_is_forgotten(void **state)
{
    pthread_barrier_t all_here;
    assert_int_equal(pthread_barrier_init(&all_here, NULL, MANY), 0);
    in_threads(MANY, come_in, &all_here);
    pthread_barrier_destroy(&all_here);
    WAIT_UNTIL(atomic_load_relaxed(&pool->guests.made) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_the_smallest_free_ones, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(who_has_left_is_in_no_list, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(what_nobody_used_is_freed, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(who_is_looked_at_stays, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(spares_stay, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(walk_meets_all, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(dump_takes_no_lock, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(a_crowd_is_forgotten, open_pool, close_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
