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

/* ---- Newcomers ---- */

static weft_pool *pool_of_one(uint64_t quantum)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_actors_config config = WEFT_ACTORS_CONFIG_INIT;
    config.turn = quantum;
    config.executors = 1;
    assert_int_equal(weft_actors_setup(pool, &config), 0);
    return pool;
}

/* An actor that has just come runs at once, not after the quantum of the one that computes. Now and
 * then that one does not notice. */
static void newcomers_need_not_wait_for_a_quantum(void **state)
{
    const uint64_t quantum = 1000000000;
    unsigned quick = 0;
    for (unsigned i = 0; i < 20 && quick < 5; i++) {
        weft_pool *pool = pool_of_one(quantum);
        struct turns turns = {.other = &turns}, busy = {.other = &turns};
        weft_actor *actor = start(pool, poll_until_other, &busy, NULL);
        WAIT_UNTIL(atomic_load(&busy.seen[0]));
        uint64_t begin = weft_now();
        assert_int_equal(run_one(pool, set_first, &turns), 0);
        assert_int_equal(end(actor), 0);
        quick += weft_now() - begin < quantum / 2;
        pool_drop(pool);
    }
    assert_int_equal(quick, 5);
}

/* Each newcomer starts the next one, and computes until one that was there has gone on. */
struct chain {
    weft_pool *pool;
    unsigned links;     /* still to come */
    atomic_ulong steps; /* of those that were there: past their first turn */
    unsigned long seen; /* of these, when the last newcomer began */
    unsigned skipped;   /* newcomers that began when nobody had gone on since the last one */
    atomic_uint running;
};

static int link_in_chain(weft *w, void *arg)
{
    struct chain *chain = arg;
    unsigned long steps = atomic_load(&chain->steps);
    chain->skipped += steps == chain->seen;
    chain->seen = steps;
    if (chain->links > 0) {
        chain->links--;
        atomic_fetch_add(&chain->running, 1);
        weft_actor_release(start(chain->pool, link_in_chain, chain, NULL));
    }
    while (atomic_load(&chain->steps) == steps)
        weft_poll(w);
    atomic_fetch_add(&chain->steps, 1); /* its first turn is over */
    atomic_fetch_sub(&chain->running, 1);
    return 0;
}

static int compute_beside_chain(weft *w, void *arg)
{
    struct chain *chain = arg;
    atomic_store(&chain->steps, 1);
    atomic_store(&chain->running, 1);
    weft_actor_release(start(chain->pool, link_in_chain, chain, NULL));
    while (atomic_load(&chain->running) > 0) {
        weft_poll(w);
        atomic_fetch_add(&chain->steps, 1);
    }
    return 0;
}

/* Between the first turns of two newcomers, one of those that were there goes on; or else, now and
 * then, it gives way at the very beginning of its turn. */
static void newcomers_don_t_give_way_to_newcomers(void **state)
{
    weft_pool *pool = pool_of_one(2000000);
    struct chain chain = {.pool = pool, .links = 20};
    assert_int_equal(run_one(pool, compute_beside_chain, &chain), 0);
    assert_int_equal(chain.links, 0);
    assert_true(chain.skipped <= 5);
    pool_drop(pool);
}

enum { SHARE_QUANTUM = 2000000 };

/* How long an actor ran, by its own look at the clock: longer gaps were not its own. */
struct meter {
    uint64_t last, ran;
};

static void meter_look(struct meter *meter)
{
    uint64_t now = weft_now(), gap = now - meter->last;
    if (gap < SHARE_QUANTUM / 100)
        meter->ran += gap;
    meter->last = now;
}

struct crowd {
    weft_pool *pool;
    unsigned newcomers;      /* still to come */
    uint64_t needs;          /* each of them */
    atomic_uint running;     /* newcomers that are not over */
    uint64_t ran, their_ran; /* the one that was there, and all newcomers */
};

static int compute_a_little(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    struct meter meter = {.last = weft_now()};
    while (meter.ran < crowd->needs) {
        weft_poll(w);
        meter_look(&meter);
    }
    crowd->their_ran += meter.ran; /* all of them on one executor */
    atomic_fetch_sub(&crowd->running, 1);
    return 0;
}

/* Whenever it computes, there is a newcomer. */
static int compute_beside_newcomers(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    struct meter meter = {.last = weft_now()};
    while (crowd->newcomers > 0 || atomic_load(&crowd->running) > 0) {
        if (crowd->newcomers > 0 && atomic_load(&crowd->running) == 0) {
            crowd->newcomers--;
            atomic_fetch_add(&crowd->running, 1);
            weft_actor_release(start(crowd->pool, compute_a_little, crowd, NULL));
        }
        weft_poll(w);
        meter_look(&meter);
    }
    crowd->ran = meter.ran;
    return 0;
}

/* The part of the executor that is left to an actor that was there before. */
static double share_beside(unsigned newcomers, uint64_t needs)
{
    weft_pool *pool = pool_of_one(SHARE_QUANTUM);
    struct crowd crowd = {.pool = pool, .newcomers = newcomers, .needs = needs};
    assert_int_equal(run_one(pool, compute_beside_newcomers, &crowd), 0);
    pool_drop(pool);
    return (double)crowd.ran / (double)(crowd.ran + crowd.their_ran);
}

/* However many come, those that were there keep a third of the executor: each gives way once in its
 * turn, and a first turn is two quanta at most. What newcomers have after their first turn is an
 * old one's share, too. */
static void newcomers_leave_a_share_to_the_others(void **state)
{
    double brief = share_beside(1000, SHARE_QUANTUM / 20),
           longer = share_beside(40, SHARE_QUANTUM * 2);
    assert_true(brief > 0.3);
    assert_true(longer > 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_ones_need_not_wait_for_a_quantum),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(all_have_their_turn),
        cmocka_unit_test(ping_pong_leaves_turns_to_others),
        cmocka_unit_test(newcomers_need_not_wait_for_a_quantum),
        cmocka_unit_test(newcomers_don_t_give_way_to_newcomers),
        cmocka_unit_test(newcomers_leave_a_share_to_the_others),
    };
    return cmocka_run_group_tests_name("actor_turns", tests, NULL, NULL);
}
