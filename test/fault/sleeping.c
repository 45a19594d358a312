/* SPDX-License-Identifier: MIT */
/* sleeping.c: what went wrong when other people's workers fell asleep, and when they did not, in
 * whole pools. Without a pool: unit/events.c and unit/sleep.c. */
#include "child.h"
#include "core/pool.h"

#include <poll.h>
#include <stdatomic.h>
#include <time.h>

/* ---- Nothing is missed ---- */

/* A job in the injector, mail in a mailbox: each is looked for before sleep. Nobody helps:
 * the caller only watches. */
static void bug_04_last_look_forgets_no_queue(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, way);
        atomic_int ran = 0;
        for (int i = 0; i < rounds_of(SCALED(1500, 10)); i++) {
            weft_task task;
            atomic_store(&ran, 0);
            CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
            UNTIL(weft_task_done(&task));
            CHECK_EQUAL(weft_task_wait(&task), 0);
            CHECK_EQUAL(weft_broadcast_detached(pool, count_up, &ran), 0);
            UNTIL(atomic_load(&ran) == 3);
            if (i % 100 == 0)
                until_asleep(pool, 2);
        }
        child_pool_end(pool);
    }
}

/* The same for a worker that sleeps while its job waits: it still gets its mail, and the
 * injector's jobs. */
struct waiting {
    weft_pool *pool;
    atomic_int started, ran;
    atomic_bool go;
};

static void held(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    atomic_fetch_add(&waiting->started, 1);
    UNTIL(atomic_load(&waiting->go));
}

/* Takes part in no search: it holds one of two workers; the other one waits for it. */
static void wait_for_held(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_fork(w, held, waiting);
    UNTIL(atomic_load(&waiting->started) == 1);
    CHECK(weft_merge(w));
}

static void mail_to_waiter(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    if (atomic_fetch_add(&waiting->ran, 1) == 0) /* the waiter's: the holder's comes later */
        atomic_store(&waiting->go, true);
}

static void bug_04_waiting_worker_looks_at_all_queues(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(150, 10)); i++) {
            struct waiting waiting = {.pool = child_pool(2, WEFT_NO_GUESTS, way)};
            weft_task waiter, other;
            atomic_int ran = 0;
            CHECK_EQUAL(weft_submit(waiting.pool, &waiter, wait_for_held, &waiting), 0);
            UNTIL(atomic_load(&waiting.started) == 1);
            if (i % 2)
                until_asleep(waiting.pool, 1);
            CHECK_EQUAL(weft_submit(waiting.pool, &other, count_up, &ran), 0);
            UNTIL(weft_task_done(&other)); /* by the waiter: nobody else is free */
            CHECK_EQUAL(weft_broadcast_detached(waiting.pool, mail_to_waiter, &waiting), 0);
            CHECK_EQUAL(weft_task_wait(&waiter), 0);
            child_pool_end(waiting.pool);
            CHECK_EQUAL(atomic_load(&waiting.ran), 2);
        }
    }
}

/* By event descriptor, as an event loop would: nobody helps and nobody looks. */
static void bug_05_submitted_one_by_one(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned n = 1; n <= 3; n++) {
            weft_pool *pool = child_pool(n, WEFT_NO_GUESTS, way);
            atomic_int ran = 0;
            int count = SCALED(1000, 10);
            for (int i = 0; i < count; i++) {
                weft_task task;
                CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
                struct pollfd p = {.fd = weft_task_fd(&task), .events = POLLIN};
                CHECK(p.fd >= 0);
                CHECK_EQUAL(poll(&p, 1, -1), 1);
                CHECK_EQUAL(weft_task_wait(&task), 0);
            }
            CHECK_EQUAL(atomic_load(&ran), count);
            child_pool_end(pool);
        }
    }
}

static void run_fib(weft_pool *pool, long n, long expected)
{
    CHECK_EQUAL(weft_run(pool, fib, &n), 0);
    CHECK_EQUAL(n, expected);
}

static void spawn_many(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(weft_spawn(w, &scope, count_up, ran), 0);
        CHECK_EQUAL(weft_spawn_fifo(w, &scope, count_up, ran), 0);
    }
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

struct storm {
    weft_pool *pool;
    atomic_int ran;
};

/* Everything there is, from several outside threads. */
static void storm(unsigned i, void *arg)
{
    struct storm *s = arg;
    for (int round = 0; round < rounds_of(SCALED(150, 10)); round++) {
        weft_task task;
        run_fib(s->pool, 10, 55);
        CHECK_EQUAL(weft_run(s->pool, spawn_many, &s->ran), 0);
        CHECK_EQUAL(weft_broadcast(s->pool, count_up, &s->ran), 0);
        CHECK_EQUAL(weft_submit(s->pool, &task, spawn_many, &s->ran), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
}

static void check_at_rest(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    until_asleep(pool, weft_pool_workers(pool));
    weft_pool_get_info(pool, &info);
    CHECK_EQUAL(info.sleeping, info.workers);
    CHECK_EQUAL(info.idle, 0);
    CHECK_EQUAL(info.guests, 0);
    CHECK_EQUAL(info.queued, 0);
}

/* After any storm the counts are exact, and outside work is still taken. */
static void bug_11_sleeper_count_stays_right(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned n = 1; n <= 3; n++) {
            struct storm s = {.pool = child_pool(n, 0, way)};
            in_threads(3, storm, &s);
            check_at_rest(s.pool);
            weft_task task;
            CHECK_EQUAL(weft_submit(s.pool, &task, count_up, &s.ran), 0);
            UNTIL(weft_task_done(&task));
            check_at_rest(s.pool);
            child_pool_end(s.pool);
            CHECK_EQUAL(atomic_load(&s.ran), 3 * rounds_of(SCALED(150, 10)) * (200 + (int)n) + 1);
        }
    }
}

/* Nothing here spins, so nothing is hidden by it; one worker has nobody to lean on. */
static void bug_12_nothing_hides_behind_spinning(void)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        for (unsigned n = 1; n <= 3; n++) {
            struct storm s = {.pool = child_pool(n, flags, WAY_NO_SPIN)};
            CHECK_EQUAL(s.pool->sleep.rounds, 0);
            for (int i = 0; i < rounds_of(SCALED(200, 10)); i++) {
                run_fib(s.pool, 11, 89);
                CHECK_EQUAL(weft_run(s.pool, spawn_many, &s.ran), 0);
            }
            child_pool_end(s.pool);
        }
    }
}

/* ---- CPU time ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static uint64_t thread_time(pthread_t thread)
{
    clockid_t clock;
    struct timespec t;
    CHECK_EQUAL(pthread_getcpuclockid(thread, &clock), 0);
    CHECK_EQUAL(clock_gettime(clock, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t pool_time(weft_pool *pool)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < weft_pool_workers(pool); i++) {
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        CHECK_EQUAL(weft_worker_get_info(pool, i, &info), 0);
        sum += info.cpu_ns;
    }
    return sum;
}

/* Comes back when all workers sleep, and have used no CPU time for a while. */
static void until_still(weft_pool *pool)
{
    bool caller = pool->config.flags & WEFT_USE_CALLER;
    uint64_t before, after;
    do {
        until_asleep(pool, weft_pool_workers(pool) - caller);
        before = pool_time(pool);
        nap();
        after = pool_time(pool);
    } while (before != after);
}

static void held_asleep(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    atomic_fetch_add(&waiting->started, 1);
    struct timespec t = {.tv_nsec = 1000000};
    while (!atomic_load(&waiting->go))
        nanosleep(&t, NULL);
}

static void wait_for_sleeper(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_fork(w, held_asleep, waiting);
    UNTIL(atomic_load(&waiting->started) == 1);
    CHECK(weft_merge(w));
}

static void *run_wait_for_sleeper(void *arg)
{
    struct waiting *waiting = arg;
    CHECK_EQUAL(weft_run(waiting->pool, wait_for_sleeper, waiting), 0);
    return NULL;
}

/* One job runs, and sleeps at that; everybody else, who waits for it or for anything, may
 * look up now and then but not spin. What other processes do can only make the share of the
 * CPU smaller. */
static void bug_14_one_runs_and_nobody_spins(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
            struct waiting waiting = {.pool = child_pool(3, flags, way)};
            pthread_t guest;
            child_thread(run_wait_for_sleeper, &waiting, &guest);
            UNTIL(atomic_load(&waiting.started) == 1);
            uint64_t used, passed;
            do { /* once it has come to rest */
                uint64_t cpu = pool_time(waiting.pool) + thread_time(guest), now = weft_now();
                nap();
                used = pool_time(waiting.pool) + thread_time(guest) - cpu;
                passed = weft_now() - now;
            } while (used > passed / 4);
            atomic_store(&waiting.go, true);
            child_thread_join(guest);
            child_pool_end(waiting.pool);
        }
    }
}

static void bug_15_idle_pool_uses_no_cpu(void)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < 3; i++) {
            struct storm s = {.pool = child_pool(3, flags[i], way)};
            until_still(s.pool); /* never used */
            storm(0, &s);
            until_still(s.pool); /* used */
            child_pool_end(s.pool);
        }
    }
}

static uint64_t sleeps(weft_pool *pool)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < weft_pool_workers(pool); i++) {
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        CHECK_EQUAL(weft_worker_get_info(pool, i, &info), 0);
        sum += info.sleeps;
    }
    return sum;
}

/* Guests that need no help wake nobody. */
static void bug_16_runs_without_forks_wake_nobody(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, 0, way);
        atomic_int ran = 0;
        until_still(pool);
        uint64_t before = sleeps(pool);
        for (int i = 0; i < 10000; i++)
            CHECK_EQUAL(weft_run(pool, count_up, &ran), 0);
        until_still(pool);
        CHECK_EQUAL(sleeps(pool), before);
        child_pool_end(pool);
    }
}

/* A job wakes one worker, once. (While others are still up, on the lazy road another one may be
 * woken as the look-out, and that one looks by itself now and then; as it does under some other
 * protocols, and under the rest all are woken.) */
static void bug_16_one_wake_up_per_job(void)
{
    for (enum way way = WAY_EAGER_NO_SPIN; way <= WAY_EAGER_SPIN; way++) {
        weft_config config = child_config(3, WEFT_NO_GUESTS, way);
        config.sleep = WEFT_SLEEP_EVENTS;
        weft_pool *pool = child_pool_of(&config);
        atomic_int ran = 0;
        int count = SCALED(2000, 10);
        until_still(pool);
        uint64_t before = sleeps(pool);
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(weft_run(pool, count_up, &ran), 0);
        until_still(pool);
        CHECK(sleeps(pool) - before <= (uint64_t)count);
        child_pool_end(pool);
    }
}

/* Each comes when all sleep, and the one it wakes is all that gets up. */
static void submit_to_sleepers(weft_pool *pool, int count)
{
    atomic_int ran = 0;
    for (int i = 0; i < count; i++) {
        weft_task task;
        until_asleep(pool, weft_pool_workers(pool));
        CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
    CHECK_EQUAL(atomic_load(&ran), count);
    until_asleep(pool, weft_pool_workers(pool));
}

static void bug_16_jobs_wake_as_many_as_they_are(void)
{
    static const enum weft_sleep protocols[] = {WEFT_SLEEP_EVENTS, WEFT_SLEEP_EVENTS_PLAIN,
                                                WEFT_SLEEP_EVENTS_LATCH, WEFT_SLEEP_COUNTERS};
    enum { JOBS = 100, PROTOCOLS = sizeof protocols / sizeof protocols[0] };
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < PROTOCOLS; i++) {
            weft_config config = child_config(4, WEFT_NO_GUESTS, way);
            config.sleep = protocols[i];
            weft_pool *pool = child_pool_of(&config);
            until_asleep(pool, 4);
            uint64_t before = sleeps(pool);
            submit_to_sleepers(pool, JOBS);
            CHECK(sleeps(pool) - before <= JOBS + JOBS / 10);
            child_pool_end(pool);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_04_last_look_forgets_no_queue),
        IN_CHILD(bug_04_waiting_worker_looks_at_all_queues),
        IN_CHILD(bug_05_submitted_one_by_one),
        IN_CHILD(bug_11_sleeper_count_stays_right),
        IN_CHILD(bug_12_nothing_hides_behind_spinning),
        IN_CHILD(bug_14_one_runs_and_nobody_spins),
        IN_CHILD(bug_15_idle_pool_uses_no_cpu),
        IN_CHILD(bug_16_runs_without_forks_wake_nobody),
        IN_CHILD(bug_16_one_wake_up_per_job),
        IN_CHILD(bug_16_jobs_wake_as_many_as_they_are),
    };
    return cmocka_run_group_tests_name("sleeping", tests, NULL, NULL);
}
