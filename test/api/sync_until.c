/* SPDX-License-Identifier: MIT */
/* sync_until.c: waits that end at a time, or because their computation is cancelled: in threads
 * outside, jobs and actors. Whatever ends a wait, nothing is lost. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/sync.h"
#include "weft/task.h"

#include <errno.h>

#define MS ((uint64_t)1000000)

/* ---- Everything that can be waited for ---- */

/* Nothing of it can be had. */
struct things {
    weft_event event;
    weft_mutex mutex; /* held outside */
    weft_channel empty, full;
    weft_rwlock lock; /* written under, outside */
    weft_semaphore semaphore;
    weft_condition condition;
    weft_mutex with_condition;
    weft_barrier barrier; /* for more than ever come */
    weft_actor *actor;    /* waits for the event, and its mailbox is full */
};

static int receive_two(weft *w, void *arg)
{
    struct things *things = arg;
    void *message;
    weft_event_wait(w, &things->event);
    CHECK(weft_receive(w, &message) == 0);
    return weft_receive(w, &message);
}

static void make_actor(struct things *things)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.name = "full";
    config.mailbox = 1;
    CHECK(weft_actor_create(&things->actor, NULL, receive_two, things, &config) == 0);
    CHECK(weft_actor_try_send(NULL, things->actor, NULL) == 0);
}

static void make_things(struct things *things)
{
    int item = 1;
    weft_event_init(&things->event, "event");
    weft_mutex_init(&things->mutex, "mutex");
    CHECK(weft_channel_init(&things->empty, "empty", sizeof(int), 1) == 0);
    CHECK(weft_channel_init(&things->full, "full", sizeof(int), 1) == 0);
    CHECK(weft_channel_try_send(NULL, &things->full, &item) == 0);
    weft_mutex_lock(NULL, &things->mutex);
    weft_event_from_outside(&things->event);
    weft_channel_from_outside(&things->empty);
    weft_rwlock_init(&things->lock, "lock");
    weft_rwlock_lock_write(NULL, &things->lock);
    weft_semaphore_init(&things->semaphore, "semaphore", 0);
    weft_semaphore_from_outside(&things->semaphore);
    weft_condition_init(&things->condition, "condition");
    weft_condition_from_outside(&things->condition);
    weft_mutex_init(&things->with_condition, "with condition");
    weft_barrier_init(&things->barrier, "barrier", 3);
    weft_barrier_from_outside(&things->barrier);
    make_actor(things);
}

static void drop_things(struct things *things)
{
    weft_actor_kill(things->actor);
    (void)weft_actor_wait(NULL, things->actor);
    weft_actor_release(things->actor);
    weft_mutex_unlock(NULL, &things->mutex);
    CHECK(
        weft_mutex_trylock(NULL, &things->mutex)); /* no waiter is left, and it was given to none */
    weft_mutex_unlock(NULL, &things->mutex);
    weft_channel_destroy(&things->empty);
    weft_channel_destroy(&things->full);
    weft_rwlock_unlock(NULL, &things->lock);
    CHECK(weft_rwlock_trylock_write(NULL, &things->lock));
    weft_rwlock_unlock(NULL, &things->lock);
    CHECK(!weft_semaphore_try_acquire(NULL, &things->semaphore));
    CHECK(weft_mutex_trylock(NULL, &things->with_condition));
    weft_mutex_unlock(NULL, &things->with_condition);
    /* Those that gave up are not counted. */
    CHECK(weft_barrier_wait_until(NULL, &things->barrier, 0) == -ETIMEDOUT);
}

static int wait_event(weft *w, struct things *things, uint64_t when)
{
    return weft_event_wait_until(w, &things->event, when);
}

static int wait_mutex(weft *w, struct things *things, uint64_t when)
{
    return weft_mutex_lock_until(w, &things->mutex, when);
}

static int wait_receive(weft *w, struct things *things, uint64_t when)
{
    int item;
    return weft_channel_receive_until(w, &things->empty, &item, when);
}

static int wait_send(weft *w, struct things *things, uint64_t when)
{
    int item = 2;
    return weft_channel_send_until(w, &things->full, &item, when);
}

static int wait_read(weft *w, struct things *things, uint64_t when)
{
    return weft_rwlock_lock_read_until(w, &things->lock, when);
}

static int wait_write(weft *w, struct things *things, uint64_t when)
{
    return weft_rwlock_lock_write_until(w, &things->lock, when);
}

static int wait_semaphore(weft *w, struct things *things, uint64_t when)
{
    return weft_semaphore_acquire_until(w, &things->semaphore, when);
}

static int wait_condition(weft *w, struct things *things, uint64_t when)
{
    weft_mutex_lock(w, &things->with_condition);
    int result = weft_condition_wait_until(w, &things->condition, &things->with_condition, when);
    weft_mutex_unlock(w, &things->with_condition);
    return result;
}

static int wait_barrier(weft *w, struct things *things, uint64_t when)
{
    return weft_barrier_wait_until(w, &things->barrier, when);
}

static int wait_actor(weft *w, struct things *things, uint64_t when)
{
    int result = weft_actor_wait_until(w, things->actor, when);
    CHECK(!result == weft_actor_done(things->actor));
    return result;
}

static int wait_room(weft *w, struct things *things, uint64_t when)
{
    return weft_actor_send_until(w, things->actor, things, when);
}

typedef int wait_fn(weft *w, struct things *things, uint64_t when);
static wait_fn *const waits[] = {wait_event,     wait_mutex, wait_receive, wait_send,
                                 wait_semaphore, wait_read,  wait_write,   wait_condition,
                                 wait_barrier,   wait_actor, wait_room};
enum { WAITS = sizeof waits / sizeof waits[0] };

static bool ends_by_actor_sets(wait_fn *wait)
{
    return wait == wait_event || wait == wait_receive || wait == wait_send ||
           wait == wait_semaphore || wait == wait_actor || wait == wait_room;
}

/* ---- The time comes ---- */

static void all_time_out(weft *w, struct things *things)
{
    for (int i = 0; i < WAITS; i++) {
        uint64_t when = weft_now() + MS;
        CHECK(waits[i](w, things, when) == -ETIMEDOUT);
        CHECK(weft_now() >= when);
        CHECK(waits[i](w, things, 0) == -ETIMEDOUT);
    }
}

static void all_time_out_job(weft *w, void *arg)
{
    all_time_out(w, arg);
}

static int all_time_out_actor(weft *w, void *arg)
{
    all_time_out(w, arg);
    return 0;
}

static void time_comes(void **state)
{
    static const unsigned workers[] = {1, 2, 8};
    struct things things;
    make_things(&things);
    all_time_out(NULL, &things);
    for (int i = 0; i < 3; i++) {
        weft_pool *pool = pool_make(workers[i], 0);
        weft_task task;
        assert_int_equal(weft_run(pool, all_time_out_job, &things), 0);
        assert_int_equal(weft_submit(pool, &task, all_time_out_job, &things), 0);
        assert_int_equal(weft_task_wait(&task), 0);
        assert_int_equal(run_one(pool, all_time_out_actor, &things), 0);
        pool_drop(pool);
    }
    drop_things(&things);
}

/* ---- What can be had is had, however late it is ---- */

static void have_all(weft *w)
{
    weft_event event = WEFT_EVENT_INIT;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_channel channel;
    int item = 7;
    weft_event_set(w, &event);
    CHECK(weft_event_wait_until(w, &event, 0) == 0);
    CHECK(weft_mutex_lock_until(w, &mutex, 0) == 0);
    CHECK(!weft_mutex_trylock(w, &mutex));
    weft_mutex_unlock(w, &mutex);
    CHECK(weft_channel_init(&channel, NULL, sizeof(int), 1) == 0);
    CHECK(weft_channel_send_until(w, &channel, &item, 0) == 0);
    item = 0;
    CHECK(weft_channel_receive_until(w, &channel, &item, 0) == 0 && item == 7);
    weft_channel_close(w, &channel);
    CHECK(weft_channel_send_until(w, &channel, &item, WEFT_FOREVER) == -EPIPE);
    CHECK(weft_channel_receive_until(w, &channel, &item, WEFT_FOREVER) == -EPIPE);
    CHECK(weft_channel_receive_until(w, NULL, &item, 0) == -EINVAL);
    weft_channel_destroy(&channel);
}

/* Also in a computation that is cancelled. */
static void have_all_job(weft *w, void *arg)
{
    have_all(w);
    weft_fail(w, -EIO);
    have_all(w);
}

static void had_at_once(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    have_all(NULL);
    assert_int_equal(weft_run(pool, have_all_job, NULL), -EIO);
    pool_drop(pool);
}

/* Who holds a mutex and wants it again has a limit too. */
static int lock_own(weft *w, void *arg)
{
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_mutex_lock(w, &mutex);
    CHECK(weft_mutex_lock_until(w, &mutex, weft_now() + MS) == -ETIMEDOUT);
    weft_mutex_unlock(w, &mutex);
    return 0;
}

static void lock_own_job(weft *w, void *arg)
{
    (void)lock_own(w, arg);
}

static void own_mutex(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(lock_own(NULL, NULL), 0);
    assert_int_equal(weft_run(pool, lock_own_job, NULL), 0);
    assert_int_equal(run_one(pool, lock_own, NULL), 0);
    pool_drop(pool);
}

/* ---- Cancelled ---- */

struct cancelled {
    weft_pool *pool, *other;
    struct things things;
    uint64_t when;
    atomic_int next, ended;
};

static unsigned blocked_in(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    CHECK(weft_pool_get_info(pool, &info) == 0);
    return info.blocked;
}

static void wait_for_one(weft *w, void *arg)
{
    struct cancelled *c = arg;
    int i = atomic_fetch_add(&c->next, 1) % WAITS;
    CHECK(waits[i](w, &c->things, c->when) == -ECANCELED);
    CHECK(weft_cancelled(w));
    CHECK(waits[i](w, &c->things, c->when) == -ECANCELED); /* and at once */
    atomic_fetch_add(&c->ended, 1);
}

static void spawn_waits(weft *w, weft_scope *scope, struct cancelled *c)
{
    for (int i = 0; i < 2 * WAITS; i++)
        CHECK(weft_spawn(w, scope, wait_for_one, c) == 0);
}

static void fail_when_all_wait(weft *w, void *arg)
{
    struct cancelled *c = arg;
    WAIT_UNTIL(blocked_in(c->pool) == 2 * WAITS);
    weft_fail(w, -EIO);
}

static void fail_beside_waits(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    spawn_waits(w, &scope, arg);
    fail_when_all_wait(w, arg);
    CHECK(weft_scope_close(w, &scope) == -EIO);
}

/* The waits are in a scope of their own, and it is the scope around that fails. */
static void fail_around_waits(weft *w, void *arg)
{
    weft_scope outer, inner;
    weft_scope_open(w, &outer);
    CHECK(weft_spawn(w, &outer, fail_when_all_wait, arg) == 0);
    weft_scope_open(w, &inner);
    spawn_waits(w, &inner, arg);
    CHECK(weft_scope_close(w, &inner) == -ECANCELED);
    CHECK(weft_scope_close(w, &outer) == -EIO);
}

static void deadline_of_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 5 * MS);
    spawn_waits(w, &scope, arg);
    int error = weft_scope_close(w, &scope);
    CHECK(error == -ETIMEDOUT);
}

/* The waits have begun when the deadline is set. */
static void deadline_set_late(weft *w, void *arg)
{
    struct cancelled *c = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    spawn_waits(w, &scope, c);
    WAIT_UNTIL(blocked_in(c->pool) == 2 * WAITS);
    weft_scope_deadline(&scope, weft_now() + MS);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
}

static void all_wait(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    spawn_waits(w, &scope, arg);
    CHECK(weft_scope_close(w, &scope) == -ECANCELED);
}

static void run_in_other_pool(weft *w, void *arg)
{
    struct cancelled *c = arg;
    CHECK(weft_run(c->other, all_wait, c) == -ECANCELED);
}

static void fail_when_others_wait(weft *w, void *arg)
{
    struct cancelled *c = arg;
    WAIT_UNTIL(blocked_in(c->other) == 2 * WAITS);
    weft_fail(w, -EIO);
}

static void fail_another_pool(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, fail_when_others_wait, arg) == 0);
    CHECK(weft_spawn(w, &scope, run_in_other_pool, arg) == 0);
    CHECK(weft_scope_close(w, &scope) == -EIO);
}

/* All of them can block at the same time. */
static weft_pool *pool_for_waits(unsigned workers)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spares = 2 * WAITS;
    return pool_make_with(&config);
}

static void cancel(unsigned workers, uint64_t when, weft_fn *fn)
{
    struct cancelled c = {
        .pool = pool_for_waits(workers), .other = pool_for_waits(2), .when = when};
    make_things(&c.things);
    assert_int_equal(weft_run(c.pool, fn, &c), 0);
    /* Children that had not begun when it was cancelled never do. */
    assert_true(atomic_load(&c.ended) <= 2 * WAITS);
    assert_true(fn == deadline_of_scope || atomic_load(&c.ended) == 2 * WAITS);
    drop_things(&c.things);
    pool_drop(c.other);
    pool_drop(c.pool);
}

static void cancelled(void **state)
{
    static weft_fn *const ways[] = {fail_beside_waits, fail_around_waits, deadline_of_scope,
                                    deadline_set_late, fail_another_pool};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        cancel(2, WEFT_FOREVER, ways[i]);
        cancel(8, weft_now() + 3600000 * MS, ways[i]);
    }
}

/* A run in a pool whose workers alone run jobs belongs to the computation as well. */
static void wait_until_cancelled(weft *w, void *event)
{
    CHECK(weft_event_wait_until(w, event, WEFT_FOREVER) == -ECANCELED);
}

struct handed_over {
    weft_pool *other;
    weft_event event;
};

static void hand_over(weft *w, void *arg)
{
    struct handed_over *handed = arg;
    CHECK(weft_run(handed->other, wait_until_cancelled, &handed->event) == -ECANCELED);
}

static void cancelled_without_guests(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct handed_over handed = {pool_make(1, WEFT_NO_GUESTS), WEFT_EVENT_INIT};
    weft_task task;
    assert_int_equal(weft_submit(pool, &task, hand_over, &handed), 0);
    WAIT_UNTIL(blocked_in(handed.other) == 1);
    assert_int_equal(weft_task_cancel(&task), 0);
    assert_int_equal(weft_task_wait(&task), -ECANCELED);
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.deadline = weft_now() + 5 * MS;
    assert_int_equal(weft_submit_with(pool, &task, hand_over, &handed, &options), 0);
    assert_int_equal(weft_task_wait(&task), -ETIMEDOUT);
    pool_drop(pool);
    pool_drop(handed.other);
}

/* ---- In actors ---- */

struct actor_wait {
    struct cancelled *c;
    wait_fn *wait;
};

static int actor_waits(weft *w, void *arg)
{
    struct actor_wait *wait = arg;
    return wait->wait(w, &wait->c->things, WEFT_FOREVER);
}

/* The wait is in a scope with a deadline. */
static int actor_has_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + MS);
    CHECK(actor_waits(w, arg) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    return 0;
}

static int actor_sets(weft *w, void *arg)
{
    struct cancelled *c = arg;
    int item;
    weft_event_set(w, &c->things.event);
    CHECK(weft_channel_try_send(w, &c->things.empty, &(int){3}) == 0);
    CHECK(weft_channel_try_receive(w, &c->things.full, &item) == 0);
    weft_semaphore_release(w, &c->things.semaphore, 1);
    return 0;
}

/* One worker: an actor that waits does not keep it from the one that ends its wait. */
static void actors_wait(void **state)
{
    static const unsigned workers[] = {1, 4};
    for (int i = 0; i < 2; i++) {
        struct cancelled c = {.pool = pool_make(workers[i], 0)};
        struct actor_wait all[WAITS];
        weft_actor *waiting[WAITS];
        make_things(&c.things);
        for (int j = 0; j < WAITS; j++) {
            all[j] = (struct actor_wait){&c, waits[j]};
            assert_int_equal(run_one(c.pool, actor_has_deadline, &all[j]), 0);
        }
        for (int j = 0; j < WAITS; j++)
            waiting[j] = start(c.pool, actor_waits, &all[j], NULL);
        assert_int_equal(run_one(c.pool, actor_sets, &c), 0);
        for (int j = 0; j < WAITS; j++) {
            bool ends = ends_by_actor_sets(waits[j]);
            if (!ends)
                weft_actor_kill(waiting[j]);
            assert_int_equal(end(waiting[j]), ends ? 0 : -ECANCELED);
        }
        drop_things(&c.things);
        pool_drop(c.pool);
    }
}

/* ---- Races: short limits, and threads that end the waits ---- */

enum { THREADS = 4, ROUNDS = SCALED(2000, 8) };

struct race {
    weft_mutex mutex;
    weft_channel channel;
    weft_rwlock lock;
    weft_semaphore semaphore;
    unsigned long locked, written; /* plain: under the mutex, and the lock */
    atomic_ulong locked_too, written_too, sent, received;
};

static uint64_t short_limit(unsigned i, int round)
{
    return weft_now() + (uint64_t)((round * 7 + (int)i * 13) % 40) * 1000;
}

static void race_for_all(unsigned i, weft *w, struct race *race)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (weft_mutex_lock_until(w, &race->mutex, short_limit(i, round)) == 0) {
            race->locked++;
            weft_mutex_unlock(w, &race->mutex);
            atomic_fetch_add(&race->locked_too, 1);
        }
        if (round % 3 == 0 &&
            weft_rwlock_lock_write_until(w, &race->lock, short_limit(i, round)) == 0) {
            race->written++;
            weft_rwlock_unlock(w, &race->lock);
            atomic_fetch_add(&race->written_too, 1);
        }
        if (round % 3 != 0 &&
            weft_rwlock_lock_read_until(w, &race->lock, short_limit(i, round)) == 0) {
            CHECK(race->written <= THREADS * ROUNDS);
            weft_rwlock_unlock(w, &race->lock);
        }
        if (weft_semaphore_acquire_until(w, &race->semaphore, short_limit(i, round)) == 0)
            weft_semaphore_release(w, &race->semaphore, 1);
        unsigned item = 1 + (unsigned)round;
        if (i % 2 == 0 &&
            weft_channel_send_until(w, &race->channel, &item, short_limit(i, round)) == 0)
            atomic_fetch_add(&race->sent, item);
        if (i % 2 == 1 &&
            weft_channel_receive_until(w, &race->channel, &item, short_limit(i, round)) == 0)
            atomic_fetch_add(&race->received, item);
    }
}

static void race_outside(unsigned i, void *arg)
{
    race_for_all(i, NULL, arg);
}

struct racer {
    unsigned i;
    struct race *race;
};

static int race_in_actor(weft *w, void *arg)
{
    struct racer *racer = arg;
    race_for_all(racer->i, w, racer->race);
    return 0;
}

static void race_in_job(weft *w, void *arg)
{
    (void)race_in_actor(w, arg);
}

static void race_in_pool(weft *w, void *arg)
{
    weft_scope scope;
    struct racer racers[THREADS];
    weft_scope_open(w, &scope);
    for (unsigned i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){i, arg};
        CHECK(weft_spawn(w, &scope, race_in_job, &racers[i]) == 0);
    }
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void run_race(size_t capacity, void (*run)(struct race *race))
{
    struct race race = {.mutex = WEFT_MUTEX_INIT, .lock = WEFT_RWLOCK_INIT};
    weft_semaphore_init(&race.semaphore, "race", 1);
    unsigned item;
    CHECK(weft_channel_init(&race.channel, "race", sizeof item, capacity) == 0);
    run(&race);
    while (weft_channel_try_receive(NULL, &race.channel, &item) == 0)
        atomic_fetch_add(&race.received, item);
    assert_int_equal(atomic_load(&race.sent), atomic_load(&race.received));
    assert_int_equal(race.locked, atomic_load(&race.locked_too));
    assert_true(weft_mutex_trylock(NULL, &race.mutex));
    weft_mutex_unlock(NULL, &race.mutex);
    assert_int_equal(race.written, atomic_load(&race.written_too));
    assert_true(weft_rwlock_trylock_write(NULL, &race.lock));
    weft_rwlock_unlock(NULL, &race.lock);
    assert_true(weft_semaphore_try_acquire(NULL, &race.semaphore));
    assert_false(weft_semaphore_try_acquire(NULL, &race.semaphore));
    weft_channel_destroy(&race.channel);
}

static void with_threads(struct race *race)
{
    in_threads(THREADS, race_outside, race);
}

static void with_jobs(struct race *race)
{
    weft_pool *pool = pool_make(3, 0);
    assert_int_equal(weft_run(pool, race_in_pool, race), 0);
    pool_drop(pool);
}

static void with_actors(struct race *race)
{
    weft_pool *pool = pool_make(2, 0);
    struct racer racers[THREADS];
    weft_actor *actors[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){i, race};
        actors[i] = start(pool, race_in_actor, &racers[i], NULL);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(end(actors[i]), 0);
    pool_drop(pool);
}

static void nothing_is_lost(void **state)
{
    for (size_t capacity = 0; capacity < 2; capacity++) {
        run_race(capacity, with_threads);
        run_race(capacity, with_jobs);
        run_race(capacity, with_actors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_comes),
        cmocka_unit_test(had_at_once),
        cmocka_unit_test(own_mutex),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(cancelled_without_guests),
        cmocka_unit_test(actors_wait),
        cmocka_unit_test(nothing_is_lost),
    };
    return RUN_ON_ALL_ROADS(tests);
}
