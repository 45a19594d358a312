/* SPDX-License-Identifier: MIT */
/* mistakes.c: what users do wrong, in a program that is compiled with optimisation: forks and
 * merges are in place and check nothing. The library notices on its next occasion, says what it was
 * in one line, and aborts. The table in weft_mistakes(7) names these tests. */
#undef WEFT_DEBUG
#define WEFT_DEBUG 0
#include "child.h"

#include <weft/actor.h>
#include <weft/graph.h>
#include <weft/lines.h>
#include <weft/local.h>
#include <weft/ordmap.h>
#include <weft/parallel.h>
#include <weft/pipeline.h>
#include <weft/sort.h>
#include <weft/sync.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* A job, and how its pool is made. One worker is enough, and makes it the same every time: nobody
 * takes what was forked. */
struct mistake {
    weft_fn *job;
    unsigned flags;
    enum way way;
};

static void make_mistake(void *arg)
{
    const struct mistake *mistake = arg;
    weft_pool *pool = child_pool(1, mistake->flags, mistake->way);
    weft_run(pool, mistake->job, NULL);
    child_pool_end(pool);
}

static void expect_named(weft_fn *job, const char *const *words)
{
    for (unsigned i = 0; i < 4; i++) {
        enum way way = i & 1 ? WAY_NO_SPIN : WAY_EAGER_NO_SPIN;
        struct mistake mistake = {job, i & 2 ? WEFT_NO_GUESTS : 0, way};
        expect_abort(make_mistake, &mistake, words);
    }
}

static int call_job(weft *w, void *job)
{
    ((weft_fn *)(uintptr_t)job)(w, NULL);
    return 0;
}

static void make_mistake_in_actor(void *job)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    weft_actor *actor;
    CHECK_EQUAL(weft_actor_create(&actor, pool, call_job, job, NULL), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    weft_actor_wait(NULL, actor);
}

static void expect_named_in_actor(weft_fn *job, const char *const *words)
{
    expect_abort(make_mistake_in_actor, (void *)(uintptr_t)job, words);
}

/* ---- Returning between fork and merge ---- */

static int some;

static __attribute__((noinline)) void returns_early(weft *w)
{
    weft_fork(w, nothing, &some);
}

static void calls_and_returns(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    returns_early(in);
    if (!weft_merge(w))
        nothing(w, NULL);
}

static void calls_and_forks(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    returns_early(in);
    weft_merge(w);
    for (int i = 0; i < 3; i++)
        weft_join(w, nothing, NULL, nothing, NULL);
}

/* Deep down, and all above do what they should. */
static void recurses(weft *w, int depth)
{
    if (depth == 0) {
        returns_early(w);
        return;
    }
    weft *in = weft_fork(w, nothing, &some);
    recurses(in, depth - 1);
    if (!weft_merge(w))
        nothing(w, NULL);
}

static void deep(weft *w, void *arg)
{
    recurses(w, 20);
}

/* Below all that a context has slots for. */
static void returns_past_the_last_slot(weft *w, void *arg)
{
    weft *in = w;
    for (long i = 0; i < 100000; i++)
        in = weft_fork(in, nothing, NULL);
    returns_early(in);
    for (long i = 0; i < 100000; i++) {
        in = weft_outer(in);
        if (!weft_merge(in))
            nothing(in, NULL);
    }
}

static void returns_itself(weft *w, void *arg)
{
    returns_early(w);
}

static void in_child_of_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, deep, NULL), 0);
    weft_scope_close(w, &scope);
}

static void return_between_fork_and_merge(void **state)
{
    expect_named(returns_itself, WORDS("returned without merging what it forked"));
    expect_named(calls_and_returns, WORDS("returned between weft_fork and weft_merge"));
    expect_named(calls_and_forks, WORDS("returned between weft_fork and weft_merge"));
    expect_named(deep, WORDS("returned between weft_fork and weft_merge"));
    expect_named(in_child_of_scope, WORDS("returned between weft_fork and weft_merge"));
    expect_named(returns_past_the_last_slot, WORDS("returned without merging what it forked"));
    expect_named_in_actor(returns_past_the_last_slot,
                          WORDS("returned without merging what it forked"));
    expect_named_in_actor(returns_itself, WORDS("returned without merging what it forked"));
    expect_named_in_actor(deep, WORDS("returned between weft_fork and weft_merge"));
}

/* ---- Forking in the wrong one ---- */

static void forks_twice(weft *w, void *arg)
{
    weft_fork(w, nothing, NULL);
    weft_fork(w, nothing, NULL);
}

static void fork_twice_eagerly(void *arg)
{
    weft_run(child_pool(1, 0, WAY_EAGER_NO_SPIN), forks_twice, NULL);
}

/* On the eager road. On the lazy one a fork may be taken before it looks up, so that nobody can
 * tell whose the slot is. */
static void fork_in_context_that_has_forked(void **state)
{
    expect_abort(fork_twice_eagerly, NULL, WORDS("weft_fork: ", "has forked and not merged"));
}

/* ---- Blocking ---- */

static void begins_to_block(weft *w, void *arg)
{
    weft_block_begin(w);
}

static void ends_to_block(weft *w, void *arg)
{
    weft_block_end(w);
}

static void block_that_does_not_end(void **state)
{
    expect_named(begins_to_block, WORDS("between weft_block_begin and weft_block_end"));
    expect_named(ends_to_block, WORDS("weft_block_end without weft_block_begin"));
}

/* What was done right before leaves nothing behind that looks wrong. */
static void forks_deep(weft *w, int depth)
{
    if (depth == 0)
        return;
    weft *in = weft_fork(w, nothing, &some);
    forks_deep(in, depth - 1);
    if (!weft_merge(w))
        nothing(w, NULL);
}

static void fine(weft *w, void *arg)
{
    forks_deep(w, 100);
    weft_join(w, nothing, NULL, nothing, NULL);
}

static void right_use_is_no_mistake(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, 0, way);
        for (int i = 0; i < 100; i++)
            CHECK_EQUAL(weft_run(pool, fine, NULL), 0);
        child_pool_end(pool);
    }
}

/* ---- The wrong context ---- */

/* What takes a context, with anything else that it needs. */
static long numbers[64];
static weft_event event = WEFT_EVENT_INIT;
static weft_mutex mutex = WEFT_MUTEX_INIT;

static int compare(const void *a, const void *b, void *arg)
{
    return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}

static void range(weft *w, size_t begin, size_t end, void *arg)
{
}

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
}

static size_t find(weft *w, size_t begin, size_t end, void *arg)
{
    return end;
}

static bool keep(weft *w, const void *element, void *arg)
{
    return true;
}

static const weft_reducer reducer = {.size = sizeof(long), .fold = fold, .combine = combine};

#define USES(USE)                                                                        \
    USE(weft_scope_open, weft_scope_open(w, &scope))                                     \
    USE(weft_scope_close, (void)weft_scope_close(w, &scope))                             \
    USE(weft_graph_run, (void)weft_graph_run(w, NULL))                                   \
    USE(weft_flow_open, weft_flow_open(w, &flow))                                        \
    USE(weft_flow_close, (void)weft_flow_close(w, &flow))                                \
    USE(weft_yield, weft_yield(w))                                                       \
    USE(weft_for, weft_for(w, 0, 64, range, NULL))                                       \
    USE(weft_for_min, weft_for_min(w, 0, 64, 8, range, NULL))                            \
    USE(weft_reduce, weft_reduce(w, 0, 64, &reducer, NULL, numbers))                     \
    USE(weft_reduce_unordered, weft_reduce_unordered(w, 0, 64, &reducer, NULL, numbers)) \
    USE(weft_sum_i64, weft_sum_i64(w, (const int64_t *)numbers, 64))                     \
    USE(weft_find_any, weft_find_any(w, 0, 64, find, NULL))                              \
    USE(weft_filter, weft_filter(w, numbers, 64, sizeof(long), keep, NULL, numbers))     \
    USE(weft_scan_inclusive,                                                             \
        weft_scan_inclusive(w, numbers, 64, sizeof(long), combine, NULL, numbers))       \
    USE(weft_sort, weft_sort(w, numbers, 64, sizeof(long), compare, NULL))               \
    USE(weft_sort_i64, weft_sort_i64(w, (int64_t *)numbers, 64))                         \
    USE(weft_sort_stable, weft_sort_stable(w, numbers, 64, sizeof(long), compare, NULL))

/* These only ask: in an outer context of the same job they are right. */
#define QUESTIONS(USE)                           \
    USE(weft_fail, weft_fail(w, -EIO))           \
    USE(weft_pool_of, weft_pool_of(w))           \
    USE(weft_worker_index, weft_worker_index(w)) \
    USE(weft_has_pending, weft_has_pending(w))

/* These take NULL: -EINVAL, or a thread outside. */
#define WITH_NULL(USE)                                                    \
    USE(weft_spawn, (void)weft_spawn(w, &scope, nothing, NULL))           \
    USE(weft_spawn_fifo, (void)weft_spawn_fifo(w, &scope, nothing, NULL)) \
    USE(weft_spawn_detached, (void)weft_spawn_detached(w, nothing, NULL)) \
    USE(weft_block_begin, (weft_block_begin(w), weft_block_end(w)))       \
    USE(weft_event_set, weft_event_set(w, &event))                        \
    USE(weft_mutex_lock, (weft_mutex_lock(w, &mutex), weft_mutex_unlock(w, &mutex)))

struct use {
    const char *name;
    void (*function)(weft *w);
};

#define USE_FUNCTION(name, call)            \
    static void use_##name(weft *w)         \
    {                                       \
        weft_scope scope = {.opaque = {0}}; \
        weft_flow flow = {.opaque = {0}};   \
        (void)flow;                         \
        (void)scope;                        \
        (void)call;                         \
    }
USES(USE_FUNCTION)
QUESTIONS(USE_FUNCTION)
WITH_NULL(USE_FUNCTION)

#define USE_ENTRY(name, call) {#name, use_##name},
static const struct use uses[] = {USES(USE_ENTRY)};
static const struct use questions[] = {QUESTIONS(USE_ENTRY)};
static const struct use with_null[] = {WITH_NULL(USE_ENTRY)};

#define EXPECT_OF_EACH(table, child, ...)                         \
    for (size_t i = 0; i < sizeof(table) / sizeof(table)[0]; i++) \
    expect_abort(child, (void *)(uintptr_t) & (table)[i], WORDS((table)[i].name, __VA_ARGS__))

static const struct use *in_use;

static void run_with(weft_fn *job, void *use)
{
    in_use = use;
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_run(pool, job, NULL), 0);
    child_pool_end(pool);
}

static void null_used(weft *w, void *arg)
{
    in_use->function(NULL);
}

static void use_null(void *use)
{
    run_with(null_used, use);
}

static void null_context(void **state)
{
    EXPECT_OF_EACH(uses, use_null, "needs a context");
    EXPECT_OF_EACH(questions, use_null, "needs a context");
    for (size_t i = 0; i < sizeof with_null / sizeof with_null[0]; i++)
        expect_fine(use_null, (void *)(uintptr_t)&with_null[i]);
}

static void outer_used(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    in_use->function(w);
    CHECK(in != w);
    weft_merge(w);
}

static void use_outer(void *use)
{
    run_with(outer_used, use);
}

static void context_that_has_forked(void **state)
{
    EXPECT_OF_EACH(uses, use_outer, "has forked and not merged");
}

static weft *_Atomic stored;

static void *use_stored(void *arg)
{
    in_use->function(atomic_load(&stored));
    return NULL;
}

static void store_and_start(weft *w, void *arg)
{
    pthread_t thread;
    atomic_store(&stored, w);
    child_thread(use_stored, NULL, &thread);
    child_thread_join(thread);
}

static void use_in_thread(void *use)
{
    run_with(store_and_start, use);
}

static void context_of_another_thread(void **state)
{
    EXPECT_OF_EACH(uses, use_in_thread, "another job or thread");
    EXPECT_OF_EACH(questions, use_in_thread, "another job or thread");
    EXPECT_OF_EACH(with_null, use_in_thread, "another job or thread");
}

/* A job of another pool on top, on the same thread. */
static void use_stored_here(weft *w, void *arg)
{
    in_use->function(atomic_load(&stored));
}

static void store_and_run(weft *w, void *arg)
{
    weft_pool *other = child_pool(1, 0, WAY_NO_SPIN);
    atomic_store(&stored, w);
    CHECK_EQUAL(weft_run(other, use_stored_here, NULL), 0);
}

static void use_in_other_pool(void *use)
{
    run_with(store_and_run, use);
}

static void context_of_another_job(void **state)
{
    EXPECT_OF_EACH(uses, use_in_other_pool, "another job or thread");
}

/* Forks are noticed on the slow road: on the eager one that is each of them. */
static void *fork_stored(void *arg)
{
    weft *w = atomic_load(&stored);
    weft_join(w, nothing, NULL, nothing, NULL);
    return NULL;
}

static void store_and_fork(weft *w, void *arg)
{
    pthread_t thread;
    atomic_store(&stored, w);
    child_thread(fork_stored, NULL, &thread);
    child_thread_join(thread);
}

static void fork_in_thread(void *arg)
{
    weft_pool *pool = child_pool(1, 0, WAY_EAGER_NO_SPIN);
    weft_run(pool, store_and_fork, NULL);
}

static void fork_in_context_of_another_thread(void **state)
{
    expect_abort(fork_in_thread, NULL, WORDS("weft_fork", "another job or thread"));
}

/* Blocking code in a thread outside, and in a job that lost its context. */
static void block_without_context(weft *w, void *arg)
{
    weft_block_begin(NULL);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(weft_pool_of(w), &info);
    CHECK_EQUAL(info.blocked, 1);
    weft_block_end(NULL);
}

static void blocking_needs_no_context(void)
{
    weft_block_begin(NULL);
    weft_block_end(NULL);
    weft_pool *pool = child_pool(2, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_run(pool, block_without_context, NULL), 0);
    child_pool_end(pool);
}

/* ---- Tasks ---- */

static weft_task task;
static atomic_int begun, may_end, returned;

static void hold_on(weft *w, void *arg)
{
    atomic_store(&begun, 1);
    UNTIL(atomic_load(&may_end));
}

static void task_submitted_twice(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, 0, way);
        atomic_store(&begun, 0);
        atomic_store(&may_end, 0);
        CHECK_EQUAL(weft_submit(pool, &task, hold_on, NULL), 0);
        CHECK_EQUAL(weft_submit(pool, &task, hold_on, NULL), -EBUSY);
        UNTIL(atomic_load(&begun));
        CHECK_EQUAL(weft_submit(pool, &task, hold_on, NULL), -EBUSY);
        atomic_store(&may_end, 1);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        CHECK_EQUAL(weft_submit(pool, &task, nothing, NULL), 0); /* it was over */
        UNTIL(weft_task_done(&task));
        CHECK_EQUAL(weft_submit(pool, &task, nothing, NULL), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        child_pool_end(pool);
    }
}

static void submit_in_child(void *arg)
{
    CHECK_EQUAL(weft_task_wait(&task), -ECHILD);
    CHECK_EQUAL(weft_submit(NULL, &task, nothing, NULL), 0);
    CHECK_EQUAL(weft_task_wait(&task), 0);
}

/* What is pending in the parent is not in its child. */
static void task_submitted_again_in_forked_child(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_submit(pool, &task, hold_on, NULL), 0);
    CHECK_EQUAL(grandchild(submit_in_child, NULL), 0);
    atomic_store(&may_end, 1);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    child_pool_end(pool);
}

static void task_never_submitted(void)
{
    static weft_task zero;
    CHECK_EQUAL(weft_task_wait(&zero), -EINVAL);
    CHECK_EQUAL(weft_task_fd(&zero), -EINVAL);
    CHECK(!weft_task_done(&zero));
}

static void wait_for_own_task(weft *w, void *arg)
{
    atomic_store(&returned, weft_task_wait(&task));
}

/* Somebody else runs a part of it. */
static void wait_in_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, wait_for_own_task, NULL), 0);
    UNTIL(atomic_load(&returned));
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void task_that_waits_for_itself(void)
{
    weft_fn *const jobs[] = {wait_for_own_task, wait_in_scope};
    for (int i = 0; i < 2; i++) {
        weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, WAY_NO_SPIN);
        atomic_store(&returned, 0);
        CHECK_EQUAL(weft_submit(pool, &task, jobs[i], NULL), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        CHECK_EQUAL(atomic_load(&returned), -EDEADLK);
        child_pool_end(pool);
    }
}

/* ---- Scopes that are closed ---- */

static void spawns_too_late(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    (void)weft_spawn(w, &scope, nothing, NULL);
}

static void spawns_too_late_fifo(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    (void)weft_spawn_fifo(w, &scope, nothing, NULL);
}

static void spawns_without_open(weft *w, void *arg)
{
    static weft_scope scope;
    (void)weft_spawn(w, &scope, nothing, NULL);
}

static void deadline_too_late(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    weft_scope_deadline(&scope, 1);
}

static void width_too_late(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    weft_scope_width(&scope, 1);
}

static void closed_scope(void **state)
{
    expect_named(width_too_late, WORDS("weft_scope_width: ", "the scope is closed"));
    expect_named(spawns_too_late, WORDS("weft_spawn: ", "the scope is closed"));
    expect_named(spawns_too_late_fifo, WORDS("weft_spawn_fifo: ", "the scope is closed"));
    expect_named(spawns_without_open, WORDS("weft_spawn: ", "was never opened"));
    expect_named(deadline_too_late, WORDS("weft_scope_deadline: ", "the scope is closed"));
    expect_named_in_actor(spawns_too_late, WORDS("weft_spawn: ", "the scope is closed"));
}

/* ---- A width after the first child ---- */

static void never_over(weft *w, void *arg)
{
    for (;;)
        pause();
}

static void width_after_child(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, never_over, NULL), 0);
    weft_scope_width(&scope, 1);
}

static void width_after_fifo_child(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn_fifo(w, &scope, never_over, NULL), 0);
    weft_scope_width(&scope, 1);
}

static void width_too_late_for_children(void **state)
{
    expect_named(width_after_child, WORDS("weft_scope_width: ", "has children already"));
    expect_named(width_after_fifo_child, WORDS("weft_scope_width: ", "has children already"));
    expect_named_in_actor(width_after_child, WORDS("weft_scope_width: ", "has children already"));
}

static void opens_twice(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_open(w, &scope);
}

static void scope_opened_twice(void **state)
{
    expect_named(opens_twice, WORDS("weft_scope_open: ", "open already"));
    expect_named_in_actor(opens_twice, WORDS("weft_scope_open: ", "open already"));
}

/* ---- Mutexes, events, channels and messages ---- */

static void returns_with_mutex(weft *w, void *arg)
{
    weft_mutex_lock(w, &mutex);
}

static void locks_twice(weft *w, void *arg)
{
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &mutex);
}

static void *lock_outside(void *arg)
{
    weft_mutex_lock(NULL, &mutex);
    return NULL;
}

static void unlocks_what_another_locked(weft *w, void *arg)
{
    pthread_t thread;
    child_thread(lock_outside, NULL, &thread);
    child_thread_join(thread);
    weft_mutex_unlock(w, &mutex);
}

static void mutex_that_is_kept(void **state)
{
    expect_named(returns_with_mutex, WORDS("a job returned that holds a mutex"));
    expect_named_in_actor(returns_with_mutex, WORDS("an actor returned that holds a mutex"));
    expect_named_in_actor(locks_twice,
                          WORDS("weft_mutex_lock: ", "held by the actor that locks it"));
    expect_named(unlocks_what_another_locked, WORDS("unlocked by a thread that does not hold it"));
    expect_named_in_actor(unlocks_what_another_locked,
                          WORDS("unlocked by a thread that does not hold it"));
}

static void locks_nothing(weft *w, void *arg)
{
    weft_mutex_lock(w, NULL);
}

static void waits_for_nothing(weft *w, void *arg)
{
    weft_event_wait(w, NULL);
}

static void locks_nothing_until(weft *w, void *arg)
{
    CHECK(weft_mutex_lock_until(w, NULL, 0));
}

static void waits_for_nothing_until(weft *w, void *arg)
{
    CHECK(weft_event_wait_until(w, NULL, 0));
}

static void sets_nothing(weft *w, void *arg)
{
    weft_event_set(w, NULL);
}

static weft_rwlock rwlock;
static weft_barrier no_barrier;
static weft_once once;

static void reads_nothing(weft *w, void *arg)
{
    weft_rwlock_lock_read(w, NULL);
}

static void returns_with_rwlock(weft *w, void *arg)
{
    weft_rwlock_lock_read(w, &rwlock);
}

static void unlocks_free_rwlock(weft *w, void *arg)
{
    weft_rwlock_unlock(w, &rwlock);
}

static void writes_twice(weft *w, void *arg)
{
    weft_rwlock_lock_write(w, &rwlock);
    weft_rwlock_lock_write(w, &rwlock);
}

static void acquires_nothing(weft *w, void *arg)
{
    weft_semaphore_acquire(w, NULL);
}

static void waits_without_mutex(weft *w, void *arg)
{
    weft_condition condition = WEFT_CONDITION_INIT;
    weft_condition_wait(w, &condition, NULL);
}

static void waits_with_free_mutex(weft *w, void *arg)
{
    weft_condition condition = WEFT_CONDITION_INIT;
    weft_mutex free_mutex = WEFT_MUTEX_INIT;
    weft_condition_wait(w, &condition, &free_mutex);
}

static void waits_at_no_barrier(weft *w, void *arg)
{
    weft_barrier_wait(w, &no_barrier);
}

static void makes_barrier_for_nobody(weft *w, void *arg)
{
    weft_barrier_init(&no_barrier, "nobody", 0);
}

static void calls_once_in_once(weft *w, void *arg)
{
    weft_once_call(w, &once, calls_once_in_once, arg);
}

static void calls_nothing_once(weft *w, void *arg)
{
    weft_once_call(w, &once, NULL, arg);
}

static void wrong_locks(void **state)
{
    expect_named(reads_nothing, WORDS("weft_rwlock_lock_read needs a read-write lock"));
    expect_named(returns_with_rwlock, WORDS("a job returned that holds a read-write lock"));
    expect_named(unlocks_free_rwlock, WORDS("unlocked by a thread that does not hold it"));
    expect_named_in_actor(writes_twice, WORDS("is locked by the thread or actor that writes"));
    expect_named(acquires_nothing, WORDS("weft_semaphore_acquire needs a semaphore"));
    expect_named(waits_without_mutex, WORDS("weft_condition_wait needs a mutex"));
    expect_named(waits_with_free_mutex, WORDS("unlocked by a thread that does not hold it"));
    expect_named(waits_at_no_barrier, WORDS("weft_barrier_wait: the barrier was never made"));
    expect_named(makes_barrier_for_nobody, WORDS("weft_barrier_init: ", "count is 0"));
    expect_named(calls_once_in_once, WORDS("waits for itself"));
    expect_named(calls_nothing_once, WORDS("weft_once_call needs a function; fn is NULL"));
}

static void no_object(void **state)
{
    expect_named(locks_nothing, WORDS("weft_mutex_lock needs a mutex"));
    expect_named(waits_for_nothing, WORDS("weft_event_wait needs an event"));
    expect_named(locks_nothing_until, WORDS("weft_mutex_lock_until needs a mutex"));
    expect_named(waits_for_nothing_until, WORDS("weft_event_wait_until needs an event"));
    expect_named(sets_nothing, WORDS("weft_event_set needs an event"));
}

static void no_channel(void)
{
    weft_channel never = {.opaque = {0}}, gone;
    int item = 0;
    CHECK_EQUAL(weft_channel_init(NULL, "none", sizeof item, 1), -EINVAL);
    CHECK_EQUAL(weft_channel_send(NULL, NULL, &item), -EINVAL);
    CHECK_EQUAL(weft_channel_send(NULL, &never, &item), -EINVAL);
    CHECK_EQUAL(weft_channel_receive(NULL, &never, &item), -EINVAL);
    CHECK_EQUAL(weft_channel_send_until(NULL, &never, &item, 0), -EINVAL);
    CHECK_EQUAL(weft_channel_receive_until(NULL, NULL, &item, 0), -EINVAL);
    CHECK_EQUAL(weft_channel_init(&gone, "gone", sizeof item, 1), 0);
    CHECK_EQUAL(weft_channel_send(NULL, &gone, NULL), -EINVAL);
    CHECK_EQUAL(weft_channel_try_receive(NULL, &gone, NULL), -EINVAL);
    weft_channel_destroy(&gone);
    CHECK_EQUAL(weft_channel_try_send(NULL, &gone, &item), -EINVAL);
    CHECK_EQUAL(weft_channel_receive(NULL, &gone, &item), -EINVAL);
    weft_channel_destroy(&gone); /* nothing is left to be freed */
}

static void closes_what_is_gone(weft *w, void *arg)
{
    weft_channel gone;
    CHECK_EQUAL(weft_channel_init(&gone, "gone", sizeof(int), 1), 0);
    weft_channel_destroy(&gone);
    weft_channel_close(w, &gone);
}

static void channel_closed_too_late(void **state)
{
    expect_named(closes_what_is_gone, WORDS("weft_channel_close", "destroyed"));
}

static size_t find_before(weft *w, size_t begin, size_t end, void *arg)
{
    return begin - 1;
}

static void finds_elsewhere(weft *w, void *arg)
{
    weft_find_first(w, 10, 64, find_before, NULL);
}

static void found_outside_of_range(void **state)
{
    expect_named(finds_elsewhere, WORDS("found something at 9", "begins at 10"));
}

static void reduces_to_another_size(weft *w, void *arg)
{
    const weft_ordmap_kind kind = {sizeof(long), 2, compare, NULL};
    weft_ordmap *map;
    long sum = 0;
    CHECK_EQUAL(weft_ordmap_empty(&kind, &map), 0);
    weft_ordmap_reduce(w, map, NULL, combine, NULL, &sum, sizeof sum);
}

static void result_of_another_size(void **state)
{
    expect_named(reduces_to_another_size, WORDS("weft_ordmap_reduce", "8 bytes", "values of 2"));
}

static int receives_nowhere(weft *w, void *arg)
{
    return weft_receive(w, NULL);
}

static void message_to_nowhere(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    weft_actor *actor;
    CHECK_EQUAL(weft_actor_create(&actor, pool, receives_nowhere, NULL, NULL), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    CHECK_EQUAL(weft_actor_wait(NULL, actor), -EINVAL);
    weft_actor_release(actor);
    child_pool_end(pool);
}

/* ---- Nothing where something is needed ---- */

static bool sift_none(weft *w, const void *key, const void *value, void *arg)
{
    return false;
}

static const weft_reducer no_fold = {.size = sizeof(long), .combine = combine};
static const weft_reducer no_combine = {.size = sizeof(long), .fold = fold};
static const weft_box box = {{0, 0, 0}, {2, 2, 2}};
static const weft_text text = {"a line\n", 7};
static weft_state no_state;
static weft_local local;
static weft_again again = WEFT_AGAIN_INIT;
static long result;

/* ---- Values of another pool ---- */

static void gets_value(weft *w, void *arg)
{
    weft_local_get(w, &local);
}

static void gets_value_in_two_pools(weft *w, void *arg)
{
    weft_pool *pool = child_pool(1, 0, WAY_SPIN);
    weft_local_init(&local, &(weft_state){.size = 8}, NULL);
    gets_value(w, NULL);
    (void)weft_run(pool, gets_value, NULL);
}

static void values_of_another_pool(void **state)
{
    expect_named(gets_value_in_two_pools, WORDS("weft_local_get: ", "another pool"));
}

/* ---- One memory for two loops ---- */

static void loops_inside(weft *w, size_t begin, size_t end, void *arg)
{
    weft_for_again(w, &again, 0, 64, range, NULL);
}

static void loops_in_a_loop(weft *w, void *arg)
{
    weft_for_again(w, &again, 0, 64, loops_inside, NULL);
}

static void memory_of_two_loops(void **state)
{
    expect_named(loops_in_a_loop, WORDS("weft_for_again: ", "another loop uses this memory"));
}

/* What each says it needs. */
#define LACKS(USE)                                                                                 \
    USE(weft_for, "body", weft_for(w, 0, 64, NULL, NULL))                                          \
    USE(weft_for, "body", weft_for(w, 0, 0, NULL, NULL))                                           \
    USE(weft_for_min, "body", weft_for_min(w, 0, 64, 8, NULL, NULL))                               \
    USE(weft_for_2d, "body", weft_for_2d(w, &box, NULL, NULL))                                     \
    USE(weft_for_3d, "box", weft_for_3d(w, NULL, NULL, NULL))                                      \
    USE(weft_for_each, "fn", weft_for_each(w, numbers, 64, 8, NULL, NULL))                         \
    USE(weft_for_with, "state", weft_for_with(w, 0, 64, NULL, NULL, NULL))                         \
    USE(weft_for_with, "body", weft_for_with(w, 0, 64, &no_state, NULL, NULL))                     \
    USE(weft_for_2d_with, "state", weft_for_2d_with(w, &box, NULL, NULL, NULL))                    \
    USE(weft_for_3d_with, "body", weft_for_3d_with(w, &box, &no_state, NULL, NULL))                \
    USE(weft_for_each_with, "fn", weft_for_each_with(w, numbers, 64, 8, &no_state, NULL, NULL))    \
    USE(weft_for_lines_with, "body", weft_for_lines_with(w, &text, &no_state, NULL, NULL))         \
    USE(weft_for_again, "again", weft_for_again(w, NULL, 0, 64, range, NULL))                      \
    USE(weft_for_again, "body", weft_for_again(w, &again, 0, 64, NULL, NULL))                      \
    USE(weft_local_get, "local", weft_local_get(w, NULL))                                          \
    USE(weft_local_init, "kind", weft_local_init(&local, NULL, NULL))                              \
    USE(weft_local_visit, "visit", weft_local_visit(w, &local, NULL, NULL))                        \
    USE(weft_local_destroy, "local", weft_local_destroy(w, NULL))                                  \
    USE(weft_reduce_lines_unordered, "combine",                                                    \
        weft_reduce_lines_unordered(w, &text, &no_combine, NULL, &result))                         \
    USE(weft_map, "fn", weft_map(w, numbers, 64, 8, NULL, NULL, numbers, 8))                       \
    USE(weft_map, "in", weft_map(w, NULL, 64, 8, NULL, NULL, numbers, 8))                          \
    USE(weft_reduce, "reducer", weft_reduce(w, 0, 64, NULL, NULL, &result))                        \
    USE(weft_reduce, "fold", weft_reduce(w, 0, 64, &no_fold, NULL, &result))                       \
    USE(weft_reduce, "combine", weft_reduce(w, 0, 64, &no_combine, NULL, &result))                 \
    USE(weft_reduce, "result", weft_reduce(w, 0, 64, &reducer, NULL, NULL))                        \
    USE(weft_reduce_unordered, "fold", weft_reduce_unordered(w, 0, 64, &no_fold, NULL, &result))   \
    USE(weft_reduce_lines, "fold", weft_reduce_lines(w, &text, &no_fold, NULL, &result))           \
    USE(weft_array_reduce, "combine",                                                              \
        weft_array_reduce(w, numbers, 64, sizeof(long), NULL, NULL, &result))                      \
    USE(weft_map_reduce, "map",                                                                    \
        weft_map_reduce(w, numbers, 64, sizeof(long), NULL, combine, NULL, &result, sizeof(long))) \
    USE(weft_array_reduce_until, "combine",                                                        \
        weft_array_reduce_until(w, numbers, 64, 8, NULL, NULL, NULL, &result))                     \
    USE(weft_map_reduce_until, "map",                                                              \
        weft_map_reduce_until(w, numbers, 64, 8, NULL, combine, NULL, NULL, &result, 8))           \
    USE(weft_sum_i64, "numbers", weft_sum_i64(w, NULL, 64))                                        \
    USE(weft_max_f32, "numbers", weft_max_f32(w, NULL, 64))                                        \
    USE(weft_count_u8, "numbers", weft_count_u8(w, NULL, 64, 0))                                   \
    USE(weft_find_first, "find", weft_find_first(w, 0, 64, NULL, NULL))                            \
    USE(weft_find_any, "find", weft_find_any(w, 0, 64, NULL, NULL))                                \
    USE(weft_any, "test", weft_any(w, 0, 64, NULL, NULL))                                          \
    USE(weft_count, "count", weft_count(w, 0, 64, NULL, NULL))                                     \
    USE(weft_scan_inclusive, "combine",                                                            \
        weft_scan_inclusive(w, numbers, 64, sizeof(long), NULL, NULL, numbers))                    \
    USE(weft_scan_exclusive, "identity",                                                           \
        weft_scan_exclusive(w, numbers, 64, sizeof(long), NULL, combine, NULL, numbers, NULL))     \
    USE(weft_filter, "keep", weft_filter(w, numbers, 64, sizeof(long), NULL, NULL, numbers))       \
    USE(weft_pack, "flags", weft_pack(w, numbers, 64, sizeof(long), NULL, numbers))                \
    USE(weft_unique, "equal", weft_unique(w, numbers, 64, sizeof(long), NULL, NULL, numbers))      \
    USE(weft_merge_sorted, "compare",                                                              \
        weft_merge_sorted(w, numbers, 8, numbers + 8, 8, sizeof(long), NULL, NULL, numbers))       \
    USE(weft_histogram, "bin",                                                                     \
        weft_histogram(w, numbers, 8, sizeof(long), NULL, NULL, (size_t *)numbers, 8))             \
    USE(weft_sort, "compare", weft_sort(w, numbers, 64, sizeof(long), NULL, NULL))                 \
    USE(weft_sort, "base", weft_sort(w, NULL, 64, sizeof(long), compare, NULL))                    \
    USE(weft_sort_stable, "compare", weft_sort_stable(w, numbers, 64, sizeof(long), NULL, NULL))   \
    USE(weft_sort_stable, "base", weft_sort_stable(w, NULL, 64, sizeof(long), compare, NULL))      \
    USE(weft_sort_u64, "base", weft_sort_u64(w, NULL, 64))                                         \
    USE(weft_for_lines, "body", weft_for_lines(w, &text, NULL, NULL))                              \
    USE(weft_for_lines, "text", weft_for_lines(w, NULL, NULL, NULL))                               \
    USE(weft_line_next, "at", weft_line_next(NULL, NULL, NULL))                                    \
    USE(weft_text_unmap, "text", weft_text_unmap(NULL))                                            \
    USE(weft_ordmap_size, "map", weft_ordmap_size(NULL))                                           \
    USE(weft_ordmap_find, "map", weft_ordmap_find(NULL, numbers))                                  \
    USE(weft_ordmap_reduce, "map", weft_ordmap_reduce(w, NULL, NULL, combine, NULL, &result, 8))   \
    USE(weft_ordmap_reduce_until, "map",                                                           \
        weft_ordmap_reduce_until(w, NULL, NULL, combine, NULL, NULL, &result, 8))                  \
    USE(weft_channel_close, "channel", weft_channel_close(w, NULL))                                \
    USE(weft_channel_destroy, "channel", weft_channel_destroy(NULL))                               \
    USE(weft_pool_dump, "out", weft_pool_dump(NULL, NULL))                                         \
    USE(weft_task_done, "task", weft_task_done(NULL))                                              \
    USE(weft_actor_done, "actor", weft_actor_done(NULL))                                           \
    USE(weft_actor_each, "fn", weft_actor_each(NULL, NULL, NULL))

/* One function for all, by number: some are named twice. */
struct lack {
    const char *name, *what;
};
#define LACK_ENTRY(name, what, call) {#name, what " is NULL"},
static const struct lack lacks[] = {LACKS(LACK_ENTRY)};
static size_t lack;

static void use_lack(weft *w, void *arg)
{
    size_t i = 0;
#define LACK_CALL(name, what, call) \
    if (i++ == lack)                \
        (void)call;
    LACKS(LACK_CALL)
}

static void run_lack(void *number)
{
    lack = (uintptr_t)number;
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_run(pool, use_lack, NULL), 0);
    child_pool_end(pool);
}

static void nothing_given(void **state)
{
    for (uintptr_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        expect_abort(run_lack, (void *)i, WORDS(lacks[i].name, "needs a", lacks[i].what));
}

/* Those that return an int say so. */
static void errors_for_nothing(weft *w, void *arg)
{
    static const weft_stage no_run[] = {{NULL, false}};
    const weft_ordmap_kind kind = {sizeof(long), 0, compare, NULL};
    weft_ordmap *map, *made;
    CHECK_EQUAL(weft_text_map("/dev/null", NULL), -EINVAL);
    CHECK_EQUAL(weft_pipeline(w, NULL, 1, &no_state, 0, NULL), -EINVAL);
    CHECK_EQUAL(weft_pipeline(w, no_run, 1, &no_state, 0, NULL), -EINVAL);
    CHECK_EQUAL(weft_pipeline(w, no_run, 1, NULL, 0, NULL), -EINVAL);
    CHECK_EQUAL(weft_ordmap_empty(&kind, NULL), -EINVAL);
    CHECK_EQUAL(weft_ordmap_build(w, NULL, NULL, 2, &kind, &made), -EINVAL);
    CHECK_EQUAL(weft_ordmap_build(w, NULL, NULL, 0, &kind, &map), 0);
    CHECK_EQUAL(weft_ordmap_copy(NULL, &made), -EINVAL);
    CHECK_EQUAL(weft_ordmap_insert(map, NULL, NULL, &made), -EINVAL);
    CHECK_EQUAL(weft_ordmap_map(w, map, NULL, NULL, &made, 8), -EINVAL);
    CHECK_EQUAL(weft_ordmap_filter(w, map, NULL, NULL, &made), -EINVAL);
    CHECK_EQUAL(weft_ordmap_filter(w, NULL, sift_none, NULL, &made), -EINVAL);
    CHECK_EQUAL(weft_ordmap_union(w, map, NULL, NULL, NULL, &made), -EINVAL);
    CHECK(!made);
    weft_ordmap_release(map);
}

static void nothing_is_no_array(weft *w, void *arg)
{
    weft_sort_u64(w, NULL, 0); /* no elements, no array */
    CHECK_EQUAL(weft_sum_i64(w, NULL, 0), 0);
    weft_sort_stable(w, NULL, 0, sizeof(long), compare, NULL);
}

static void errors_where_nothing_is_given(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_run(pool, errors_for_nothing, NULL), 0);
    CHECK_EQUAL(weft_run(pool, nothing_is_no_array, NULL), 0);
    child_pool_end(pool);
}

/* A fork without a function, on the eager road, where each looks up. */
static void forks_nothing(weft *w, void *arg)
{
    weft_fork(w, NULL, NULL);
}

static void fork_nothing_eagerly(void *arg)
{
    weft_run(child_pool(1, 0, WAY_EAGER_NO_SPIN), forks_nothing, NULL);
}

static void fork_without_function_on_slow_road(void **state)
{
    expect_abort(fork_nothing_eagerly, NULL, WORDS("weft_fork needs a function"));
}

/* ---- Handles of actors ---- */

static int receives(weft *w, void *arg)
{
    void *message;
    return weft_receive(w, &message);
}

static void release_twice(void *runs)
{
    weft_actor *actor;
    CHECK_EQUAL(weft_actor_create(&actor, child_pool(1, 0, WAY_NO_SPIN), receives, NULL, NULL), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    weft_actor_release(actor);
    weft_actor_release(actor);
}

static void use_no_actor(void *arg)
{
    static uint64_t anything[256];
    weft_actor_kill((weft_actor *)(void *)anything);
}

static void actor_released_twice(void **state)
{
    expect_abort(release_twice, NULL, WORDS("weft_actor_release", "was released already"));
    expect_abort(use_no_actor, NULL, WORDS("weft_actor_kill", "never was one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return_between_fork_and_merge),
        IN_CHILD(right_use_is_no_mistake),
        cmocka_unit_test(fork_in_context_that_has_forked),
        cmocka_unit_test(block_that_does_not_end),
        cmocka_unit_test(null_context),
        cmocka_unit_test(context_that_has_forked),
        cmocka_unit_test(context_of_another_thread),
        cmocka_unit_test(context_of_another_job),
        cmocka_unit_test(fork_in_context_of_another_thread),
        IN_CHILD(blocking_needs_no_context),
        IN_CHILD(task_submitted_twice),
        IN_CHILD(task_submitted_again_in_forked_child),
        IN_CHILD(task_never_submitted),
        IN_CHILD(task_that_waits_for_itself),
        cmocka_unit_test(closed_scope),
        cmocka_unit_test(width_too_late_for_children),
        cmocka_unit_test(scope_opened_twice),
        cmocka_unit_test(mutex_that_is_kept),
        cmocka_unit_test(wrong_locks),
        cmocka_unit_test(no_object),
        IN_CHILD(no_channel),
        cmocka_unit_test(channel_closed_too_late),
        cmocka_unit_test(values_of_another_pool),
        cmocka_unit_test(memory_of_two_loops),
        cmocka_unit_test(found_outside_of_range),
        cmocka_unit_test(result_of_another_size),
        IN_CHILD(message_to_nowhere),
        cmocka_unit_test(nothing_given),
        IN_CHILD(errors_where_nothing_is_given),
        cmocka_unit_test(fork_without_function_on_slow_road),
        cmocka_unit_test(actor_released_twice),
    };
    return cmocka_run_group_tests_name("mistakes", tests, NULL, NULL);
}
