/* SPDX-License-Identifier: MIT */
/* actor_sync.c: actors that wait: for mutexes, events, channels, tasks, runs, scopes, each other,
 * and outside weft. Whoever waits leaves its executor to the others: most of it is done by one
 * worker. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/parallel.h"
#include "weft/sync.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* n actors at once; all end with 0. */
static void run_many(weft_pool *pool, unsigned n, weft_actor_fn *fn, void *arg)
{
    enum { MOST = 64 };
    weft_actor *actors[MOST];
    CHECK(n <= MOST);
    for (unsigned i = 0; i < n; i++)
        actors[i] = start(pool, fn, arg, NULL);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(end(actors[i]), 0);
}

/* Pools with one worker and more, and without guests. */
static const struct {
    unsigned workers, flags;
} kinds[] = {{1, 0}, {2, 0}, {8, 0}, {1, WEFT_NO_GUESTS}, {1, WEFT_USE_CALLER}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static weft_pool *pool_of_kind(unsigned kind)
{
    return pool_make(kinds[kind].workers, kinds[kind].flags);
}

/* ---- Mutex ---- */

enum { ACTORS = 16, THREADS = 3, ROUNDS = SCALED(500, 5) };

struct account {
    weft_mutex mutex;
    unsigned long balance; /* plain: a lost update, or the sanitizer, tells */
};

static void deposit(weft *w, struct account *account, bool suspends)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 == 0)
            while (!weft_mutex_trylock(w, &account->mutex)) {
                if (w)
                    weft_yield(w);
                else
                    sched_yield();
            }
        else
            weft_mutex_lock(w, &account->mutex);
        unsigned long balance = account->balance;
        if (suspends && i % 4 == 0)
            weft_yield(w); /* it holds the mutex, and another one runs */
        if (suspends && i % 64 == 0)
            weft_sleep_until(w, weft_now() + 1000);
        account->balance = balance + 1;
        weft_mutex_unlock(w, &account->mutex);
    }
}

static int deposit_in_actor(weft *w, void *account)
{
    deposit(w, account, true);
    return 0;
}

static void deposit_in_job(weft *w, void *account)
{
    deposit(w, account, false);
}

static void deposit_from_outside(unsigned i, void *account)
{
    deposit(NULL, account, false);
}

static void mutex_excludes_actors(void **state)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct account account = {.mutex = WEFT_MUTEX_INIT};
        weft_pool *pool = pool_of_kind(kind);
        run_many(pool, ACTORS, deposit_in_actor, &account);
        assert_int_equal(account.balance, ACTORS * ROUNDS);
        pool_drop(pool);
    }
}

static void mutex_between_actors_jobs_and_threads(void **state)
{
    for (unsigned kind = 0; kind < 4; kind++) {
        struct account account = {.mutex = WEFT_MUTEX_INIT};
        weft_pool *pool = pool_of_kind(kind);
        weft_actor *actors[ACTORS];
        weft_task tasks[2];
        for (int i = 0; i < ACTORS; i++)
            actors[i] = start(pool, deposit_in_actor, &account, NULL);
        for (int i = 0; i < 2; i++)
            assert_int_equal(weft_submit(pool, &tasks[i], deposit_in_job, &account), 0);
        in_threads(THREADS, deposit_from_outside, &account);
        for (int i = 0; i < 2; i++)
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
        for (int i = 0; i < ACTORS; i++)
            assert_int_equal(end(actors[i]), 0);
        assert_int_equal(account.balance, (ACTORS + THREADS + 2) * ROUNDS);
        pool_drop(pool);
    }
}

/* What it has forked wants the mutex that it holds. So none of that may run on top of it, as strict
 * actors let it otherwise, before it has unlocked it. */

static void poll_a_while(weft *w, void *unused)
{
    for (int i = 0; i < 1000; i++)
        weft_poll(w);
}

static void lock_in_between(weft *w, void *mutex)
{
    weft_mutex_lock(w, mutex);
    weft_mutex_unlock(w, mutex);
}

static int hold_what_forks_want(weft *w, void *mutex)
{
    weft *in = weft_fork(w, poll_a_while, NULL);
    weft *in_both = weft_fork(in, lock_in_between, mutex);
    weft_mutex_lock(in_both, mutex);
    poll_a_while(in_both, NULL); /* both are old enough soon */
    weft_mutex_unlock(in_both, mutex);
    if (!weft_merge(in))
        lock_in_between(in, mutex);
    if (!weft_merge(w))
        poll_a_while(w, NULL);
    return 0;
}

static void nothing_on_top_of_a_holder(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    const weft_actors_config counted = {.size = sizeof counted, .counted = 10};
    assert_int_equal(weft_actors_setup(pool, &counted), 0);
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.steal = WEFT_STEAL_STRICT;
    weft_mutex mutex;
    weft_mutex_init(&mutex, "wanted");
    weft_actor *actor;
    assert_int_equal(weft_actor_create(&actor, pool, hold_what_forks_want, &mutex, &config), 0);
    assert_int_equal(weft_actor_run(actor), 0);
    assert_int_equal(end(actor), 0);
    pool_drop(pool);
}

/* ---- The same for who helps a holder: the times are such that the one who wants the mutex would
 * be sent to where one waits that the holder waits for. ---- */

static void poll_for(weft *w, unsigned ms)
{
    uint64_t until = weft_now() + ms * UINT64_C(1000000);
    while (weft_now() < until)
        weft_poll(w);
}

static void help_the_helper(weft *w, void *mutex)
{
    poll_for(w, 60);
}

static void help_the_holder(weft *w, void *mutex)
{
    weft *in = weft_fork(w, help_the_helper, mutex);
    poll_for(in, 12);
    if (!weft_merge(w))
        help_the_helper(w, mutex);
}

static void hold_and_fork(weft *w, void *mutex)
{
    weft_mutex_lock(w, mutex);
    weft *in = weft_fork(w, help_the_holder, mutex);
    poll_for(in, 80);
    if (!weft_merge(w))
        help_the_holder(w, mutex);
    weft_mutex_unlock(w, mutex);
}

static void want_mutex(weft *w, void *mutex)
{
    weft_mutex_lock(w, mutex);
    weft_mutex_unlock(w, mutex);
}

static int hold_and_want(weft *w, void *mutex)
{
    weft *first = weft_fork(w, hold_and_fork, mutex);
    poll_for(first, 35);
    weft *second = weft_fork(first, want_mutex, mutex);
    poll_for(second, 20);
    if (!weft_merge(first))
        want_mutex(first, mutex);
    if (!weft_merge(w))
        hold_and_fork(w, mutex);
    return 0;
}

static void nothing_on_top_of_a_holders_delegate(void **state)
{
    weft_pool *pool = pool_make(4, 0);
    weft_mutex mutex = WEFT_MUTEX_INIT;
    for (int i = 0; i < 3; i++)
        assert_int_equal(run_one(pool, hold_and_want, &mutex), 0);
    pool_drop(pool);
}

/* ---- Event and channel ---- */

struct start_line {
    weft_event event;
    atomic_ulong ready, gone;
};

static int wait_for_start(weft *w, void *arg)
{
    struct start_line *line = arg;
    atomic_fetch_add(&line->ready, 1);
    weft_event_wait(w, &line->event);
    CHECK(weft_event_is_set(&line->event));
    atomic_fetch_add(&line->gone, 1);
    return 0;
}

static int give_start(weft *w, void *arg)
{
    struct start_line *line = arg;
    while (atomic_load(&line->ready) < ACTORS)
        weft_yield(w);
    CHECK(atomic_load(&line->gone) == 0);
    weft_event_set(w, &line->event);
    return 0;
}

static void event_lets_all_go(void **state)
{
    for (unsigned kind = 0; kind < 2 * KINDS; kind++) {
        weft_pool *pool = pool_of_kind(kind % KINDS);
        bool outside = kind >= KINDS && !(kinds[kind % KINDS].flags & WEFT_USE_CALLER);
        struct start_line line = {.event = WEFT_EVENT_INIT};
        weft_actor *actors[ACTORS];
        for (int i = 0; i < ACTORS; i++)
            actors[i] = start(pool, wait_for_start, &line, NULL);
        if (outside) {
            WAIT_UNTIL(atomic_load(&line.ready) == ACTORS);
            weft_event_set(NULL, &line.event);
        } else {
            assert_int_equal(run_one(pool, give_start, &line), 0);
        }
        for (int i = 0; i < ACTORS; i++)
            assert_int_equal(end(actors[i]), 0);
        assert_int_equal(atomic_load(&line.gone), ACTORS);
        pool_drop(pool);
    }
}

struct pipe {
    weft_channel channel;
    atomic_ulong sum, received;
};

static int send_numbers(weft *w, void *arg)
{
    struct pipe *pipe = arg;
    for (unsigned long i = 1; i <= ROUNDS; i++)
        CHECK(weft_channel_send(w, &pipe->channel, &i) == 0);
    return 0;
}

static void send_numbers_outside(unsigned i, void *pipe)
{
    send_numbers(NULL, pipe);
}

static int receive_numbers(weft *w, void *arg)
{
    struct pipe *pipe = arg;
    unsigned long number;
    int error;
    while ((error = weft_channel_receive(w, &pipe->channel, &number)) == 0) {
        atomic_fetch_add(&pipe->sum, number);
        atomic_fetch_add(&pipe->received, 1);
    }
    return error == -EPIPE ? 0 : error;
}

static void channel_loses_nothing(void **state)
{
    enum { RECEIVERS = 3 };
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (size_t capacity = 0; capacity < 9; capacity = 2 * capacity + 1) {
            bool outside = !(kinds[kind].flags & WEFT_USE_CALLER);
            unsigned long senders = ACTORS + (outside ? THREADS : 0);
            weft_pool *pool = pool_of_kind(kind);
            struct pipe pipe = {0};
            assert_int_equal(
                weft_channel_init(&pipe.channel, NULL, sizeof(unsigned long), capacity), 0);
            weft_actor *receivers[RECEIVERS];
            for (int i = 0; i < RECEIVERS; i++)
                receivers[i] = start(pool, receive_numbers, &pipe, NULL);
            if (outside)
                in_threads(THREADS, send_numbers_outside, &pipe);
            run_many(pool, ACTORS, send_numbers, &pipe);
            weft_channel_close(NULL, &pipe.channel);
            for (int i = 0; i < RECEIVERS; i++)
                assert_int_equal(end(receivers[i]), 0);
            assert_int_equal(atomic_load(&pipe.received), senders * ROUNDS);
            assert_int_equal(atomic_load(&pipe.sum), senders * ROUNDS * (ROUNDS + 1) / 2);
            weft_channel_destroy(&pipe.channel);
            pool_drop(pool);
        }
    }
}

/* ---- Tasks and runs ---- */

static void fail_job(weft *w, void *arg)
{
    weft_fail(w, -7);
}

static int submit_and_wait(weft *w, void *pool)
{
    atomic_ulong count = 0;
    for (int i = 0; i < 20; i++) {
        weft_task tasks[3];
        for (int j = 0; j < 2; j++)
            CHECK(weft_submit(pool, &tasks[j], count_job, &count) == 0);
        CHECK(weft_submit(pool, &tasks[2], fail_job, NULL) == 0);
        for (int j = 0; j < 2; j++)
            CHECK(weft_task_wait(&tasks[j]) == 0);
        CHECK(weft_task_wait(&tasks[2]) == -7);
    }
    return atomic_load(&count) == 40 ? 0 : 1;
}

static void tasks_of_actors(void **state)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        weft_pool *pool = pool_of_kind(kind);
        run_many(pool, ACTORS, submit_and_wait, pool);
        pool_drop(pool);
    }
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

static void be_in(weft *w, void *pool)
{
    CHECK(weft_pool_of(w) == pool);
    weft_fail(w, -9);
}

static int run_inside(weft *w, void *pool)
{
    weft_actor *self = weft_actor_self(w);
    for (unsigned i = 1; i < 20; i++) {
        unsigned leaves = i * 10;
        CHECK(weft_run(pool, count_leaves, &leaves) == 0);
        CHECK(leaves == i * 10);
        CHECK(weft_run(pool, be_in, pool) == -9);
        CHECK(weft_here() == w);
        CHECK(weft_actor_self(weft_here()) == self);
    }
    return 0;
}

static void runs_of_actors(void **state)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (unsigned other = 0; other < KINDS; other++) {
            if (kinds[kind].flags & kinds[other].flags & WEFT_USE_CALLER)
                continue; /* there is one thread for both */
            weft_pool *pool = pool_of_kind(kind), *another = pool_of_kind(other);
            run_many(pool, 4, run_inside, pool);
            run_many(pool, 4, run_inside, another);
            pool_drop(another);
            pool_drop(pool);
        }
    }
}

/* What an actor waits for in another pool may be an actor of its own executor. */

static void wait_for_actor(weft *w, void *actor)
{
    CHECK(weft_actor_wait(w, actor) == 3);
}

static int three(weft *w, void *arg)
{
    return 3;
}

static int run_what_waits_here(weft *w, void *other)
{
    weft_actor *actor = start(weft_pool_of(w), three, NULL, NULL);
    CHECK(weft_run(other, wait_for_actor, actor) == 0);
    CHECK(weft_actor_wait(w, actor) == 3);
    weft_actor_release(actor);
    return 0;
}

static void pools_that_wait_for_each_other(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *a = pool_make(1, flags), *b = pool_make(1, flags);
        for (int i = 0; i < rounds_of(SCALED(50, 5)); i++) {
            weft_actor *there = start(b, run_what_waits_here, a, NULL);
            run_many(a, 4, run_what_waits_here, b);
            assert_int_equal(end(there), 0);
        }
        pool_drop(a);
        pool_drop(b);
    }
}

/* A chain of actors, each of which waits for the next: by one worker. */
static int wait_for_next(weft *w, void *arg)
{
    unsigned left = *(unsigned *)arg;
    if (left == 0)
        return 0;
    left--;
    weft_actor *next = start(weft_pool_of(w), wait_for_next, &left, NULL);
    int reason = weft_actor_wait(w, next);
    weft_actor_release(next);
    return reason + 1;
}

static void wait_for_first(weft *w, void *arg)
{
    weft_actor *first = start(weft_pool_of(w), wait_for_next, arg, NULL);
    CHECK(weft_actor_wait(w, first) == (int)*(unsigned *)arg);
    weft_actor_release(first);
}

static void actors_wait_for_actors(void **state)
{
    unsigned length = SCALED(1000, 10);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        weft_pool *pool = pool_of_kind(kind);
        assert_int_equal(run_one(pool, wait_for_next, &length), (int)length);
        assert_int_equal(weft_run(pool, wait_for_first, &length), 0);
        pool_drop(pool);
    }
}

/* ---- Scopes ---- */

struct family {
    weft_scope *scope;
    atomic_ulong *count;
};

static void have_child(weft *w, void *arg)
{
    struct family *family = arg;
    atomic_fetch_add(family->count, 1);
    CHECK(weft_spawn(w, family->scope, count_job, family->count) == 0);
    CHECK(weft_spawn_fifo(w, family->scope, count_job, family->count) == 0);
}

static int open_scopes(weft *w, void *arg)
{
    for (unsigned long n = 0; n < 20; n++) {
        atomic_ulong count = 0;
        weft_scope outer, inner;
        weft_scope_open(w, &outer);
        struct family family = {&outer, &count};
        for (unsigned long i = 0; i < n; i++)
            CHECK(weft_spawn(w, &outer, have_child, &family) == 0);
        weft_scope_open(w, &inner);
        CHECK(weft_spawn(w, &inner, fail_job, NULL) == 0);
        CHECK(weft_scope_close(w, &inner) == -7);
        CHECK(weft_scope_close(w, &outer) == 0);
        CHECK(atomic_load(&count) == 3 * n);
    }
    return 0;
}

static void poll_until_cancelled(weft *w, void *arg)
{
    while (!weft_cancelled(w))
        weft_poll(w);
}

static void join_until_cancelled(weft *w, void *arg)
{
    while (!weft_cancelled(w))
        weft_join(w, count_job, arg, count_job, arg);
}

static int pass_deadlines(weft *w, void *arg)
{
    atomic_ulong count = 0;
    for (int i = 0; i < 10; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        weft_scope_deadline(&scope, weft_now() + 100000);
        CHECK(weft_spawn(w, &scope, poll_until_cancelled, NULL) == 0);
        CHECK(weft_spawn(w, &scope, join_until_cancelled, &count) == 0);
        if (i % 2)
            weft_sleep_until(w, weft_now() + 200000);
        CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
        CHECK(!weft_cancelled(w));
    }
    return 0;
}

static void scopes_of_actors(void **state)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        weft_pool *pool = pool_of_kind(kind);
        run_many(pool, ACTORS, open_scopes, NULL);
        run_many(pool, ACTORS, pass_deadlines, NULL);
        pool_drop(pool);
    }
}

/* ---- Blocking outside ---- */

struct handover {
    atomic_ulong in, out;
    unsigned long all;
};

/* Each blocks its thread until all have come. */
static int meet(weft *w, void *arg)
{
    struct handover *handover = arg;
    weft_block_begin(w);
    weft_block_begin(w);
    atomic_fetch_add(&handover->in, 1);
    WAIT_UNTIL(atomic_load(&handover->in) == handover->all);
    weft_block_end(w);
    weft_poll(w);
    weft_yield(w);
    weft_join(w, count_job, &handover->out, count_job, &handover->out);
    weft_block_end(w);
    weft_join(w, count_job, &handover->out, count_job, &handover->out);
    return 0;
}

static void blocked_ones_leave_their_executor(void **state)
{
    for (unsigned kind = 0; kind < 4; kind++) {
        weft_pool *pool = pool_of_kind(kind);
        for (int i = 0; i < rounds_of(SCALED(50, 5)); i++) {
            struct handover handover = {.all = 3};
            run_many(pool, 3, meet, &handover);
            assert_int_equal(atomic_load(&handover.out), 12);
        }
        pool_drop(pool);
    }
}

/* With one worker, a job that waits for one actor runs another one, which blocks: the job goes on
 * all the same when its own wait is over. */
struct capture {
    weft_pool *pool;
    atomic_bool goes_on;
    weft_actor *blocks;
};

static int block_until_it_goes_on(weft *w, void *arg)
{
    struct capture *capture = arg;
    weft_block_begin(w);
    WAIT_UNTIL(atomic_load(&capture->goes_on));
    weft_block_end(w);
    weft_yield(w);
    return 4;
}

static void wait_beside_one_that_blocks(weft *w, void *arg)
{
    struct capture *capture = arg;
    capture->blocks = start(capture->pool, block_until_it_goes_on, capture, NULL);
    weft_actor *other = start(capture->pool, three, NULL, NULL);
    CHECK(weft_actor_wait(w, other) == 3);
    weft_actor_release(other);
    atomic_store(&capture->goes_on, true);
}

static void a_waiting_job_is_not_captured(void **state)
{
    for (int i = 0; i < rounds_of(SCALED(40, 5)); i++) {
        struct capture capture = {.pool = pool_make(1, 0)};
        weft_task task;
        if (i % 2) {
            assert_int_equal(weft_run(capture.pool, wait_beside_one_that_blocks, &capture), 0);
        } else {
            assert_int_equal(
                weft_submit(capture.pool, &task, wait_beside_one_that_blocks, &capture), 0);
            WAIT_UNTIL(weft_task_done(&task));
            assert_int_equal(weft_task_wait(&task), 0);
        }
        assert_int_equal(end(capture.blocks), 4);
        pool_drop(capture.pool);
    }
}

/* Woken and killed while it is away, it goes on when it is back. */
static int block_then_receive(weft *w, void *arg)
{
    struct handover *handover = arg;
    void *message;
    weft_block_begin(w);
    atomic_store(&handover->in, 1);
    WAIT_UNTIL(atomic_load(&handover->out));
    weft_block_end(w);
    CHECK(weft_receive(w, &message) == 0);
    CHECK(message == handover);
    return weft_receive(w, &message);
}

static void woken_while_away(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int i = 0; i < rounds_of(SCALED(200, 5)); i++) {
        struct handover handover = {0};
        weft_actor *actor = start(pool, block_then_receive, &handover, NULL);
        WAIT_UNTIL(atomic_load(&handover.in));
        assert_int_equal(weft_actor_send(NULL, actor, &handover), 0);
        if (i % 3)
            weft_actor_kill(actor);
        atomic_store(&handover.out, 1);
        weft_actor_kill(actor);
        assert_int_equal(end(actor), -ECANCELED);
    }
    pool_drop(pool);
}

static int alloc_while_blocked(weft *w, void *arg)
{
    weft_block_begin(w);
    while (weft_actor_self(w))
        *(char *)weft_alloc(w, 1 << 20) = 1;
    return 0;
}

static void out_of_memory_while_away(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run_one(pool, alloc_while_blocked, NULL), -ENOMEM);
        assert_int_equal(run_one(pool, three, NULL), 3);
    }
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutex_excludes_actors),
        cmocka_unit_test(mutex_between_actors_jobs_and_threads),
        cmocka_unit_test(nothing_on_top_of_a_holder),
        cmocka_unit_test(nothing_on_top_of_a_holders_delegate),
        cmocka_unit_test(event_lets_all_go),
        cmocka_unit_test(channel_loses_nothing),
        cmocka_unit_test(tasks_of_actors),
        cmocka_unit_test(runs_of_actors),
        cmocka_unit_test(pools_that_wait_for_each_other),
        cmocka_unit_test(actors_wait_for_actors),
        cmocka_unit_test(scopes_of_actors),
        cmocka_unit_test(blocked_ones_leave_their_executor),
        cmocka_unit_test(a_waiting_job_is_not_captured),
        cmocka_unit_test(woken_while_away),
        cmocka_unit_test(out_of_memory_while_away),
    };
    return cmocka_run_group_tests_name("actor_sync", tests, NULL, NULL);
}
