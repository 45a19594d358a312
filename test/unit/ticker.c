/* SPDX-License-Identifier: MIT */
/* ticker.c: which quanta a tick in a hurry ends, by a clock that stands still. No thread runs here
 * but the test's own: it stands for an executor that has just become idle. */
#include "actor/ticker.h"

#include "check.h"

#include <time.h>

enum {
    QUANTUM = 10000000,
    SHORT = 30000, /* what ticker.c calls so */
    NOW = 1000000000,
};

/* Stands before the C library's. */
static uint64_t now = NOW;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

/* Executor 0 is at work, and the last tick was long ago; executor 1 is idle. */
struct place {
    struct weft__actors system;
    struct weft__executor executors[2];
};

static void place_open(struct place *place)
{
    *place = (struct place){.system = {.quantum = QUANTUM, .executor_count = 2}};
    now = NOW;
    place->system.executors = place->executors;
    atomic_store_relaxed(&place->executors[0].inbox.posted, true);
    atomic_store_relaxed(&place->system.busy, 1);
    atomic_store_relaxed(&place->system.ticker.last, now - QUANTUM);
}

static void busy_one_began(struct place *place, uint64_t ago)
{
    atomic_store_relaxed(&place->executors[0].seen, now - ago);
}

static bool hurry(struct place *place, bool has_begun)
{
    return weft__ticker_hurry(&place->system, has_begun);
}

static bool is_ticked(struct place *place)
{
    return atomic_load_relaxed(&place->executors[0].tick);
}

/* Is the ticker's thread asked to come after a short quantum? */
static bool is_asked(struct place *place)
{
    return atomic_load_relaxed(&place->system.ticker.hurry) &&
           atomic_load_relaxed(&place->system.ticker.word) == 1;
}

static void old_quantum_ends_at_once(void **state)
{
    struct place place;
    place_open(&place);
    busy_one_began(&place, SHORT);
    assert_true(hurry(&place, false));
    assert_true(is_ticked(&place));
    assert_false(is_asked(&place));
    assert_int_equal(atomic_load_relaxed(&place.system.ticker.last), now);
}

/* Else right sides would be stolen that have not waited for a short quantum. */
static void young_quantum_goes_on(void **state)
{
    struct place place;
    place_open(&place);
    busy_one_began(&place, SHORT - 1);
    assert_true(hurry(&place, false));
    assert_false(is_ticked(&place));
    assert_true(is_asked(&place));
}

/* The caller's own quantum began at the tick, but it is seen only now. */
static void quantum_that_has_just_begun_goes_on(void **state)
{
    struct place place;
    place_open(&place);
    assert_true(hurry(&place, true));
    assert_false(is_ticked(&place));
    assert_true(is_asked(&place));
    assert_int_equal(atomic_load_relaxed(&place.system.ticker.last), now);
}

static void two_ticks_in_a_row_are_one(void **state)
{
    struct place place;
    place_open(&place);
    assert_true(hurry(&place, false));
    atomic_store_relaxed(&place.executors[0].tick, false); /* its driver has seen it */
    now += SHORT - 1;
    assert_true(hurry(&place, false));
    assert_false(is_ticked(&place));
    assert_true(is_asked(&place));
    now += 1;
    assert_true(hurry(&place, false));
    assert_true(is_ticked(&place));
}

static void nothing_to_hurry_for(void **state)
{
    struct place place;
    place_open(&place); /* no executor wants work */
    atomic_store_relaxed(&place.executors[1].inbox.posted, true);
    assert_false(hurry(&place, false));
    place_open(&place); /* one wants it, but it will come */
    atomic_store_relaxed(&place.executors[1].reserved, &place);
    assert_false(hurry(&place, false));
    place_open(&place); /* no executor has any */
    atomic_store_relaxed(&place.system.busy, 0);
    assert_false(hurry(&place, false));
    place_open(&place); /* quanta are not times */
    place.system.counted = 100;
    assert_false(hurry(&place, false));
    assert_false(is_ticked(&place));
}

/* A quantum of the pool that is shorter than a short one. */
static void quantum_of_the_pool_is_the_longest(void **state)
{
    struct place place;
    place_open(&place);
    place.system.quantum = SHORT / 10;
    busy_one_began(&place, SHORT / 10);
    assert_true(hurry(&place, false));
    assert_true(is_ticked(&place));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_quantum_ends_at_once),
        cmocka_unit_test(young_quantum_goes_on),
        cmocka_unit_test(quantum_that_has_just_begun_goes_on),
        cmocka_unit_test(two_ticks_in_a_row_are_one),
        cmocka_unit_test(nothing_to_hurry_for),
        cmocka_unit_test(quantum_of_the_pool_is_the_longest),
    };
    return cmocka_run_group_tests_name("ticker", tests, NULL, NULL);
}
