/* SPDX-License-Identifier: MIT */
/* deadlock.c: what can't go on is reported, with who waits for what (bugs 22, 28 and 29). A
 * pool that hangs can't be destroyed, so each case has a process of its own, which its deadlock
 * handler ends. */
#include "check.h"
#include "child.h"
#include "pools.h"
#include "proc.h"
#include "weft/actor.h"
#include "weft/info.h"
#include "weft/sync.h"
#include "weft/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the report has to say; NULL ends it. */
static const char *const *expected_text, *const *expected_graph;

static bool contains_all(const char *text, const char *const *parts)
{
    for (; *parts; parts++)
        if (!strstr(text, *parts)) {
            fprintf(stderr, "missing: %s\n", *parts);
            return false;
        }
    return true;
}

static atomic_bool may_report = true;

static void judge(weft_pool *pool, const char *report, const char *graph, void *data)
{
    if (atomic_load(&may_report) && contains_all(report, expected_text) &&
        contains_all(graph, expected_graph))
        _exit(EXIT_SUCCESS);
    fprintf(stderr, "%s%s", report, graph);
    _exit(EXIT_FAILURE);
}

static weft_pool *judged_pool(unsigned workers, int spares)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spares = spares;
    config.deadlock = judge;
    return pool_make_with(&config);
}

/* ---- Two mutexes ---- */

struct two {
    weft_mutex a, b;
    atomic_int locked;
};

static void both_locked(struct two *two)
{
    atomic_fetch_add(&two->locked, 1);
    WAIT_UNTIL(atomic_load(&two->locked) == 2);
}

static void lock_a_then_b(weft *w, void *arg)
{
    struct two *two = arg;
    weft_mutex_lock(w, &two->a);
    both_locked(two);
    weft_mutex_lock(w, &two->b);
}

static void lock_b_then_a(weft *w, void *arg)
{
    struct two *two = arg;
    weft_mutex_lock(w, &two->b);
    both_locked(two);
    weft_mutex_lock(w, &two->a);
}

static void two_mutexes(void)
{
    static const char *const text[] = {"waits for mutex 'a', held by",
                                       "waits for mutex 'b', held by", "holds mutex 'a'",
                                       "holds mutex 'b'", NULL};
    static const char *const graph[] = {"digraph", "-> \"mutex 'a'\" [label=\"waits for\"]",
                                        "\"mutex 'b'\" -> \"worker", "[label=\"held by\"]", NULL};
    expected_text = text;
    expected_graph = graph;
    struct two two;
    weft_mutex_init(&two.a, "a");
    weft_mutex_init(&two.b, "b");
    atomic_store(&two.locked, 0);
    weft_pool *pool = judged_pool(3, 4);
    weft_task tasks[2];
    CHECK(weft_submit(pool, &tasks[0], lock_a_then_b, &two) == 0);
    CHECK(weft_submit(pool, &tasks[1], lock_b_then_a, &two) == 0);
    pause();
}

/* ---- A channel nobody will send to ---- */

static void receive_one(weft *w, void *channel)
{
    int item;
    weft_channel_receive(w, channel, &item);
}

static void receive_in_join(weft *w, void *channel)
{
    weft_join(w, receive_one, channel, receive_one, channel);
}

static void channel_without_sender(void)
{
    static const char *const text[] = {"wants to receive from channel 'orders'", NULL};
    static const char *const graph[] = {"-> \"channel 'orders'\"", NULL};
    expected_text = text;
    expected_graph = graph;
    weft_channel channel;
    CHECK(weft_channel_init(&channel, "orders", sizeof(int), 4) == 0);
    weft_run(judged_pool(2, -1), receive_in_join, &channel);
}

/* ---- Waits with a limit ---- */

static void receive_with_limit(weft *w, void *channel)
{
    int item;
    CHECK(weft_channel_receive_until(w, channel, &item, weft_now() + 5000000) == -ETIMEDOUT);
}

static void receive_limited_and_unlimited(weft *w, void *channel)
{
    weft_join(w, receive_with_limit, channel, receive_with_limit, channel);
    weft_scope scope;
    int item;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 5000000);
    CHECK(weft_channel_receive_until(w, channel, &item, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    atomic_store(&may_report, true);
    (void)weft_channel_receive_until(w, channel, &item, WEFT_FOREVER);
}

/* A wait that ends by itself, by its limit or a scope's, is no deadlock; but one is that only a
 * cancellation would end. */
static void limit_is_no_deadlock(void)
{
    static const char *const text[] = {"wants to receive from channel 'orders'", NULL};
    static const char *const graph[] = {"-> \"channel 'orders'\"", NULL};
    expected_text = text;
    expected_graph = graph;
    weft_channel channel;
    atomic_store(&may_report, false);
    CHECK(weft_channel_init(&channel, "orders", sizeof(int), 4) == 0);
    weft_run(judged_pool(2, -1), receive_limited_and_unlimited, &channel);
}

/* A thread waits for a mutex without a limit; its holder waits with one, and lets it go. */
static void lock_mutex(weft *w, void *arg)
{
    struct two *two = arg;
    both_locked(two);
    weft_mutex_lock(w, &two->a);
    weft_mutex_unlock(w, &two->a);
}

static void hold_and_wait_a_little(weft *w, void *arg)
{
    struct two *two = arg;
    weft_event never = WEFT_EVENT_INIT;
    weft_mutex_lock(w, &two->a);
    both_locked(two);
    CHECK(weft_event_wait_until(w, &never, weft_now() + 5000000) == -ETIMEDOUT);
    weft_mutex_unlock(w, &two->a);
}

static void holder_with_limit_is_alive(void)
{
    struct two two = {.a = WEFT_MUTEX_INIT};
    weft_task tasks[2];
    atomic_store(&may_report, false);
    weft_pool *pool = judged_pool(2, 0);
    CHECK(weft_submit(pool, &tasks[0], hold_and_wait_a_little, &two) == 0);
    CHECK(weft_submit(pool, &tasks[1], lock_mutex, &two) == 0);
    WAIT_UNTIL(weft_task_done(&tasks[0]) && weft_task_done(&tasks[1]));
    pool_drop(pool);
}

/* ---- Waits for tasks that no thread is left to run ---- */

static void do_nothing(weft *w, void *arg)
{
}

/* A wait that may be cancelled takes no jobs meanwhile, not even that one. */
static void wait_for_inner_task(weft *w, void *arg)
{
    weft_task task;
    CHECK(weft_submit(weft_pool_of(w), &task, do_nothing, NULL) == 0);
    CHECK(weft_task_wait_until(&task, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_task_cancel(&task) == 0);
    CHECK(weft_task_wait(&task) == -ECANCELED);
}

static void wait_for_waiting_task(weft *w, void *arg)
{
    weft_task task;
    CHECK(weft_submit(weft_pool_of(w), &task, wait_for_inner_task, NULL) == 0);
    CHECK(weft_task_wait_until(&task, WEFT_FOREVER) == 0);
}

static void no_thread_is_left_for_a_task(void)
{
    expected_text = WORDS("waits for a task", "jobs that no thread is left to run: 1; more spares");
    expected_graph = WORDS("digraph");
    weft_run(judged_pool(1, -1), wait_for_waiting_task, NULL);
}

static unsigned blocked_in(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    return info.blocked;
}

static size_t queued_in(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    CHECK(weft_pool_get_info(pool, &info) == 0);
    return info.queued;
}

/* The thread that submitted it may cancel it, and does so the first time. The second time it waits
 * itself. */
static void submitter_may_cancel(void)
{
    expected_text = WORDS("waits for a task", "jobs that no thread is left to run: 1; more spares");
    expected_graph = WORDS("digraph");
    atomic_store(&may_report, false);
    weft_task task;
    weft_pool *pool = judged_pool(1, -1);
    for (int i = 0; i < 2; i++) {
        CHECK(weft_submit(pool, &task, wait_for_inner_task, NULL) == 0);
        WAIT_UNTIL(threads_all_sleep(gettid()) && queued_in(pool) == 1);
        if (i == 0)
            CHECK(weft_task_cancel(&task) == 0);
        atomic_store(&may_report, i == 1);
        CHECK(weft_task_wait(&task) == -ECANCELED);
    }
    abort();
}

/* One thread outside waits for a task, which waits for the second one; another thread cancels
 * that. */
static weft_task second;

static void wait_for_second(weft *w, void *arg)
{
    CHECK(weft_task_wait_until(&second, WEFT_FOREVER) == -ECANCELED);
}

static void cancel_second(unsigned i, void *arg)
{
    weft_pool *pool = arg;
    if (i == 0) {
        weft_task first;
        CHECK(weft_submit(pool, &second, wait_for_inner_task, NULL) == 0);
        WAIT_UNTIL(queued_in(pool) == 1 && blocked_in(pool) == 1);
        CHECK(weft_submit(pool, &first, wait_for_second, NULL) == 0);
        CHECK(weft_task_wait(&first) == 0);
    } else {
        WAIT_UNTIL(queued_in(pool) == 1 && blocked_in(pool) == 2);
        CHECK(weft_task_cancel(&second) == 0);
        CHECK(weft_task_wait(&second) == -ECANCELED);
    }
}

static void another_thread_may_cancel(void)
{
    atomic_store(&may_report, false);
    weft_pool *pool = judged_pool(1, -1);
    in_threads(2, cancel_second, pool);
    pool_drop(pool);
}

/* ---- Other objects: each is named, and its holder where it is known ---- */

static weft_rwlock rwlock;
static weft_semaphore semaphore;
static weft_condition condition;
static weft_mutex with_condition = WEFT_MUTEX_INIT;
static weft_barrier barrier;
static weft_once once;
static weft_event never_set;

static void name_objects(void)
{
    weft_rwlock_init(&rwlock, "table");
    weft_semaphore_init(&semaphore, "seats", 1);
    weft_condition_init(&condition, "ready");
    weft_barrier_init(&barrier, "round", 2);
    weft_once_init(&once, "setup");
    weft_event_init(&never_set, "never");
}

static void expect_report(weft_fn *fn, unsigned workers, const char *const *text,
                          const char *const *graph)
{
    expected_text = text;
    expected_graph = graph;
    name_objects();
    weft_run(judged_pool(workers, -1), fn, NULL);
}

static void read_then_write(weft *w, void *arg)
{
    weft_rwlock_lock_read(w, &rwlock);
    weft_rwlock_lock_write(w, &rwlock);
}

static void reader_wants_to_write(void)
{
    static const char *const text[] = {
        "wants to write under read-write lock 'table', held by readers: 1", NULL};
    static const char *const graph[] = {"-> \"read-write lock 'table'\" [label=\"waits for\"]",
                                        NULL};
    expect_report(read_then_write, 1, text, graph);
}

static void read_under_writer(weft *w, void *arg)
{
    weft_rwlock_lock_read(w, &rwlock);
}

static void write_over_join(weft *w, void *arg)
{
    weft_rwlock_lock_write(w, &rwlock);
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, read_under_writer, NULL) == 0);
    weft_event_wait(w, &never_set);
}

static void writer_waits_elsewhere(void)
{
    static const char *const text[] = {"wants to read under read-write lock 'table', held by",
                                       "waits for event 'never'", NULL};
    static const char *const graph[] = {"\"read-write lock 'table'\" -> \"", "held by", NULL};
    expect_report(write_over_join, 2, text, graph);
}

/* One place in the scope, and the child that has it waits for the next one. */
static void set_never(weft *w, void *arg)
{
    weft_event_set(w, &never_set);
}

static void wait_for_next_child(weft *w, void *arg)
{
    weft_event_wait(w, &never_set);
}

static void spawn_into_narrow(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_width(&scope, 1);
    CHECK(weft_spawn(w, &scope, wait_for_next_child, NULL) == 0);
    CHECK(weft_spawn(w, &scope, set_never, NULL) == 0);
    (void)weft_scope_close(w, &scope);
}

static void child_waits_for_one_without_place(void)
{
    static const char *const text[] = {"waits for event 'never'", NULL};
    static const char *const graph[] = {"-> \"event 'never'\"", NULL};
    expect_report(spawn_into_narrow, 2, text, graph);
}

static void acquire_twice(weft *w, void *arg)
{
    weft_semaphore_acquire(w, &semaphore);
    weft_semaphore_acquire(w, &semaphore);
}

static void semaphore_is_empty(void)
{
    static const char *const text[] = {"waits for semaphore 'seats'", NULL};
    static const char *const graph[] = {"-> \"semaphore 'seats'\"", NULL};
    expect_report(acquire_twice, 1, text, graph);
}

static void wait_for_signal(weft *w, void *arg)
{
    weft_mutex_lock(w, &with_condition);
    weft_condition_wait(w, &condition, &with_condition);
}

static void nobody_signals(void)
{
    static const char *const text[] = {"waits for condition 'ready'", NULL};
    static const char *const graph[] = {"-> \"condition 'ready'\"", NULL};
    expect_report(wait_for_signal, 1, text, graph);
}

static void come_alone(weft *w, void *arg)
{
    weft_barrier_wait(w, &barrier);
}

static void one_too_few(void)
{
    static const char *const text[] = {"waits at barrier 'round'", NULL};
    static const char *const graph[] = {"-> \"barrier 'round'\"", NULL};
    expect_report(come_alone, 1, text, graph);
}

static void wait_in_once(weft *w, void *arg)
{
    atomic_store((atomic_bool *)arg, true);
    weft_event_wait(w, &never_set);
}

static void call_after(weft *w, void *begun)
{
    WAIT_UNTIL(atomic_load((atomic_bool *)begun));
    weft_once_call(w, &once, wait_in_once, begun);
}

static void call_both(weft *w, void *arg)
{
    static atomic_bool begun;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, call_after, &begun) == 0);
    weft_once_call(w, &once, wait_in_once, &begun);
}

static void once_never_ends(void)
{
    static const char *const text[] = {"waits for the end of once 'setup', held by",
                                       "waits for event 'never'", NULL};
    static const char *const graph[] = {"\"once 'setup'\" -> \"", NULL};
    expect_report(call_both, 2, text, graph);
}

static void select_alone(weft *w, void *arg)
{
    weft_channel a, b;
    int item = 0;
    CHECK(weft_channel_init(&a, "orders", sizeof(int), 0) == 0);
    CHECK(weft_channel_init(&b, "answers", sizeof(int), 0) == 0);
    weft_case cases[] = {{.channel = &a, .item = &item},
                         {.channel = &b, .send = true, .item = &item}};
    (void)weft_select(w, cases, 2, WEFT_FOREVER);
}

static void nobody_at_either_channel(void)
{
    static const char *const text[] = {"waits in weft_select for channel 'orders' and 1 more",
                                       NULL};
    static const char *const graph[] = {"-> \"channel 'orders'\" [label=\"waits for\"]",
                                        "-> \"channel 'answers'\" [label=\"waits for\"]", NULL};
    expect_report(select_alone, 1, text, graph);
}

/* ---- A mutex held across a join whose stolen half wants it ---- */

struct shared {
    weft_mutex mutex;
    atomic_bool taken;
};

static void want_the_mutex(weft *w, void *arg)
{
    struct shared *shared = arg;
    atomic_store(&shared->taken, true);
    weft_mutex_lock(w, &shared->mutex);
}

static void wait_until_taken(weft *w, void *arg)
{
    WAIT_UNTIL(atomic_load(&((struct shared *)arg)->taken));
}

static void hold_across_join(weft *w, void *arg)
{
    struct shared *shared = arg;
    weft_mutex_lock(w, &shared->mutex);
    weft_join(w, wait_until_taken, shared, want_the_mutex, shared);
}

static void mutex_across_a_join(void)
{
    static const char *const text[] = {"waits for mutex 'ledger', held by guest 2",
                                       "guest 2 waits for a right side that worker",
                                       "took from it; holds mutex 'ledger'",
                                       ", taken from guest 2\n",
                                       "      forked by ",
                                       NULL};
    static const char *const graph[] = {"\"mutex 'ledger'\" -> \"guest 2\" [label=\"held by\"]",
                                        "\"guest 2\" -> \"worker", "[label=\"stolen by\"", NULL};
    expected_text = text;
    expected_graph = graph;
    struct shared shared;
    weft_mutex_init(&shared.mutex, "ledger");
    atomic_store(&shared.taken, false);
    weft_run(judged_pool(2, 4), hold_across_join, &shared);
}

/* The same if nobody takes it: the thread waits for itself. */
static void hold_across_sequence(weft *w, void *arg)
{
    struct shared *shared = arg;
    weft_mutex_lock(w, &shared->mutex);
    nothing(w, NULL);
    want_the_mutex(w, shared);
}

static void mutex_locked_twice(void)
{
    static const char *const text[] = {"waits for mutex 'ledger', held by guest 1, which is itself",
                                       NULL};
    static const char *const graph[] = {"\"mutex 'ledger'\" -> \"guest 1\"", NULL};
    expected_text = text;
    expected_graph = graph;
    struct shared shared;
    weft_mutex_init(&shared.mutex, "ledger");
    weft_run(judged_pool(1, -1), hold_across_sequence, &shared);
}

/* ---- A scope whose child waits for what its opener holds ---- */

static void hold_across_scope(weft *w, void *arg)
{
    struct shared *shared = arg;
    weft_mutex_lock(w, &shared->mutex);
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, want_the_mutex, shared) == 0);
    wait_until_taken(w, shared);
    weft_scope_close(w, &scope);
}

static void mutex_across_a_scope(void)
{
    static const char *const text[] = {"held by guest 2", "guest 2 waits for children of its scope",
                                       ", on worker", NULL};
    static const char *const graph[] = {"\"guest 2\" -> \"worker", "[label=\"child on\"", NULL};
    expected_text = text;
    expected_graph = graph;
    struct shared shared;
    weft_mutex_init(&shared.mutex, "ledger");
    atomic_store(&shared.taken, false);
    weft_run(judged_pool(2, 4), hold_across_scope, &shared);
}

/* ---- Part of the pool ---- */

/* Two wait for each other; a third one's wait may be ended from outside. */
static void wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

static void two_mutexes_beside_a_live_one(void)
{
    static const char *const text[] = {"waits for mutex 'a', held by",
                                       "waits for mutex 'b', held by", NULL};
    static const char *const graph[] = {"digraph", NULL};
    expected_text = text;
    expected_graph = graph;
    struct two two;
    weft_event event;
    weft_mutex_init(&two.a, "a");
    weft_mutex_init(&two.b, "b");
    weft_event_init(&event, "later");
    weft_event_from_outside(&event);
    atomic_store(&two.locked, 0);
    weft_pool *pool = judged_pool(3, -1);
    weft_task tasks[3];
    CHECK(weft_submit(pool, &tasks[2], wait_for_event, &event) == 0);
    CHECK(weft_submit(pool, &tasks[0], lock_a_then_b, &two) == 0);
    CHECK(weft_submit(pool, &tasks[1], lock_b_then_a, &two) == 0);
    pause();
}

/* ---- The program's own blocking ---- */

static void block_for_ever(weft *w, void *arg)
{
    weft_block_begin(w);
    pause();
}

static void own_blocking_counts_if_there_is_a_handler(void)
{
    static const char *const text[] = {"is blocked in code of its own", NULL};
    static const char *const graph[] = {"digraph", NULL};
    expected_text = text;
    expected_graph = graph;
    weft_task task;
    CHECK(weft_submit(judged_pool(2, -1), &task, block_for_ever, NULL) == 0);
    pause();
}

/* ---- No deadlocks ---- */

static void never(weft_pool *pool, const char *report, const char *graph, void *data)
{
    fprintf(stderr, "false: %s", report);
    _exit(EXIT_FAILURE);
}

static weft_pool *calm_pool(unsigned workers, int spares)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spares = spares;
    config.deadlock = never;
    return pool_make_with(&config);
}

/* Fault 28: the one that ends all waits sleeps, or blocks, before any of them runs. */
struct crowd {
    weft_event go[2];
    atomic_int waiting;
};

enum { CROWD = 4 };

static void wait_and_release(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    if (atomic_fetch_add(&crowd->waiting, 1) + 1 == CROWD)
        weft_event_set(w, &crowd->go[0]);
    weft_event_wait(w, &crowd->go[0]);
    if (atomic_fetch_sub(&crowd->waiting, 1) == 1)
        weft_event_set(w, &crowd->go[1]);
    weft_event_wait(w, &crowd->go[1]);
}

static void release_each_other(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < CROWD; i++)
        CHECK(weft_spawn(w, &scope, wait_and_release, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void bug_28_all_are_roused_before_any_goes(void)
{
    weft_pool *pool = calm_pool(CROWD, -1);
    for (int i = 0; i < rounds_of(SCALED(2000, 20)); i++) {
        struct crowd crowd = {.waiting = 0};
        CHECK(weft_run(pool, release_each_other, &crowd) == 0);
    }
    pool_drop(pool);
}

/* A right side that only the blocked one's own pool can take, however young it is. */
static void set_event(weft *w, void *event)
{
    weft_event_set(w, event);
}

static void wait_for_own_right_side(weft *w, void *event)
{
    weft_event_reset(w, event);
    weft_fork(w, set_event, event);
    weft_event_wait(w + 1, event);
    CHECK(weft_merge(w));
}

static void forks_of_a_blocked_owner_are_taken(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.quantum = UINT64_C(600) * 1000000000; /* ten minutes */
    config.deadlock = never;
    weft_pool *pool = pool_make_with(&config);
    weft_event event;
    weft_event_init(&event, "right side");
    for (int i = 0; i < rounds_of(SCALED(1000, 20)); i++)
        CHECK(weft_run(pool, wait_for_own_right_side, &event) == 0);
    pool_drop(pool);
}

/* ---- Several pools ---- */

/* The only worker of the outer pool waits in the inner one for what a job of the outer one does. */
struct nested {
    weft_pool *outer, *inner;
    weft_event event;
    weft_mutex mutex;
    atomic_bool waits;
};

static void wait_inside(weft *w, void *arg)
{
    struct nested *nested = arg;
    atomic_store(&nested->waits, true);
    weft_event_wait(w, &nested->event);
}

static void block_inside(weft *w, void *arg)
{
    struct nested *nested = arg;
    weft_block_begin(w);
    atomic_store(&nested->waits, true);
    WAIT_UNTIL(weft_event_is_set(&nested->event));
    weft_block_end(w);
}

static weft_fn *inside;

static void go_inside(weft *w, void *arg)
{
    struct nested *nested = arg;
    CHECK(weft_run(nested->inner, inside, nested) == 0);
}

static void set_nested(weft *w, void *arg)
{
    weft_event_set(w, &((struct nested *)arg)->event);
}

static void blocked_in_every_pool(void)
{
    static weft_fn *const ways[] = {wait_inside, block_inside};
    for (int i = 0; i < rounds_of(SCALED(100, 5)); i++) {
        struct nested nested = {.inner = calm_pool(1 + (unsigned)i % 2, 0)};
        inside = ways[i % 2];
        nested.outer = i % 2 ? pool_make(1, 0) : calm_pool(1, 0); /* who blocks in code of its own
                                                                  and has a handler is reported */
        weft_event_init(&nested.event, "set by the outer pool");
        weft_task waits, sets;
        CHECK(weft_submit(nested.outer, &waits, go_inside, &nested) == 0);
        WAIT_UNTIL(atomic_load(&nested.waits));
        CHECK(weft_submit(nested.outer, &sets, set_nested, &nested) == 0);
        WAIT_UNTIL(weft_task_done(&sets) && weft_task_done(&waits)); /* without help */
        CHECK(weft_task_wait(&sets) == 0 && weft_task_wait(&waits) == 0);
        pool_drop(nested.outer);
        pool_drop(nested.inner);
    }
}

/* Jobs of the outer pool wait in the inner one for what its worker does in the outer one. Several
 * guests are blocked in the inner pool, and its only worker steps back for those that go on: what
 * the others have forked is found when there is room again, and nothing is dead meanwhile. */
enum { FRIENDS = 8 };

static struct to_and_fro {
    weft_pool *outer, *inner;
    weft_event events[FRIENDS];
} friends[FRIENDS];

static struct to_and_fro *friend_of(const weft_event *event)
{
    return &friends[((const char *)event - (const char *)friends) / (ptrdiff_t)sizeof friends[0]];
}

static void set_in_outer(weft *w, void *event)
{
    CHECK(weft_run(friend_of(event)->outer, set_event, event) == 0);
}

static void wait_in_inner(weft *w, void *event)
{
    weft_join(w, wait_for_event, event, set_in_outer, event);
}

static void go_and_wait(weft *w, void *event)
{
    weft_event_init(event, "set in the outer pool");
    CHECK(weft_run(friend_of(event)->inner, wait_in_inner, event) == 0);
}

static void all_go(weft *w, void *arg)
{
    struct to_and_fro *one = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < FRIENDS; i++)
        weft_spawn(w, &scope, go_and_wait, &one->events[i]);
    weft_scope_close(w, &scope);
}

static void go_to_and_fro(unsigned i, void *arg)
{
    for (int round = 0; round < rounds_of(SCALED(200, 20)); round++)
        CHECK(weft_run(friends[i].outer, all_go, &friends[i]) == 0);
}

static void to_and_fro(void)
{
    for (int i = 0; i < FRIENDS; i++)
        friends[i] = (struct to_and_fro){.outer = calm_pool(1, 0), .inner = calm_pool(1, 0)};
    in_threads(FRIENDS, go_to_and_fro, NULL);
    for (int i = 0; i < FRIENDS; i++) {
        pool_drop(friends[i].outer);
        pool_drop(friends[i].inner);
    }
}

/* Nobody in either pool will do it, and who submitted it waits: the outer pool says so. */
static void nobody_in_either_pool(void)
{
    expected_text = WORDS("event 'never'");
    expected_graph = WORDS("never");
    struct nested nested = {.outer = judged_pool(1, 0), .inner = calm_pool(2, 0)};
    inside = wait_inside;
    weft_event_init(&nested.event, "never");
    weft_run(nested.outer, go_inside, &nested);
    abort();
}

/* The same, if all of the outer pool rest before the last one of the inner one does. */
struct late {
    struct nested nested;
    struct gate gate;
    weft_task task;
};

static void wait_or_open(unsigned i, void *arg)
{
    struct late *late = arg;
    if (i == 0) {
        weft_run(late->nested.outer, go_inside, &late->nested);
        abort();
    }
    WAIT_UNTIL(blocked_in(late->nested.outer) == 1);
    pool_wait_asleep(late->nested.outer);
    gate_open(&late->gate);
    pause(); /* a thread that ends is to be joined, and nobody will */
}

static void inner_pool_rests_last(void)
{
    expected_text = WORDS("event 'never'");
    expected_graph = WORDS("never");
    struct late late = {.nested = {.outer = judged_pool(1, -1), .inner = calm_pool(1, -1)}};
    inside = wait_inside;
    weft_event_init(&late.nested.event, "never");
    CHECK(weft_submit(late.nested.inner, &late.task, gate_job, &late.gate) == 0);
    gate_wait_arrived(&late.gate);
    in_threads(2, wait_or_open, &late);
}

/* The holder of a mutex waits in the inner pool for what another thread computes there: that is no
 * deadlock of the outer one, however long it takes. */
struct elsewhere {
    weft_pool *outer, *inner;
    weft_mutex mutex;
    struct gate gate;
    weft_task holds, wants;
};

static void join_gate(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    weft *in = weft_fork(w, gate_job, &elsewhere->gate);
    gate_wait_arrived(&elsewhere->gate); /* somebody else has it */
    (void)in;
    CHECK(weft_merge(w));
}

static void hold_and_go_inside(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    weft_mutex_lock(w, &elsewhere->mutex);
    CHECK(weft_run(elsewhere->inner, join_gate, elsewhere) == 0);
    weft_mutex_unlock(w, &elsewhere->mutex);
}

static void lock_and_unlock(weft *w, void *mutex)
{
    weft_mutex_lock(w, mutex);
    weft_mutex_unlock(w, mutex);
}

static void holder_waits_in_another_pool(void)
{
    weft_config config = {
        .size = sizeof config, .workers = 2, .spares = WEFT_NONE, .deadlock = never};
    config.name = "outer";
    struct elsewhere elsewhere = {.outer = pool_make_with(&config), .inner = calm_pool(2, -1)};
    weft_mutex_init(&elsewhere.mutex, "held meanwhile");
    CHECK(weft_submit(elsewhere.outer, &elsewhere.holds, hold_and_go_inside, &elsewhere) == 0);
    gate_wait_arrived(&elsewhere.gate);
    CHECK(weft_submit(elsewhere.outer, &elsewhere.wants, lock_and_unlock, &elsewhere.mutex) == 0);
    /* gate_job() yields and is never asleep: all others have come to rest, and looked. */
    pid_t tids[4];
    WAIT_UNTIL(blocked_in(elsewhere.outer) >= 1 && threads_called("outer-", tids, 4) == 2 &&
               thread_is_asleep(tids[0]) && thread_is_asleep(tids[1]));
    gate_open(&elsewhere.gate);
    CHECK(weft_task_wait(&elsewhere.holds) == 0);
    CHECK(weft_task_wait(&elsewhere.wants) == 0);
    pool_drop(elsewhere.outer);
    pool_drop(elsewhere.inner);
}

/* The same where the holder stays in its own pool: what it waits for is ended by the inner one, or
 * by an actor. */
enum { FOR_TASK, FOR_TASK_UNTIL, FOR_COMPLETION, FOR_ACTOR, FOR_BROADCAST, FOR_WAYS };

static int go_through_gate(weft *w, void *gate)
{
    gate_job(w, gate);
    return 0;
}

static void wait_for_gate(weft *w, struct elsewhere *elsewhere, int way)
{
    weft_task task, *over;
    weft_actor *actor;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    if (way == FOR_COMPLETION)
        CHECK(weft_completions_create(&options.completions) == 0);
    if (way <= FOR_COMPLETION) {
        CHECK(weft_submit_with(elsewhere->inner, &task, gate_job, &elsewhere->gate, &options) == 0);
        gate_wait_arrived(&elsewhere->gate); /* a worker there runs it */
    }
    if (way == FOR_TASK)
        CHECK(weft_task_wait(&task) == 0);
    if (way == FOR_TASK_UNTIL)
        CHECK(weft_task_wait_until(&task, WEFT_FOREVER) == 0);
    if (way == FOR_COMPLETION) {
        CHECK(weft_completions_next_until(options.completions, &over, WEFT_FOREVER) == 0);
        CHECK(weft_completions_destroy(options.completions) == 0);
    }
    if (way == FOR_ACTOR) {
        CHECK(weft_actor_create(&actor, elsewhere->inner, go_through_gate, &elsewhere->gate,
                                NULL) == 0);
        CHECK(weft_actor_run(actor) == 0);
        CHECK(weft_actor_wait(w, actor) == 0);
        weft_actor_release(actor);
    }
    if (way == FOR_BROADCAST)
        CHECK(weft_broadcast(elsewhere->inner, gate_job, &elsewhere->gate) == 0);
}

static int waits_for;

static void hold_and_wait_for_gate(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    weft_mutex_lock(w, &elsewhere->mutex);
    wait_for_gate(w, elsewhere, waits_for);
    weft_mutex_unlock(w, &elsewhere->mutex);
}

static void holder_waits_for_another_pool(void)
{
    weft_config config = {.size = sizeof config, .workers = 1, .spares = WEFT_NONE};
    config.deadlock = never;
    config.name = "outer";
    struct elsewhere elsewhere = {.outer = pool_make_with(&config), .inner = calm_pool(1, -1)};
    for (waits_for = 0; waits_for < FOR_WAYS; waits_for++) {
        elsewhere.gate = (struct gate){0};
        CHECK(weft_submit(elsewhere.outer, &elsewhere.holds, hold_and_wait_for_gate, &elsewhere) ==
              0);
        gate_wait_arrived(&elsewhere.gate);
        pid_t tid;
        WAIT_UNTIL(blocked_in(elsewhere.outer) == 1 && threads_called("outer-", &tid, 1) == 1 &&
                   thread_is_asleep(tid)); /* it has looked */
        gate_open(&elsewhere.gate);
        CHECK(weft_task_wait(&elsewhere.holds) == 0);
    }
    pool_drop(elsewhere.outer);
    pool_drop(elsewhere.inner);
}

/* It waits for a completion of its own pool, and the task wants what it holds. */
static void hold_and_wait_for_completion(weft *w, void *arg)
{
    struct shared *shared = arg;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    weft_task task, *over;
    CHECK(weft_completions_create(&options.completions) == 0);
    weft_mutex_lock(w, &shared->mutex);
    CHECK(weft_submit_with(weft_pool_of(w), &task, want_the_mutex, shared, &options) == 0);
    CHECK(weft_completions_next_until(options.completions, &over, WEFT_FOREVER) == 0);
    abort();
}

static void completion_wants_what_its_waiter_holds(void)
{
    struct shared shared;
    weft_mutex_init(&shared.mutex, "ledger");
    expected_text = WORDS("waits for a completion; holds mutex 'ledger'");
    expected_graph = WORDS("ledger");
    weft_run(judged_pool(1, -1), hold_and_wait_for_completion, &shared);
}

/* ---- A thread outside comes to wait, and nobody else is left ---- */

static void submitter_comes_to_wait(void)
{
    expected_text = WORDS("event 'never'");
    expected_graph = WORDS("never");
    weft_event event;
    weft_task task;
    weft_event_init(&event, "never");
    weft_pool *pool = judged_pool(1, -1);
    CHECK(weft_submit(pool, &task, wait_for_event, &event) == 0);
    WAIT_UNTIL(blocked_in(pool) == 1 && threads_all_sleep(gettid())); /* they have looked */
    int error = weft_task_wait(&task);
    (void)error;
    abort();
}

/* ---- A mutex that is held outside ---- */

static void want_in_child(weft *w, void *shared)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, want_the_mutex, shared) == 0);
    wait_until_taken(w, shared);
    weft_scope_close(w, &scope);
}

static struct shared *lock_outside(void)
{
    static struct shared shared;
    weft_mutex_init(&shared.mutex, "ledger");
    weft_mutex_lock(NULL, &shared.mutex);
    return &shared;
}

static void guest_wants_what_it_held_before(void)
{
    expected_text =
        WORDS("waits for mutex 'ledger', held by guest 1, which is itself, since before");
    expected_graph = WORDS("\"mutex 'ledger'\" -> \"guest 1\" [label=\"held by\"]");
    weft_run(judged_pool(1, -1), want_the_mutex, lock_outside());
}

static void child_wants_what_the_guest_held_before(void)
{
    expected_text = WORDS("waits for mutex 'ledger', held by guest 2, since before it came in");
    expected_graph = WORDS("\"mutex 'ledger'\" -> \"guest 2\" [label=\"held by\"]");
    weft_run(judged_pool(2, -1), want_in_child, lock_outside());
}

/* The first thread holds it; the second one may wait for the same task before. */
struct awaited {
    weft_pool *pool;
    struct shared *shared;
    weft_task task;
    atomic_bool second_waits;
};

static void wait_for_task(unsigned i, void *arg)
{
    struct awaited *awaited = arg;
    if (i == 0) {
        awaited->shared = lock_outside();
        CHECK(weft_submit(awaited->pool, &awaited->task, want_the_mutex, awaited->shared) == 0);
        WAIT_UNTIL(blocked_in(awaited->pool) == 1);
        atomic_store(&awaited->second_waits, true);
        WAIT_UNTIL(threads_all_sleep(gettid()));
    } else {
        WAIT_UNTIL(atomic_load(&awaited->second_waits));
    }
    int error = weft_task_wait(&awaited->task);
    (void)error;
    abort();
}

static void expect_held_by_waiter(unsigned threads)
{
    expected_text = WORDS("held by a thread outside the pool, which waits for a task of it");
    expected_graph = WORDS("\"mutex 'ledger'\" -> \"a thread outside\" [label=\"held by\"]");
    struct awaited awaited = {.pool = judged_pool(1, -1)};
    in_threads(threads, wait_for_task, &awaited);
}

static void task_wants_what_its_waiter_holds(void)
{
    expect_held_by_waiter(1);
}

static void task_wants_what_one_of_its_waiters_holds(void)
{
    expect_held_by_waiter(2);
}

/* Another thread waits for it: the holder is free. */
static void unlock_or_wait(unsigned i, void *arg)
{
    struct awaited *awaited = arg;
    if (i == 0) {
        weft_mutex_lock(NULL, &awaited->shared->mutex);
        CHECK(weft_submit(awaited->pool, &awaited->task, lock_and_unlock,
                          &awaited->shared->mutex) == 0);
        WAIT_UNTIL(blocked_in(awaited->pool) == 1);
        atomic_store(&awaited->second_waits, true);
        WAIT_UNTIL(threads_all_sleep(gettid()));
        weft_mutex_unlock(NULL, &awaited->shared->mutex);
    } else {
        WAIT_UNTIL(atomic_load(&awaited->second_waits));
        CHECK(weft_task_wait(&awaited->task) == 0);
    }
}

static void holder_outside_is_free(void)
{
    struct shared shared = {.mutex = WEFT_MUTEX_INIT};
    struct awaited awaited = {.pool = calm_pool(2, -1), .shared = &shared};
    in_threads(2, unlock_or_wait, &awaited);
    pool_drop(awaited.pool);
}

/* ---- The caller of WEFT_USE_CALLER: outside its jobs it is no thread of the pool ---- */

static weft_pool *callers_pool(unsigned workers)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.flags = WEFT_USE_CALLER;
    config.deadlock = never;
    return pool_make_with(&config);
}

/* The caller goes on, also after a wait of its own, and sets what a worker waits for. */
static void caller_outside_can_set(void)
{
    weft_pool *pool = callers_pool(2);
    for (int i = 0; i < 3; i++) {
        weft_event event = WEFT_EVENT_INIT, other = WEFT_EVENT_INIT;
        weft_task task;
        if (i > 0)
            CHECK(weft_event_wait_until(NULL, &other, weft_now() + 1000000) == -ETIMEDOUT);
        CHECK(weft_submit(pool, &task, wait_for_event, &event) == 0);
        WAIT_UNTIL(blocked_in(pool) == 1 && threads_all_sleep(gettid())); /* they have looked */
        weft_event_set(NULL, &event);
        CHECK(weft_task_wait(&task) == 0);
    }
    pool_drop(pool);
}

/* The caller waits without a limit, in no job of the pool, for what a job of the pool sets when all
 * others sleep. */
struct caller_waits {
    weft_event event;
    atomic_bool begun;
};

static void set_when_others_sleep(weft *w, void *arg)
{
    struct caller_waits *waits = arg;
    WAIT_UNTIL(atomic_load(&waits->begun) && threads_all_sleep(gettid()));
    weft_event_set(w, &waits->event);
}

static void caller_waits_outside(void)
{
    weft_pool *pool = callers_pool(3), *other = pool_make(1, 0);
    for (int i = 0; i < 4; i++) {
        struct caller_waits waits = {.event = WEFT_EVENT_INIT};
        weft_task task;
        CHECK(weft_submit(pool, &task, set_when_others_sleep, &waits) == 0);
        atomic_store(&waits.begun, true);
        if (i % 2)
            CHECK(weft_run(other, wait_for_event, &waits.event) == 0);
        else
            weft_event_wait(NULL, &waits.event);
        CHECK(weft_task_wait(&task) == 0);
    }
    pool_drop(other);
    pool_drop(pool);
}

/* It waits with a limit for a task, or for any, and then sets what the task waits for. */
static void caller_with_limit_is_alive(void)
{
    weft_pool *pool = callers_pool(2);
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    weft_task task, *over;
    CHECK(weft_completions_create(&options.completions) == 0);
    for (int i = 0; i < 2; i++) {
        weft_event event = WEFT_EVENT_INIT;
        CHECK(weft_submit_with(pool, &task, wait_for_event, &event, i ? &options : NULL) == 0);
        WAIT_UNTIL(blocked_in(pool) == 1); /* the worker has it, not the caller */
        uint64_t when = weft_now() + 20000000;
        int error = i ? weft_completions_next_until(options.completions, &over, when)
                      : weft_task_wait_until(&task, when);
        CHECK(error == -ETIMEDOUT);
        weft_event_set(NULL, &event);
        CHECK(i == 0 || weft_completions_next_until(options.completions, &over, WEFT_FOREVER) == 0);
        CHECK(weft_task_wait(&task) == 0);
    }
    CHECK(weft_completions_destroy(options.completions) == 0);
    pool_drop(pool);
}

/* ---- The plain rule: all are blocked or asleep, and one is blocked ---- */

static struct {
    atomic_int plain, dead; /* calls of the handler, by what they say */
} told;

static void count_reports(weft_pool *pool, const char *report, const char *graph, void *data)
{
    CHECK(strncmp(graph, "digraph", 7) == 0);
    if (strstr(report, "are blocked or asleep; something outside may end these waits"))
        atomic_fetch_add(&told.plain, 1);
    else
        atomic_fetch_add(&told.dead, 1);
}

static weft_pool *plain_pool(unsigned workers, unsigned flags)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spares = WEFT_NONE;
    config.flags = flags;
    config.deadlock = count_reports;
    return pool_make_with(&config);
}

/* A worker waits for an event that this thread, which is none of the pool's, sets when all rest. */
static void wait_while_all_rest(weft_pool *pool, weft_event *event)
{
    weft_task task;
    weft_event_reset(NULL, event);
    CHECK(weft_submit(pool, &task, wait_for_event, event) == 0);
    WAIT_UNTIL(blocked_in(pool) == 1 && threads_all_sleep(gettid())); /* they have looked */
    weft_event_set(NULL, event);
    WAIT_UNTIL(weft_task_done(&task));
    CHECK(weft_task_wait(&task) == 0);
}

static void *come_to_wait(void *task)
{
    int error = weft_task_wait(task);
    (void)error;
    return NULL;
}

static void plain_rule_tells_what_outside_ends(void)
{
    enum { TIMES = 3 };
    weft_event event;
    weft_event_init(&event, "later");
    weft_event_from_outside(&event);
    weft_pool *pool = plain_pool(2, WEFT_DEADLOCK_PLAIN);
    for (int i = 0; i < TIMES; i++) {
        CHECK(atomic_load(&told.plain) == i); /* once for each time that somebody blocks */
        wait_while_all_rest(pool, &event);
    }
    CHECK(atomic_load(&told.plain) == TIMES);
    CHECK(atomic_load(&told.dead) == 0);
    pool_drop(pool);
}

static void graph_alone_does_not(void)
{
    weft_event event;
    weft_event_init(&event, "later");
    weft_event_from_outside(&event);
    weft_pool *pool = plain_pool(2, 0);
    wait_while_all_rest(pool, &event);
    pool_drop(pool);
    CHECK(atomic_load(&told.plain) == 0 && atomic_load(&told.dead) == 0);
}

/* One is blocked, and another one moves. */
static void plain_rule_waits_for_the_last_one(void)
{
    weft_event event;
    weft_task waits, moves;
    struct gate gate = {0};
    weft_event_init(&event, "set while somebody moves");
    weft_event_from_outside(&event);
    weft_pool *pool = plain_pool(2, WEFT_DEADLOCK_PLAIN);
    CHECK(weft_submit(pool, &moves, gate_job, &gate) == 0);
    gate_wait_arrived(&gate);
    CHECK(weft_submit(pool, &waits, wait_for_event, &event) == 0);
    WAIT_UNTIL(blocked_in(pool) == 1);
    weft_event_set(NULL, &event);
    WAIT_UNTIL(weft_task_done(&waits));
    CHECK(atomic_load(&told.plain) == 0);
    gate_open(&gate);
    CHECK(weft_task_wait(&waits) == 0 && weft_task_wait(&moves) == 0);
    pool_drop(pool);
    CHECK(atomic_load(&told.plain) == 0 && atomic_load(&told.dead) == 0);
}

/* All sleep, and nobody is blocked. */
static void plain_rule_lets_idle_pools_be(void)
{
    weft_pool *pool = plain_pool(2, WEFT_DEADLOCK_PLAIN);
    for (int i = 0; i < 3; i++) {
        CHECK(weft_run(pool, nothing, NULL) == 0);
        pool_wait_asleep(pool);
    }
    pool_drop(pool);
    CHECK(atomic_load(&told.plain) == 0 && atomic_load(&told.dead) == 0);
}

/* All rest, which is told. Then who could have ended the wait comes to wait itself: that is a
 * deadlock by the graph, and told as one, though nobody has blocked since. */
static void deadlock_after_a_plain_report(void)
{
    weft_event event;
    weft_task task;
    weft_event_init(&event, "never");
    weft_pool *pool = plain_pool(1, WEFT_DEADLOCK_PLAIN);
    CHECK(weft_submit(pool, &task, wait_for_event, &event) == 0);
    WAIT_UNTIL(blocked_in(pool) == 1 && threads_all_sleep(gettid()));
    CHECK(atomic_load(&told.plain) == 1 && atomic_load(&told.dead) == 0);
    pthread_t waiter;
    CHECK(pthread_create(&waiter, NULL, come_to_wait, &task) == 0);
    WAIT_UNTIL(atomic_load(&told.dead) == 1);
    CHECK(atomic_load(&told.plain) == 1);
    _exit(EXIT_SUCCESS); /* what hangs can't be destroyed */
}

/* What the graph finds is told as before. */
static void plain_rule_hides_no_deadlock(void)
{
    struct two two;
    weft_mutex_init(&two.a, "a");
    weft_mutex_init(&two.b, "b");
    atomic_store(&two.locked, 0);
    weft_pool *pool = plain_pool(2, WEFT_DEADLOCK_PLAIN);
    weft_task tasks[2];
    CHECK(weft_submit(pool, &tasks[0], lock_a_then_b, &two) == 0);
    CHECK(weft_submit(pool, &tasks[1], lock_b_then_a, &two) == 0);
    WAIT_UNTIL(atomic_load(&told.dead) == 1);
    CHECK(atomic_load(&told.plain) == 0);
    _exit(EXIT_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(two_mutexes),
        IN_CHILD(channel_without_sender),
        IN_CHILD(limit_is_no_deadlock),
        IN_CHILD(holder_with_limit_is_alive),
        IN_CHILD(no_thread_is_left_for_a_task),
        IN_CHILD(submitter_may_cancel),
        IN_CHILD(another_thread_may_cancel),
        IN_CHILD(reader_wants_to_write),
        IN_CHILD(writer_waits_elsewhere),
        IN_CHILD(semaphore_is_empty),
        IN_CHILD(child_waits_for_one_without_place),
        IN_CHILD(nobody_signals),
        IN_CHILD(one_too_few),
        IN_CHILD(once_never_ends),
        IN_CHILD(nobody_at_either_channel),
        IN_CHILD(mutex_across_a_join),
        IN_CHILD(mutex_locked_twice),
        IN_CHILD(mutex_across_a_scope),
        IN_CHILD(two_mutexes_beside_a_live_one),
        IN_CHILD(own_blocking_counts_if_there_is_a_handler),
        IN_CHILD(bug_28_all_are_roused_before_any_goes),
        IN_CHILD(forks_of_a_blocked_owner_are_taken),
        IN_CHILD(blocked_in_every_pool),
        IN_CHILD(to_and_fro),
        IN_CHILD(nobody_in_either_pool),
        IN_CHILD(inner_pool_rests_last),
        IN_CHILD(holder_waits_in_another_pool),
        IN_CHILD(holder_waits_for_another_pool),
        IN_CHILD(completion_wants_what_its_waiter_holds),
        IN_CHILD(submitter_comes_to_wait),
        IN_CHILD(guest_wants_what_it_held_before),
        IN_CHILD(child_wants_what_the_guest_held_before),
        IN_CHILD(task_wants_what_its_waiter_holds),
        IN_CHILD(task_wants_what_one_of_its_waiters_holds),
        IN_CHILD(holder_outside_is_free),
        IN_CHILD(caller_outside_can_set),
        IN_CHILD(caller_waits_outside),
        IN_CHILD(caller_with_limit_is_alive),
        IN_CHILD(plain_rule_tells_what_outside_ends),
        IN_CHILD(graph_alone_does_not),
        IN_CHILD(plain_rule_waits_for_the_last_one),
        IN_CHILD(plain_rule_lets_idle_pools_be),
        IN_CHILD(deadlock_after_a_plain_report),
        IN_CHILD(plain_rule_hides_no_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
