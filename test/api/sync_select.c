/* SPDX-License-Identifier: MIT */
/* sync_select.c: the first of several channels; and channels without a limit. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/sync.h"

#include <errno.h>

#define MS ((uint64_t)1000000)

/* ---- Channels without a limit ---- */

static void unlimited_is_in_order(void **state)
{
    enum { ITEMS = 1000 };
    weft_channel channel;
    int item;
    assert_int_equal(weft_channel_init(&channel, "unlimited", sizeof(int), WEFT_UNLIMITED), 0);
    assert_int_equal(weft_channel_try_receive(NULL, &channel, &item), -EAGAIN);
    int sent = 0, received = 0;
    for (int round = 0; round < 4; round++) { /* so that it grows while its beginning moves */
        for (int i = 0; i < ITEMS; i++, sent++)
            assert_int_equal(weft_channel_try_send(NULL, &channel, &sent), 0);
        for (int i = 0; i < ITEMS / 2; i++, received++) {
            assert_int_equal(weft_channel_receive(NULL, &channel, &item), 0);
            assert_int_equal(item, received);
        }
    }
    weft_channel_close(NULL, &channel);
    for (; received < sent; received++) {
        assert_int_equal(weft_channel_receive(NULL, &channel, &item), 0);
        assert_int_equal(item, received);
    }
    assert_int_equal(weft_channel_receive(NULL, &channel, &item), -EPIPE);
    weft_channel_destroy(&channel);
}

/* ---- What can be done at once ---- */

static void ready_at_once(void **state)
{
    weft_channel a, b;
    int x = 1, y = 0;
    assert_int_equal(weft_channel_init(&a, "a", sizeof(int), 1), 0);
    assert_int_equal(weft_channel_init(&b, "b", sizeof(int), 1), 0);
    weft_case cases[] = {
        {.channel = &a, .send = true, .item = &x},
        {.channel = NULL},
        {.channel = &b, .item = &y},
    };
    assert_int_equal(weft_select(NULL, cases, 3, 0), 0);
    assert_int_equal(cases[0].result, 0);
    assert_int_equal(weft_select(NULL, cases, 3, 0), -ETIMEDOUT); /* full, and empty */
    assert_int_equal(weft_channel_try_send(NULL, &b, &(int){7}), 0);
    assert_int_equal(weft_select(NULL, cases, 3, WEFT_FOREVER), 2);
    assert_int_equal(y, 7);
    weft_channel_close(NULL, &b);
    assert_int_equal(weft_select(NULL, cases, 3, WEFT_FOREVER), 2);
    assert_int_equal(cases[2].result, -EPIPE);
    assert_int_equal(weft_select(NULL, cases, 0, 0), -EINVAL);
    assert_int_equal(weft_select(NULL, NULL, 3, 0), -EINVAL);
    assert_int_equal(weft_select(NULL, &cases[1], 1, 0), -EINVAL);
    cases[0].item = NULL;
    assert_int_equal(weft_select(NULL, cases, 3, 0), -EINVAL);
    weft_channel_destroy(&a);
    weft_channel_destroy(&b);
    cases[0].item = &x;
    assert_int_equal(weft_select(NULL, cases, 3, 0), -EINVAL);
}

/* If all are ready, each has its turn: also if selects alternate. */
static void choice_is_fair(void **state)
{
    enum { N = 3, ROUNDS = 600 };
    weft_channel channels[N];
    weft_case cases[N];
    int item, counts[2][N] = {{0}};
    for (int i = 0; i < N; i++) {
        assert_int_equal(weft_channel_init(&channels[i], NULL, sizeof(int), WEFT_UNLIMITED), 0);
        cases[i] = (weft_case){.channel = &channels[i], .item = &item};
        for (int j = 0; j < 2 * ROUNDS; j++)
            assert_int_equal(weft_channel_try_send(NULL, &channels[i], &j), 0);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 2; k++)
            counts[k][weft_select(NULL, cases, N, 0)]++;
    for (int i = 0; i < N; i++) {
        assert_true(counts[0][i] > ROUNDS / N / 2 && counts[1][i] > ROUNDS / N / 2);
        weft_channel_destroy(&channels[i]);
    }
}

/* ---- Many senders, many receivers ---- */

enum { CHANNELS = 3, PARTS = 4, ITEMS = SCALED(600, 6) };

struct exchange {
    weft_channel channels[CHANNELS];
    bool limited;
    atomic_ulong sent, received;
    atomic_uint sending, done;
};

/* Sends each item where there is room first. */
static void send_anywhere(weft *w, struct exchange *exchange)
{
    for (unsigned long i = 1; i <= ITEMS; i++) {
        weft_case cases[CHANNELS];
        for (int c = 0; c < CHANNELS; c++)
            cases[c] = (weft_case){.channel = &exchange->channels[c], .send = true, .item = &i};
        uint64_t when = exchange->limited ? weft_now() + i % 50 * 1000 : WEFT_FOREVER;
        int chosen = weft_select(w, cases, CHANNELS, when);
        CHECK(chosen >= 0 ? cases[chosen].result == 0 : exchange->limited);
        if (chosen >= 0)
            atomic_fetch_add(&exchange->sent, i);
    }
    if (atomic_fetch_sub(&exchange->sending, 1) == 1)
        for (int c = 0; c < CHANNELS; c++)
            weft_channel_close(w, &exchange->channels[c]);
}

/* From all, until all are closed. */
static void receive_from_all(weft *w, struct exchange *exchange)
{
    unsigned long item[CHANNELS];
    weft_case cases[CHANNELS];
    int open = CHANNELS;
    for (int c = 0; c < CHANNELS; c++)
        cases[c] = (weft_case){.channel = &exchange->channels[c], .item = &item[c]};
    while (open > 0) {
        uint64_t when = exchange->limited ? weft_now() + 20000 : WEFT_FOREVER;
        int chosen = weft_select(w, cases, CHANNELS, when);
        CHECK(chosen >= 0 || (exchange->limited && chosen == -ETIMEDOUT));
        if (chosen >= 0 && cases[chosen].result == -EPIPE) {
            cases[chosen].channel = NULL;
            open--;
        } else if (chosen >= 0) {
            atomic_fetch_add(&exchange->received, item[chosen]);
        }
    }
}

struct part {
    struct exchange *exchange;
    bool sends;
};

static void take_part(weft *w, void *arg)
{
    struct part *part = arg;
    if (part->sends)
        send_anywhere(w, part->exchange);
    else
        receive_from_all(w, part->exchange);
}

static int take_part_as_actor(weft *w, void *arg)
{
    take_part(w, arg);
    return 0;
}

static void take_part_outside(unsigned i, void *arg)
{
    take_part(NULL, &((struct part *)arg)[i]);
}

static void take_part_as_jobs(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < PARTS; i++)
        CHECK(weft_spawn(w, &scope, take_part, &((struct part *)arg)[i]) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void with_threads(struct part *parts)
{
    in_threads(PARTS, take_part_outside, parts);
}

static void with_jobs(struct part *parts)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, take_part_as_jobs, parts), 0);
    pool_drop(pool);
}

static void with_actors(struct part *parts)
{
    weft_pool *pool = pool_make(2, 0);
    weft_actor *actors[PARTS];
    for (int i = 0; i < PARTS; i++)
        actors[i] = start(pool, take_part_as_actor, &parts[i], NULL);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(end(actors[i]), 0);
    pool_drop(pool);
}

static void exchange(size_t capacity, bool limited, void (*by)(struct part *parts))
{
    struct exchange exchange = {.limited = limited, .sending = PARTS / 2};
    struct part parts[PARTS];
    for (int c = 0; c < CHANNELS; c++)
        CHECK(weft_channel_init(&exchange.channels[c], "c", sizeof(unsigned long), capacity) == 0);
    for (int i = 0; i < PARTS; i++)
        parts[i] = (struct part){&exchange, i % 2 == 0};
    by(parts);
    assert_int_equal(atomic_load(&exchange.sent), atomic_load(&exchange.received));
    if (!limited)
        assert_int_equal(atomic_load(&exchange.sent),
                         (unsigned long)ITEMS * (ITEMS + 1) / 2 * (PARTS / 2));
    for (int c = 0; c < CHANNELS; c++)
        weft_channel_destroy(&exchange.channels[c]);
}

static void nothing_is_lost(void **state)
{
    static const size_t capacities[] = {0, 1, WEFT_UNLIMITED};
    for (int i = 0; i < 3; i++)
        for (int limited = 0; limited < 2; limited++) {
            exchange(capacities[i], limited, with_threads);
            exchange(capacities[i], limited, with_jobs);
            exchange(capacities[i], limited, with_actors);
        }
}

/* ---- Limits and cancellation ---- */

static int select_never(weft *w, uint64_t when)
{
    weft_channel channels[2];
    weft_case cases[2];
    int item;
    for (int i = 0; i < 2; i++) {
        CHECK(weft_channel_init(&channels[i], "never", sizeof(int), 0) == 0);
        cases[i] = (weft_case){.channel = &channels[i], .send = i, .item = &item};
    }
    int result = weft_select(w, cases, 2, when);
    for (int i = 0; i < 2; i++)
        weft_channel_destroy(&channels[i]); /* ends the process if a case still stands in line */
    return result;
}

static void wait_and_be_cancelled(weft *w, void *arg)
{
    CHECK(select_never(w, weft_now() + MS) == -ETIMEDOUT);
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + MS);
    CHECK(select_never(w, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
}

static int wait_and_be_killed(weft *w, void *arg)
{
    struct exchange *exchange = arg;
    weft_case cases[CHANNELS];
    unsigned long item;
    wait_and_be_cancelled(w, NULL);
    for (int c = 0; c < CHANNELS; c++)
        cases[c] = (weft_case){.channel = &exchange->channels[c], .item = &item};
    atomic_store(&exchange->done, 1);
    return weft_select(w, cases, CHANNELS, WEFT_FOREVER);
}

static void select_ends(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct exchange exchange = {.limited = false};
    assert_int_equal(select_never(NULL, weft_now() + MS), -ETIMEDOUT);
    assert_int_equal(weft_run(pool, wait_and_be_cancelled, NULL), 0);
    for (int c = 0; c < CHANNELS; c++)
        CHECK(weft_channel_init(&exchange.channels[c], "c", sizeof(unsigned long), 0) == 0);
    weft_actor *actor = start(pool, wait_and_be_killed, &exchange, NULL);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    do
        CHECK(weft_actor_get_info(actor, &info) == 0);
    while (!atomic_load(&exchange.done) || info.state != WEFT_ACTOR_WAITING);
    weft_actor_kill(actor);
    assert_int_equal(end(actor), -ECANCELED);
    for (int c = 0; c < CHANNELS; c++)
        weft_channel_destroy(&exchange.channels[c]);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlimited_is_in_order), cmocka_unit_test(ready_at_once),
        cmocka_unit_test(choice_is_fair),        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(select_ends),
    };
    return RUN_ON_ALL_ROADS(tests);
}
