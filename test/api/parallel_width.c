/* SPDX-License-Identifier: MIT */
/* parallel_width.c: loops on a part of the pool: each element once, never on more threads than
 * said, and on so many if they are there. */
#include "actors.h"
#include "child.h"
#include "pools.h"
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct crowd {
    unsigned width;
    atomic_uint inside, most;
    unsigned meet; /* calls wait until so many have been inside at once */
    atomic_uchar *count;
};

static void note_most(struct crowd *crowd, unsigned inside)
{
    unsigned most = atomic_load(&crowd->most);
    while (most < inside && !atomic_compare_exchange_weak(&crowd->most, &most, inside))
        ;
}

static void mark(weft *w, size_t begin, size_t end, void *arg)
{
    struct crowd *crowd = arg;
    unsigned inside = atomic_fetch_add(&crowd->inside, 1) + 1;
    CHECK(begin < end);
    CHECK(crowd->width == 0 || inside <= crowd->width);
    note_most(crowd, inside);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&crowd->count[i], 1);
    WAIT_UNTIL(atomic_load(&crowd->most) >= crowd->meet);
    atomic_fetch_sub(&crowd->inside, 1);
}

struct loop {
    struct crowd *crowd;
    size_t begin, end;
};

static void run_loop(weft *w, void *arg)
{
    struct loop *loop = arg;
    weft_for_width(w, loop->begin, loop->end, loop->crowd->width, mark, loop->crowd);
}

static void expect_once(weft_pool *pool, unsigned width, unsigned meet, size_t begin, size_t end)
{
    struct crowd crowd = {.width = width, .meet = meet};
    struct loop loop = {&crowd, begin, end};
    crowd.count = calloc(end + 1, sizeof *crowd.count);
    assert_non_null(crowd.count);
    assert_int_equal(weft_run(pool, run_loop, &loop), 0);
    for (size_t i = 0; i < end; i++)
        assert_int_equal(atomic_load(&crowd.count[i]), i >= begin);
    assert_int_equal(atomic_load(&crowd.inside), 0);
    assert_true(atomic_load(&crowd.most) >= meet);
    free(crowd.count);
}

static void each_element_once(void **state)
{
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        weft_pool *pool = pool_make(workers, 0);
        for (unsigned width = 0; width <= 5; width++) {
            for (size_t n = 0; n < 20; n++)
                expect_once(pool, width, 0, 3, 3 + n);
            expect_once(pool, width, 0, 1, 100000);
        }
        expect_once(pool, 4096, 0, 0, 1000);
        expect_once(pool, UINT_MAX, 0, 0, 1000);
        pool_drop(pool);
    }
}

/* As many threads as said come, and no more (see mark). */
static void as_many_threads_as_said(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(6, flags);
        for (unsigned width = 1; width <= 5; width++)
            for (int i = 0; i < SCALED(10, 10); i++)
                expect_once(pool, width, width, 0, 1000);
        pool_drop(pool);
    }
}

/* The range may end at the last number there is. */
static void count_elements(weft *w, size_t begin, size_t end, void *elements)
{
    CHECK(begin < end);
    atomic_fetch_add((atomic_size_t *)elements, end - begin);
}

static void odd_ranges(weft *w, void *arg)
{
    atomic_size_t elements = 0;
    weft_for_width(w, SIZE_MAX - 1000, SIZE_MAX, 2, count_elements, &elements);
    CHECK(atomic_load(&elements) == 1000);
    weft_for_width(w, 5, 5, 2, count_elements, &elements);
    weft_for_width(w, 5, 2, 2, count_elements, &elements);
    CHECK(atomic_load(&elements) == 1000);
}

static void ranges_at_the_end(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, odd_ranges, NULL), 0);
    pool_drop(pool);
}

/* Nothing begins after a failure. */
static void fail_once(weft *w, size_t begin, size_t end, void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
    weft_fail(w, -EIO);
}

static void loop_that_fails(weft *w, void *calls)
{
    weft_for_width(w, 0, 100000, 3, fail_once, calls);
}

static void failure_ends_the_loop(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    atomic_uint calls = 0;
    assert_int_equal(weft_run(pool, loop_that_fails, &calls), -EIO);
    assert_in_range(atomic_load(&calls), 1, 3);
    pool_drop(pool);
}

/* In an actor, whose parts other executors take. */
static void mark_and_poll(weft *w, size_t begin, size_t end, void *arg)
{
    struct crowd *crowd = arg;
    unsigned inside = atomic_fetch_add(&crowd->inside, 1) + 1;
    CHECK(inside <= crowd->width);
    note_most(crowd, inside);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&crowd->count[i], 1);
    while (atomic_load(&crowd->most) < crowd->meet)
        weft_poll(w); /* parts are given away here */
    atomic_fetch_sub(&crowd->inside, 1);
}

static int loop_in_actor(weft *w, void *arg)
{
    struct loop *loop = arg;
    weft_for_width(w, loop->begin, loop->end, loop->crowd->width, mark_and_poll, loop->crowd);
    return 0;
}

static void actors_have_such_loops(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    struct crowd crowd = {.width = 2, .meet = 2};
    struct loop loop = {&crowd, 0, 1000};
    crowd.count = calloc(1000, sizeof *crowd.count);
    assert_non_null(crowd.count);
    assert_int_equal(run_one(pool, loop_in_actor, &loop), 0);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(atomic_load(&crowd.count[i]), 1);
    free(crowd.count);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_once),      cmocka_unit_test(as_many_threads_as_said),
        cmocka_unit_test(ranges_at_the_end),      cmocka_unit_test(failure_ends_the_loop),
        cmocka_unit_test(actors_have_such_loops),
    };
    return RUN_ON_ALL_ROADS(tests);
}
