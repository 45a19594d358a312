/* SPDX-License-Identifier: MIT */
/* actors.c: very many actors of all kinds at once, ends of pools with actors in every state, and
 * messages there and back. Everything that was begun has to end, once, for the right reason. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"
#include "weft/actor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 32;
}

static weft_pool *pool_with_quantum(unsigned workers, unsigned flags, uint64_t quantum)
{
    weft_pool *pool = pool_make(workers, flags);
    const weft_actors_config config = {.size = sizeof config, .turn = quantum};
    CHECK(weft_actors_setup(pool, &config) == 0);
    return pool;
}

/* ---- Soak ---- */

enum { THREADS = 3, WINDOW = 48, DEPTH_MAX = 3, CODE = -1000 };

struct soak {
    weft_pool *pool;
    unsigned workers;
    unsigned long per_thread;
    atomic_ulong made, over, sent, received, dropped;
    atomic_long tokens; /* sent, and neither received nor dropped: their sum */
};

/* What is known of an actor: until it is over, and its handle released. */
struct record {
    struct soak *soak;
    uint64_t random;
    unsigned depth;
    int expected; /* reason, unless somebody kills it */
    bool killed;
    atomic_int reason, supervised, refs;
};

static void record_drop(struct record *record)
{
    if (atomic_fetch_sub(&record->refs, 1) == 1)
        free(record);
}

static void on_over(weft_actor *actor, int reason, void *data)
{
    struct record *record = data;
    CHECK(atomic_fetch_add(&record->supervised, 1) == 0);
    atomic_store(&record->reason, reason);
    if (atomic_fetch_add(&record->soak->over, 1) % 1024 == 0)
        watchdog_kick();
    record_drop(record);
}

static void count_token(struct soak *soak, atomic_ulong *count, void *message)
{
    atomic_fetch_add(count, 1);
    atomic_fetch_sub(&soak->tokens, (long)(intptr_t)message);
}

static void on_drop(void *message, void *data)
{
    struct soak *soak = ((struct record *)data)->soak;
    count_token(soak, &soak->dropped, message);
}

static void count_leaves(weft *w, void *arg)
{
    unsigned *leaves = arg, n = *leaves;
    if (n <= 1)
        return;
    unsigned left = n / 2, right = n - left;
    weft_join(w, count_leaves, &left, count_leaves, &right);
    *leaves = left + right;
}

static void fork_tree(weft *w, uint64_t *random)
{
    unsigned n = (unsigned)(next_random(random) % 200), leaves = n;
    count_leaves(w, &leaves);
    CHECK(leaves == n);
}

/* What it has keeps what was written there, however often others run in between. */
static void use_memory(weft *w, uint64_t *random)
{
    unsigned char *block[4];
    size_t size[4];
    for (int i = 0; i < 4; i++) {
        size[i] = 1 + next_random(random) % 2000;
        block[i] = weft_alloc(w, size[i]);
        memset(block[i], 0x11 * (i + 1), size[i]);
        if (next_random(random) % 4 == 0)
            weft_yield(w);
    }
    for (int i = 0; i < 4; i++)
        for (size_t j = 0; j < size[i]; j += 97)
            CHECK(block[i][j] == 0x11 * (i + 1));
}

static void alloc_for_ever(weft *w)
{
    for (;;)
        *(char *)weft_alloc(w, 100000) = 1;
}

static int behave(weft *w, void *arg);

static struct record *make(struct soak *soak, uint64_t *random, unsigned depth, weft_actor_fn *fn,
                           weft_actor **actor)
{
    struct record *record = calloc(1, sizeof *record);
    CHECK(record);
    record->soak = soak;
    record->random = next_random(random) << 16 | 1;
    record->depth = depth;
    atomic_store(&record->refs, 2);
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.share = (unsigned)(next_random(random) % 4);
    config.steal = (enum weft_steal)(next_random(random) % 3);
    config.cabal_max = (unsigned)(next_random(random) % 3);
    config.memory = WEFT_ACTOR_STACK + (1 << 20);
    config.mailbox = 1 + next_random(random) % 3;
    if (next_random(random) % 8 == 0)
        config.pin = 1 + (int)(next_random(random) % soak->workers);
    config.supervisor = on_over;
    config.drop = on_drop;
    config.data = record;
    atomic_fetch_add(&soak->made, 1);
    CHECK(weft_actor_create(actor, soak->pool, fn, record, &config) == 0);
    return record;
}

/* What an actor has to give back, also if it is killed while it waits. */
struct handle {
    weft_actor *actor;
    struct record *record;
};

static void drop_handle(weft *w, void *arg)
{
    struct handle *handle = arg;
    weft_actor_release(handle->actor);
    record_drop(handle->record);
}

/* Waits, perhaps, and gives the handle back. */
static void finish(weft *w, struct handle *handle, uint64_t *random)
{
    weft_actor *actor = handle->actor;
    struct record *record = handle->record;
    switch (next_random(random) % 8) {
    case 0: /* goes on by itself */
        break;
    case 1:
        record->killed = true;
        weft_actor_kill(actor);
        /* fall through */
    default: {
        int reason = weft_actor_wait(w, actor);
        CHECK(weft_actor_done(actor));
        bool right = reason == record->expected || (record->killed && reason == -ECANCELED);
        if (!right)
            fprintf(stderr, "ended with %d, not %d\n", reason, record->expected);
        CHECK(right);
        CHECK(atomic_load(&record->supervised) == 1);
        CHECK(atomic_load(&record->reason) == reason);
    }
    }
    if (w)
        CHECK(weft_undefer(w, drop_handle, handle) == 0);
    drop_handle(w, handle);
}

static int receive_some(weft *w, void *arg)
{
    struct record *record = arg;
    struct soak *soak = record->soak;
    unsigned n = (unsigned)(next_random(&record->random) % 6);
    for (unsigned i = 0; i < n; i++) {
        void *message;
        CHECK(weft_receive(w, &message) == 0);
        count_token(soak, &soak->received, message);
    }
    return 0;
}

/* The other one receives some of them, and ends. */
static void send_some(weft *w, struct record *record)
{
    struct soak *soak = record->soak;
    uint64_t *random = &record->random;
    weft_actor *to;
    struct record *other = make(soak, random, DEPTH_MAX, receive_some, &to);
    struct handle handle = {to, other};
    CHECK(weft_defer(w, drop_handle, &handle) == 0);
    unsigned n = (unsigned)(next_random(random) % 6);
    int error = 0;
    for (unsigned i = 0; i < n && !error; i++) {
        long token = 1 + (long)(next_random(random) % 1000);
        error = next_random(random) % 2 ? weft_actor_send(w, to, (void *)(intptr_t)token)
                                        : weft_actor_try_send(w, to, (void *)(intptr_t)token);
        if (!error) { /* it may have been received before */
            atomic_fetch_add(&soak->tokens, token);
            atomic_fetch_add(&soak->sent, 1);
        }
        if (error == -EAGAIN)
            error = 0;
        CHECK(!error || error == -EPIPE);
    }
    /* It may wait for more than it got. */
    other->killed = true;
    weft_actor_kill(to);
    int reason = weft_actor_wait(w, to);
    CHECK(reason == 0 || reason == -ECANCELED);
    CHECK(weft_undefer(w, drop_handle, &handle) == 0);
    drop_handle(w, &handle);
}

static void have_children(weft *w, struct record *record)
{
    enum { MOST = 3 };
    struct handle children[MOST];
    uint64_t *random = &record->random;
    unsigned n = record->depth < DEPTH_MAX ? (unsigned)(next_random(random) % (MOST + 1)) : 0;
    for (unsigned i = 0; i < n; i++) {
        children[i].record =
            make(record->soak, random, record->depth + 1, behave, &children[i].actor);
        CHECK(weft_defer(w, drop_handle, &children[i]) == 0);
        if (next_random(random) % 16)
            CHECK(weft_actor_run(children[i].actor) == 0);
        else
            children[i].record->killed = true; /* nobody ever runs it */
    }
    for (unsigned i = 0; i < n; i++) {
        if (children[i].record->killed)
            weft_actor_kill(children[i].actor);
        finish(w, &children[i], random);
    }
}

static int behave(weft *w, void *arg)
{
    struct record *record = arg;
    uint64_t *random = &record->random;
    CHECK(weft_actor_self(w));
    switch (next_random(random) % 64) {
    case 0:
        weft_sleep_until(w, weft_now() + next_random(random) % 200000);
        break;
    case 1:
    case 2:
    case 3:
        send_some(w, record);
        break;
    case 4:
    case 5:
        have_children(w, record);
        break;
    case 6:
        record->expected = -ENOMEM;
        alloc_for_ever(w);
        break;
    case 7:
        return record->expected = CODE - (int)(next_random(random) % 10);
    case 8:
        weft_fail(w, record->expected = CODE - 1);
        break;
    case 9:
        weft_actor_pin(weft_actor_self(w),
                       (int)(next_random(random) % record->soak->workers + 1) - 1);
        weft_yield(w);
        weft_actor_pin(weft_actor_self(w), -1);
        break;
    case 10:
    case 11:
    case 12:
    case 13:
        fork_tree(w, random);
        use_memory(w, random);
        fork_tree(w, random);
        break;
    case 14:
        weft_block_begin(w);
        sched_yield();
        weft_block_end(w);
        break;
    default:
        break;
    }
    return record->expected;
}

static void make_many(unsigned i, void *arg)
{
    struct soak *soak = arg;
    struct handle handles[WINDOW] = {{0}};
    uint64_t random = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned long n = 0; n < soak->per_thread + WINDOW; n++) {
        unsigned at = (unsigned)(n % WINDOW);
        if (handles[at].actor)
            finish(NULL, &handles[at], &random);
        handles[at].actor = NULL;
        if (n >= soak->per_thread)
            continue;
        handles[at].record = make(soak, &random, 0, behave, &handles[at].actor);
        CHECK(weft_actor_run(handles[at].actor) == 0);
        unsigned other = (unsigned)(next_random(&random) % WINDOW);
        if (handles[other].actor && next_random(&random) % 16 == 0) {
            handles[other].record->killed = true;
            weft_actor_kill(handles[other].actor);
        }
    }
}

static void soak_with(unsigned workers, unsigned flags, unsigned long actors)
{
    struct soak soak = {.workers = workers, .per_thread = actors / THREADS};
    soak.pool = pool_with_quantum(workers, flags, 20000);
    in_threads(THREADS, make_many, &soak);
    pool_drop(soak.pool); /* those that nobody waits for end here, at last */
    assert_true(atomic_load(&soak.made) >= THREADS * soak.per_thread);
    assert_int_equal(atomic_load(&soak.over), atomic_load(&soak.made));
    assert_int_equal(atomic_load(&soak.received) + atomic_load(&soak.dropped),
                     atomic_load(&soak.sent));
    assert_int_equal(atomic_load(&soak.tokens), 0);
}

enum { SOAK = SCALED(250000, 50) };

static void soak_1_worker(void **state)
{
    soak_with(1, 0, SOAK);
}

static void soak_2_workers(void **state)
{
    soak_with(2, 0, SOAK);
}

static void soak_2_workers_without_guests(void **state)
{
    soak_with(2, WEFT_NO_GUESTS, SOAK);
}

static void soak_8_workers(void **state)
{
    soak_with(8, 0, SOAK);
}

/* ---- The end of a pool ---- */

/* In every state that an actor can be in, the end of the pool finds it. */

static int poll_for_ever(weft *w, void *arg)
{
    while (weft_actor_self(w))
        weft_poll(w);
    return 0;
}

static int fork_for_ever(weft *w, void *arg)
{
    while (weft_actor_self(w))
        count_leaves(w, &(unsigned){64});
    return 0;
}

static int sleep_for_ever(weft *w, void *arg)
{
    weft_sleep_until(w, UINT64_MAX);
    return 0;
}

static int receive_for_ever(weft *w, void *arg)
{
    void *message;
    while (weft_actor_self(w))
        CHECK(weft_receive(w, &message) == 0);
    return 0;
}

static int receive_nothing(weft *w, void *arg)
{
    weft_sleep_until(w, UINT64_MAX);
    return 0;
}

/* Its mailbox is full soon, and stays so: the send ends when that one is over. */
static int send_for_ever(weft *w, void *to)
{
    while (weft_actor_send(w, to, NULL) == 0)
        ;
    return -EPIPE;
}

static int wait_for_other(weft *w, void *other)
{
    return weft_actor_wait(w, other);
}

static int nothing(weft *w, void *arg)
{
    return 0;
}

enum { STATES = 9, SENDERS = 3 };

struct ending {
    weft_actor *actors[STATES];
    atomic_uint supervised;
    atomic_bool pool_is_gone;
};

static void on_end(weft_actor *actor, int reason, void *data)
{
    struct ending *ending = data;
    CHECK(!atomic_load(&ending->pool_is_gone));
    atomic_fetch_add(&ending->supervised, 1);
}

static void make_ending(struct ending *ending, weft_pool *pool, unsigned round)
{
    static weft_actor_fn *const fns[STATES] = {
        poll_for_ever, fork_for_ever, sleep_for_ever, receive_for_ever, receive_nothing,
        send_for_ever, send_for_ever, wait_for_other, nothing,
    };
    *ending = (struct ending){0};
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.supervisor = on_end;
    config.data = ending;
    config.mailbox = 1;
    for (unsigned i = 0; i < STATES; i++) {
        void *arg = i > 4 ? ending->actors[i == 7 ? 2 : 4] : NULL;
        CHECK(weft_actor_create(&ending->actors[i], pool, fns[i], arg, &config) == 0);
    }
    for (unsigned i = 0; i < STATES; i++)
        if (i != round % STATES) /* one is new */
            CHECK(weft_actor_run(ending->actors[i]) == 0);
}

static void send_from_outside(unsigned i, void *arg)
{
    struct ending *ending = arg;
    weft_actor *to = ending->actors[i % 2 ? 4 : 3];
    int error;
    do
        error = i == 0 ? weft_actor_try_send(NULL, to, NULL) : weft_actor_send(NULL, to, NULL);
    while (error == 0 || error == -EAGAIN);
    CHECK(error == -EPIPE);
    /* What is left of it can still be asked. */
    CHECK(weft_actor_wait(NULL, to) == -ECANCELED);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(to, &info);
    CHECK(info.state == WEFT_ACTOR_OVER);
    CHECK(weft_actor_run(to) == -EALREADY);
    CHECK(weft_actor_pin(to, 0) == 0);
    weft_actor_kill(to);
}

struct destruction {
    struct ending ending;
    weft_pool *pool;
    bool waits; /* for one that ends by itself, before it destroys */
};

static void destroy_or_send(unsigned i, void *arg)
{
    struct destruction *all = arg;
    if (i < SENDERS) {
        send_from_outside(i, &all->ending);
        return;
    }
    if (all->waits)
        CHECK(weft_actor_wait(NULL, all->ending.actors[STATES - 1]) == 0);
    pool_drop(all->pool);
    atomic_store(&all->ending.pool_is_gone, true);
}

static void end_in_every_state(unsigned workers, unsigned flags)
{
    static struct destruction all;
    for (unsigned round = 0; round < SCALED(200, 8); round++) {
        all.waits = round % STATES != STATES - 1; /* it is not the new one */
        all.pool = pool_with_quantum(workers, flags, 20000);
        make_ending(&all.ending, all.pool, round);
        if (flags & WEFT_USE_CALLER) /* which alone destroys it */
            destroy_or_send(SENDERS, &all);
        in_threads(flags & WEFT_USE_CALLER ? SENDERS : SENDERS + 1, destroy_or_send, &all);
        assert_int_equal(atomic_load(&all.ending.supervised), STATES);
        for (unsigned i = 0; i < STATES; i++)
            weft_actor_release(all.ending.actors[i]);
        watchdog_kick();
    }
}

static void end_1_worker(void **state)
{
    end_in_every_state(1, 0);
}

static void end_2_workers(void **state)
{
    end_in_every_state(2, 0);
}

static void end_8_workers(void **state)
{
    end_in_every_state(8, 0);
}

static void end_caller(void **state)
{
    end_in_every_state(1, WEFT_USE_CALLER);
    end_in_every_state(2, WEFT_USE_CALLER);
}

/* One thread runs an actor, the other waits for it and destroys the pool. */

struct race {
    weft_pool *pool;
    weft_actor *actor;
};

static void run_or_destroy(unsigned i, void *arg)
{
    struct race *race = arg;
    if (i == 0) {
        CHECK(weft_actor_run(race->actor) == 0);
        return;
    }
    CHECK(weft_actor_wait(NULL, race->actor) == 0);
    pool_drop(race->pool);
}

static void run_against_end(void **state)
{
    for (unsigned round = 0; round < SCALED(1000, 10); round++) {
        struct race race = {.pool = pool_make(1 + round % 2, 0)};
        assert_int_equal(weft_actor_create(&race.actor, race.pool, nothing, NULL, NULL), 0);
        in_threads(2, run_or_destroy, &race);
        weft_actor_release(race.actor);
    }
}

/* Killed again and again while it sleeps, wakes and ends: a fiber that is woken late, by the
 * timer of a sleep that was cut short, is used once at a time. */

static int nap(weft *w, void *arg)
{
    weft_sleep_until(w, weft_now() + 300000);
    char on_stack[64], *p = on_stack;
    memset(p, (int)(uintptr_t)arg, sizeof on_stack);
    weft_yield(w);
    for (unsigned i = 0; i < sizeof on_stack; i++)
        CHECK(p[i] == (char)(uintptr_t)arg);
    return 0;
}

static void kill_often(unsigned t, void *pool)
{
    enum { AT_ONCE = 16 };
    weft_actor *actors[AT_ONCE];
    for (unsigned round = 0; round < SCALED(2000, 20); round++) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            CHECK(weft_actor_create(&actors[i], pool, nap, (void *)(uintptr_t)(i + t), NULL) == 0);
            CHECK(weft_actor_run(actors[i]) == 0);
        }
        for (unsigned again = 0; again < 4; again++)
            for (unsigned i = again; i < AT_ONCE; i++)
                weft_actor_kill(actors[i]);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            int reason = weft_actor_wait(NULL, actors[i]);
            CHECK(reason == 0 || reason == -ECANCELED);
            weft_actor_release(actors[i]);
        }
        watchdog_kick();
    }
}

static void killed_in_their_sleep(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    in_threads(2, kill_often, pool);
    pool_drop(pool);
}

/* ---- There and back ---- */

enum { ROUNDS = SCALED(1000000, 20) };

struct player {
    weft_actor *other;
    uintptr_t rounds, last;
};

static int play(weft *w, void *arg)
{
    struct player *me = arg;
    for (uintptr_t i = 0; i < me->rounds; i++) {
        void *message;
        CHECK(weft_receive(w, &message) == 0);
        CHECK((uintptr_t)message > me->last || i == 0);
        me->last = (uintptr_t)message;
        if (me->last < 2 * me->rounds - 1)
            CHECK(weft_actor_send(w, me->other, (void *)(me->last + 1)) == 0);
    }
    return 0;
}

static void ping_pong(unsigned workers)
{
    weft_pool *pool = pool_make(workers, 0);
    struct player players[2] = {{.rounds = ROUNDS}, {.rounds = ROUNDS}};
    weft_actor *actors[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_actor_create(&actors[i], pool, play, &players[i], NULL), 0);
    for (int i = 0; i < 2; i++)
        players[i].other = actors[1 - i];
    assert_int_equal(weft_actor_send(NULL, actors[0], NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(weft_actor_wait(NULL, actors[i]), 0);
        weft_actor_release(actors[i]);
    }
    assert_int_equal(players[1].last, 2 * ROUNDS - 1);
    pool_drop(pool);
}

static void ping_pong_1_worker(void **state)
{
    ping_pong(1);
}

static void ping_pong_2_workers(void **state)
{
    ping_pong(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(soak_1_worker),
        cmocka_unit_test(soak_2_workers),
        cmocka_unit_test(soak_2_workers_without_guests),
        cmocka_unit_test(soak_8_workers),
        cmocka_unit_test(end_1_worker),
        cmocka_unit_test(end_2_workers),
        cmocka_unit_test(end_8_workers),
        cmocka_unit_test(end_caller),
        cmocka_unit_test(run_against_end),
        cmocka_unit_test(killed_in_their_sleep),
        cmocka_unit_test(ping_pong_1_worker),
        cmocka_unit_test(ping_pong_2_workers),
    };
    return cmocka_run_group_tests_name("actors", tests, NULL, NULL);
}
