/* SPDX-License-Identifier: MIT */
/* helping.c: whose jobs a thread runs that waits for its own, or has enough of its own. */
#include "check.h"
#include "pools.h"
#include "proc.h"
#include "weft/sync.h"

#include <pthread.h>
#include <unistd.h>

/* One worker, and nobody in its place. */
static weft_pool *make_small(unsigned flags)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = flags;
    config.spares = WEFT_NONE;
    return pool_make_with(&config);
}

/* ---- A guest waits for what the only worker does, and tasks wait for a thread ---- */

enum { TASKS = 10 };

struct visit {
    struct gate right; /* held by the worker */
    pthread_t guest;
    atomic_int guest_tid; /* once the tasks are there */
    weft_task tasks[TASKS];
    atomic_uint by_guest, by_worker;
    bool last_opens;
};

static void note_who(weft *w, void *arg)
{
    struct visit *visit = arg;
    bool is_guest = pthread_equal(pthread_self(), visit->guest), opens = visit->last_opens;
    /* The last touch, but for the last of several that somebody waits for. */
    unsigned n = atomic_fetch_add(is_guest ? &visit->by_guest : &visit->by_worker, 1) + 1;
    if (n == TASKS && opens)
        gate_open(&visit->right);
}

/* The worker takes the right side while the guest is blocked, and so has left its place. */
static void wait_until_worker_has_it(weft *w, struct gate *gate)
{
    weft_block_begin(w);
    gate_wait_arrived(gate);
    weft_block_end(w);
}

static void visit_job(weft *w, void *arg)
{
    struct visit *visit = arg;
    visit->guest = pthread_self();
    weft_fork(w, gate_job, &visit->right);
    wait_until_worker_has_it(w, &visit->right);
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_submit(weft_pool_of(w), &visit->tasks[i], note_who, visit) == 0);
    atomic_store(&visit->guest_tid, gettid());
    CHECK(weft_merge(w));
}

static void wait_for_tasks(struct visit *visit)
{
    for (int i = 0; i < TASKS; i++)
        WAIT_UNTIL(weft_task_done(&visit->tasks[i])); /* without help */
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(weft_task_wait(&visit->tasks[i]), 0);
}

/* The worker goes on when the guest has nothing left to do but sleep. */
static void *open_when_guest_sleeps(void *arg)
{
    struct visit *visit = arg;
    WAIT_UNTIL(atomic_load(&visit->guest_tid));
    WAIT_UNTIL(thread_is_asleep(atomic_load(&visit->guest_tid)));
    gate_open(&visit->right);
    return NULL;
}

static void guests_run_nobody_elses_tasks(void **state)
{
    weft_pool *pool = make_small(0);
    for (int r = 0; r < rounds_of(20); r++) {
        struct visit visit = {.guest_tid = 0};
        pthread_t opener;
        assert_int_equal(pthread_create(&opener, NULL, open_when_guest_sleeps, &visit), 0);
        assert_int_equal(weft_run(pool, visit_job, &visit), 0);
        assert_int_equal(pthread_join(opener, NULL), 0);
        wait_for_tasks(&visit);
        assert_int_equal(atomic_load(&visit.by_guest), 0);
        assert_int_equal(atomic_load(&visit.by_worker), TASKS);
    }
    pool_drop(pool);
}

/* Only the guest can run them, and the last one lets the worker go on. */
static void guests_that_help_do(void **state)
{
    weft_pool *pool = make_small(WEFT_GUESTS_HELP);
    for (int r = 0; r < rounds_of(20); r++) {
        struct visit visit = {.last_opens = true};
        assert_int_equal(weft_run(pool, visit_job, &visit), 0);
        wait_for_tasks(&visit);
        assert_int_equal(atomic_load(&visit.by_guest), TASKS);
    }
    pool_drop(pool);
}

/* With somebody else to run the tasks: the worker that takes the place of the guest. */
static void open_when_all_are_done(weft *w, void *arg)
{
    struct visit *visit = arg;
    CHECK(!pthread_equal(pthread_self(), visit->guest));
    if (atomic_fetch_add(&visit->by_worker, 1) + 1 == TASKS)
        gate_open(&visit->right);
}

static void leave_tasks_to_others(weft *w, void *arg)
{
    struct visit *visit = arg;
    visit->guest = pthread_self();
    weft_fork(w, gate_job, &visit->right);
    gate_wait_arrived(&visit->right);
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_submit(weft_pool_of(w), &visit->tasks[i], open_when_all_are_done, visit) == 0);
    CHECK(weft_merge(w));
}

static void sleeping_guests_leave_their_place(void **state)
{
    for (unsigned workers = 2; workers <= 8; workers *= 4) {
        weft_pool *pool = pool_make(workers, 0);
        for (int r = 0; r < rounds_of(20); r++) {
            struct visit visit = {.guest_tid = 0};
            assert_int_equal(weft_run(pool, leave_tasks_to_others, &visit), 0);
            wait_for_tasks(&visit);
        }
        pool_drop(pool);
    }
}

/* What a guest has detached is not for it to run either. */
static void detach_and_wait(weft *w, void *arg)
{
    struct visit *visit = arg;
    visit->guest = pthread_self();
    weft_scope scope;
    weft_scope_open(w, &scope);
    gate_open(&visit->right);
    CHECK(weft_spawn(w, &scope, gate_job, &visit->right) == 0);
    CHECK(weft_spawn_detached(w, note_who, visit) == 0); /* on top of it */
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void guests_leave_detached_jobs_to_workers(void **state)
{
    weft_pool *pool = make_small(0);
    for (int r = 0; r < rounds_of(20); r++) {
        struct visit visit = {.guest_tid = 0};
        assert_int_equal(weft_run(pool, detach_and_wait, &visit), 0);
        WAIT_UNTIL(atomic_load(&visit.by_worker) + atomic_load(&visit.by_guest) == 1);
        assert_int_equal(atomic_load(&visit.by_guest), 0);
    }
    pool_drop(pool);
}

/* ---- What is its own ---- */

struct family {
    pthread_t guest;
    weft_scope *scope;
    struct gate right;
    atomic_uint ran;
};

static void child(weft *w, void *arg)
{
    struct family *family = arg;
    CHECK(pthread_equal(pthread_self(), family->guest)); /* nobody else is free */
    atomic_fetch_add(&family->ran, 1);
}

static void raise_children(weft *w, void *arg)
{
    struct family *family = arg;
    family->guest = pthread_self();
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < TASKS; i++)
        CHECK((i % 2 ? weft_spawn : weft_spawn_fifo)(w, &scope, child, family) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

/* The only worker is busy all the time. */
static void raise_alone(weft_fn *raise)
{
    weft_pool *pool = make_small(0);
    struct held held;
    pool_hold(pool, &held, 1);
    for (unsigned r = 1; r <= 20; r++) {
        struct family family = {.ran = 0};
        assert_int_equal(weft_run(pool, raise, &family), 0);
        assert_int_equal(atomic_load(&family.ran), TASKS);
    }
    pool_let_go(&held);
    pool_drop(pool);
}

static void guests_run_their_children(void **state)
{
    raise_alone(raise_children);
}

/* While it holds a mutex, it runs the children of the scope that it closes, and leaves the others
 * to whoever comes. Nobody comes: it runs these later, too. */
static void raise_in_two_scopes(weft *w, void *arg)
{
    static weft_mutex mutex = WEFT_MUTEX_INIT;
    struct family *family = arg;
    family->guest = pthread_self();
    weft_scope outer, inner;
    weft_scope_open(w, &outer);
    weft_mutex_lock(w, &mutex);
    weft_scope_open(w, &inner);
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_spawn(w, i % 2 ? &inner : &outer, child, family) == 0);
    CHECK(weft_scope_close(w, &inner) == 0);
    CHECK(atomic_load(&family->ran) == TASKS / 2);
    weft_mutex_unlock(w, &mutex);
    CHECK(weft_scope_close(w, &outer) == 0);
}

static void guests_run_what_they_left_to_others(void **state)
{
    raise_alone(raise_in_two_scopes);
}

/* The worker spawns children of the guest's scope, and leaves them to it. */
static void spawn_for_guest(weft *w, void *arg)
{
    struct family *family = arg;
    for (int i = 0; i < TASKS; i++)
        CHECK(weft_spawn(w, family->scope, child, family) == 0);
    atomic_store(&family->right.arrived, true);
    WAIT_UNTIL(atomic_load(&family->ran) == TASKS);
}

static void adopt_children(weft *w, void *arg)
{
    struct family *family = arg;
    family->guest = pthread_self();
    weft_scope scope;
    weft_scope_open(w, &scope);
    family->scope = &scope;
    CHECK(weft_spawn(w, &scope, spawn_for_guest, family) == 0);
    wait_until_worker_has_it(w, &family->right);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void guests_run_children_that_others_spawned(void **state)
{
    weft_pool *pool = make_small(0);
    for (int r = 0; r < rounds_of(20); r++) {
        struct family family = {.ran = 0};
        assert_int_equal(weft_run(pool, adopt_children, &family), 0);
        assert_int_equal(atomic_load(&family.ran), TASKS);
    }
    pool_drop(pool);
}

/* The same for what the worker forks in the right side that the guest waits for. */
static void fork_for_guest(weft *w, void *arg)
{
    struct family *family = arg;
    weft_fork(w, child, family);
    atomic_store(&family->right.arrived, true);
    WAIT_UNTIL(atomic_load(&family->ran) == 1);
    CHECK(weft_merge(w));
}

static void take_a_part(weft *w, void *arg)
{
    struct family *family = arg;
    family->guest = pthread_self();
    weft_fork(w, fork_for_guest, family);
    wait_until_worker_has_it(w, &family->right);
    CHECK(weft_merge(w));
}

static void guests_run_parts_of_what_they_wait_for(void **state)
{
    weft_pool *pool = make_small(0);
    for (int r = 0; r < rounds_of(20); r++) {
        struct family family = {.ran = 0};
        assert_int_equal(weft_run(pool, take_a_part, &family), 0);
        assert_int_equal(atomic_load(&family.ran), 1);
    }
    pool_drop(pool);
}

/* ---- A worker with jobs of its own for ever ---- */

enum { WORKERS_MOST = 2, RUNS_BEFORE = 1000, TURNS = 64 };

struct treadmill {
    unsigned workers;
    bool broadcasts;
    atomic_ulong runs[WORKERS_MOST];
    atomic_ulong posted_at[WORKERS_MOST]; /* `runs` just after the post */
    atomic_bool posting, posted;
    atomic_uint heard;   /* how many have got it */
    atomic_uint stopped; /* workers that are done with all this */
    weft_task task;
};

static unsigned to_be_heard(const struct treadmill *mill)
{
    return mill->broadcasts ? mill->workers : 1;
}

/* How often it ran its own jobs since the post, as far as it is known that it came before. */
static void hear(weft *w, void *arg)
{
    struct treadmill *mill = arg;
    unsigned me = weft_worker_index(w);
    if (atomic_load(&mill->posted))
        CHECK(atomic_load(&mill->runs[me]) - atomic_load(&mill->posted_at[me]) <= TURNS);
    atomic_fetch_add(&mill->heard, 1);
}

static void post(weft *w, struct treadmill *mill)
{
    weft_pool *pool = weft_pool_of(w);
    if (mill->broadcasts)
        CHECK(weft_broadcast_detached(pool, hear, mill) == 0);
    else
        CHECK(weft_submit(pool, &mill->task, hear, mill) == 0);
    for (unsigned i = 0; i < mill->workers; i++)
        atomic_store(&mill->posted_at[i], atomic_load(&mill->runs[i]));
    atomic_store(&mill->posted, true);
}

/* A task that waits is not one that the caller could have taken long ago. */
static void expect_that_none_waits(weft *w, struct treadmill *mill)
{
    unsigned me = weft_worker_index(w);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(weft_pool_of(w), &info);
    if (info.queued > 0)
        CHECK(atomic_load(&mill->runs[me]) - atomic_load(&mill->posted_at[me]) <= TURNS);
}

static void tread(weft *w, void *arg)
{
    struct treadmill *mill = arg;
    unsigned long runs = atomic_fetch_add(&mill->runs[weft_worker_index(w)], 1) + 1;
    if (runs >= RUNS_BEFORE && !atomic_exchange(&mill->posting, true))
        post(w, mill);
    else if (atomic_load(&mill->posted))
        expect_that_none_waits(w, mill);
    if (atomic_load(&mill->heard) < to_be_heard(mill))
        CHECK(weft_spawn_detached(w, tread, mill) == 0);
    else
        atomic_fetch_add(&mill->stopped, 1);
}

static void tread_all(unsigned workers, bool broadcasts)
{
    weft_pool *pool = pool_make(workers, 0);
    for (int r = 0; r < rounds_of(20); r++) {
        struct treadmill mill = {.workers = workers, .broadcasts = broadcasts};
        assert_int_equal(weft_broadcast(pool, tread, &mill), 0); /* one on each worker */
        WAIT_UNTIL(atomic_load(&mill.stopped) == workers);
        if (!broadcasts)
            assert_int_equal(weft_task_wait(&mill.task), 0);
    }
    pool_drop(pool);
}

static void own_jobs_dont_hide_tasks(void **state)
{
    tread_all(1, false);
    tread_all(2, false);
}

static void own_jobs_dont_hide_mail(void **state)
{
    tread_all(1, true);
    tread_all(2, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guests_run_nobody_elses_tasks),
        cmocka_unit_test(guests_that_help_do),
        cmocka_unit_test(sleeping_guests_leave_their_place),
        cmocka_unit_test(guests_leave_detached_jobs_to_workers),
        cmocka_unit_test(guests_run_their_children),
        cmocka_unit_test(guests_run_what_they_left_to_others),
        cmocka_unit_test(guests_run_children_that_others_spawned),
        cmocka_unit_test(guests_run_parts_of_what_they_wait_for),
        cmocka_unit_test(own_jobs_dont_hide_tasks),
        cmocka_unit_test(own_jobs_dont_hide_mail),
    };
    return RUN_ON_ALL_ROADS(tests);
}
