/* SPDX-License-Identifier: MIT */
/* completions.c: one queue for the ends of many tasks. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TASKS = 100, CODE = -EPROTO };

static weft_completions *make(void)
{
    weft_completions *queue;
    CHECK(weft_completions_create(&queue) == 0);
    return queue;
}

static void drop(weft_completions *queue)
{
    CHECK(weft_completions_destroy(queue) == 0);
}

static int submit_to(weft_pool *pool, weft_completions *queue, weft_task *task, weft_fn *fn,
                     void *arg)
{
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.completions = queue;
    return weft_submit_with(pool, task, fn, arg, &options);
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK(poll(&p, 1, 0) >= 0);
    return p.revents & POLLIN;
}

static void fail_job(weft *w, void *arg)
{
    weft_fail(w, CODE);
}

/* ---- One thread that takes them ---- */

/* In order, each once, and over. The descriptor is readable until none is left. */
static void in_the_order_of_their_ends(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_completions *queue = make();
    int fd = weft_completions_fd(queue);
    assert_true(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    assert_int_equal(weft_completions_fd(queue), fd);
    for (int round = 0; round < 50; round++) {
        weft_task tasks[TASKS], *task, last;
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(submit_to(pool, queue, &tasks[i], fail_job, NULL), 0);
        assert_int_equal(weft_submit(pool, &last, fail_job, NULL), 0);
        assert_int_equal(weft_task_wait(&last), CODE);
        for (int i = 0; i < TASKS; i++) {
            assert_true(is_readable(fd));
            assert_int_equal(weft_completions_next(queue, &task), 0);
            assert_ptr_equal(task, &tasks[i]);
            assert_true(weft_task_done(task));
            assert_int_equal(weft_task_wait(task), CODE);
            memset(task, 0xa5, sizeof *task); /* it is ours */
        }
        assert_int_equal(weft_completions_next(queue, &task), -EAGAIN);
        assert_null(task);
        assert_false(is_readable(fd));
    }
    drop(queue);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed */
    pool_drop(pool);
}

/* All that end before anybody looks: one write. */
static void one_write_for_many(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_completions *queue = make();
    int fd = weft_completions_fd(queue);
    weft_task tasks[TASKS], *task;
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(submit_to(pool, queue, &tasks[i], fail_job, NULL), 0);
    pool_drop(pool);
    eventfd_t writes;
    assert_int_equal(eventfd_read(fd, &writes), 0);
    assert_int_equal(writes, 1);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(weft_completions_next(queue, &task), 0);
    drop(queue);
}

/* One who asks for the descriptor when tasks are there finds it readable. */
static void descriptor_asked_late(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_completions *queue = make();
    weft_task task, *over;
    atomic_ulong count = 0;
    assert_int_equal(submit_to(pool, queue, &task, count_job, &count), 0);
    pool_drop(pool); /* which finishes it */
    assert_true(is_readable(weft_completions_fd(queue)));
    assert_int_equal(weft_completions_next_until(queue, &over, 0), 0); /* no time is too early */
    assert_ptr_equal(over, &task);
    assert_int_equal(weft_completions_next_until(queue, &over, 0), -ETIMEDOUT);
    assert_false(is_readable(weft_completions_fd(queue)));
    drop(queue);
}

/* An event loop: all of them, by one descriptor, while workers put more in. Edge-triggered or
 * level-triggered makes no difference to one who takes until there is none. */
static void event_loop(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_completions *queue = make();
    struct pollfd p = {.fd = weft_completions_fd(queue), .events = POLLIN};
    for (int round = 0; round < rounds_of(200); round++) {
        weft_task tasks[TASKS], *task;
        atomic_ulong count = 0;
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(submit_to(pool, queue, &tasks[i], count_job, &count), 0);
        for (int left = TASKS; left > 0;) {
            assert_int_equal(poll(&p, 1, -1), 1);
            while (weft_completions_next(queue, &task) == 0)
                left--;
        }
        assert_int_equal(atomic_load(&count), TASKS);
        assert_false(is_readable(p.fd));
    }
    drop(queue);
    pool_drop(pool);
}

/* One who does not wait for the descriptor may be faster than the thread that writes it. Then it
 * becomes readable for nothing, and is not for ever. */
static void taken_before_it_tells(void **state)
{
    weft_completions *queue = make();
    int fd = weft_completions_fd(queue);
    weft_task tasks[TASKS], *task;
    atomic_ulong count = 0;
    for (int round = 0; round < rounds_of(5); round++) {
        weft_pool *pool = pool_make(2, 0);
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(submit_to(pool, queue, &tasks[i], count_job, &count), 0);
            WAIT_UNTIL(weft_completions_next(queue, &task) == 0);
        }
        assert_int_equal(weft_completions_next(queue, &task), -EAGAIN);
        pool_drop(pool); /* all is written now */
        assert_int_equal(weft_completions_next(queue, &task), -EAGAIN);
        assert_false(is_readable(fd));
    }
    drop(queue);
}

/* The worker that still writes the descriptor does not write another one, which has its number. */
static void destroyed_before_it_tells(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    atomic_ulong count = 0;
    for (int i = 0; i < rounds_of(200); i++) {
        weft_completions *queue = make();
        assert_true(weft_completions_fd(queue) >= 0);
        weft_task task, *over;
        assert_int_equal(submit_to(pool, queue, &task, count_job, &count), 0);
        WAIT_UNTIL(weft_completions_next(queue, &over) == 0);
        drop(queue);
        int fd = eventfd(0, EFD_CLOEXEC);
        wait_a_moment();
        assert_false(is_readable(fd));
        close(fd);
    }
    pool_drop(pool);
}

/* Also one that was cancelled, by the thread that cancels it; after `done`. */
static void count_end(void *count, int error)
{
    CHECK(error == -ECANCELED);
    atomic_fetch_add((atomic_ulong *)count, 1);
}

static void cancelled_ones_come_too(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_completions *queue = make();
    struct held held;
    pool_hold(pool, &held, 1);
    weft_task task, *over;
    atomic_ulong count = 0;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.completions = queue;
    options.done = count_end;
    assert_int_equal(weft_submit_with(pool, &task, count_job, &count, &options), 0);
    assert_int_equal(weft_completions_next(queue, &over), -EAGAIN);
    assert_int_equal(weft_task_cancel(&task), 0);
    assert_int_equal(weft_completions_next(queue, &over), 0);
    assert_ptr_equal(over, &task);
    assert_int_equal(weft_task_wait(over), -ECANCELED);
    assert_int_equal(atomic_load(&count), 1);
    pool_let_go(&held);
    drop(queue);
    pool_drop(pool);
}

/* ---- Waiting ---- */

/* Its time comes, and then the task. */
static void wait_for_one(weft_pool *pool)
{
    weft_completions *queue = make();
    weft_task task, *over;
    struct gate gate = {0};
    CHECK(submit_to(pool, queue, &task, gate_job, &gate) == 0);
    gate_wait_arrived(&gate);
    for (int i = 0; i < 3; i++) {
        uint64_t when = weft_now() + 300000;
        CHECK(weft_completions_next_until(queue, &over, when) == -ETIMEDOUT);
        CHECK(weft_now() >= when && over == NULL);
    }
    gate_open(&gate);
    CHECK(weft_completions_next_until(queue, &over, UINT64_MAX) == 0);
    CHECK(over == &task);
    drop(queue); /* at once: the worker that put it in may be about to leave */
}

static void wait_in_job(weft *w, void *arg)
{
    wait_for_one(weft_pool_of(w));
}

static int wait_in_actor(weft *w, void *arg)
{
    wait_in_job(w, arg);
    return 0;
}

static void waits(void **state)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    for (unsigned i = 0; i < 3; i++) {
        weft_pool *pool = pool_make(2, flags[i]);
        for (int r = 0; r < 20; r++) {
            wait_for_one(pool); /* from outside, or by the caller */
            assert_int_equal(weft_run(pool, wait_in_job, NULL), 0);
            assert_int_equal(run_one(pool, wait_in_actor, NULL), 0);
        }
        pool_drop(pool);
    }
}

/* The only worker waits for tasks that only it can run. */
static void wait_for_own(weft *w, void *arg)
{
    weft_completions *queue = make();
    weft_task tasks[TASKS], *over;
    atomic_ulong count = 0;
    for (int i = 0; i < TASKS; i++)
        CHECK(submit_to(weft_pool_of(w), queue, &tasks[i], count_job, &count) == 0);
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_completions_next_until(queue, &over, UINT64_MAX) == 0);
    CHECK(atomic_load(&count) == TASKS);
    drop(queue);
}

static void with_one_worker(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(weft_run(pool, wait_for_own, NULL), 0);
    pool_drop(pool);
}

/* An actor that is killed while it waits leaves the queue. */
struct killed {
    weft_completions *queue;
    atomic_bool comes;
};

static int wait_for_ever(weft *w, void *arg)
{
    struct killed *killed = arg;
    weft_task *over;
    atomic_store(&killed->comes, true);
    (void)!weft_completions_next_until(killed->queue, &over, UINT64_MAX);
    return 0;
}

static void killed_actor(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 20; i++) {
        struct killed killed = {.queue = make()};
        weft_actor *actor = start(pool, wait_for_ever, &killed, NULL);
        WAIT_UNTIL(i % 2 || atomic_load(&killed.comes));
        weft_actor_kill(actor);
        assert_int_equal(end(actor), -ECANCELED);
        drop(killed.queue);
    }
    pool_drop(pool);
}

/* ---- Many who put in, and many who take out ---- */

struct market {
    weft_pool *pool;
    weft_completions *queue;
    weft_task tasks[TASKS];
    atomic_uint taken[TASKS];
    atomic_ulong count, left;
};

static void consume(unsigned i, void *arg)
{
    struct market *market = arg;
    while (atomic_load(&market->left) > 0) {
        weft_task *over;
        uint64_t when = weft_now() + (i % 2 ? 100000 : 20000);
        int error = i == 0 ? weft_completions_next(market->queue, &over)
                           : weft_completions_next_until(market->queue, &over, when);
        CHECK(error == 0 || error == (i == 0 ? -EAGAIN : -ETIMEDOUT));
        if (error) {
            wait_a_moment();
            continue;
        }
        CHECK(weft_task_wait(over) == 0);
        atomic_fetch_add(&market->taken[over - market->tasks], 1);
        atomic_fetch_sub(&market->left, 1);
    }
}

static void many_to_many(void **state)
{
    struct market market = {.pool = pool_make(2, 0), .queue = make()};
    for (int round = 0; round < rounds_of(50); round++) {
        atomic_store(&market.left, TASKS);
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(
                submit_to(market.pool, market.queue, &market.tasks[i], count_job, &market.count),
                0);
        in_threads(4, consume, &market);
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(atomic_exchange(&market.taken[i], 0), 1);
    }
    drop(market.queue);
    pool_drop(market.pool);
}

/* The task ends when the time of who waits for it comes. */
static void end_about_when(weft *w, void *when)
{
    while (weft_now() < *(uint64_t *)when)
        ;
}

static void race(weft_pool *pool)
{
    weft_completions *queue = make();
    uint64_t when = weft_now() + 30000;
    weft_task task, *over;
    CHECK(submit_to(pool, queue, &task, end_about_when, &when) == 0);
    int error = weft_completions_next_until(queue, &over, when + 3000);
    CHECK(error == (over ? 0 : -ETIMEDOUT));
    if (error)
        CHECK(weft_completions_next_until(queue, &over, UINT64_MAX) == 0);
    CHECK(over == &task);
    drop(queue);
}

static void race_in_job(weft *w, void *arg)
{
    for (int i = 0; i < rounds_of(SCALED(500, 5)); i++)
        race(weft_pool_of(w));
}

static void end_at_the_limit(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(SCALED(500, 5)); i++)
        race(pool);
    assert_int_equal(weft_run(pool, race_in_job, NULL), 0);
    pool_drop(pool);
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_completions *queue = make();
    weft_task task, *over;
    struct held held;
    assert_int_equal(weft_completions_create(NULL), -EINVAL);
    assert_int_equal(weft_completions_destroy(NULL), -EINVAL);
    assert_int_equal(weft_completions_fd(NULL), -EINVAL);
    assert_int_equal(weft_completions_next(NULL, &over), -EINVAL);
    assert_int_equal(weft_completions_next(queue, NULL), -EINVAL);
    assert_int_equal(weft_completions_next_until(queue, NULL, 0), -EINVAL);
    assert_int_equal(submit_to(pool, queue, NULL, fail_job, NULL), -EINVAL);
    pool_hold(pool, &held, 1);
    assert_int_equal(submit_to(pool, queue, &task, fail_job, NULL), 0);
    assert_int_equal(submit_to(pool, queue, &task, fail_job, NULL), -EBUSY);
    assert_int_equal(weft_completions_destroy(queue), -EBUSY); /* not over */
    pool_let_go(&held);
    assert_int_equal(weft_task_wait(&task), CODE);
    assert_int_equal(weft_completions_destroy(queue), -EBUSY); /* not taken out */
    assert_int_equal(weft_completions_next_until(queue, &over, UINT64_MAX), 0);
    drop(queue);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_order_of_their_ends),
        cmocka_unit_test(one_write_for_many),
        cmocka_unit_test(descriptor_asked_late),
        cmocka_unit_test(event_loop),
        cmocka_unit_test(taken_before_it_tells),
        cmocka_unit_test(destroyed_before_it_tells),
        cmocka_unit_test(cancelled_ones_come_too),
        cmocka_unit_test(waits),
        cmocka_unit_test(with_one_worker),
        cmocka_unit_test(killed_actor),
        cmocka_unit_test(many_to_many),
        cmocka_unit_test(end_at_the_limit),
        cmocka_unit_test(bad_arguments),
    };
    return RUN_ON_ALL_ROADS(tests);
}
