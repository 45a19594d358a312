/* SPDX-License-Identifier: MIT */
/* block.c: jobs that block don't cost parallelism: spares take their places, and go again. */
#include "check.h"
#include "pools.h"
#include "proc.h"
#include "weft/parallel.h"
#include "weft/sync.h"

#include <errno.h>
#include <pthread.h>
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
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    return info;
}

static void expect_back_to(weft_pool *pool, unsigned workers)
{
    WAIT_UNTIL(info_of(pool).spares == 0 && info_of(pool).blocked == 0);
    WAIT_UNTIL(threads() == workers); /* those that are kept end after a while, too */
}

/* ---- Sleeping ---- */

enum { SLEEPERS = 64 };

/* All stay inside until `wanted` of them were at the same time: those who sleep in the places of
 * others are there, too. */
struct dormitory {
    unsigned wanted;
    atomic_uint inside, most;
};

static void sleep_here(weft *w, void *arg)
{
    struct dormitory *dormitory = arg;
    weft_block_begin(w);
    weft_block_begin(w); /* may be nested */
    unsigned inside = atomic_fetch_add(&dormitory->inside, 1) + 1;
    unsigned most = atomic_load(&dormitory->most);
    while (most < inside && !atomic_compare_exchange_weak(&dormitory->most, &most, inside))
        ;
    WAIT_UNTIL(atomic_load(&dormitory->most) >= dormitory->wanted);
    atomic_fetch_sub(&dormitory->inside, 1);
    weft_block_end(w);
    weft_block_end(w);
}

static void expect_inside(weft_pool *pool, unsigned wanted)
{
    struct dormitory dormitory = {.wanted = wanted};
    weft_task tasks[SLEEPERS];
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(weft_submit(pool, &tasks[i], sleep_here, &dormitory), 0);
    for (int i = 0; i < SLEEPERS; i++)
        WAIT_UNTIL(weft_task_done(&tasks[i])); /* waiting would mean working */
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    assert_int_equal(atomic_load(&dormitory.most), wanted);
}

static void spares_take_the_places(void **state)
{
    weft_pool *pool = make(2, 32);
    for (int i = 0; i < 3; i++)
        expect_inside(pool, 2 + 32);
    expect_back_to(pool, 2);
    pool_drop(pool);
}

static void no_more_than_the_limit(void **state)
{
    weft_pool *pool = make(2, 3);
    expect_inside(pool, 2 + 3);
    expect_back_to(pool, 2);
    pool_drop(pool);
}

static void nap(weft *w, void *arg)
{
    weft_block_begin(w);
    WAIT_UNTIL(atomic_load((atomic_bool *)arg));
    weft_block_end(w);
}

static void none_if_none_are_wanted(void **state)
{
    weft_pool *pool = make(2, -1);
    weft_task tasks[2];
    atomic_bool over = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_submit(pool, &tasks[i], nap, &over), 0);
    WAIT_UNTIL(info_of(pool).blocked == 2);
    assert_int_equal(info_of(pool).spares, 0);
    assert_int_equal(threads(), 2);
    atomic_store(&over, true);
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
    for (int r = 0; r < rounds_of(SCALED(50, 5)); r++) {
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

/* What a job forks or spawns, and what a loop has left, while others are blocked: another thread is
 * there for it. */
struct partner {
    pthread_t self;
    atomic_bool taken;
};

static void take_part(weft *w, void *arg)
{
    struct partner *partner = arg;
    if (!pthread_equal(pthread_self(), partner->self))
        atomic_store(&partner->taken, true);
}

static void take_parts(weft *w, size_t first, size_t last, void *arg)
{
    for (; first < last; first++)
        take_part(w, arg);
}

static void fork_and_wait(weft *w, void *arg)
{
    struct partner *partner = arg;
    weft_fork(w, take_part, partner);
    WAIT_UNTIL(atomic_load(&partner->taken));
    CHECK(weft_merge(w));
}

static void spawn_and_wait(weft *w, void *arg)
{
    struct partner *partner = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, take_part, partner) == 0);
    WAIT_UNTIL(atomic_load(&partner->taken));
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void loop_until_taken(weft *w, void *arg)
{
    struct partner *partner = arg;
    while (!atomic_load(&partner->taken))
        weft_for(w, 0, 100000, take_parts, partner);
}

struct part {
    weft_fn *way;
    struct partner partner;
};

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    part->partner.self = pthread_self();
    part->way(w, &part->partner);
}

static void parts_are_taken_beside_blocked_ones(void **state)
{
    static weft_fn *const ways[] = {fork_and_wait, spawn_and_wait, loop_until_taken};
    weft_pool *pool = make(2, 3);
    for (int i = 0; i < 3 * 3 * SCALED(4, 4); i++) {
        unsigned blocked = 1 + (unsigned)i / 3 % 3;
        struct work work = {.event = WEFT_EVENT_INIT};
        struct part part = {.way = ways[i % 3]};
        weft_task waits[3], task;
        weft_event_from_outside(&work.event);
        for (unsigned k = 0; k < blocked; k++)
            assert_int_equal(weft_submit(pool, &waits[k], wait_for_it, &work), 0);
        WAIT_UNTIL(info_of(pool).blocked == blocked);
        assert_int_equal(weft_submit(pool, &task, run_part, &part), 0);
        WAIT_UNTIL(weft_task_done(&task)); /* without help */
        assert_int_equal(weft_task_wait(&task), 0);
        weft_event_set(NULL, &work.event);
        for (unsigned k = 0; k < blocked; k++)
            assert_int_equal(weft_task_wait(&waits[k]), 0);
    }
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
    for (int r = 0; r < rounds_of(SCALED(50, 5)); r++) {
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
    for (int r = 0; r < rounds_of(SCALED(50, 5)); r++) {
        weft_pool *pool = make(1, 2);
        struct dormitory two = {.wanted = 2};
        weft_task tasks[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(weft_submit(pool, &tasks[i], sleep_here, &two), 0);
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
    struct dormitory two = {.wanted = 2};
    for (int i = 0; i < 3; i++)
        assert_int_equal(weft_submit(forever, &tasks[i], sleep_here, &two), 0);
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
        cmocka_unit_test(parts_are_taken_beside_blocked_ones),
        cmocka_unit_test(guests_block_too),
        cmocka_unit_test(limits_are_checked),
        cmocka_unit_test(pool_ends_while_spares_are_kept),
        cmocka_unit_test(a_spare_sleeps_in_its_own_place),
        cmocka_unit_test(a_spares_thread_ends_before_its_pool),
    };
    return RUN_ON_ALL_ROADS(tests);
}
