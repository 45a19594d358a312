/* SPDX-License-Identifier: MIT */
/* destroy.c: the end of a pool: what is pending is finished, workers are joined, and who
 * calls at the wrong moment or from the wrong place is told so. */
#include "child.h"
#include "core/pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- Work that is pending ---- */

/* Each link of the chain detaches the next one. */
struct chain {
    atomic_int left;
};

static void chain(weft *w, void *arg)
{
    struct chain *c = arg;
    if (atomic_fetch_sub(&c->left, 1) > 1)
        CHECK_EQUAL(weft_spawn_detached(w, chain, c), 0);
}

static void spawn_both_kinds(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 10; i++)
        CHECK_EQUAL((i % 2 ? weft_spawn : weft_spawn_fifo)(w, &scope, count_up, ran), 0);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void destroy_with_work_pending(void)
{
    static const unsigned flags[] = {0, WEFT_USE_CALLER, WEFT_NO_GUESTS,
                                     WEFT_USE_CALLER | WEFT_NO_GUESTS};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(60, 10)); i++) {
            enum { TASKS = 20 };
            weft_task tasks[TASKS];
            atomic_int ran = 0;
            unsigned n = 1 + (unsigned)i % 3;
            weft_pool *pool = child_pool(n, flags[i / 3 % 4], way);
            for (int j = 0; j < TASKS; j++)
                CHECK_EQUAL(weft_submit(pool, &tasks[j], spawn_both_kinds, &ran), 0);
            CHECK_EQUAL(weft_broadcast_detached(pool, count_up, &ran), 0);
            child_pool_end(pool);
            CHECK_EQUAL(atomic_load(&ran), 10 * TASKS + (int)n);
        }
    }
}

static void begin_chain(weft *w, void *arg)
{
    CHECK_EQUAL(weft_spawn_detached(w, chain, arg), 0);
}

/* What is pending makes more work, which is pending too. */
static void destroy_with_growing_work_pending(void)
{
    static const unsigned flags[] = {0, WEFT_USE_CALLER, WEFT_NO_GUESTS};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(300, 10)); i++) {
            struct chain links = {100};
            weft_pool *pool = child_pool(1 + (unsigned)i % 2, flags[i / 2 % 3], way);
            CHECK_EQUAL(weft_run(pool, begin_chain, &links), 0);
            child_pool_end(pool);
            CHECK_EQUAL(atomic_load(&links.left), 0);
        }
    }
}

/* The caller is the only worker, and far down in its stack. */
static void submit_and_destroy(void *arg)
{
    weft_pool *pool = arg;
    atomic_int ran = 0;
    weft_task task;
    CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
    child_pool_end(pool);
    CHECK_EQUAL(atomic_load(&ran), 1);
}

static void *make_and_destroy_deep_down(void *arg)
{
    enum way way = *(enum way *)arg;
    deep_down(700 << 10, submit_and_destroy, child_pool(1, WEFT_USE_CALLER, way));
    return NULL;
}

static void destroy_deep_down_with_work_pending(void)
{
    FOR_EACH_WAY(way)
    {
        pthread_attr_t attr;
        pthread_t thread;
        pthread_attr_init(&attr);
        CHECK_EQUAL(pthread_attr_setstacksize(&attr, 1 << 20), 0);
        CHECK_EQUAL(pthread_create(&thread, &attr, make_and_destroy_deep_down, &way), 0);
        child_thread_join(thread);
        pthread_attr_destroy(&attr);
    }
}

/* ---- From inside ---- */

struct inside {
    weft_pool *pool, *other;
    struct child_gate gate;
    weft_task task;
    atomic_int tried;
};

static void try_destroy(weft *w, void *arg)
{
    struct inside *inside = arg;
    CHECK_EQUAL(weft_pool_destroy(inside->pool), -EDEADLK);
    atomic_fetch_add(&inside->tried, 1);
}

static void try_from_everywhere(weft *w, void *arg)
{
    weft_scope scope;
    try_destroy(w, arg);
    weft_join(w, try_destroy, arg, try_destroy, arg);
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, try_destroy, arg), 0);
    CHECK_EQUAL(weft_spawn_fifo(w, &scope, try_destroy, arg), 0);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    CHECK_EQUAL(weft_spawn_detached(w, try_destroy, arg), 0);
}

/* A worker's job, a guest's, the caller's own. */
static void destroy_from_inside_a_job(void)
{
    static const unsigned flags[] = {0, WEFT_USE_CALLER, WEFT_NO_GUESTS};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < 3; i++) {
            struct inside inside = {.pool = child_pool(2, flags[i], way)};
            CHECK_EQUAL(weft_run(inside.pool, try_from_everywhere, &inside), 0);
            CHECK_EQUAL(weft_broadcast_detached(inside.pool, try_destroy, &inside), 0);
            child_pool_end(inside.pool);
            CHECK_EQUAL(atomic_load(&inside.tried), 8);
        }
    }
}

/* Through another pool. */
static void run_other_and_try(weft *w, void *arg)
{
    struct inside *inside = arg;
    CHECK_EQUAL(weft_run(inside->other, try_destroy, inside), 0);
}

static void destroy_from_a_job_of_another_pool_on_top(void)
{
    static const unsigned flags[] = {0, WEFT_USE_CALLER, WEFT_NO_GUESTS};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < 3; i++) {
            struct inside inside = {.pool = child_pool(2, flags[i], way),
                                    .other = child_pool(1, 0, way)};
            CHECK_EQUAL(weft_run(inside.pool, run_other_and_try, &inside), 0);
            child_pool_end(inside.other);
            child_pool_end(inside.pool);
            CHECK_EQUAL(atomic_load(&inside.tried), 1);
        }
    }
}

/* The worker of `other` waits as a guest of `pool`, and helps its own pool meanwhile: with a
 * job that destroys the pool which waits below. */
static void wait_in_pool(weft *w, void *arg)
{
    struct inside *inside = arg;
    weft_fork(w, pass_gate, &inside->gate);
    UNTIL(atomic_load(&inside->gate.started));
    CHECK(weft_merge(w));
}

static void run_pool(weft *w, void *arg)
{
    struct inside *inside = arg;
    CHECK_EQUAL(weft_run(inside->pool, wait_in_pool, inside), 0);
}

static void try_and_open(weft *w, void *arg)
{
    struct inside *inside = arg;
    try_destroy(w, arg);
    atomic_store(&inside->gate.open, true);
}

static void destroy_from_a_job_helped_with_meanwhile(void)
{
    FOR_EACH_WAY(way)
    {
        struct inside inside = {.pool = child_pool(2, 0, way), .other = child_pool(1, 0, way)};
        weft_task task;
        CHECK_EQUAL(weft_submit(inside.other, &task, run_pool, &inside), 0);
        UNTIL(atomic_load(&inside.gate.started));
        CHECK_EQUAL(weft_submit(inside.other, &inside.task, try_and_open, &inside), 0);
        UNTIL(weft_task_done(&inside.task) && weft_task_done(&task));
        child_pool_end(inside.other);
        child_pool_end(inside.pool);
    }
}

static atomic_int callbacks;

static void try_in_callback(weft_pool *pool, unsigned worker, void *data)
{
    int error = weft_pool_destroy(pool);
    CHECK(error == -EDEADLK || error == -ESHUTDOWN);
    atomic_fetch_add(&callbacks, 1);
}

/* When a worker starts or ends it is one already or still. */
static void destroy_from_a_callback(void)
{
    weft_config config = child_config(2, 0, WAY_SPIN);
    config.on_exit = try_in_callback;
    child_pool_end(child_pool_of(&config));
    CHECK_EQUAL(atomic_load(&callbacks), 2);
}

static void destroy_from_on_start(void)
{
    weft_config config = child_config(2, 0, WAY_SPIN);
    config.on_start = try_in_callback;
    weft_pool *pool = child_pool_of(&config);
    UNTIL(atomic_load(&callbacks) == 2);
    child_pool_end(pool);
}

/* ---- From elsewhere ---- */

static void *destroy_by_other(void *arg)
{
    CHECK_EQUAL(weft_pool_destroy(arg), -EPERM);
    return NULL;
}

/* The caller alone may, and can do so afterwards, with work pending. */
static void destroy_by_other_than_the_caller(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned n = 1; n <= 2; n++) {
            weft_pool *pool = child_pool(n, WEFT_USE_CALLER, way);
            weft_task task;
            pthread_t thread;
            atomic_int ran = 0;
            CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
            child_thread(destroy_by_other, pool, &thread);
            child_thread_join(thread);
            CHECK_EQUAL(weft_run(pool, count_up, &ran), 0);
            child_pool_end(pool);
            CHECK_EQUAL(atomic_load(&ran), 2);
        }
    }
}

/* The job of a pool destroys another one, whose pending work needs the job's own worker. */
static void run_in_first(weft *w, void *arg)
{
    struct inside *inside = arg;
    atomic_fetch_add(&inside->gate.started, 1);
    UNTIL(atomic_load_relaxed(&inside->other->pending) & POOL_CLOSED);
    CHECK_EQUAL(weft_run(inside->pool, nothing, NULL), 0);
    CHECK_EQUAL(weft_broadcast(inside->pool, nothing, NULL), 0);
    atomic_fetch_add(&inside->tried, 1);
}

static void destroy_second(weft *w, void *arg)
{
    struct inside *inside = arg;
    weft_task task;
    CHECK_EQUAL(weft_submit(inside->other, &task, run_in_first, inside), 0);
    UNTIL(atomic_load(&inside->gate.started));
    child_pool_end(inside->other);
}

static void destroy_of_another_pool_keeps_working(void)
{
    FOR_EACH_WAY(way)
    {
        struct inside inside = {.pool = child_pool(1, WEFT_NO_GUESTS, way),
                                .other = child_pool(1, 0, way)};
        CHECK_EQUAL(weft_run(inside.pool, destroy_second, &inside), 0);
        child_pool_end(inside.pool);
        CHECK_EQUAL(atomic_load(&inside.tried), 1);
    }
}

/* ---- Too late ---- */

static void *destroy_thread(void *arg)
{
    child_pool_end(arg);
    return NULL;
}

static void submit_after_destroy_began(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
            struct child_gate gate = {0};
            weft_task holder, late;
            pthread_t destroyer;
            atomic_int ran = 0;
            weft_pool *pool = child_pool(2, flags, way);
            CHECK_EQUAL(weft_submit(pool, &holder, pass_gate, &gate), 0);
            UNTIL(atomic_load(&gate.started));
            child_thread(destroy_thread, pool, &destroyer);
            UNTIL(atomic_load_relaxed(&pool->pending) & POOL_CLOSED);
            CHECK_EQUAL(weft_submit(pool, &late, count_up, &ran), -ESHUTDOWN);
            CHECK_EQUAL(weft_run(pool, count_up, &ran), -ESHUTDOWN);
            CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), -ESHUTDOWN);
            CHECK_EQUAL(weft_broadcast_detached(pool, count_up, &ran), -ESHUTDOWN);
            CHECK_EQUAL(weft_pool_destroy(pool), -ESHUTDOWN);
            atomic_store(&gate.open, true);
            child_thread_join(destroyer);
            CHECK_EQUAL(weft_task_wait(&holder), 0);
            CHECK_EQUAL(atomic_load(&ran), 0);
        }
    }
}

/* A job that broadcasts to its own pool just when the caller destroys it: refused, or done
 * by all, the caller among them. */
struct race {
    weft_pool *pool;
    atomic_bool go;
    atomic_int ran;
    int error;
};

static void broadcast_now(weft *w, void *arg)
{
    struct race *race = arg;
    for (unsigned i = 1; !atomic_load(&race->go); i++)
        if (i % 1000 == 0)
            wait_a_moment();
    race->error = weft_broadcast_detached(race->pool, count_up, &race->ran);
}

static void destroy_races_with_broadcast(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(500, 10)); i++) {
            struct race race = {.pool = child_pool(2, WEFT_USE_CALLER, way)};
            weft_task task;
            CHECK_EQUAL(weft_submit(race.pool, &task, broadcast_now, &race), 0);
            weft_pool_info info = WEFT_POOL_INFO_INIT;
            UNTIL((weft_pool_get_info(race.pool, &info), info.queued == 0));
            atomic_store(&race.go, true);
            for (volatile int j = 0; j < i % 64; j++)
                ;
            child_pool_end(race.pool);
            CHECK_EQUAL(atomic_load(&race.ran), race.error ? 0 : 2);
            CHECK(race.error == 0 || race.error == -ESHUTDOWN);
        }
    }
}

/* ---- Bugs of others ---- */

/* Termination wakes everybody, however deep asleep. */
static void bug_08_termination_wakes_sleepers(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(60, 10)); i++) {
            weft_pool *pool = child_pool(1 + (unsigned)i % 3, 0, way);
            until_asleep(pool, weft_pool_workers(pool));
            child_pool_end(pool);
        }
    }
}

/* Termination meets workers at every step on their way to sleep, and none lies down again. */
static void bug_13_no_sleep_during_shutdown(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(500, 10)); i++) {
            atomic_int ran = 0;
            weft_pool *pool = child_pool(1 + (unsigned)i % 3, 0, way);
            if (i % 2) {
                CHECK_EQUAL(weft_broadcast_detached(pool, count_up, &ran), 0);
                UNTIL(atomic_load(&ran) > 0);
            }
            for (volatile int j = 0; j < i * 37 % 5000; j++)
                ;
            child_pool_end(pool);
        }
    }
}

static atomic_int threads_over, exits;
static pthread_key_t at_thread_end;

static void thread_is_over(void *value)
{
    atomic_fetch_add(&threads_over, 1);
}

static void note_start(weft_pool *pool, unsigned worker, void *data)
{
    pthread_setspecific(at_thread_end, data);
}

static void note_exit(weft_pool *pool, unsigned worker, void *data)
{
    atomic_fetch_add(&exits, 1);
}

/* When destroy returns, the threads have run to their very end, destructors and all. */
static void bug_25_destroy_joins(void)
{
    CHECK_EQUAL(pthread_key_create(&at_thread_end, thread_is_over), 0);
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(60, 10)); i++) {
            int n = 1 + i % 4;
            weft_config config = child_config((unsigned)n, 0, way);
            config.on_start = note_start;
            config.on_exit = note_exit;
            config.data = &config;
            atomic_store(&threads_over, 0);
            atomic_store(&exits, 0);
            weft_pool *pool = child_pool_of(&config);
            CHECK_EQUAL(weft_broadcast(pool, nothing, NULL), 0); /* all have started */
            child_pool_end(pool);
            CHECK_EQUAL(atomic_load(&exits), n);
            CHECK_EQUAL(atomic_load(&threads_over), n);
        }
    }
}

/* The default pool may be destroyed, and comes back when it is wanted. */
static void bug_25_default_pool_ends_and_comes_back(void)
{
    for (int i = 0; i < 20; i++) {
        atomic_int ran = 0;
        weft_pool *pool = weft_pool_default();
        CHECK(pool != NULL && pool == weft_pool_default());
        CHECK_EQUAL(weft_run(NULL, count_up, &ran), 0);
        child_pool_end(pool);
        CHECK_EQUAL(atomic_load(&ran), 1);
    }
}

/* Some use it while another destroys it: a use that began is finished, the next one makes it anew.
 */
static atomic_bool uses_end;

static void *use_default(void *arg)
{
    while (!atomic_load(&uses_end)) {
        atomic_int ran = 0;
        CHECK_EQUAL(weft_run(NULL, count_up, &ran), 0);
        CHECK_EQUAL(weft_broadcast(NULL, nothing, NULL), 0);
        weft_task task;
        CHECK_EQUAL(weft_submit(NULL, &task, count_up, &ran), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        CHECK_EQUAL(atomic_load(&ran), 2);
    }
    return NULL;
}

/* Who comes second is told that it is over already, or destroys the next one. */
static void *destroy_default(void *arg)
{
    while (!atomic_load(&uses_end)) {
        int error = weft_pool_destroy(weft_pool_default());
        CHECK(error == 0 || error == -ESHUTDOWN);
    }
    return NULL;
}

static void default_pool_is_destroyed_by_several(void)
{
    pthread_t other;
    child_thread(destroy_default, NULL, &other);
    for (int i = 0; i < rounds_of(SCALED(1000, 20)); i++) {
        atomic_int ran = 0;
        int error = weft_pool_destroy(weft_pool_default());
        CHECK(error == 0 || error == -ESHUTDOWN);
        CHECK_EQUAL(weft_run(NULL, count_up, &ran), 0);
        CHECK_EQUAL(atomic_load(&ran), 1);
    }
    atomic_store(&uses_end, true);
    child_thread_join(other);
    child_pool_end(weft_pool_default());
}

static void default_pool_is_used_while_it_is_destroyed(void)
{
    enum { USERS = 3 };
    pthread_t users[USERS];
    for (int i = 0; i < USERS; i++)
        child_thread(use_default, NULL, &users[i]);
    for (int i = 0; i < rounds_of(SCALED(1000, 20)); i++) {
        atomic_int ran = 0;
        CHECK_EQUAL(weft_pool_destroy(weft_pool_default()), 0); /* nobody else does */
        CHECK_EQUAL(weft_run(NULL, count_up, &ran), 0);
        CHECK_EQUAL(atomic_load(&ran), 1);
    }
    atomic_store(&uses_end, true);
    for (int i = 0; i < USERS; i++)
        child_thread_join(users[i]);
    child_pool_end(weft_pool_default());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(destroy_with_work_pending),
        IN_CHILD(destroy_with_growing_work_pending),
        IN_CHILD(destroy_deep_down_with_work_pending),
        IN_CHILD(destroy_from_inside_a_job),
        IN_CHILD(destroy_from_a_job_of_another_pool_on_top),
        IN_CHILD(destroy_from_a_job_helped_with_meanwhile),
        IN_CHILD(destroy_from_a_callback),
        IN_CHILD(destroy_from_on_start),
        IN_CHILD(destroy_by_other_than_the_caller),
        IN_CHILD(destroy_of_another_pool_keeps_working),
        IN_CHILD(submit_after_destroy_began),
        IN_CHILD(destroy_races_with_broadcast),
        IN_CHILD(bug_08_termination_wakes_sleepers),
        IN_CHILD(bug_13_no_sleep_during_shutdown),
        IN_CHILD(bug_25_destroy_joins),
        IN_CHILD(bug_25_default_pool_ends_and_comes_back),
        IN_CHILD(default_pool_is_destroyed_by_several),
        IN_CHILD(default_pool_is_used_while_it_is_destroyed),
    };
    return cmocka_run_group_tests_name("destroy", tests, NULL, NULL);
}
