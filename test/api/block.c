/* SPDX-License-Identifier: MIT */
/* block.c: jobs that block don't cost parallelism: spares take their places, and go again. */
#include "check.h"
#include "pools.h"
#include "proc.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static weft_pool *make_called(const char *name, unsigned workers, int spares)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spares = spares;
    config.name = name;
    return pool_make_with(&config);
}

static weft_pool *make(unsigned workers, int spares)
{
    return make_called("blocker", workers, spares);
}

static unsigned threads_of(const char *name)
{
    enum { MOST = 256 };
    static pid_t tids[MOST];
    return threads_called(name, tids, MOST);
}

static unsigned threads(void)
{
    return threads_of("blocker-");
}

static weft_pool_info info_of(weft_pool *pool)
{
    weft_pool_info info;
    weft_pool_get_info(pool, &info);
    return info;
}

static void expect_back_to(weft_pool *pool, unsigned workers)
{
    WAIT_UNTIL(info_of(pool).spares == 0 && info_of(pool).blocked == 0);
    WAIT_UNTIL(threads() == workers); /* those that are kept end after a while, too */
}

/* ---- Sleeping ---- */

enum { SLEEPERS = 64, NAP_NS = 50 * 1000000 };

static void nap(weft *w, void *arg)
{
    weft_block_begin(w);
    weft_block_begin(w); /* may be nested */
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    weft_block_end(w);
    weft_block_end(w);
}

static uint64_t sleep_all(weft_pool *pool)
{
    weft_task tasks[SLEEPERS];
    uint64_t start = weft_now();
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(weft_submit(pool, &tasks[i], nap, NULL), 0);
    for (int i = 0; i < SLEEPERS; i++)
        WAIT_UNTIL(weft_task_done(&tasks[i])); /* waiting would mean working */
    uint64_t end = weft_now();
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    return end - start;
}

/* Two workers alone would take 32 naps one after the other. */
static void spares_take_the_places(void **state)
{
    weft_pool *pool = make(2, 32);
    for (int i = 0; i < 3; i++)
        assert_in_range(sleep_all(pool), 2 * NAP_NS, 20u * NAP_NS);
    expect_back_to(pool, 2);
    pool_drop(pool);
}

static void no_more_than_the_limit(void **state)
{
    weft_pool *pool = make(2, 3);
    assert_in_range(sleep_all(pool), (SLEEPERS / 5) * (uint64_t)NAP_NS,
                    (uint64_t)SLEEPERS * NAP_NS);
    expect_back_to(pool, 2);
    pool_drop(pool);
}

static void none_if_none_are_wanted(void **state)
{
    weft_pool *pool = make(2, -1);
    weft_task tasks[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_submit(pool, &tasks[i], nap, NULL), 0);
    WAIT_UNTIL(info_of(pool).blocked == 2);
    assert_int_equal(info_of(pool).spares, 0);
    assert_int_equal(threads(), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    pool_drop(pool);
}

/* ---- What a spare does ---- */

struct work {
    weft_event event;
    atomic_ulong leaves;
};

static void count_leaves(weft *w, struct work *work, unsigned depth);

struct half {
    struct work *work;
    unsigned depth;
};

static void count_half(weft *w, void *arg)
{
    struct half *half = arg;
    count_leaves(w, half->work, half->depth);
}

static void count_leaves(weft *w, struct work *work, unsigned depth)
{
    if (depth == 0) {
        atomic_fetch_add(&work->leaves, 1);
        return;
    }
    struct half right = {work, depth - 1};
    weft *in = weft_fork(w, count_half, &right);
    count_leaves(in, work, depth - 1);
    if (!weft_merge(w))
        count_half(w, &right);
}

static void wait_for_it(weft *w, void *arg)
{
    struct work *work = arg;
    weft_event_wait(w, &work->event);
}

/* All workers are blocked, and what ends that is done by spares: forks, spawned jobs, and
 * waits of their own. */
static void do_it(weft *w, void *arg)
{
    struct work *work = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 8; i++)
        CHECK(weft_spawn(w, &scope, count_job, &work->leaves) == 0);
    count_leaves(w, work, 10);
    CHECK(weft_scope_close(w, &scope) == 0);
    weft_event_set(w, &work->event);
}

static void spares_are_whole_workers(void **state)
{
    weft_pool *pool = make(2, 4);
    for (int r = 0; r < SCALED(50, 5); r++) {
        struct work work = {.event = WEFT_EVENT_INIT};
        weft_task tasks[3];
        for (int i = 0; i < 2; i++)
            assert_int_equal(weft_submit(pool, &tasks[i], wait_for_it, &work), 0);
        WAIT_UNTIL(info_of(pool).blocked == 2);
        assert_int_equal(weft_submit(pool, &tasks[2], do_it, &work), 0);
        for (int i = 0; i < 3; i++)
            WAIT_UNTIL(weft_task_done(&tasks[i]));
        for (int i = 0; i < 3; i++)
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
        assert_int_equal(atomic_load(&work.leaves), 8 + 1024);
    }
    expect_back_to(pool, 2);
    pool_drop(pool);
}

/* A job that comes while all are blocked and nothing was to do before. */
static void late_jobs_find_a_spare(void **state)
{
    weft_pool *pool = make(1, 1);
    struct work work = {.event = WEFT_EVENT_INIT};
    weft_task wait, late;
    atomic_ulong count = 0;
    weft_event_from_outside(&work.event);
    assert_int_equal(weft_submit(pool, &wait, wait_for_it, &work), 0);
    WAIT_UNTIL(info_of(pool).blocked == 1);
    WAIT_UNTIL(info_of(pool).sleeping == 1 || info_of(pool).spares == 0);
    assert_int_equal(weft_submit(pool, &late, count_job, &count), 0);
    WAIT_UNTIL(weft_task_done(&late));
    assert_int_equal(weft_task_wait(&late), 0);
    weft_event_set(NULL, &work.event);
    assert_int_equal(weft_task_wait(&wait), 0);
    pool_drop(pool);
}

/* ---- Odd cases ---- */

static void block_in_guest(weft *w, void *arg)
{
    struct work *work = arg;
    weft_fork(w, do_it, work);
    weft_event_wait(w + 1, &work->event);
    CHECK(weft_merge(w));
}

static void guests_block_too(void **state)
{
    weft_pool *pool = make(1, 2);
    for (int r = 0; r < SCALED(50, 5); r++) {
        struct work work = {.event = WEFT_EVENT_INIT};
        assert_int_equal(weft_run(pool, block_in_guest, &work), 0);
    }
    pool_drop(pool);
}

static void limits_are_checked(void **state)
{
    weft_pool *pool;
    weft_config config = WEFT_CONFIG_INIT;
    config.spares = -2;
    assert_int_equal(weft_pool_create(&pool, &config), -EINVAL);
    config.spares = WEFT_WORKERS_MAX + 1;
    assert_int_equal(weft_pool_create(&pool, &config), -EINVAL);
}

static void pool_ends_while_spares_are_kept(void **state)
{
    for (int r = 0; r < SCALED(50, 5); r++) {
        weft_pool *pool = make(1, 2);
        weft_task tasks[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(weft_submit(pool, &tasks[i], nap, NULL), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
        pool_drop(pool);
    }
}

static void nothing(weft *w, void *arg)
{
}

static void run_elsewhere(weft *w, void *pool)
{
    CHECK(weft_run(pool, nothing, NULL) == 0);
}

static void wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

/* Guests whose thread is a worker elsewhere sleep in its parking place. The next one in the same
 * slot, a spare, has a thread of its own. */
static void a_spare_sleeps_in_its_own_place(void **state)
{
    weft_pool *host = make(1, 0), *pool = make(1, 1);
    weft_task task;
    assert_int_equal(weft_submit(host, &task, run_elsewhere, pool), 0);
    WAIT_UNTIL(weft_task_done(&task)); /* by the host's worker */
    assert_int_equal(weft_task_wait(&task), 0);
    weft_event event;
    weft_event_init(&event, "event");
    weft_event_from_outside(&event);
    assert_int_equal(weft_submit(pool, &task, wait_for_event, &event), 0);
    WAIT_UNTIL(info_of(pool).blocked == 1 && info_of(pool).sleeping == 1);
    weft_event_set(NULL, &event);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
    pool_drop(host);
}

/* TSan reports, at the end of this program, threads that ended and that nobody joined. */
static void a_spares_thread_ends_before_its_pool(void **state)
{
    static weft_pool *forever;
    weft_task tasks[3];
    if (!forever)
        forever = make_called("forever", 1, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(weft_submit(forever, &tasks[i], nap, NULL), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    WAIT_UNTIL(threads_of("forever-") == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spares_take_the_places),
        cmocka_unit_test(no_more_than_the_limit),
        cmocka_unit_test(none_if_none_are_wanted),
        cmocka_unit_test(spares_are_whole_workers),
        cmocka_unit_test(late_jobs_find_a_spare),
        cmocka_unit_test(guests_block_too),
        cmocka_unit_test(limits_are_checked),
        cmocka_unit_test(pool_ends_while_spares_are_kept),
        cmocka_unit_test(a_spare_sleeps_in_its_own_place),
        cmocka_unit_test(a_spares_thread_ends_before_its_pool),
    };
    return RUN_ON_ALL_ROADS(tests);
}
