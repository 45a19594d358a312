/* SPDX-License-Identifier: MIT */
/* idle.c: a pool without work costs nothing (bugs 14 to 16). */
#include "check.h"
#include "pools.h"
#include "proc.h"
#include "weft/sync.h"

#include <time.h>

enum { THREADS = 16, SWITCHES_MAX = 5, CPU_NS_MAX = 1000000 };

static pid_t tids[THREADS];

static uint64_t cpu_time(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool all_asleep(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!thread_is_asleep(tids[i]))
            return false;
    return true;
}

static unsigned long switches(void)
{
    unsigned long sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += thread_switches(tids[i]);
    return sum;
}

static void take_a_nap(long ns)
{
    nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
}

/* Those that fell asleep while others were still up look once or twice more: 16 ms at most. */
static void wait_until_settled(void)
{
    WAIT_UNTIL(all_asleep());
    take_a_nap(100000000);
    WAIT_UNTIL(all_asleep());
}

struct rest {
    unsigned long switches;
    uint64_t cpu_ns;
};

/* Measures one second, which is what this test is about. */
static struct rest measure(void)
{
    wait_until_settled();
    unsigned long switches_before = switches();
    uint64_t before = cpu_time();
    take_a_nap(1000000000);
    uint64_t used = cpu_time() - before; /* looking at the switches costs some, too */
    return (struct rest){switches() - switches_before, used};
}

/* A pool with so many threads of its own, and without the watchdog, which uses CPU time. */
static weft_pool *make_idler(unsigned flags)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = flags & WEFT_USE_CALLER ? THREADS + 1 : THREADS;
    config.flags = flags;
    config.fork = road->fork;
    config.name = "idler";
    weft_pool *pool;
    assert_int_equal(weft_pool_create(&pool, &config), 0);
    WAIT_UNTIL(threads_called("idler-", tids, THREADS) == THREADS);
    return pool;
}

static bool is_rest(const struct rest *rest)
{
    return rest->switches < SWITCHES_MAX && (SANITIZED || rest->cpu_ns < CPU_NS_MAX);
}

/* A virtual CPU that was taken away counts as used, so one second proves nothing; but a pool that
 * does not rest never has a quiet one. */
static struct rest measure_until_quiet(void)
{
    struct rest rest = measure();
    for (int i = 0; i < 3 && !is_rest(&rest); i++)
        rest = measure();
    return rest;
}

static void expect_quiet(weft_pool *pool, const struct rest *rest)
{
    assert_int_equal(weft_pool_destroy(pool), 0);
    assert_in_range(rest->switches, 0, SWITCHES_MAX - 1);
    if (!SANITIZED) /* they have threads of their own */
        assert_in_range(rest->cpu_ns, 0, CPU_NS_MAX - 1);
}

/* Measures, and ends the pool. */
static void expect_rest(weft_pool *pool)
{
    struct rest rest = measure_until_quiet();
    expect_quiet(pool, &rest);
}

static void idle_from_the_start(void **state)
{
    expect_rest(make_idler(0));
}

static void fork_some(weft *w, unsigned depth)
{
    if (depth == 0)
        return;
    atomic_ulong count = 0;
    weft *in = weft_fork(w, count_job, &count);
    fork_some(in, depth - 1);
    if (!weft_merge(w))
        count_job(w, &count);
    CHECK(atomic_load(&count) == 1);
}

static void fork_job(weft *w, void *arg)
{
    fork_some(w, 10);
}

static void idle_after_work(void **state)
{
    weft_pool *pool = make_idler(0);
    atomic_ulong count = 0;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(weft_broadcast(pool, count_job, &count), 0);
        assert_int_equal(weft_run(pool, fork_job, NULL), 0);
    }
    assert_int_equal(atomic_load(&count), 100 * THREADS);
    expect_rest(pool);
}

/* Not only after a while: from the last job on, one worker looks around for 10 ms, and all others
 * sleep. A nap takes longer on a busy machine, so there are not more of them. */
static void idle_at_once_after_work(void **state)
{
    enum { LOOKS_MAX = 100 };
    weft_pool *pool = make_idler(0);
    assert_int_equal(weft_run(pool, fork_job, NULL), 0);
    WAIT_UNTIL(all_asleep());
    unsigned long before = switches();
    take_a_nap(1000000000);
    unsigned long looks = switches() - before;
    assert_int_equal(weft_pool_destroy(pool), 0);
    assert_in_range(looks, 0, LOOKS_MAX - 1);
}

/* The thread that made it is a worker, but not at work. */
static void idle_while_the_caller_is_outside(void **state)
{
    weft_pool *pool = make_idler(WEFT_USE_CALLER);
    assert_int_equal(weft_run(pool, fork_job, NULL), 0);
    expect_rest(pool);
}

/* Jobs wait for what a thread outside will do: their threads just sleep. */
struct blocked {
    weft_event event;
    weft_mutex mutex;
};

static void wait_for_event(weft *w, void *blocked)
{
    weft_event_wait(w, &((struct blocked *)blocked)->event);
}

static void wait_for_mutex(weft *w, void *arg)
{
    struct blocked *blocked = arg;
    weft_mutex_lock(w, &blocked->mutex);
    weft_mutex_unlock(w, &blocked->mutex);
}

static unsigned blocked_in(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    return info.blocked;
}

static void blocked_jobs(void **state)
{
    struct blocked blocked = {.event = WEFT_EVENT_INIT, .mutex = WEFT_MUTEX_INIT};
    weft_task tasks[THREADS];
    weft_pool *pool = make_idler(0);
    weft_event_from_outside(&blocked.event);
    weft_mutex_lock(NULL, &blocked.mutex);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            weft_submit(pool, &tasks[i], i % 2 ? wait_for_event : wait_for_mutex, &blocked), 0);
    WAIT_UNTIL(blocked_in(pool) == THREADS);
    struct rest rest = measure_until_quiet();
    weft_event_set(NULL, &blocked.event);
    weft_mutex_unlock(NULL, &blocked.mutex);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    expect_quiet(pool, &rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_from_the_start),
        cmocka_unit_test(idle_after_work),
        cmocka_unit_test(idle_at_once_after_work),
        cmocka_unit_test(idle_while_the_caller_is_outside),
        cmocka_unit_test(blocked_jobs),
    };
    return RUN_ON_ALL_ROADS(tests);
}
