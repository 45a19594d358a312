/* SPDX-License-Identifier: MIT */
/* scope_width.c: scopes on a part of the pool: each child once, never more at a time than said, and
 * as many if there are threads. */
#include "actors.h"
#include "pools.h"
#include "weft/sync.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>

enum { CHILDREN = 200 };

struct crowd {
    weft_scope scope;
    unsigned width;
    unsigned meet; /* a child waits until so many have been inside at once */
    unsigned children;
    unsigned grandchildren;                  /* each child spawns so many */
    void (*between)(weft *, struct crowd *); /* what a child does while it is inside; or NULL */
    weft_mutex mutex;
    atomic_uint inside, most, ran, dropped;
};

static void note_most(struct crowd *crowd, unsigned inside)
{
    unsigned most = atomic_load(&crowd->most);
    while (most < inside && !atomic_compare_exchange_weak(&crowd->most, &most, inside))
        ;
}

static void enter(struct crowd *crowd)
{
    unsigned inside = atomic_fetch_add(&crowd->inside, 1) + 1;
    CHECK(crowd->width == 0 || inside <= crowd->width);
    note_most(crowd, inside);
    atomic_fetch_add(&crowd->ran, 1);
}

static void spend(weft *w, struct crowd *crowd)
{
    enter(crowd);
    if (crowd->between)
        crowd->between(w, crowd);
    WAIT_UNTIL(atomic_load(&crowd->most) >= crowd->meet);
    atomic_fetch_sub(&crowd->inside, 1);
}

static void grandchild(weft *w, void *arg)
{
    spend(w, arg);
}

static void child(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    for (unsigned i = 0; i < crowd->grandchildren; i++)
        CHECK(weft_spawn(w, &crowd->scope, grandchild, crowd) == 0);
    spend(w, crowd);
}

static void child_of_copy(weft *w, void *copy)
{
    child(w, *(void **)copy);
}

static void drop(weft *w, void *arg)
{
    atomic_fetch_add(&((struct crowd *)arg)->dropped, 1);
}

/* One kind after the other: they share the places. */
static int spawn(weft *w, struct crowd *crowd, unsigned i)
{
    switch (i % 4) {
    case 0:
        return weft_spawn(w, &crowd->scope, child, crowd);
    case 1:
        return weft_spawn_fifo(w, &crowd->scope, child, crowd);
    case 2:
        return weft_spawn_drop(w, &crowd->scope, child, crowd, drop);
    default:
        return weft_spawn_copy(w, &crowd->scope, child_of_copy, &crowd, sizeof crowd, NULL);
    }
}

static void run_crowd(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_scope_open(w, &crowd->scope);
    weft_scope_width(&crowd->scope, crowd->width);
    for (unsigned i = 0; i < crowd->children; i++)
        CHECK(spawn(w, crowd, i) == 0);
    CHECK(weft_scope_close(w, &crowd->scope) == 0);
    CHECK(atomic_load(&crowd->inside) == 0);
    CHECK(atomic_load(&crowd->ran) == crowd->children * (1 + crowd->grandchildren));
}

static void each_child_once(void **state)
{
    static const unsigned widths[] = {0, 1, 2, 3, 100, INT_MAX, UINT_MAX};
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        weft_pool *pool = pool_make(workers, 0);
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
            for (unsigned children = 0; children <= CHILDREN; children += CHILDREN / 4) {
                struct crowd crowd = {.width = widths[i], .children = children, .grandchildren = 2};
                assert_int_equal(weft_run(pool, run_crowd, &crowd), 0);
            }
        pool_drop(pool);
    }
}

/* As many threads as said come, and no more. */
static void as_many_threads_as_said(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(6, flags);
        for (unsigned width = 1; width <= 5; width++)
            for (int i = 0; i < SCALED(10, 10); i++) {
                struct crowd crowd = {
                    .width = width, .meet = width, .children = 20, .grandchildren = 1};
                assert_int_equal(weft_run(pool, run_crowd, &crowd), 0);
            }
        pool_drop(pool);
    }
}

/* ---- Children that wait keep their places ---- */

static void fork_nothing(weft *w, void *arg)
{
}

static void wait_for_forks(weft *w, struct crowd *crowd)
{
    weft_join(w, fork_nothing, NULL, fork_nothing, NULL);
    weft_scope inner;
    weft_scope_open(w, &inner);
    for (int i = 0; i < 3; i++)
        CHECK(weft_spawn(w, &inner, fork_nothing, NULL) == 0);
    CHECK(weft_scope_close(w, &inner) == 0);
}

static void wait_for_mutex(weft *w, struct crowd *crowd)
{
    weft_mutex_lock(w, &crowd->mutex);
    weft_mutex_unlock(w, &crowd->mutex);
}

static void block(weft *w, struct crowd *crowd)
{
    weft_block_begin(w);
    (void)sched_yield();
    weft_block_end(w);
}

static void yield(weft *w, struct crowd *crowd)
{
    (void)weft_yield(w);
}

static void waiting_children_keep_their_places(void **state)
{
    void (*const ways[])(weft *, struct crowd *) = {wait_for_forks, wait_for_mutex, block, yield};
    weft_pool *pool = pool_make(4, 0);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (unsigned width = 1; width <= 3; width++) {
            struct crowd crowd = {.width = width, .children = SCALED(100, 4), .between = ways[i]};
            weft_mutex_init(&crowd.mutex, "mutex");
            assert_int_equal(weft_run(pool, run_crowd, &crowd), 0);
        }
    pool_drop(pool);
}

/* A thread that holds a mutex takes no jobs but those of its scope. */
static void run_crowd_as_holder(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_mutex_lock(w, &crowd->mutex);
    run_crowd(w, arg);
    weft_mutex_unlock(w, &crowd->mutex);
}

static void holders_have_such_scopes(void **state)
{
    weft_pool *pool = pool_make(3, 0);
    for (unsigned width = 1; width <= 2; width++) {
        struct crowd crowd = {.width = width, .children = CHILDREN, .grandchildren = 1};
        weft_mutex_init(&crowd.mutex, "mutex");
        assert_int_equal(weft_run(pool, run_crowd_as_holder, &crowd), 0);
    }
    pool_drop(pool);
}

/* ---- One after the other ---- */

struct diary {
    weft_scope scope;
    unsigned next; /* plain: with one place, children see what the ones before them did */
    unsigned numbers[CHILDREN];
};

static void expect_next(weft *w, void *arg)
{
    const unsigned *number = arg;
    struct diary *diary = (struct diary *)(void *)((char *)(uintptr_t)(number - *number) -
                                                   offsetof(struct diary, numbers));
    CHECK(diary->next == *number);
    diary->next++;
}

static void write_diary(weft *w, void *arg)
{
    struct diary *diary = arg;
    weft_scope_open(w, &diary->scope);
    weft_scope_width(&diary->scope, 1);
    for (unsigned i = 0; i < CHILDREN; i++) {
        diary->numbers[i] = i;
        CHECK((i % 3 ? weft_spawn : weft_spawn_fifo)(w, &diary->scope, expect_next,
                                                     &diary->numbers[i]) == 0);
    }
    CHECK(weft_scope_close(w, &diary->scope) == 0);
    CHECK(diary->next == CHILDREN);
}

static int write_diary_actor(weft *w, void *arg)
{
    write_diary(w, arg);
    return 0;
}

static void one_after_the_other(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    for (int i = 0; i < SCALED(50, 10); i++) {
        struct diary diary = {0}, of_actor = {0};
        assert_int_equal(weft_run(pool, write_diary, &diary), 0);
        assert_int_equal(run_one(pool, write_diary_actor, &of_actor), 0);
    }
    pool_drop(pool);
}

/* ---- The width is given once more, or taken back, before the first child ---- */

static void change_mind(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_scope_open(w, &crowd->scope);
    weft_scope_width(&crowd->scope, 1);
    weft_scope_width(&crowd->scope, 0);
    weft_scope_width(&crowd->scope, crowd->width);
    for (unsigned i = 0; i < crowd->children; i++)
        CHECK(spawn(w, crowd, i) == 0);
    CHECK(weft_scope_close(w, &crowd->scope) == 0);
    /* Opened again, it is wide. */
    weft_scope_open(w, &crowd->scope);
    crowd->width = 0;
    for (unsigned i = 0; i < crowd->children; i++)
        CHECK(spawn(w, crowd, i) == 0);
    CHECK(weft_scope_close(w, &crowd->scope) == 0);
    CHECK(atomic_load(&crowd->ran) == 2 * crowd->children);
}

static void width_is_changed(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    struct crowd crowd = {.width = 3, .meet = 3, .children = 20};
    assert_int_equal(weft_run(pool, change_mind, &crowd), 0);
    pool_drop(pool);
}

/* ---- Cancelled ---- */

static void fail_here(weft *w, struct crowd *crowd)
{
    weft_fail(w, -EIO);
}

static void spawn_drops(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_scope_open(w, &crowd->scope);
    weft_scope_width(&crowd->scope, crowd->width);
    for (unsigned i = 0; i < crowd->children; i++)
        CHECK(weft_spawn_drop(w, &crowd->scope, child, crowd, drop) == 0);
    CHECK(weft_scope_close(w, &crowd->scope) == -EIO);
    CHECK(atomic_load(&crowd->ran) + atomic_load(&crowd->dropped) == crowd->children);
    CHECK(atomic_load(&crowd->ran) >= 1 && atomic_load(&crowd->ran) <= crowd->width);
}

static int spawn_drops_actor(weft *w, void *arg)
{
    spawn_drops(w, arg);
    return 0;
}

static void run_late(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_scope_open(w, &crowd->scope);
    weft_scope_width(&crowd->scope, 2);
    weft_scope_deadline(&crowd->scope, 1);
    for (unsigned i = 0; i < crowd->children; i++)
        CHECK(weft_spawn_drop(w, &crowd->scope, child, crowd, drop) == 0);
    CHECK(weft_scope_close(w, &crowd->scope) == -ETIMEDOUT);
    CHECK(atomic_load(&crowd->dropped) == crowd->children);
}

static void cancelled(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    for (unsigned width = 1; width <= 3; width++) {
        struct crowd crowd = {.width = width, .children = CHILDREN, .between = fail_here};
        struct crowd of_actor = {.width = width, .children = CHILDREN, .between = fail_here};
        assert_int_equal(weft_run(pool, spawn_drops, &crowd), 0);
        assert_int_equal(run_one(pool, spawn_drops_actor, &of_actor), 0);
    }
    struct crowd late = {.children = CHILDREN};
    assert_int_equal(weft_run(pool, run_late, &late), 0);
    pool_drop(pool);
}

/* ---- In an actor, whose children other executors take ---- */

static void poll_until_met(weft *w, struct crowd *crowd)
{
    while (atomic_load(&crowd->most) < crowd->meet)
        weft_poll(w); /* children are given away here */
}

static int run_crowd_actor(weft *w, void *arg)
{
    run_crowd(w, arg);
    return 0;
}

static void actors_have_such_scopes(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    for (unsigned width = 1; width <= 3; width++) {
        struct crowd crowd = {.width = width,
                              .meet = width < 3 ? width : 2,
                              .children = 40,
                              .grandchildren = 1,
                              .between = poll_until_met};
        assert_int_equal(run_one(pool, run_crowd_actor, &crowd), 0);
    }
    struct crowd wide = {.width = UINT_MAX - 1, .children = CHILDREN};
    assert_int_equal(run_one(pool, run_crowd_actor, &wide), 0);
    struct crowd many = {.width = INT_MAX - 1, .children = CHILDREN};
    assert_int_equal(run_one(pool, run_crowd_actor, &many), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_child_once),
        cmocka_unit_test(as_many_threads_as_said),
        cmocka_unit_test(waiting_children_keep_their_places),
        cmocka_unit_test(holders_have_such_scopes),
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(width_is_changed),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(actors_have_such_scopes),
    };
    return RUN_ON_ALL_ROADS(tests);
}
