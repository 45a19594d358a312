/* SPDX-License-Identifier: MIT */
/* sync_locks.c: read-write locks, semaphores, conditions, barriers and onces, between jobs, outside
 * threads and actors. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/sync.h"

#include <errno.h>

enum { THREADS = 4, ROUNDS = SCALED(400, 4) };

/* ---- The same work by threads, jobs and actors ---- */

typedef void work_fn(weft *w, unsigned i, void *arg);

struct work {
    work_fn *fn;
    unsigned i;
    void *arg;
};

static void work_outside(unsigned i, void *arg)
{
    struct work *all = arg;
    all[i].fn(NULL, i, all[i].arg);
}

static void work_in_job(weft *w, void *arg)
{
    struct work *work = arg;
    work->fn(w, work->i, work->arg);
}

static int work_in_actor(weft *w, void *arg)
{
    work_in_job(w, arg);
    return 0;
}

static void work_in_jobs(weft *w, void *arg)
{
    struct work *all = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(weft_spawn(w, &scope, work_in_job, &all[i]) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

enum who { OUTSIDE, JOBS, FEW_ACTORS, MANY_ACTORS, WHO };

/* fn(w, 0) to fn(w, THREADS - 1), at once. */
static void by(enum who who, work_fn *fn, void *arg)
{
    struct work all[THREADS];
    weft_actor *actors[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        all[i] = (struct work){fn, i, arg};
    if (who == OUTSIDE) {
        in_threads(THREADS, work_outside, all);
        return;
    }
    weft_pool *pool = pool_make(who == FEW_ACTORS ? 1 : 3, 0);
    if (who == JOBS)
        assert_int_equal(weft_run(pool, work_in_jobs, all), 0);
    for (unsigned i = 0; i < THREADS && who != JOBS; i++)
        actors[i] = start(pool, work_in_actor, &all[i], NULL);
    for (unsigned i = 0; i < THREADS && who != JOBS; i++)
        assert_int_equal(end(actors[i]), 0);
    pool_drop(pool);
}

#define FOR_ALL(who) for (enum who who = OUTSIDE; who < WHO; who++)

/* A job does not yield to other jobs: it may hold what they want. */
static void give_way(weft *w, int round)
{
    if (round % 16 != 0)
        return;
    if (w && weft_actor_self(w))
        weft_yield(w);
    else
        sched_yield();
}

static unsigned blocked_in(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    CHECK(weft_pool_get_info(pool, &info) == 0);
    return info.blocked;
}

/* ---- Read-write lock ---- */

struct pair {
    weft_rwlock lock;
    unsigned long a, b; /* plain: always the same under the lock */
    atomic_ulong writes;
};

static void read_or_write(weft *w, unsigned i, void *arg)
{
    struct pair *pair = arg;
    for (int round = 0; round < ROUNDS; round++) {
        if ((round + (int)i) % 4 == 0) {
            weft_rwlock_lock_write(w, &pair->lock);
            pair->a++;
            pair->b++;
            atomic_fetch_add(&pair->writes, 1);
        } else {
            weft_rwlock_lock_read(w, &pair->lock);
            CHECK(pair->a == pair->b);
        }
        weft_rwlock_unlock(w, &pair->lock);
        give_way(w, round);
    }
}

static void writers_exclude(void **state)
{
    FOR_ALL(who)
    {
        struct pair pair = {.lock = WEFT_RWLOCK_INIT};
        by(who, read_or_write, &pair);
        assert_int_equal(pair.a, atomic_load(&pair.writes));
        assert_int_equal(pair.b, pair.a);
    }
}

struct meeting {
    weft_rwlock lock;
    atomic_uint present;
};

static void read_together(weft *w, unsigned i, void *arg)
{
    struct meeting *meeting = arg;
    weft_rwlock_lock_read(w, &meeting->lock);
    atomic_fetch_add(&meeting->present, 1);
    while (atomic_load(&meeting->present) < THREADS)
        give_way(w, 0);
    weft_rwlock_unlock(w, &meeting->lock);
}

static void readers_share(void **state)
{
    struct meeting meeting = {.lock = WEFT_RWLOCK_INIT};
    by(OUTSIDE, read_together, &meeting);
    atomic_store(&meeting.present, 0);
    by(FEW_ACTORS, read_together, &meeting);
    assert_true(weft_rwlock_trylock_write(NULL, &meeting.lock));
}

/* In which order jobs that wait get the lock. */
struct turns {
    weft_rwlock lock;
    atomic_int next;
    int read_at, write_at;
};

static void read_in_turn(weft *w, void *arg)
{
    struct turns *turns = arg;
    weft_rwlock_lock_read(w, &turns->lock);
    turns->read_at = atomic_fetch_add(&turns->next, 1);
    weft_rwlock_unlock(w, &turns->lock);
}

static void write_in_turn(weft *w, void *arg)
{
    struct turns *turns = arg;
    weft_rwlock_lock_write(w, &turns->lock);
    turns->write_at = atomic_fetch_add(&turns->next, 1);
    weft_rwlock_unlock(w, &turns->lock);
}

/* After readers comes the writer, although a reader stands in line; after a writer come the
 * readers, although a writer came before them. */
static void take_turns(bool held_by_writer)
{
    weft_pool *pool = pool_make(2, 0);
    struct turns turns = {.lock = WEFT_RWLOCK_INIT};
    weft_task tasks[2];
    if (held_by_writer)
        weft_rwlock_lock_write(NULL, &turns.lock);
    else
        weft_rwlock_lock_read(NULL, &turns.lock);
    CHECK(weft_submit(pool, &tasks[0], write_in_turn, &turns) == 0);
    WAIT_UNTIL(blocked_in(pool) == 1);
    assert_false(weft_rwlock_trylock_read(NULL, &turns.lock)); /* not past a writer that waits */
    CHECK(weft_submit(pool, &tasks[1], read_in_turn, &turns) == 0);
    WAIT_UNTIL(blocked_in(pool) == 2);
    weft_rwlock_unlock(NULL, &turns.lock);
    assert_int_equal(weft_task_wait(&tasks[0]), 0);
    assert_int_equal(weft_task_wait(&tasks[1]), 0);
    assert_int_equal(turns.write_at, held_by_writer ? 1 : 0);
    assert_int_equal(turns.read_at, held_by_writer ? 0 : 1);
    pool_drop(pool);
}

static void nobody_starves(void **state)
{
    take_turns(false);
    take_turns(true);
}

/* A reader waits because a writer does. The writer gives up. */
static void fail_when_told(weft *w, void *arg)
{
    struct turns *turns = arg;
    WAIT_UNTIL(atomic_load(&turns->next));
    weft_fail(w, -EIO);
}

static void write_until_told(weft *w, void *arg)
{
    struct turns *turns = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, fail_when_told, turns) == 0);
    CHECK(weft_rwlock_lock_write_until(w, &turns->lock, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -EIO);
}

static void writer_gives_up(void **state)
{
    weft_pool *pool = pool_make(3, 0);
    struct turns turns = {.lock = WEFT_RWLOCK_INIT};
    weft_task tasks[2];
    weft_rwlock_lock_read(NULL, &turns.lock);
    CHECK(weft_submit(pool, &tasks[0], write_until_told, &turns) == 0);
    WAIT_UNTIL(blocked_in(pool) == 1);
    CHECK(weft_submit(pool, &tasks[1], read_in_turn, &turns) == 0);
    WAIT_UNTIL(blocked_in(pool) == 2);
    atomic_store(&turns.next, 1);
    assert_int_equal(weft_task_wait(&tasks[1]), 0); /* the lock is still held to read */
    assert_int_equal(weft_task_wait(&tasks[0]), 0);
    weft_rwlock_unlock(NULL, &turns.lock);
    assert_true(weft_rwlock_trylock_write(NULL, &turns.lock));
    weft_rwlock_unlock(NULL, &turns.lock);
    pool_drop(pool);
}

/* ---- An actor that ends gives back what it holds ---- */

static int hold_and_want_too_much(weft *w, void *arg)
{
    weft_rwlock *locks = arg;
    weft_rwlock_lock_read(w, &locks[0]);
    weft_rwlock_lock_read(w, &locks[0]); /* nobody writes */
    weft_rwlock_unlock(w, &locks[0]);
    weft_rwlock_lock_write(w, &locks[1]);
    CHECK(!weft_rwlock_trylock_write(w, &locks[0]));
    weft_alloc(w, (size_t)1 << 40);
    return 0;
}

static int return_with_lock(weft *w, void *arg)
{
    weft_rwlock_lock_write(w, arg);
    return 0;
}

static void ending_actor_unlocks(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_rwlock locks[2] = {WEFT_RWLOCK_INIT, WEFT_RWLOCK_INIT};
    assert_int_equal(run_one(pool, hold_and_want_too_much, locks), -ENOMEM);
    assert_int_equal(run_one(pool, return_with_lock, &locks[1]), 0);
    assert_true(weft_rwlock_trylock_write(NULL, &locks[0]));
    assert_true(weft_rwlock_trylock_write(NULL, &locks[1]));
    pool_drop(pool);
}

/* ---- Semaphore ---- */

enum { UNITS = 2 };

struct limited {
    weft_semaphore semaphore;
    atomic_int inside, most;
};

static void use_unit(weft *w, unsigned i, void *arg)
{
    struct limited *limited = arg;
    for (int round = 0; round < ROUNDS; round++) {
        weft_semaphore_acquire(w, &limited->semaphore);
        int inside = atomic_fetch_add(&limited->inside, 1) + 1;
        CHECK(inside <= UNITS);
        if (inside > atomic_load(&limited->most))
            atomic_store(&limited->most, inside);
        give_way(w, round);
        atomic_fetch_sub(&limited->inside, 1);
        weft_semaphore_release(w, &limited->semaphore, 1);
    }
}

static void semaphore_limits(void **state)
{
    FOR_ALL(who)
    {
        struct limited limited = {.inside = 0};
        weft_semaphore_init(&limited.semaphore, "units", UNITS);
        by(who, use_unit, &limited);
        for (int i = 0; i < UNITS; i++)
            assert_true(weft_semaphore_try_acquire(NULL, &limited.semaphore));
        assert_false(weft_semaphore_try_acquire(NULL, &limited.semaphore));
    }
}

static void acquire_one(weft *w, void *semaphore)
{
    weft_semaphore_acquire(w, semaphore);
}

/* Several units at once: for those that wait, and what is left for those that come. */
static void semaphore_releases_many(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_semaphore semaphore = WEFT_SEMAPHORE_INIT;
    weft_task tasks[2];
    for (int i = 0; i < 2; i++)
        CHECK(weft_submit(pool, &tasks[i], acquire_one, &semaphore) == 0);
    WAIT_UNTIL(blocked_in(pool) == 2);
    weft_semaphore_release(NULL, &semaphore, 3);
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    assert_true(weft_semaphore_try_acquire(NULL, &semaphore));
    assert_false(weft_semaphore_try_acquire(NULL, &semaphore));
    pool_drop(pool);
}

/* ---- Condition ---- */

struct store {
    weft_mutex mutex;
    weft_condition not_empty, not_full;
    unsigned items; /* one at most */
    unsigned long made, used;
};

/* Half of them make what the others use. */
static void make_or_use(weft *w, unsigned i, void *arg)
{
    struct store *store = arg;
    for (int round = 0; round < ROUNDS; round++) {
        weft_mutex_lock(w, &store->mutex);
        if (i % 2 == 0) {
            while (store->items == 1)
                weft_condition_wait(w, &store->not_full, &store->mutex);
            store->items++;
            store->made++;
            weft_condition_signal(w, &store->not_empty);
        } else {
            while (store->items == 0)
                weft_condition_wait(w, &store->not_empty, &store->mutex);
            store->items--;
            store->used++;
            weft_condition_signal(w, &store->not_full);
        }
        weft_mutex_unlock(w, &store->mutex);
    }
}

static void condition_signals(void **state)
{
    FOR_ALL(who)
    {
        struct store store = {.mutex = WEFT_MUTEX_INIT};
        by(who, make_or_use, &store);
        assert_int_equal(store.made, THREADS / 2 * ROUNDS);
        assert_int_equal(store.used, store.made);
    }
}

struct gathering {
    weft_mutex mutex;
    weft_condition all_here;
    unsigned here;
};

static void wait_for_all(weft *w, unsigned i, void *arg)
{
    struct gathering *gathering = arg;
    weft_mutex_lock(w, &gathering->mutex);
    if (++gathering->here == THREADS)
        weft_condition_broadcast(w, &gathering->all_here);
    while (gathering->here < THREADS)
        weft_condition_wait(w, &gathering->all_here, &gathering->mutex);
    weft_mutex_unlock(w, &gathering->mutex);
}

static void condition_broadcasts(void **state)
{
    FOR_ALL(who)
    {
        struct gathering gathering = {.mutex = WEFT_MUTEX_INIT};
        by(who, wait_for_all, &gathering);
        assert_int_equal(gathering.here, THREADS);
    }
}

/* ---- Barrier ---- */

struct phases {
    weft_barrier barrier;
    atomic_ulong arrived, last;
};

static void go_through(weft *w, unsigned i, void *arg)
{
    struct phases *phases = arg;
    for (unsigned long round = 0; round < ROUNDS / 4; round++) {
        atomic_fetch_add(&phases->arrived, 1);
        if (weft_barrier_wait(w, &phases->barrier))
            atomic_fetch_add(&phases->last, 1);
        unsigned long arrived = atomic_load(&phases->arrived);
        CHECK(arrived >= (round + 1) * THREADS && arrived < (round + 2) * THREADS);
    }
}

static void barrier_keeps_together(void **state)
{
    FOR_ALL(who)
    {
        struct phases phases = {.arrived = 0};
        weft_barrier_init(&phases.barrier, "phases", THREADS);
        by(who, go_through, &phases);
        assert_int_equal(atomic_load(&phases.last), ROUNDS / 4);
    }
}

/* ---- Once ---- */

struct onces {
    weft_once once[ROUNDS / 8];
    int made[ROUNDS / 8]; /* plain */
};

static void make(weft *w, void *made)
{
    give_way(w, 0);
    ++*(int *)made;
}

static void use_all(weft *w, unsigned i, void *arg)
{
    struct onces *onces = arg;
    for (int n = 0; n < ROUNDS / 8; n++) {
        if ((n + (int)i) % 2 == 0)
            weft_once_call(w, &onces->once[n], make, &onces->made[n]);
        else
            CHECK(weft_once_call_until(w, &onces->once[n], make, &onces->made[n], WEFT_FOREVER) ==
                  0);
        CHECK(onces->made[n] == 1);
        CHECK(weft_once_is_done(&onces->once[n]));
    }
}

static void once_is_once(void **state)
{
    static struct onces onces;
    FOR_ALL(who)
    {
        onces = (struct onces){.made = {0}};
        by(who, use_all, &onces);
    }
}

struct runner {
    weft_once once;
    struct gate gate;
    int made;
};

static void make_behind_gate(weft *w, void *arg)
{
    struct runner *runner = arg;
    gate_job(w, &runner->gate);
    runner->made++;
}

static void call_once(weft *w, void *arg)
{
    struct runner *runner = arg;
    weft_once_call(w, &runner->once, make_behind_gate, runner);
}

static void once_has_limit(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct runner runner = {.once = WEFT_ONCE_INIT};
    weft_task task;
    CHECK(weft_submit(pool, &task, call_once, &runner) == 0);
    gate_wait_arrived(&runner.gate);
    assert_int_equal(
        weft_once_call_until(NULL, &runner.once, make_behind_gate, &runner, weft_now() + 1000000),
        -ETIMEDOUT);
    assert_false(weft_once_is_done(&runner.once));
    gate_open(&runner.gate);
    assert_int_equal(
        weft_once_call_until(NULL, &runner.once, make_behind_gate, &runner, WEFT_FOREVER), 0);
    assert_int_equal(runner.made, 1);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

/* An actor ends in the middle; the other one, which waits, does it then. */
static void end_or_make(weft *w, void *arg)
{
    struct runner *runner = arg;
    while (runner->made++ == 0) {
        gate_job(w, &runner->gate);
        weft_alloc(w, (size_t)1 << 40);
    }
}

static int call_end_or_make(weft *w, void *arg)
{
    struct runner *runner = arg;
    weft_once_call(w, &runner->once, end_or_make, runner);
    return 0;
}

static void once_is_abandoned(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct runner runner = {.once = WEFT_ONCE_INIT};
    weft_actor *first = start(pool, call_end_or_make, &runner, NULL);
    gate_wait_arrived(&runner.gate);
    weft_actor *second = start(pool, call_end_or_make, &runner, NULL);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    do
        CHECK(weft_actor_get_info(second, &info) == 0);
    while (info.state != WEFT_ACTOR_WAITING);
    gate_open(&runner.gate);
    assert_int_equal(end(first), -ENOMEM);
    assert_int_equal(end(second), 0);
    assert_true(weft_once_is_done(&runner.once));
    assert_int_equal(runner.made, 2);
    pool_drop(pool);
}

/* ---- Waits of a holder are careful: its thread runs no job that might want the same lock ---- */

struct careful {
    weft_rwlock lock;
};

static void read_under(weft *w, void *arg)
{
    struct careful *careful = arg;
    weft_rwlock_lock_read(w, &careful->lock);
    weft_rwlock_unlock(w, &careful->lock);
}

static void do_nothing(weft *w, void *arg)
{
}

/* A job that wants the lock is spawned before; then the lock is held over a join. If the thread
 * took the job while it waits, it would wait for itself. */
static void write_over_join(weft *w, void *arg)
{
    struct careful *careful = arg;
    for (int i = 0; i < ROUNDS / 4; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        CHECK(weft_spawn(w, &scope, read_under, careful) == 0);
        weft_rwlock_lock_write(w, &careful->lock);
        weft_join(w, do_nothing, NULL, do_nothing, NULL);
        weft_rwlock_unlock(w, &careful->lock);
        CHECK(weft_scope_close(w, &scope) == 0);
    }
}

static void holder_is_careful(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        struct careful careful = {.lock = WEFT_RWLOCK_INIT};
        assert_int_equal(weft_run(pool, write_over_join, &careful), 0);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_exclude),
        cmocka_unit_test(readers_share),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(writer_gives_up),
        cmocka_unit_test(ending_actor_unlocks),
        cmocka_unit_test(semaphore_limits),
        cmocka_unit_test(semaphore_releases_many),
        cmocka_unit_test(condition_signals),
        cmocka_unit_test(condition_broadcasts),
        cmocka_unit_test(barrier_keeps_together),
        cmocka_unit_test(once_is_once),
        cmocka_unit_test(once_has_limit),
        cmocka_unit_test(once_is_abandoned),
        cmocka_unit_test(holder_is_careful),
    };
    return RUN_ON_ALL_ROADS(tests);
}
