/* SPDX-License-Identifier: MIT */
/* fork_cancel.c: a fork that is given up cancels its right side, with all that belongs to it, and
 * nothing else. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/sync.h"

#include <errno.h>

static void never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "a right side ran that was given up");
}

/* One worker: no thread has begun the right side. */
static void give_up_pending(weft *w, void *arg)
{
    for (int i = 0; i < 3; i++) {
        weft *in = weft_fork(w, never, NULL);
        weft *inner = weft_fork(in, never, NULL);
        CHECK(!weft_cancelled(inner));
        weft_fork_cancel(in);
        CHECK(!weft_cancelled(in));
        weft_fork_cancel(w);
        CHECK(!weft_cancelled(w));
    }
}

static void nothing_begins(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, give_up_pending, NULL), 0);
    pool_drop(pool);
}

/* ---- Right sides that others have begun ---- */

struct side {
    atomic_bool started, told;
    bool is_actor;
};

static void wait_for(weft *w, const struct side *side, const atomic_bool *flag)
{
    if (!side->is_actor)
        WAIT_UNTIL(atomic_load(flag));
    while (!atomic_load(flag)) /* an actor gives work away at the end of a quantum */
        weft_poll(w);
}

static void until_cancelled(weft *w, void *arg)
{
    struct side *side = arg;
    atomic_store(&side->started, true);
    while (!weft_cancelled(w))
        if (side->is_actor)
            weft_poll(w);
        else
            wait_a_moment();
    atomic_store(&side->told, true);
}

static void run_once(weft *w, void *arg)
{
    struct side *side = arg;
    CHECK(!weft_cancelled(w));
    atomic_store(&side->started, true);
}

/* The same slot forks again: that right side has nothing to do with the first. */
static void fork_again(weft *w, bool is_actor)
{
    struct side next = {.is_actor = is_actor};
    weft *in = weft_fork(w, run_once, &next);
    wait_for(in, &next, &next.started);
    CHECK(weft_merge(w));
}

static void give_up_taken(weft *w, bool is_actor)
{
    for (int i = 0; i < 3; i++) {
        struct side side = {.is_actor = is_actor};
        weft *in = weft_fork(w, until_cancelled, &side);
        wait_for(in, &side, &side.started);
        CHECK(!weft_cancelled(in));
        weft_fork_cancel(w);
        CHECK(atomic_load(&side.told));
        CHECK(!weft_cancelled(w));
        fork_again(w, is_actor);
    }
}

static void give_up_taken_job(weft *w, void *arg)
{
    give_up_taken(w, false);
}

static void taken_is_told(unsigned workers, unsigned flags)
{
    weft_pool *pool = pool_make(workers, flags);
    assert_int_equal(weft_run(pool, give_up_taken_job, NULL), 0);
    pool_drop(pool);
}

static int give_up_taken_actor(weft *w, void *arg)
{
    give_up_taken(w, true);
    return 0;
}

static void actors_too(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(end(start(pool, give_up_taken_actor, NULL, NULL)), 0);
    pool_drop(pool);
}

/* An actor is killed while it waits for a right side that does not care. The slots are used again
 * by the next actor. */
static void poll_for_ever(weft *w, void *arg)
{
    struct side *side = arg;
    atomic_store(&side->started, true);
    for (;;) {
        if (weft_cancelled(w))
            atomic_store(&side->told, true);
        weft_poll(w);
    }
}

static int give_up_and_wait(weft *w, void *arg)
{
    struct side *side = arg;
    weft *in = weft_fork(w, poll_for_ever, side);
    wait_for(in, side, &side->started);
    weft_fork_cancel(w);
    check_failed(__FILE__, __LINE__, "the right side never returns");
    return 0;
}

static int fork_in_actor(weft *w, void *arg)
{
    for (int i = 0; i < 3; i++)
        fork_again(w, true);
    return 0;
}

static void killed_meanwhile(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 5; i++) {
        struct side side = {.is_actor = true};
        weft_actor *actor = start(pool, give_up_and_wait, &side, NULL);
        WAIT_UNTIL(atomic_load(&side.told));
        weft_actor_kill(actor);
        assert_int_equal(end(actor), -ECANCELED);
        assert_int_equal(run_one(pool, fork_in_actor, NULL), 0);
    }
    pool_drop(pool);
}

/* What the right side has forked, or spawned in a scope of its own, is cancelled with it. */
static void fork_and_spawn(weft *w, void *arg)
{
    struct side *sides = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, until_cancelled, &sides[1]) == 0);
    weft *in = weft_fork(w, until_cancelled, &sides[2]);
    until_cancelled(in, &sides[0]);
    if (!weft_merge(w))
        until_cancelled(w, &sides[2]);
    CHECK(weft_scope_close(w, &scope) == -ECANCELED);
}

static void give_up_a_tree(weft *w, void *arg)
{
    struct side sides[3] = {0};
    weft *in = weft_fork(w, fork_and_spawn, sides);
    for (int i = 0; i < 3; i++)
        WAIT_UNTIL(atomic_load(&sides[i].started));
    CHECK(!weft_cancelled(in));
    weft_fork_cancel(w);
    for (int i = 0; i < 3; i++)
        CHECK(atomic_load(&sides[i].told));
    CHECK(!weft_cancelled(w));
}

static void whole_trees(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    assert_int_equal(weft_run(pool, give_up_a_tree, NULL), 0);
    pool_drop(pool);
}

/* A right side that forks, and never asks, learns of it by a merge that has skipped something. */
static void set_flag(weft *w, void *flag)
{
    atomic_store((atomic_bool *)flag, true);
}

static void fork_until_skipped(weft *w, void *arg)
{
    struct side *side = arg;
    atomic_store(&side->started, true);
    for (;;) {
        atomic_bool ran = false;
        weft_fork(w, set_flag, &ran);
        if (weft_merge(w) && !atomic_load(&ran))
            break;
    }
    atomic_store(&side->told, true);
}

static void give_up_a_forker(weft *w, void *arg)
{
    struct side side = {0};
    weft_fork(w, fork_until_skipped, &side);
    WAIT_UNTIL(atomic_load(&side.started));
    weft_fork_cancel(w);
    CHECK(atomic_load(&side.told));
    fork_again(w, false);
}

static void forks_are_skipped(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, give_up_a_forker, NULL), 0);
    pool_drop(pool);
}

/* A right side that waits, with a time limit, is woken. */
static void receive_for_ever(weft *w, void *arg)
{
    weft_channel *channel = arg;
    int message = 1;
    CHECK(weft_channel_send(w, channel, &message) == 0);
    CHECK(weft_channel_receive_until(w, channel + 1, &message, WEFT_FOREVER) == -ECANCELED);
}

static void give_up_a_waiter(weft *w, void *arg)
{
    weft_channel channels[2];
    int message;
    for (int i = 0; i < 2; i++)
        CHECK(weft_channel_init(&channels[i], NULL, sizeof message, 1) == 0);
    weft *in = weft_fork(w, receive_for_ever, channels);
    CHECK(weft_channel_receive(in, &channels[0], &message) == 0);
    weft_fork_cancel(w);
    for (int i = 0; i < 2; i++)
        weft_channel_destroy(&channels[i]);
}

static void waits_end(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, give_up_a_waiter, NULL), 0);
    pool_drop(pool);
}

/* ---- Failures are not kept inside a right side ---- */

static void fail_and_stay(weft *w, void *arg)
{
    struct side *side = arg;
    atomic_store(&side->started, true);
    weft_fail(w, -EDOM);
    CHECK(weft_cancelled(w));
    WAIT_UNTIL(atomic_load(&side->told)); /* the left side learns of it meanwhile */
}

static void fail_on_the_right(weft *w, void *arg)
{
    struct side side = {0};
    weft *in = weft_fork(w, fail_and_stay, &side);
    WAIT_UNTIL(weft_cancelled(in));
    atomic_store(&side.told, true);
    if (arg)
        weft_fork_cancel(w);
    else
        CHECK(weft_merge(w));
    CHECK(weft_cancelled(w));
}

static void right_fails_all(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, fail_on_the_right, NULL), -EDOM);
    assert_int_equal(weft_run(pool, fail_on_the_right, pool), -EDOM);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_begins),
        WITH_WORKERS(2, 0, taken_is_told),
        WITH_WORKERS(2, WEFT_NO_GUESTS, taken_is_told),
        WITH_WORKERS(5, 0, taken_is_told),
        cmocka_unit_test(actors_too),
        cmocka_unit_test(killed_meanwhile),
        cmocka_unit_test(forks_are_skipped),
        cmocka_unit_test(whole_trees),
        cmocka_unit_test(waits_end),
        cmocka_unit_test(right_fails_all),
    };
    return RUN_ON_ALL_ROADS(tests);
}
