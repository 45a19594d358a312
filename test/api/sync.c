/* SPDX-License-Identifier: MIT */
/* sync.c: mutexes, events and channels, between jobs and with outside threads. */
#include "weft/sync.h"
#include "check.h"
#include "pools.h"

#include <errno.h>

enum { JOBS = 64, ROUNDS = SCALED(2000, 10) };

/* ---- Mutex ---- */

struct account {
    weft_mutex mutex;
    unsigned long balance; /* plain: a lost update, or the sanitizer, tells */
};

static void deposit(weft *w, void *arg)
{
    struct account *account = arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 == 0)
            WAIT_UNTIL(weft_mutex_trylock(w, &account->mutex));
        else
            weft_mutex_lock(w, &account->mutex);
        account->balance++;
        weft_mutex_unlock(w, &account->mutex);
    }
}

static void spawn_jobs(weft *w, weft_fn *fn, void *arg, int n)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < n; i++)
        CHECK(weft_spawn(w, &scope, fn, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void deposit_all(weft *w, void *arg)
{
    spawn_jobs(w, deposit, arg, JOBS);
}

static void mutex_excludes(void **state)
{
    static const unsigned workers[] = {1, 2, 8};
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++) {
        struct account account = {.mutex = WEFT_MUTEX_INIT};
        weft_pool *pool = pool_make(workers[i], 0);
        assert_int_equal(weft_run(pool, deposit_all, &account), 0);
        assert_int_equal(account.balance, JOBS * ROUNDS);
        pool_drop(pool);
    }
}

static void deposit_from_outside(unsigned i, void *arg)
{
    deposit(NULL, arg);
}

static void deposit_in_pool(unsigned i, void *arg)
{
    struct account *account = ((void **)arg)[1];
    if (i == 0)
        CHECK(weft_run(((void **)arg)[0], deposit_all, account) == 0);
    else
        deposit_from_outside(i, account);
}

static void mutex_is_for_outside_threads_too(void **state)
{
    struct account account;
    weft_mutex_init(&account.mutex, "account");
    account.balance = 0;
    weft_pool *pool = pool_make(2, 0);
    in_threads(4, deposit_in_pool, (void *[]){pool, &account});
    assert_int_equal(account.balance, (JOBS + 3) * ROUNDS);
    pool_drop(pool);
}

/* Who runs may take it before one that waits, but not for ever: at most 1000 times, as weft/sync.h
 * says. All is counted under the mutex. */
enum { PASSES_MOST = 1000, PASSERS = 3 };

struct queue {
    weft_pool *pool;
    weft_task task;
    weft_mutex mutex;
    unsigned long passes;
    bool served;
    atomic_bool begun;
};

static void stand_in_line(weft *w, void *arg)
{
    struct queue *queue = arg;
    weft_mutex_lock(w, &queue->mutex);
    queue->served = true;
    weft_mutex_unlock(w, &queue->mutex);
}

static void pass_while_possible(struct queue *queue)
{
    for (bool served = false; !served;) {
        weft_mutex_lock(NULL, &queue->mutex);
        served = queue->served;
        queue->passes += !served;
        weft_mutex_unlock(NULL, &queue->mutex);
    }
}

static void wait_until_blocked(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    do {
        sched_yield();
        weft_pool_get_info(pool, &info);
    } while (info.blocked == 0);
}

static void pass_in_thread(unsigned i, void *arg)
{
    struct queue *queue = arg;
    if (i == 0) {
        weft_mutex_lock(NULL, &queue->mutex);
        CHECK(weft_submit(queue->pool, &queue->task, stand_in_line, queue) == 0);
        wait_until_blocked(queue->pool);
        atomic_store(&queue->begun, true);
        weft_mutex_unlock(NULL, &queue->mutex);
    } else {
        WAIT_UNTIL(atomic_load(&queue->begun));
    }
    pass_while_possible(queue);
}

static void mutex_is_passed_but_not_for_ever(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    unsigned long passes = 0;
    int rounds = rounds_of(SCALED(100, 5));
    for (int i = 0; i < rounds || passes == 0; i++) {
        struct queue queue = {.pool = pool, .mutex = WEFT_MUTEX_INIT};
        in_threads(1 + (unsigned)i % PASSERS, pass_in_thread, &queue);
        assert_int_equal(weft_task_wait(&queue.task), 0);
        assert_true(queue.passes <= PASSES_MOST);
        passes += queue.passes;
    }
    pool_drop(pool);
}

/* Fault 22: who holds a mutex and waits takes no job that might want it. */
static void lock_it(weft *w, void *arg)
{
    struct account *account = arg;
    weft_mutex_lock(w, &account->mutex);
    account->balance++;
    weft_mutex_unlock(w, &account->mutex);
}

static void take_a_moment(weft *w, void *arg)
{
    uint64_t end = weft_now() + 50000;
    while (weft_now() < end)
        ;
}

static void join_while_holding(weft *w, void *arg)
{
    struct account *account = arg;
    weft_mutex_lock(w, &account->mutex);
    account->balance++;
    weft_join(w, take_a_moment, NULL, take_a_moment, NULL);
    weft_mutex_unlock(w, &account->mutex);
}

static void hold_and_wait(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < JOBS; i++)
        CHECK(weft_spawn(w, &scope, i % 4 ? lock_it : join_while_holding, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void holder_takes_no_jobs_of_others(void **state)
{
    static const unsigned workers[] = {1, 2, 4};
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++) {
        for (int spares = WEFT_NONE; spares < 2; spares++) {
            weft_config config = WEFT_CONFIG_INIT;
            config.workers = workers[i];
            config.spares = spares;
            struct account account = {.mutex = WEFT_MUTEX_INIT};
            weft_pool *pool = pool_make_with(&config);
            for (int r = 0; r < SCALED(50, 5); r++)
                assert_int_equal(weft_run(pool, hold_and_wait, &account), 0);
            assert_int_equal(account.balance, JOBS * SCALED(50, 5));
            pool_drop(pool);
        }
    }
}

/* ---- Event ---- */

struct start {
    weft_event event;
    atomic_ulong gone;
};

static void wait_for_start(weft *w, void *arg)
{
    struct start *start = arg;
    weft_event_wait(w, &start->event);
    CHECK(weft_event_is_set(&start->event));
    atomic_fetch_add(&start->gone, 1);
}

static void give_start(weft *w, void *arg)
{
    struct start *start = arg;
    CHECK(atomic_load(&start->gone) == 0);
    weft_event_set(w, &start->event);
}

/* The job that sets it is the last one: all workers are blocked before a spare gets to it. */
static void wait_all(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 8; i++)
        CHECK(weft_spawn_fifo(w, &scope, wait_for_start, arg) == 0);
    CHECK(weft_spawn_fifo(w, &scope, give_start, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void event_lets_all_go(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct start start = {.event = WEFT_EVENT_INIT};
    for (int i = 0; i < rounds_of(SCALED(100, 10)); i++) {
        weft_event_reset(NULL, &start.event);
        atomic_store(&start.gone, 0);
        assert_int_equal(weft_run(pool, wait_all, &start), 0);
        assert_int_equal(atomic_load(&start.gone), 8);
    }
    pool_drop(pool);
}

static void event_from_outside(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct start start;
    weft_task task;
    weft_event_init(&start.event, "start");
    weft_event_from_outside(&start.event);
    atomic_store(&start.gone, 0);
    assert_int_equal(weft_submit(pool, &task, wait_for_start, &start), 0);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    do
        weft_pool_get_info(pool, &info);
    while (info.blocked == 0);
    weft_event_set(NULL, &start.event);
    assert_int_equal(weft_task_wait(&task), 0);
    weft_event_wait(NULL, &start.event); /* is set */
    pool_drop(pool);
}

/* ---- Channel ---- */

struct pipe {
    weft_channel channel;
    atomic_ulong sum, received;
    unsigned long n;
};

static void send_numbers(weft *w, void *arg)
{
    struct pipe *pipe = arg;
    for (unsigned long i = 1; i <= pipe->n; i++)
        CHECK(weft_channel_send(w, &pipe->channel, &i) == 0);
}

static void receive_numbers(weft *w, void *arg)
{
    struct pipe *pipe = arg;
    unsigned long number;
    int error;
    while ((error = weft_channel_receive(w, &pipe->channel, &number)) == 0) {
        atomic_fetch_add(&pipe->sum, number);
        atomic_fetch_add(&pipe->received, 1);
    }
    CHECK(error == -EPIPE);
}

enum { SENDERS = 4, RECEIVERS = 3 };

static void send_all_then_close(weft *w, void *arg)
{
    struct pipe *pipe = arg;
    spawn_jobs(w, send_numbers, pipe, SENDERS);
    weft_channel_close(w, &pipe->channel);
}

static void send_and_receive(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < RECEIVERS; i++)
        CHECK(weft_spawn_fifo(w, &scope, receive_numbers, arg) == 0);
    CHECK(weft_spawn_fifo(w, &scope, send_all_then_close, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void channel_loses_nothing(void **state)
{
    static const size_t capacities[] = {0, 1, 7, 1000};
    weft_pool *pool = pool_make(2, 0);
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        struct pipe pipe = {.n = ROUNDS};
        assert_int_equal(
            weft_channel_init(&pipe.channel, "numbers", sizeof(unsigned long), capacities[i]), 0);
        assert_int_equal(weft_run(pool, send_and_receive, &pipe), 0);
        assert_int_equal(atomic_load(&pipe.received), SENDERS * pipe.n);
        assert_int_equal(atomic_load(&pipe.sum), SENDERS * pipe.n * (pipe.n + 1) / 2);
        weft_channel_destroy(&pipe.channel);
    }
    pool_drop(pool);
}

static void channel_in_one_thread(void **state)
{
    weft_channel channel;
    int item = 1;
    assert_int_equal(weft_channel_init(&channel, NULL, 0, 1), -EINVAL);
    assert_int_equal(weft_channel_init(&channel, NULL, SIZE_MAX, 2), -EINVAL);
    assert_int_equal(weft_channel_init(&channel, NULL, sizeof item, 2), 0);
    assert_int_equal(weft_channel_try_receive(NULL, &channel, &item), -EAGAIN);
    assert_int_equal(weft_channel_send(NULL, &channel, &(int){5}), 0);
    assert_int_equal(weft_channel_send(NULL, &channel, &(int){6}), 0);
    assert_int_equal(weft_channel_try_send(NULL, &channel, &(int){7}), -EAGAIN);
    weft_channel_close(NULL, &channel);
    weft_channel_close(NULL, &channel);
    assert_int_equal(weft_channel_send(NULL, &channel, &item), -EPIPE);
    assert_int_equal(weft_channel_receive(NULL, &channel, &item), 0);
    assert_int_equal(item, 5); /* what was sent before is still there */
    assert_int_equal(weft_channel_receive(NULL, &channel, &item), 0);
    assert_int_equal(item, 6);
    assert_int_equal(weft_channel_receive(NULL, &channel, &item), -EPIPE);
    assert_int_equal(weft_channel_try_receive(NULL, &channel, &item), -EPIPE);
    weft_channel_destroy(&channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutex_excludes),
        cmocka_unit_test(mutex_is_for_outside_threads_too),
        cmocka_unit_test(mutex_is_passed_but_not_for_ever),
        cmocka_unit_test(holder_takes_no_jobs_of_others),
        cmocka_unit_test(event_lets_all_go),
        cmocka_unit_test(event_from_outside),
        cmocka_unit_test(channel_loses_nothing),
        cmocka_unit_test(channel_in_one_thread),
    };
    return RUN_ON_ALL_ROADS(tests);
}
