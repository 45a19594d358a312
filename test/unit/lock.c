/* SPDX-License-Identifier: MIT */
/* lock.c: one at a time, nobody forgotten, and nothing touched after the drop. */
#include "os/lock.h"

#include "check.h"

#include <stdlib.h>

enum { THREADS = 4, ROUNDS = SCALED(200000, 10) };

static uint32_t state_of(struct weft__lock *lock)
{
    return atomic_load_relaxed(&lock->state);
}

static void states(void **state)
{
    struct weft__lock lock = {0};
    assert_int_equal(state_of(&lock), LOCK_FREE);
    weft__lock_take(&lock);
    assert_int_equal(state_of(&lock), LOCK_HELD);
    weft__lock_drop(&lock);
    assert_int_equal(state_of(&lock), LOCK_FREE);
}

struct counter {
    struct weft__lock lock;
    unsigned long count; /* plain: ThreadSanitizer looks */
    unsigned inside;
};

static void count(unsigned i, void *arg)
{
    struct counter *counter = arg;
    for (int r = 0; r < ROUNDS; r++) {
        weft__lock_take(&counter->lock);
        CHECK(counter->inside++ == 0);
        counter->count++;
        if (r % 64 == 0)
            sched_yield(); /* so that others find it held, on one CPU too */
        counter->inside--;
        weft__lock_drop(&counter->lock);
    }
}

static void one_at_a_time(void **state)
{
    struct counter counter = {0};
    in_threads(THREADS, count, &counter);
    assert_int_equal(counter.count, THREADS * (unsigned long)ROUNDS);
    assert_int_equal(state_of(&counter.lock), LOCK_FREE);
}

static void take_and_drop(unsigned i, void *arg)
{
    struct counter *counter = arg;
    if (i == 0) { /* holds it until all others sleep, or will */
        WAIT_UNTIL(state_of(&counter->lock) == LOCK_CONTENDED);
        weft__lock_drop(&counter->lock);
        return;
    }
    weft__lock_take(&counter->lock);
    counter->count++;
    weft__lock_drop(&counter->lock);
}

/* One drop wakes one sleeper, and that one's drop the next. */
static void sleepers_are_woken(void **state)
{
    for (int r = 0; r < rounds_of(1000); r++) {
        struct counter counter = {0};
        weft__lock_take(&counter.lock);
        in_threads(THREADS, take_and_drop, &counter);
        assert_int_equal(counter.count, THREADS - 1);
    }
}

struct shared {
    struct weft__lock lock;
    unsigned users;
};

static void use_and_free(unsigned i, void *arg)
{
    struct shared *shared = arg;
    weft__lock_take(&shared->lock);
    bool last = --shared->users == 0;
    weft__lock_drop(&shared->lock);
    if (last)
        free(shared); /* AddressSanitizer sees a drop that touches it later */
}

static void last_user_frees(void **state)
{
    for (int r = 0; r < rounds_of(1000); r++) {
        struct shared *shared = calloc(1, sizeof *shared);
        assert_non_null(shared);
        shared->users = THREADS;
        in_threads(THREADS, use_and_free, shared);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(sleepers_are_woken),
        cmocka_unit_test(last_user_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
