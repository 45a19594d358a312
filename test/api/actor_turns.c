/* SPDX-License-Identifier: MIT */
/* actor_turns.c: when actors have their turn: idle executors get work soon, sleepers wake, and
 * nobody is left out. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"

#include <stdlib.h>

/* ---- Idle executors ---- */

enum { RIGHT_SIDES = 6 };

struct givers {
    atomic_uint given; /* right sides that another executor has run */
    unsigned executor;
};

static void run_elsewhere(weft *w, void *arg)
{
    struct givers *givers = arg;
    CHECK(weft_worker_index(w) != givers->executor);
    uint64_t until = weft_now() + 300000; /* its victim has gone on long before it ends */
    while (weft_now() < until)
        weft_poll(w);
    atomic_fetch_add(&givers->given, 1);
}

static void fork_and_poll(weft *w, struct givers *givers, int depth)
{
    weft *in = weft_fork(w, run_elsewhere, givers);
    if (depth > 1)
        fork_and_poll(in, givers, depth - 1);
    else
        while (atomic_load(&givers->given) < RIGHT_SIDES)
            weft_poll(in);
    CHECK(weft_merge(w));
}

static int give_all(weft *w, void *arg)
{
    struct givers *givers = arg;
    givers->executor = weft_worker_index(w);
    fork_and_poll(w, givers, RIGHT_SIDES);
    return 0;
}

/* Quanta are short where somebody is idle: at the beginning, and whenever a delegate has ended. If
 * they were not, it would take at least as many long ones as there are right sides. Now and then a
 * short one is missed, and it takes a long one. */
static void idle_ones_need_not_wait_for_a_quantum(void **state)
{
    const uint64_t quantum = 200000000;
    unsigned quick = 0;
    for (unsigned i = 0; i < 50 && quick < 5; i++) {
        weft_pool *pool = pool_make(2, 0);
        weft_actors_config config = {.size = sizeof config, .turn = quantum, .executors = 2};
        assert_int_equal(weft_actors_setup(pool, &config), 0);
        struct givers givers = {.given = 0};
        uint64_t start = weft_now();
        assert_int_equal(run_one(pool, give_all, &givers), 0);
        quick += weft_now() - start < quantum;
        assert_int_equal(atomic_load(&givers.given), RIGHT_SIDES);
        pool_drop(pool);
    }
    assert_int_equal(quick, 5);
}

/* ---- Turns ---- */

static void nothing(weft *w, void *arg)
{
}

static int sleep_a_little(weft *w, void *arg)
{
    uint64_t when = weft_now() + *(uint64_t *)arg;
    weft_sleep_until(w, when);
    return weft_now() >= when ? 0 : 1;
}

static void sleepers_wake(void **state)
{
    enum { N = 50 };
    weft_pool *pool = pool_make(1, 0);
    weft_actor *actors[N];
    uint64_t times[N];
    for (unsigned i = 0; i < N; i++) {
        times[i] = i * 7919 % N * 100000;
        actors[i] = start(pool, sleep_a_little, &times[i], NULL);
    }
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(end(actors[i]), 0);
    uint64_t when = weft_now() + 1000;
    weft_sleep_until(NULL, when);
    assert_true(weft_now() >= when);
    pool_drop(pool);
}

struct turns {
    atomic_bool seen[2];
    unsigned me;
    struct turns *other;
    weft_actor *actor;
};

static int poll_until_other(weft *w, void *arg)
{
    struct turns *turns = arg;
    atomic_store(&turns->seen[0], true);
    while (!atomic_load(&turns->other->seen[0]))
        weft_poll(w);
    return 0;
}

static int fork_until_other(weft *w, void *arg)
{
    struct turns *turns = arg;
    atomic_store(&turns->seen[0], true);
    while (!atomic_load(&turns->other->seen[0]))
        weft_join(w, nothing, NULL, nothing, NULL);
    return 0;
}

static void set_other(weft *w, void *arg)
{
    atomic_store(&((struct turns *)arg)->seen[0], true);
}

/* With one worker: each of them, and the pool's jobs, have their turn after a quantum. */
static void all_have_their_turn(void **state)
{
    static weft_actor_fn *const fns[] = {poll_until_other, fork_until_other};
    weft_pool *pools[] = {pool_make(1, 0), pool_make(1, WEFT_NO_GUESTS), pool_make(1, 0)};
    const weft_actors_config counted = {.size = sizeof counted, .counted = 100};
    assert_int_equal(weft_actors_setup(pools[2], &counted), 0);
    for (unsigned i = 0; i < 12; i++) {
        weft_pool *pool = pools[i % 3];
        struct turns turns[2] = {{.other = &turns[1]}, {.other = &turns[0]}};
        weft_actor *actors[2];
        for (int j = 0; j < 2; j++)
            actors[j] = start(pool, fns[i / 3 % 2], &turns[j], NULL);
        for (int j = 0; j < 2; j++)
            assert_int_equal(end(actors[j]), 0);
        struct turns alone = {.other = &turns[0]};
        atomic_store(&turns[0].seen[0], false);
        actors[0] = start(pool, fns[i / 3 % 2], &alone, NULL);
        WAIT_UNTIL(atomic_load(&alone.seen[0]));
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, set_other, &turns[0]), 0);
        assert_int_equal(end(actors[0]), 0);
        assert_int_equal(weft_task_wait(&task), 0);
    }
    for (int i = 0; i < 3; i++)
        pool_drop(pools[i]);
}

/* Two that only wait for each other are always among those just woken. */
static int play_until_seen(weft *w, void *arg)
{
    struct turns *me = arg;
    void *message;
    while (weft_receive(w, &message) == 0 && !message) {
        bool stop = atomic_load(&me->seen[0]) && atomic_load(&me->seen[1]);
        CHECK(weft_actor_send(w, me->other->actor, stop ? me : NULL) == 0);
        if (stop)
            break;
    }
    return 0;
}

static int set_first(weft *w, void *arg)
{
    atomic_store(&((struct turns *)arg)->seen[0], true);
    return 0;
}

static void set_second(weft *w, void *arg)
{
    atomic_store(&((struct turns *)arg)->seen[1], true);
}

static void ping_pong_leaves_turns_to_others(void **state)
{
    for (unsigned counted = 0; counted <= 100; counted += 100) {
        weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
        const weft_actors_config config = {.size = sizeof config, .counted = counted};
        assert_int_equal(weft_actors_setup(pool, &config), 0);
        struct turns turns[2] = {{.other = &turns[1]}, {.other = &turns[0]}};
        weft_actor_config two = WEFT_ACTOR_CONFIG_INIT;
        two.pin = 1;
        for (int i = 0; i < 2; i++)
            turns[i].actor = start(pool, play_until_seen, &turns[i], &two);
        assert_int_equal(weft_actor_send(NULL, turns[0].actor, NULL), 0);
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, set_second, &turns[0]), 0);
        assert_int_equal(weft_task_wait(&task), 0);
        set_second(NULL, &turns[1]);
        assert_int_equal(run_one(pool, set_first, &turns[1]), 0);
        set_first(NULL, &turns[0]);
        for (int i = 0; i < 2; i++)
            assert_int_equal(end(turns[i].actor), 0);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_ones_need_not_wait_for_a_quantum),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(all_have_their_turn),
        cmocka_unit_test(ping_pong_leaves_turns_to_others),
    };
    return cmocka_run_group_tests_name("actor_turns", tests, NULL, NULL);
}
