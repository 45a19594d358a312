/* SPDX-License-Identifier: MIT */
/* task.c: submitted work, and all the ways of waiting for it. */
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { CODE = -EPROTO };

/* Runs until it may end, and fails. */
struct slow {
    struct gate gate;
    weft_task task;
};

static void slow_job(weft *w, void *arg)
{
    gate_job(w, arg);
    weft_fail(w, CODE);
}

/* Submitted, and started by a worker. */
static void slow_start(weft_pool *pool, struct slow *slow)
{
    memset(slow, 0, sizeof *slow);
    assert_int_equal(weft_submit(pool, &slow->task, slow_job, &slow->gate), 0);
    gate_wait_arrived(&slow->gate);
    assert_false(weft_task_done(&slow->task));
}

/* ---- One who waits ---- */

static void wait_from_outside(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(2, flags);
        for (int i = 0; i < rounds_of(1000); i++) {
            weft_task task;
            atomic_ulong count = 0;
            assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
            assert_int_equal(weft_task_wait(&task), 0);
            assert_int_equal(atomic_load(&count), 1);
            assert_true(weft_task_done(&task));
        }
        pool_drop(pool);
    }
}

static void submit_and_wait(weft *w, void *arg)
{
    enum { TASKS = 20 };
    weft_task tasks[TASKS];
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_submit(weft_pool_of(w), &tasks[i], count_job, arg) == 0);
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_task_wait(&tasks[i]) == 0);
}

static void wait_from_a_job(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, workers % 2 ? 0 : WEFT_NO_GUESTS);
        for (unsigned i = 1; i <= 200; i++) {
            atomic_ulong count = 0;
            assert_int_equal(weft_run(pool, submit_and_wait, &count), 0);
            assert_int_equal(atomic_load(&count), 20);
        }
        pool_drop(pool);
    }
}

static void open_job(weft *w, void *gate)
{
    gate_open(gate);
}

static void wait_while_it_runs(weft *w, void *arg)
{
    struct slow *slow = arg;
    weft_task opener;
    CHECK(weft_submit(weft_pool_of(w), &slow->task, slow_job, &slow->gate) == 0);
    gate_wait_arrived(&slow->gate); /* the other worker has it */
    CHECK(weft_submit(weft_pool_of(w), &opener, open_job, &slow->gate) == 0);
    CHECK(weft_task_wait(&slow->task) == CODE); /* so only this wait can run the opener */
    CHECK(weft_task_wait(&opener) == 0);
}

static void waiting_job_runs_others(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(500); i++) {
        struct slow slow = {0};
        assert_int_equal(weft_run(pool, wait_while_it_runs, &slow), 0);
    }
    pool_drop(pool);
}

static void wait_twice(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct slow slow;
    slow_start(pool, &slow);
    gate_open(&slow.gate);
    assert_int_equal(weft_task_wait(&slow.task), CODE);
    assert_int_equal(weft_task_wait(&slow.task), CODE);
    pool_drop(pool);
    assert_int_equal(weft_task_wait(&slow.task), CODE); /* it needs no pool any more */
    assert_true(weft_task_done(&slow.task));
}

static void used_again(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_task task;
    atomic_ulong count = 0;
    memset(&task, 0xa5, sizeof task); /* what was in it before does not matter */
    for (unsigned i = 1; i <= 5000; i++) {
        assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
        assert_int_equal(weft_task_wait(&task), 0);
        assert_int_equal(atomic_load(&count), i);
    }
    pool_drop(pool);
}

static void done_only_when_done(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct slow slow;
    slow_start(pool, &slow);
    gate_open(&slow.gate);
    WAIT_UNTIL(weft_task_done(&slow.task));
    assert_int_equal(weft_task_wait(&slow.task), CODE);
    pool_drop(pool);
}

static void destroy_finishes_it(void **state)
{
    enum { TASKS = 100 };
    weft_pool *pool = pool_make(2, 0);
    weft_task tasks[TASKS];
    atomic_ulong count = 0;
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(weft_submit(pool, &tasks[i], count_job, &count), 0);
    pool_drop(pool);
    assert_int_equal(atomic_load(&count), TASKS);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_task task;
    assert_int_equal(weft_submit(pool, NULL, gate_job, NULL), -EINVAL);
    assert_int_equal(weft_submit(pool, &task, NULL, NULL), -EINVAL);
    assert_int_equal(weft_task_wait(NULL), -EINVAL);
    assert_int_equal(weft_task_fd(NULL), -EINVAL);
    pool_drop(pool);
}

/* ---- Who runs it ---- */

static void note_thread(weft *w, void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

static void waiter_runs_it_if_nobody_else_did(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct held held;
    pool_hold(pool, &held, 1);
    pthread_t ran = 0;
    weft_task first, task;
    atomic_ulong count = 0;
    assert_int_equal(weft_submit(pool, &first, count_job, &count), 0);
    assert_int_equal(weft_submit(pool, &task, note_thread, &ran), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_true(pthread_equal(ran, pthread_self()));
    assert_int_equal(atomic_load(&count), 0); /* only its own one */
    pool_let_go(&held);
    assert_int_equal(weft_task_wait(&first), 0);
    pool_drop(pool);
}

/* ---- Several who wait ---- */

static void wait_for_slow(unsigned i, void *arg)
{
    struct slow *slow = arg;
    if (i == 0)
        gate_open(&slow->gate);
    CHECK(weft_task_wait(&slow->task) == CODE);
}

static void many_outside_waiters(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(1, flags);
        for (int r = 0; r < rounds_of(200); r++) {
            struct slow slow;
            slow_start(pool, &slow);
            if (r % 2)
                assert_true(weft_task_fd(&slow.task) >= 0); /* one of them closes it */
            in_threads(8, wait_for_slow, &slow);
        }
        pool_drop(pool);
    }
}

/* Nobody has started it when they come: one of them runs it. */
static void wait_for_count(unsigned i, void *arg)
{
    CHECK(weft_task_wait(arg) == 0);
}

static void many_outside_waiters_of_a_queued_task(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int r = 0; r < rounds_of(200); r++) {
        weft_task task;
        atomic_ulong count = 0;
        assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
        in_threads(8, wait_for_count, &task);
        assert_int_equal(atomic_load(&count), 1);
    }
    pool_drop(pool);
}

struct rivals {
    struct slow slow;
    atomic_uint busy, fine;
};

static void wait_as_rival(weft *w, void *arg)
{
    struct rivals *rivals = arg;
    int result = weft_task_wait(&rivals->slow.task);
    CHECK(result == -EBUSY || result == CODE);
    atomic_fetch_add(result == CODE ? &rivals->fine : &rivals->busy, 1);
}

static void second_waiting_job_is_refused(void **state)
{
    weft_pool *pool = pool_make(3, WEFT_NO_GUESTS);
    for (int r = 0; r < rounds_of(200); r++) {
        struct rivals rivals = {.busy = 0};
        weft_task tasks[2];
        slow_start(pool, &rivals.slow);
        for (int i = 0; i < 2; i++)
            assert_int_equal(weft_submit(pool, &tasks[i], wait_as_rival, &rivals), 0);
        WAIT_UNTIL(atomic_load(&rivals.busy) == 1); /* while the other one waits */
        assert_int_equal(atomic_load(&rivals.fine), 0);
        gate_open(&rivals.slow.gate);
        for (int i = 0; i < 2; i++)
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
        assert_int_equal(atomic_load(&rivals.fine), 1);
        assert_int_equal(weft_task_wait(&rivals.slow.task), CODE);
    }
    pool_drop(pool);
}

/* ---- Descriptors ---- */

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK(poll(&p, 1, 0) >= 0);
    return p.revents & POLLIN;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void poll_for_it(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int i = 0; i < rounds_of(500); i++) {
        struct slow slow;
        slow_start(pool, &slow);
        int fd = weft_task_fd(&slow.task);
        assert_true(fd >= 0);
        assert_int_equal(weft_task_fd(&slow.task), fd); /* there is only one */
        assert_false(is_readable(fd));
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        gate_open(&slow.gate);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, -1), 1);
        assert_int_equal(weft_task_wait(&slow.task), CODE);
        assert_false(is_open(fd));
    }
    pool_drop(pool);
}

/* Nobody waits but epoll: the workers have to do it all. */
static void epoll_for_many(void **state)
{
    enum { TASKS = 100 };
    weft_pool *pool = pool_make(2, 0);
    weft_task tasks[TASKS];
    atomic_ulong count = 0;
    int loop = epoll_create1(0);
    assert_true(loop >= 0);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(weft_submit(pool, &tasks[i], count_job, &count), 0);
        int fd = weft_task_fd(&tasks[i]); /* asked before, while or after it runs */
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        assert_int_equal(epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event), 0);
    }
    for (int left = TASKS; left > 0; left--) {
        struct epoll_event event;
        assert_int_equal(epoll_wait(loop, &event, 1, -1), 1);
        assert_true(weft_task_wait(&tasks[event.data.u32]) == 0); /* closes, so it ends here */
    }
    assert_int_equal(atomic_load(&count), TASKS);
    close(loop);
    pool_drop(pool);
}

/* Who is woken by it once, as edge-triggered loops are, and finds it not done has lost it. */
static void readable_means_done(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(SCALED(20000, 10)); i++) {
        atomic_ulong count = 0;
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, count_job, &count), 0);
        struct pollfd p = {.fd = weft_task_fd(&task), .events = POLLIN};
        assert_int_equal(poll(&p, 1, -1), 1);
        assert_true(weft_task_done(&task));
        assert_int_equal(weft_task_wait(&task), 0);
    }
    pool_drop(pool);
}

static void descriptor_asked_afterwards(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct slow slow;
    slow_start(pool, &slow);
    gate_open(&slow.gate);
    WAIT_UNTIL(weft_task_done(&slow.task));
    int fd = weft_task_fd(&slow.task);
    assert_true(fd >= 0);
    assert_true(is_readable(fd));
    assert_int_equal(weft_task_fd(&slow.task), fd);
    assert_int_equal(weft_task_wait(&slow.task), CODE);
    assert_false(is_open(fd));
    pool_drop(pool);
}

static int lowest_free_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    CHECK(fd >= 0);
    close(fd);
    return fd;
}

/* Asked just when the task ends: readable all the same, and one of two who ask at once
 * gives his up. */
static void ask(unsigned i, void *arg)
{
    struct slow *slow = arg;
    if (i == 0)
        gate_open(&slow->gate);
    int fd = weft_task_fd(&slow->task);
    CHECK(fd >= 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK(poll(&p, 1, -1) == 1);
}

static void descriptor_asked_at_the_end(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    int before = lowest_free_descriptor();
    for (int r = 0; r < rounds_of(1000); r++) {
        struct slow slow;
        slow_start(pool, &slow);
        in_threads(2, ask, &slow);
        int fd = weft_task_fd(&slow.task);
        assert_int_equal(weft_task_wait(&slow.task), CODE);
        assert_false(is_open(fd));
    }
    assert_int_equal(lowest_free_descriptor(), before); /* none was left open */
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_from_outside),
        cmocka_unit_test(wait_from_a_job),
        cmocka_unit_test(waiting_job_runs_others),
        cmocka_unit_test(wait_twice),
        cmocka_unit_test(used_again),
        cmocka_unit_test(done_only_when_done),
        cmocka_unit_test(destroy_finishes_it),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(waiter_runs_it_if_nobody_else_did),
        cmocka_unit_test(many_outside_waiters),
        cmocka_unit_test(many_outside_waiters_of_a_queued_task),
        cmocka_unit_test(second_waiting_job_is_refused),
        cmocka_unit_test(poll_for_it),
        cmocka_unit_test(epoll_for_many),
        cmocka_unit_test(readable_means_done),
        cmocka_unit_test(descriptor_asked_afterwards),
        cmocka_unit_test(descriptor_asked_at_the_end),
    };
    return RUN_ON_ALL_ROADS(tests);
}
