/* SPDX-License-Identifier: MIT */
/* points.c: what a trace says of things that certainly happened: who waited for what, who woke
 * whom. A worker, and the main thread as a guest, take turns by conditions. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "proc.h"
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <weft/sync.h>
#include <weft/task.h>
#include <weft/trace.h>

static char path[] = "/tmp/weft-points-XXXXXX";

static int make_path(void **state)
{
    strcpy(path, "/tmp/weft-points-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
    return unlink(path);
}

/* ---- Looking ---- */

static struct trace *trace_of(void)
{
    char why[TRACE_WHY_SIZE];
    struct trace *trace = trace_open(path, why);
    if (!trace)
        fail_msg("%s", why);
    return trace;
}

/* The first record of this kind from now on with these values; ANY: whatever is there. False: there
 * is none. */
#define ANY UINT64_C(0xffffffffffffff00)

static bool find(struct trace *trace, enum weft_trace_kind kind, uint64_t a, uint64_t b,
                 struct trace_event *event)
{
    while (trace_next(trace, event))
        if (event->kind == kind && (a == ANY || event->a == a) && (b == ANY || event->b == b))
            return true;
    return false;
}

static uint64_t count(enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    struct trace *trace = trace_of();
    struct trace_event event;
    uint64_t found = 0;
    while (find(trace, kind, a, b, &event))
        found++;
    trace_close(trace);
    return found;
}

static bool is_text(const struct trace_event *event, const char *text)
{
    return event->size == strlen(text) && memcmp(event->text, text, event->size) == 0;
}

/* ---- Jobs of others ---- */

static pid_t main_thread, worker_thread;
static _Atomic pid_t other_thread; /* that has begun the job */
static bool waits;
static atomic_bool goes_to_wait; /* from now on the main thread does not sleep but for the wait */

static void until_main_sleeps(void)
{
    WAIT_UNTIL(atomic_load(&goes_to_wait));
    WAIT_UNTIL(thread_is_asleep(main_thread));
}

static pid_t number(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* It is over when the main thread sleeps; or the main thread goes on when the worker sleeps. */
static void job_of_other(weft *w, void *arg)
{
    CHECK(number() != main_thread);
    atomic_store(&other_thread, number());
    if (waits)
        until_main_sleeps();
}

static void until_it_has_begun(void)
{
    WAIT_UNTIL(atomic_load(&other_thread) != 0);
    worker_thread = atomic_load(&other_thread);
    atomic_store(&other_thread, 0);
    if (!waits)
        WAIT_UNTIL(thread_is_asleep(worker_thread));
    atomic_store(&goes_to_wait, true);
}

static void scope_root(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, job_of_other, NULL) == 0);
    until_it_has_begun();
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void fork_root(weft *w, void *arg)
{
    weft_fork(w, job_of_other, NULL);
    until_it_has_begun();
    CHECK(weft_merge(w));
}

static void task_root(weft *w, void *arg)
{
    weft_task task;
    CHECK(weft_submit(arg, &task, job_of_other, NULL) == 0);
    until_it_has_begun();
    CHECK(weft_task_wait(&task) == 0);
}

/* Its whole is what the wait is for; and if it slept, the worker has woken it. */
static void expect(bool published, bool stolen, const char *words)
{
    bool is_task = !published && !stolen;
    struct trace *trace = trace_of();
    struct trace_event event;
    int worker = trace_find_thread(trace, (uint64_t)worker_thread);
    assert_true(worker >= 0);
    assert_true(find(trace, WEFT_TRACE_JOB, (uintptr_t)job_of_other, ANY, &event));
    assert_int_equal(event.thread, worker);
    uint64_t whole = event.b;
    assert_true(whole != 0);
    bool joins = !waits || is_task;
    assert_true(find(trace, joins ? WEFT_TRACE_JOIN : WEFT_TRACE_WAIT_END, whole, ANY, &event));
    assert_int_equal(trace_thread(trace, event.thread)->number, main_thread);
    trace_close(trace);
    uint64_t awaited = is_task ? ANY : whole; /* the wait does not know */
    assert_int_equal(count(WEFT_TRACE_JOIN, whole, ANY), joins);
    assert_int_equal(count(WEFT_TRACE_WAIT, awaited, ANY), waits);
    assert_int_equal(count(WEFT_TRACE_WAIT_END, awaited, ANY), waits);
    assert_true(count(WEFT_TRACE_PUBLISH, ANY, whole) == published);
    assert_int_equal(count(WEFT_TRACE_STEAL, (uint64_t)main_thread, whole), stolen);
    if (!waits)
        return;
    trace = trace_of();
    assert_true(find(trace, WEFT_TRACE_WAIT, awaited, ANY, &event));
    assert_true(is_text(&event, words));
    assert_true(find(trace, WEFT_TRACE_WAKE, (uint64_t)main_thread, 1, &event));
    assert_int_equal(event.thread, worker);
    assert_true(find(trace, WEFT_TRACE_WAIT_END, awaited, ANY, &event));
    trace_close(trace);
}

static void in_trace(weft_fn *root)
{
    weft_pool *pool = pool_make(2, 0); /* a guest takes the place of one */
    main_thread = number();
    atomic_store(&goes_to_wait, false);
    assert_int_equal(weft_trace_start(path, 0), 0);
    assert_int_equal(weft_run(pool, root, pool), 0);
    assert_int_equal(weft_trace_stop(), 0);
    pool_drop(pool);
}

/* Whether a job was published depends on how workers are found: a thief may take it by itself. */
static bool was_published(void)
{
    return count(WEFT_TRACE_PUBLISH, ANY, ANY) > 0;
}

static void scopes(void **state)
{
    for (int i = 0; i < 2; i++) {
        waits = i;
        in_trace(scope_root);
        expect(true, count(WEFT_TRACE_STEAL, ANY, ANY) > 0, "waits for children of its scope");
    }
}

static void forks(void **state)
{
    for (int i = 0; i < 2; i++) {
        waits = i;
        in_trace(fork_root);
        expect(was_published(), true, "waits for a right side");
    }
}

static void tasks(void **state)
{
    for (int i = 0; i < 2; i++) {
        waits = i;
        in_trace(task_root);
        expect(false, false, "waits for a task");
        assert_int_equal(count(WEFT_TRACE_SUBMIT, (uintptr_t)job_of_other, ANY), 1);
        assert_int_equal(count(WEFT_TRACE_TASK, ANY, ANY), 1);
    }
}

/* A scope whose children nobody else has had: there is nothing to say. */
static void count_child(weft *w, void *arg)
{
    ++*(int *)arg;
}

static void own_children(weft *w, void *arg)
{
    weft_scope scope;
    int children = 0;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 10; i++)
        CHECK(weft_spawn(w, &scope, count_child, &children) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(children == 10);
}

static void alone(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = WEFT_USE_CALLER; /* no other thread */
    config.fork = WEFT_FORK_LAZY;
    weft_pool *pool;
    assert_int_equal(weft_pool_create(&pool, &config), 0);
    assert_int_equal(weft_trace_start(path, 0), 0);
    assert_int_equal(weft_run(pool, own_children, NULL), 0);
    assert_int_equal(weft_trace_stop(), 0);
    weft_pool_destroy(pool);
    assert_int_equal(count(WEFT_TRACE_JOIN, ANY, ANY), 0);
    assert_int_equal(count(WEFT_TRACE_PUBLISH, ANY, ANY), 0);
    assert_int_equal(count(WEFT_TRACE_JOB, ANY, ANY), 1);
}

/* ---- A mutex ---- */

static weft_mutex mutex;
static atomic_bool is_held;

static void holder(weft *w, void *arg)
{
    weft_mutex_lock(w, &mutex);
    worker_thread = number();
    atomic_store(&is_held, true);
    until_main_sleeps();
    weft_mutex_unlock(w, &mutex);
}

static void wants_it(weft *w, void *arg)
{
    weft_task task;
    CHECK(weft_submit(arg, &task, holder, NULL) == 0);
    WAIT_UNTIL(atomic_load(&is_held));
    atomic_store(&goes_to_wait, true);
    weft_mutex_lock(w, &mutex);
    weft_mutex_unlock(w, &mutex);
    CHECK(weft_task_wait(&task) == 0);
}

static void mutexes(void **state)
{
    struct trace_event event;
    atomic_store(&is_held, false);
    weft_mutex_init(&mutex, "held");
    in_trace(wants_it);
    struct trace *trace = trace_of();
    assert_true(find(trace, WEFT_TRACE_SPIN, (uintptr_t)&mutex, ANY, &event));
    assert_int_equal(trace_thread(trace, event.thread)->number, main_thread);
    assert_true(find(trace, WEFT_TRACE_SPIN_END, (uintptr_t)&mutex, 0, &event));
    assert_true(find(trace, WEFT_TRACE_BLOCK, (uintptr_t)&mutex, ANY, &event));
    assert_true(is_text(&event, "waits for mutex 'held'"));
    assert_true(find(trace, WEFT_TRACE_WAKE, (uint64_t)main_thread, 1, &event));
    assert_int_equal(trace_thread(trace, event.thread)->number, worker_thread);
    assert_true(find(trace, WEFT_TRACE_BLOCK_END, ANY, ANY, &event));
    trace_close(trace);
    assert_int_equal(count(WEFT_TRACE_SPIN, ANY, ANY), count(WEFT_TRACE_SPIN_END, ANY, ANY));
}

/* ---- Actors ---- */

static int too_much(weft *w, void *arg)
{
    weft_alloc(w, (size_t)1 << 30);
    return 0;
}

static int for_ever(weft *w, void *arg)
{
    atomic_store((atomic_bool *)arg, true);
    while (atomic_load((atomic_bool *)arg))
        weft_yield(w);
    return 0;
}

static void limits(void **state)
{
    atomic_bool runs = false;
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_trace_start(path, 0), 0);
    weft_actor *greedy = start(pool, too_much, NULL, NULL), *killed;
    uint64_t one = (uintptr_t)greedy;
    assert_int_equal(end(greedy), -ENOMEM);
    killed = start(pool, for_ever, &runs, NULL);
    WAIT_UNTIL(atomic_load(&runs));
    uint64_t two = (uintptr_t)killed;
    weft_actor_kill(killed);
    assert_int_equal(end(killed), -ECANCELED);
    assert_int_equal(weft_trace_stop(), 0);
    pool_drop(pool);
    assert_int_equal(count(WEFT_TRACE_LIMIT, one, (uint64_t)-ENOMEM), 1);
    assert_int_equal(count(WEFT_TRACE_LIMIT, two, (uint64_t)-ECANCELED), 1);
    assert_int_equal(count(WEFT_TRACE_LIMIT, ANY, ANY), 2);
}

static void leaf(weft *w, void *arg)
{
    uint64_t until = weft_now() + 5000;
    while (weft_now() < until)
        weft_poll(w);
}

static void fork_leaves(weft *w, unsigned n)
{
    if (n == 0)
        return;
    weft *in = weft_fork(w, leaf, NULL);
    fork_leaves(in, n - 1);
    if (!weft_merge(w))
        leaf(w, NULL);
}

static int forks_leaves(weft *w, void *arg)
{
    fork_leaves(w, 256);
    return 0;
}

/* The trace has as many as the actors count. */
static void delegations(void **state)
{
    uint64_t given = 0, given_back = 0, moves = 0;
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_trace_start(path, 0), 0);
    for (int i = 0; i < 1000 && given < 5; i++) {
        weft_actor *actor = start(pool, forks_leaves, NULL, NULL);
        assert_int_equal(weft_actor_wait(NULL, actor), 0);
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
        weft_actor_get_info(actor, &info);
        given += info.steals;
        given_back += info.given_back;
        moves += info.moves;
        weft_actor_release(actor);
    }
    pool_drop(pool); /* all that they did is in the trace */
    assert_int_equal(weft_trace_stop(), 0);
    assert_true(given >= 5);
    assert_int_equal(count(WEFT_TRACE_DELEGATE, ANY, 0) + count(WEFT_TRACE_DELEGATE, ANY, 1),
                     given);
    assert_int_equal(count(WEFT_TRACE_GIVE_BACK, ANY, ANY), given_back);
    assert_int_equal(count(WEFT_TRACE_MOVE, ANY, ANY), moves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scopes, make_path, remove_path),
        cmocka_unit_test_setup_teardown(forks, make_path, remove_path),
        cmocka_unit_test_setup_teardown(tasks, make_path, remove_path),
        cmocka_unit_test_setup_teardown(alone, make_path, remove_path),
        cmocka_unit_test_setup_teardown(mutexes, make_path, remove_path),
        cmocka_unit_test_setup_teardown(limits, make_path, remove_path),
        cmocka_unit_test_setup_teardown(delegations, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
