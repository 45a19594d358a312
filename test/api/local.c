/* SPDX-License-Identifier: MIT */
/* local.c: values that threads keep from job to job. */
#include "weft/local.h"

#include "property.h"
#include "weft/actor.h"

#include <pthread.h>

struct value {
    atomic_bool is_used;
    size_t sum;
};

struct counts {
    atomic_size_t made, dropped;
    bool waits; /* make waits, and the thread runs other jobs meanwhile */
};

static void dawdle_only(weft *w, size_t begin, size_t end, void *arg)
{
    dawdle(begin);
}

static void value_make(weft *w, void *value, void *arg)
{
    struct counts *counts = arg;
    HOLDS(((struct value *)value)->sum == 0);
    atomic_fetch_add(&counts->made, 1);
    if (counts->waits)
        weft_for(w, 0, 20, dawdle_only, NULL);
}

static void value_drop(weft *w, void *value, void *arg)
{
    struct counts *counts = arg;
    atomic_fetch_add(&counts->dropped, 1);
}

static const weft_state kind = {sizeof(struct value), value_make, value_drop};

/* Until the next call that may run another job, the value is this job's alone. */
static void add(weft *w, weft_local *local, size_t number)
{
    struct value *value = weft_local_get(w, local);
    HOLDS(value && !atomic_exchange(&value->is_used, true));
    value->sum += number;
    HOLDS(atomic_exchange(&value->is_used, false));
    HOLDS(value == weft_local_get(w, local));
}

static void collect(weft *w, void *value, void *sum)
{
    *(size_t *)sum += ((struct value *)value)->sum;
}

static size_t sum_of(weft_local *local)
{
    size_t sum = 0;
    weft_local_visit(NULL, local, collect, &sum);
    return sum;
}

struct work {
    weft_local *local;
    bool slow, nested;
};

static void add_range(weft *w, size_t begin, size_t end, void *arg)
{
    const struct work *work = arg;
    for (size_t i = begin; i < end; i++) {
        add(w, work->local, i);
        if (work->slow)
            dawdle(i);
        if (work->nested && i % 64 == 0)
            weft_for(w, 0, 8, dawdle_only, NULL);
    }
}

static void sums(weft *w, struct dice *dice)
{
    struct counts counts = {.waits = dice_below(dice, 2)};
    weft_local local;
    weft_local_init(&local, &kind, &counts);
    struct work work = {&local, dice_below(dice, 2), dice_below(dice, 2)};
    size_t n = dice_size(dice, 2000), times = 1 + dice_below(dice, 3);
    for (size_t i = 0; i < times; i++)
        weft_for(w, 0, n, add_range, &work);
    size_t sum = 0;
    weft_local_visit(w, &local, collect, &sum);
    HOLDS(sum == (n ? times * (n * (n - 1) / 2) : 0));
    HOLDS(counts.waits || counts.made <= weft_pool_workers(weft_pool_of(w)) + 1);
    weft_local_destroy(w, &local);
    HOLDS(counts.made == counts.dropped && (counts.made > 0) == (n > 0));
    weft_local_destroy(w, &local);
    HOLDS(counts.made == counts.dropped);
}

static void values_outlive_loops(void **state)
{
    property_holds(sums, SCALED(40, 5));
}

/* ---- Many workers ---- */

static void add_one(weft *w, void *local)
{
    add(w, local, 1);
}

static void each_worker_has_its_own(void **state)
{
    enum { MANY = 40 }; /* more than the object has room for itself */
    struct counts counts = {.waits = false};
    weft_local local;
    weft_pool *pool = pool_make(MANY, 0);
    weft_local_init(&local, &kind, &counts);
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(weft_broadcast(pool, add_one, &local), 0);
        assert_int_equal(counts.made, MANY);
        assert_int_equal(sum_of(&local), i * MANY);
    }
    pool_drop(pool);
    assert_int_equal(sum_of(&local), 3 * MANY); /* the values need no pool */
    weft_local_destroy(NULL, &local);
    assert_int_equal(counts.dropped, MANY);
    pool = pool_make(2, 0); /* and the object may be used again, in another one */
    assert_int_equal(weft_broadcast(pool, add_one, &local), 0);
    assert_int_equal(sum_of(&local), 2);
    weft_local_destroy(NULL, &local);
    pool_drop(pool);
}

/* ---- Guests ---- */

enum { GUESTS = 4, RUNS = 200 };

struct visit {
    weft_pool *pool;
    weft_local *local;
};

static void *run_often(void *arg)
{
    const struct visit *visit = arg;
    for (int i = 0; i < RUNS; i++)
        CHECK(weft_run(visit->pool, add_one, visit->local) == 0);
    return NULL;
}

/* Those that come one after the other use the same values. */
static void guests_have_values(void **state)
{
    struct counts counts = {.waits = false};
    weft_local local;
    weft_pool *pool = pool_make(2, 0);
    struct visit visit = {pool, &local};
    pthread_t threads[GUESTS];
    weft_local_init(&local, &kind, &counts);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < GUESTS; i++)
            CHECK(pthread_create(&threads[i], NULL, run_often, &visit) == 0);
        for (int i = 0; i < GUESTS; i++)
            pthread_join(threads[i], NULL);
    }
    assert_int_equal(sum_of(&local), 3 * GUESTS * RUNS);
    assert_in_range(counts.made, 1, GUESTS);
    pool_drop(pool);
    weft_local_destroy(NULL, &local);
}

/* ---- Jobs on top of each other share a value ---- */

static void child(weft *w, void *local)
{
    struct value *value = weft_local_get(w, local);
    CHECK(value->sum == 1); /* the parent's */
    value->sum = 2;
}

static void parent(weft *w, void *local)
{
    weft_scope scope;
    struct value *value = weft_local_get(w, local);
    value->sum = 1;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, child, local) == 0);
    CHECK(value->sum == 1); /* spawning runs nothing */
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(weft_local_get(w, local) == value && value->sum == 2);
}

static void a_wait_shares_the_value(void **state)
{
    struct counts counts = {.waits = false};
    weft_local local;
    weft_pool *pool = pool_make(1, WEFT_USE_CALLER); /* there is one thread only */
    weft_local_init(&local, &kind, &counts);
    assert_int_equal(weft_run(pool, parent, &local), 0);
    assert_int_equal(counts.made, 1);
    weft_local_destroy(NULL, &local);
    pool_drop(pool);
}

/* A make that waits finds that its thread has a value already: it is dropped, and that is used. */
static void set_three(weft *w, void *local)
{
    ((struct value *)weft_local_get(w, local))->sum = 3;
}

struct recursive {
    struct counts counts;
    weft_local local;
};

static void make_and_wait(weft *w, void *value, void *arg)
{
    struct recursive *all = arg;
    weft_scope scope;
    value_make(w, value, &all->counts);
    if (all->counts.made > 1)
        return;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, set_three, &all->local) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void drop_counted(weft *w, void *value, void *arg)
{
    value_drop(w, value, &((struct recursive *)arg)->counts);
}

static void get_three(weft *w, void *arg)
{
    struct recursive *all = arg;
    struct value *value = weft_local_get(w, &all->local);
    CHECK(value->sum == 3 && all->counts.made == 2 && all->counts.dropped == 1);
}

static void a_make_that_waits_is_no_harm(void **state)
{
    struct recursive all = {.counts = {.waits = false}};
    weft_pool *pool = pool_make(1, WEFT_USE_CALLER);
    weft_local_init(&all.local, &(weft_state){sizeof(struct value), make_and_wait, drop_counted},
                    &all);
    assert_int_equal(weft_run(pool, get_three, &all), 0);
    weft_local_destroy(NULL, &all.local);
    assert_int_equal(all.counts.dropped, 2);
    pool_drop(pool);
}

/* ---- Actors ---- */

enum { ACTORS = 20, STEPS = 300 };

static int step_often(weft *w, void *local)
{
    for (int i = 0; i < STEPS; i++) {
        add(w, local, 1);
        if (i % 3 == 0)
            weft_yield(w); /* it may be on another thread now */
        else
            weft_poll(w);
    }
    return 0;
}

static void actors_use_the_value_of_their_thread(void **state)
{
    struct counts counts = {.waits = false};
    weft_local local;
    weft_pool *pool = pool_make(3, 0);
    weft_actor *actors[ACTORS];
    weft_local_init(&local, &kind, &counts);
    for (int i = 0; i < ACTORS; i++) {
        CHECK(weft_actor_create(&actors[i], pool, step_often, &local, NULL) == 0);
        CHECK(weft_actor_run(actors[i]) == 0);
    }
    for (int i = 0; i < ACTORS; i++) {
        assert_int_equal(weft_actor_wait(NULL, actors[i]), 0);
        weft_actor_release(actors[i]);
    }
    assert_int_equal(sum_of(&local), ACTORS * STEPS);
    assert_in_range(counts.made, 1, 4);
    pool_drop(pool);
    weft_local_destroy(NULL, &local);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_outlive_loops),
        cmocka_unit_test(each_worker_has_its_own),
        cmocka_unit_test(guests_have_values),
        cmocka_unit_test(a_wait_shares_the_value),
        cmocka_unit_test(a_make_that_waits_is_no_harm),
        cmocka_unit_test(actors_use_the_value_of_their_thread),
    };
    return RUN_ON_ALL_ROADS(tests);
}
