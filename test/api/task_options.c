/* SPDX-License-Identifier: MIT */
/* task_options.c: tasks with a priority, a deadline, a function that is called at their end; and
 * tasks that nobody waits for. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/task.h"

#include <errno.h>
#include <string.h>

enum { CODE = -EPROTO };

static weft_submit_options urgently(void)
{
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.urgent = true;
    return options;
}

/* ---- Urgent ones first ---- */

enum { URGENT = 60, ORDINARY = 6, RUN = 16 };

struct order {
    int next;
    int of[URGENT + ORDINARY]; /* which came when: urgent ones from 1 on, ordinary ones from -1 */
};

struct entry {
    weft_task task;
    struct order *order;
    int number;
};

static void note_order(weft *w, void *arg)
{
    struct entry *entry = arg;
    entry->order->of[entry->order->next++] = entry->number; /* one worker */
}

static void submit_entry(weft_pool *pool, struct entry *entry, struct order *order, int number)
{
    weft_submit_options options = urgently();
    entry->order = order;
    entry->number = number;
    options.urgent = number > 0;
    CHECK(weft_submit_with(pool, &entry->task, note_order, entry, &options) == 0);
}

/* The bound: of the ordinary ones, each waits for at most 16 urgent ones after the one before. */
static void urgent_ones_are_first(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    for (int round = 0; round < 20; round++) {
        static struct entry entries[URGENT + ORDINARY];
        struct order order = {0};
        struct held held;
        pool_hold(pool, &held, 1);
        for (int i = 0; i < ORDINARY; i++)
            submit_entry(pool, &entries[i], &order, -1 - i);
        for (int i = 0; i < URGENT; i++)
            submit_entry(pool, &entries[ORDINARY + i], &order, i + 1);
        pool_let_go(&held);
        for (int i = 0; i < URGENT + ORDINARY; i++)
            assert_int_equal(weft_task_wait(&entries[i].task), 0);
        int urgent = 1, ordinary = -1;
        for (int i = 0; i < URGENT + ORDINARY; i++) {
            bool turn = (i + 1) % (RUN + 1) == 0 || urgent > URGENT;
            assert_int_equal(order.of[i], turn ? ordinary-- : urgent++);
        }
    }
    pool_drop(pool);
}

static void nothing(weft *w, void *arg)
{
}

/* An idle worker takes it before it steals. */
struct spawner {
    struct gate gate;
    atomic_ulong stolen;
};

static void spawn_and_hold(weft *w, void *arg)
{
    struct spawner *spawner = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 10; i++)
        CHECK(weft_spawn(w, &scope, count_job, &spawner->stolen) == 0);
    gate_job(w, &spawner->gate);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void before_all_others(weft *w, void *stolen)
{
    CHECK(atomic_load((atomic_ulong *)stolen) == 0);
}

static void urgent_before_spawned(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < 20; i++) {
        struct spawner spawner = {.stolen = 0};
        struct held held;
        weft_task holder, task;
        weft_submit_options options = urgently();
        pool_hold(pool, &held, 1);
        assert_int_equal(weft_submit(pool, &holder, spawn_and_hold, &spawner), 0);
        gate_wait_arrived(&spawner.gate);
        assert_int_equal(
            weft_submit_with(pool, &task, before_all_others, &spawner.stolen, &options), 0);
        pool_let_go(&held);
        assert_int_equal(weft_task_wait(&task), 0);
        gate_open(&spawner.gate);
        assert_int_equal(weft_task_wait(&holder), 0);
        assert_int_equal(atomic_load(&spawner.stolen), 10);
    }
    pool_drop(pool);
}

/* ---- Deadlines ---- */

static void never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "this one should have been skipped");
}

static void until_cancelled(weft *w, void *arg)
{
    WAIT_UNTIL(weft_cancelled(w));
}

static void deadlines(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    for (int i = 0; i < 50; i++) {
        weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
        weft_task task;
        atomic_ulong count = 0;
        options.deadline = 1; /* long ago */
        assert_int_equal(weft_submit_with(pool, &task, never, NULL, &options), 0);
        assert_int_equal(weft_task_wait(&task), -ETIMEDOUT);
        options.deadline = weft_now() + 100000;
        assert_int_equal(weft_submit_with(pool, &task, until_cancelled, NULL, &options), 0);
        assert_int_equal(weft_task_wait(&task), -ETIMEDOUT);
        assert_true(weft_now() >= options.deadline);
        options.deadline = UINT64_MAX;
        assert_int_equal(weft_submit_with(pool, &task, count_job, &count, &options), 0);
        assert_int_equal(weft_task_wait(&task), 0);
        assert_int_equal(atomic_load(&count), 1);
    }
    pool_drop(pool);
}

/* ---- At its end ---- */

struct ended {
    weft_task task;
    struct gate gate;
    atomic_int calls, error;
    atomic_bool early; /* a thread saw that it was over before `done` was called */
    atomic_ulong *total;
};

static void fail_at_gate(weft *w, void *arg)
{
    gate_job(w, &((struct ended *)arg)->gate);
    weft_fail(w, CODE);
}

static void note_end(void *arg, int error)
{
    struct ended *ended = arg;
    if (weft_task_done(&ended->task))
        atomic_store(&ended->early, true);
    atomic_store(&ended->error, error);
    atomic_fetch_add(&ended->calls, 1);
}

static void expect_ended(struct ended *ended, int error)
{
    CHECK(atomic_load(&ended->calls) == 1);
    CHECK(atomic_load(&ended->error) == error);
    CHECK(!atomic_load(&ended->early));
}

static void done_is_called_first(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.done = note_end;
    for (int i = 0; i < rounds_of(1000); i++) {
        struct ended ended = {.calls = 0};
        memset(&ended.task, 0, sizeof ended.task);
        assert_int_equal(weft_submit_with(pool, &ended.task, fail_at_gate, &ended, &options), 0);
        atomic_store(&ended.gate.open, true);
        WAIT_UNTIL(i % 2 || weft_task_done(&ended.task));
        assert_int_equal(weft_task_wait(&ended.task), CODE); /* half of them by the waiter */
        expect_ended(&ended, CODE);
    }
    pool_drop(pool);
}

static void done_of_cancelled(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.done = note_end;
    struct held held;
    pool_hold(pool, &held, 1);
    struct ended ended = {.calls = 0};
    assert_int_equal(weft_submit_with(pool, &ended.task, never, &ended, &options), 0);
    assert_int_equal(weft_task_cancel(&ended.task), 0);
    expect_ended(&ended, -ECANCELED); /* here and now */
    assert_int_equal(weft_task_wait(&ended.task), -ECANCELED);
    pool_let_go(&held);
    pool_drop(pool);
    expect_ended(&ended, -ECANCELED);
}

/* What `done` may do: submit another one. */
static weft_pool *chained;

struct chain {
    atomic_ulong left, count;
};

static void count_link(weft *w, void *arg)
{
    atomic_fetch_add(&((struct chain *)arg)->count, 1);
}

static void link_is_over(void *arg, int error)
{
    struct chain *chain = arg;
    if (atomic_fetch_sub(&chain->left, 1) > 1)
        CHECK(weft_submit_detached(chained, count_link, chain, link_is_over) == 0);
}

static void done_submits(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        chained = pool_make(workers, 0);
        struct chain chain = {.left = 1000};
        assert_int_equal(weft_submit_detached(chained, count_link, &chain, link_is_over), 0);
        WAIT_UNTIL(atomic_load(&chain.left) == 0);
        assert_int_equal(atomic_load(&chain.count), 1000);
        pool_drop(chained);
    }
}

/* ---- Detached ---- */

static void count_end(void *arg, int error)
{
    struct ended *ended = arg;
    CHECK(error == 0);
    atomic_fetch_add(ended->total, 1);
}

static void nothing_in_parallel(weft *w, void *arg)
{
    weft_join(w, nothing, NULL, nothing, NULL);
}

/* The pool waits for all of them. */
static void destroy_waits_for_detached(void **state)
{
    enum { TASKS = 200 };
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    for (int i = 0; i < 3 * 10; i++) {
        weft_pool *pool = pool_make(1 + (unsigned)i % 2, flags[i % 3]);
        atomic_ulong total = 0;
        struct ended ended = {.total = &total};
        for (int t = 0; t < TASKS; t++)
            assert_int_equal(weft_submit_detached(pool, nothing_in_parallel, &ended, count_end), 0);
        pool_drop(pool);
        assert_int_equal(atomic_load(&total), TASKS);
    }
}

static void detach_in_job(weft *w, void *arg)
{
    CHECK(weft_submit_detached(weft_pool_of(w), count_job, arg, NULL) == 0);
}

static int detach_in_actor(weft *w, void *arg)
{
    detach_in_job(w, arg);
    return 0;
}

static void detached_by_jobs(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    atomic_ulong count = 0;
    assert_int_equal(weft_run(pool, detach_in_job, &count), 0);
    assert_int_equal(run_one(pool, detach_in_actor, &count), 0);
    weft_submit_options options = urgently();
    assert_int_equal(weft_submit_with(pool, NULL, count_job, &count, &options), 0);
    pool_drop(pool);
    assert_int_equal(atomic_load(&count), 3);
}

static void note_code(void *arg, int error)
{
    atomic_store((atomic_int *)arg, error);
}

static void fail_detached(weft *w, void *arg)
{
    weft_fail(w, CODE);
}

static void detached_fails(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    atomic_int codes[2] = {1, 1};
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.deadline = 1;
    options.done = note_code;
    assert_int_equal(weft_submit_detached(pool, fail_detached, &codes[0], note_code), 0);
    assert_int_equal(weft_submit_with(pool, NULL, never, &codes[1], &options), 0);
    pool_drop(pool);
    assert_int_equal(atomic_load(&codes[0]), CODE);
    assert_int_equal(atomic_load(&codes[1]), -ETIMEDOUT);
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_submit_options zero;
    memset(&zero, 0, sizeof zero);
    weft_task task;
    struct gate gate = {
        0}; /* its task is detached: another one might hide that `task` is pending */
    assert_int_equal(weft_submit_with(pool, &task, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(weft_submit_with(pool, &task, never, NULL, &zero), -EINVAL);
    assert_int_equal(weft_submit_detached(pool, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(weft_submit_detached(pool, gate_job, &gate, NULL), 0);
    gate_wait_arrived(&gate);
    atomic_ulong count = 0;
    assert_int_equal(weft_submit_with(pool, &task, count_job, &count, NULL), 0);
    assert_int_equal(weft_submit_with(pool, &task, count_job, &count, NULL), -EBUSY);
    assert_int_equal(weft_submit(pool, &task, count_job, &count), -EBUSY);
    gate_open(&gate);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_int_equal(atomic_load(&count), 1);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urgent_ones_are_first),
        cmocka_unit_test(urgent_before_spawned),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(done_is_called_first),
        cmocka_unit_test(done_of_cancelled),
        cmocka_unit_test(done_submits),
        cmocka_unit_test(destroy_waits_for_detached),
        cmocka_unit_test(detached_by_jobs),
        cmocka_unit_test(detached_fails),
        cmocka_unit_test(bad_arguments),
    };
    return RUN_ON_ALL_ROADS(tests);
}
