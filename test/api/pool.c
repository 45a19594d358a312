/* SPDX-License-Identifier: MIT */
/* pool.c: what pools are made of, several at once, and how they begin and end. */
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3 };

static void several_at_once(void **state)
{
    enum { POOLS = 5 };
    weft_pool *pools[POOLS];
    atomic_ulong counts[POOLS] = {0};
    for (unsigned i = 0; i < POOLS; i++) {
        pools[i] = pool_make(1 + i % 3, 0);
        assert_int_equal(weft_pool_workers(pools[i]), 1 + i % 3);
    }
    for (int r = 0; r < rounds_of(200); r++) {
        weft_task tasks[POOLS];
        for (int i = 0; i < POOLS; i++)
            assert_int_equal(weft_submit(pools[i], &tasks[i], count_job, &counts[i]), 0);
        for (int i = 0; i < POOLS; i++)
            assert_int_equal(weft_run(pools[i], count_job, &counts[i]), 0);
        for (int i = 0; i < POOLS; i++)
            assert_int_equal(weft_task_wait(&tasks[i]), 0);
    }
    for (int i = 0; i < POOLS; i++) {
        assert_int_equal(atomic_load(&counts[i]), 2 * rounds_of(200));
        pool_drop(pools[(i + 2) % POOLS]); /* in another order */
    }
}

static void as_many_as_there_are_cpus(void **state)
{
    unsetenv("WEFT_WORKERS");
    weft_pool *pool;
    assert_int_equal(weft_pool_create(&pool, NULL), 0);
    unsigned workers = weft_pool_workers(pool);
    assert_in_range(workers, 1, WEFT_WORKERS_MAX);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    assert_in_range(workers, 1, info.cpus);
    assert_int_equal(weft_pool_destroy(pool), 0);
    setenv("WEFT_WORKERS", "5", 1);
    assert_int_equal(weft_pool_create(&pool, NULL), 0);
    assert_int_equal(weft_pool_workers(pool), 5);
    assert_int_equal(weft_pool_destroy(pool), 0);
    unsetenv("WEFT_WORKERS");
}

static void the_default_one(void **state)
{
    weft_pool *pool = weft_pool_default();
    assert_non_null(pool);
    assert_ptr_equal(weft_pool_default(), pool);
    atomic_ulong count = 0;
    weft_task task;
    assert_int_equal(weft_submit(NULL, &task, count_job, &count), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_int_equal(weft_broadcast(NULL, count_job, &count), 0);
    assert_int_equal(atomic_load(&count), 1 + weft_pool_workers(pool));
    assert_int_equal(weft_pool_destroy(pool), 0);
    assert_int_equal(weft_run(NULL, count_job, &count), 0); /* made anew */
    assert_int_equal(weft_pool_destroy(weft_pool_default()), 0);
}

static void use_default(unsigned i, void *pools)
{
    ((weft_pool **)pools)[i] = weft_pool_default();
}

static void the_default_one_is_one(void **state)
{
    for (int r = 0; r < rounds_of(50); r++) {
        weft_pool *pools[4];
        in_threads(4, use_default, pools);
        for (int i = 1; i < 4; i++)
            assert_ptr_equal(pools[i], pools[0]);
        assert_int_equal(weft_pool_destroy(pools[0]), 0);
    }
}

/* ---- Bad ones ---- */

static void bad_configs(void **state)
{
    const weft_config bad[] = {
        {.size = 0},
        {.size = sizeof(weft_config), .workers = WEFT_WORKERS_MAX + 1},
        {.size = sizeof(weft_config), .flags = UINT_MAX},
        {.size = sizeof(weft_config), .spin_rounds = INT_MIN},
        {.size = sizeof(weft_config), .stack_size = 100},
        {.size = sizeof(weft_config), .sleep = WEFT_SLEEP_COUNTERS_TWO + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_pool *pool = (weft_pool *)&pool;
        assert_int_equal(weft_pool_create(&pool, &bad[i]), -EINVAL);
        assert_null(pool);
    }
    assert_int_equal(weft_pool_create(NULL, NULL), -EINVAL);
    assert_int_equal(weft_pool_destroy(NULL), -EINVAL);
}

/* More than there is: an error, not a small stack because the sum wrapped around. */
static void no_such_stack(void **state)
{
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_config config = WEFT_CONFIG_INIT;
        config.workers = 1;
        config.stack_size = sizes[i];
        weft_pool *pool;
        int error = weft_pool_create(&pool, &config);
        assert_true(error < 0);
        assert_null(pool);
    }
}

/* ---- Names ---- */

struct names {
    char is[WORKERS][16];
};

static void note_name(weft *w, void *arg)
{
    struct names *names = arg;
    unsigned i = weft_worker_index(w);
    CHECK(pthread_getname_np(pthread_self(), names->is[i], sizeof names->is[i]) == 0);
}

static void expect_names(const char *name, const char *prefix)
{
    struct names names;
    char copy[100];
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WORKERS;
    if (name) {
        snprintf(copy, sizeof copy, "%s", name);
        config.name = copy;
    }
    weft_pool *pool = pool_make_with(&config);
    memset(copy, 'x', sizeof copy - 1); /* the pool has its own */
    assert_int_equal(weft_broadcast(pool, note_name, &names), 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%s-%u", prefix, i);
        assert_string_equal(names.is[i], expected);
    }
    pool_drop(pool);
}

static void thread_names(void **state)
{
    expect_names(NULL, "weft");
    expect_names("some", "some");
    expect_names("", "");
    expect_names("much longer than the kernel takes", "much longer t"); /* the number stays */
}

/* ---- Handlers ---- */

struct handlers {
    atomic_uint started[WORKERS], ended[WORKERS], jobs;
    pthread_t threads[WORKERS];
};

static void on_start(weft_pool *pool, unsigned worker, void *data)
{
    struct handlers *handlers = data;
    handlers->threads[worker] = pthread_self();
    atomic_fetch_add(&handlers->started[worker], 1);
}

static void on_exit_(weft_pool *pool, unsigned worker, void *data)
{
    struct handlers *handlers = data;
    CHECK(pthread_equal(handlers->threads[worker], pthread_self()));
    atomic_fetch_add(&handlers->ended[worker], 1);
}

static void handled_job(weft *w, void *arg)
{
    struct handlers *handlers = arg;
    unsigned i = weft_worker_index(w);
    CHECK(atomic_load(&handlers->started[i]) == 1); /* first of all */
    CHECK(atomic_load(&handlers->ended[i]) == 0);   /* last of all */
    CHECK(pthread_equal(handlers->threads[i], pthread_self()));
    atomic_fetch_add(&handlers->jobs, 1);
}

static void start_and_exit_handlers(void **state)
{
    struct handlers handlers;
    memset(&handlers, 0, sizeof handlers);
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WORKERS;
    config.on_start = on_start;
    config.on_exit = on_exit_;
    config.data = &handlers;
    weft_pool *pool = pool_make_with(&config);
    assert_int_equal(weft_broadcast(pool, handled_job, &handlers), 0);
    assert_int_equal(weft_broadcast_detached(pool, handled_job, &handlers), 0);
    pool_drop(pool);
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(atomic_load(&handlers.started[i]), 1);
        assert_int_equal(atomic_load(&handlers.ended[i]), 1);
    }
    assert_int_equal(atomic_load(&handlers.jobs), 2 * WORKERS);
}

/* ---- Stacks ---- */

/* Uses `size` bytes of stack, all of them. */
static unsigned char use_stack(size_t size)
{
    enum { STEP = 4096 };
    volatile unsigned char step[STEP];
    step[0] = step[STEP - 1] = (unsigned char)size;
    if (size > STEP)
        step[0] = (unsigned char)(step[0] + use_stack(size - STEP));
    return (unsigned char)(step[0] + step[STEP - 1]);
}

static void use_much_stack(weft *w, void *arg)
{
    use_stack(*(size_t *)arg);
}

static void stack_is_as_large_as_asked_for(void **state)
{
    size_t use = (size_t)40 << 20; /* frames of use_stack() are a little larger than a step */
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.stack_size = (size_t)64 << 20;
    weft_pool *pool = pool_make_with(&config);
    assert_int_equal(weft_broadcast(pool, use_much_stack, &use), 0);
    pool_drop(pool);
}

/* Even there half of it is enough to take jobs. */
static void smallest_stack(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.flags = WEFT_NO_GUESTS;
    config.stack_size = (size_t)64 << 10;
    weft_pool *pool = pool_make_with(&config);
    atomic_ulong count = 0;
    for (int i = 0; i < 100; i++)
        assert_int_equal(weft_run(pool, count_job, &count), 0);
    assert_int_equal(atomic_load(&count), 100);
    pool_drop(pool);
}

/* ---- Foreign threads ---- */

struct spawner {
    atomic_uint started, finished;
    unsigned fails_at;
};

struct foreign {
    void (*run)(void *);
    void *arg;
    struct spawner *spawner;
};

static void *foreign_thread(void *p)
{
    struct foreign foreign = *(struct foreign *)p;
    free(p);
    foreign.run(foreign.arg);
    atomic_fetch_add(&foreign.spawner->finished, 1);
    return NULL;
}

static int spawn_foreign(void (*run)(void *), void *arg, unsigned worker, void *data)
{
    struct spawner *spawner = data;
    if (worker == spawner->fails_at)
        return -EPERM;
    struct foreign *foreign = malloc(sizeof *foreign);
    CHECK(foreign);
    *foreign = (struct foreign){run, arg, spawner};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, foreign_thread, foreign) == 0);
    pthread_detach(thread);
    atomic_fetch_add(&spawner->started, 1);
    return 0;
}

static weft_config with_spawner(struct spawner *spawner)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WORKERS;
    config.spawn_thread = spawn_foreign;
    config.data = spawner;
    return config;
}

static void threads_of_others(void **state)
{
    struct spawner spawner = {.fails_at = UINT_MAX};
    weft_config config = with_spawner(&spawner);
    for (unsigned r = 1; r <= 50; r++) {
        weft_pool *pool = pool_make_with(&config);
        atomic_ulong count = 0;
        assert_int_equal(weft_broadcast(pool, count_job, &count), 0);
        assert_int_equal(atomic_load(&count), WORKERS);
        pool_drop(pool);
        assert_int_equal(atomic_load(&spawner.started), r * WORKERS);
        WAIT_UNTIL(atomic_load(&spawner.finished) == r * WORKERS);
    }
}

static void spawner_that_fails(void **state)
{
    for (unsigned k = 0; k < WORKERS; k++) {
        struct spawner spawner = {.fails_at = k};
        weft_config config = with_spawner(&spawner);
        weft_pool *pool;
        assert_int_equal(weft_pool_create(&pool, &config), -EPERM);
        assert_null(pool);
        assert_int_equal(atomic_load(&spawner.started), k);
        WAIT_UNTIL(atomic_load(&spawner.finished) == k); /* they were told to end */
    }
}

/* ---- The end ---- */

struct respawn {
    unsigned left;
    atomic_ulong *count;
};

static void respawn_job(weft *w, void *arg)
{
    struct respawn *respawn = arg;
    atomic_fetch_add(respawn->count, 1);
    if (respawn->left-- > 0)
        CHECK(weft_spawn_detached(w, respawn_job, respawn) == 0);
}

/* Destroy waits for jobs that nobody else waits for, and for what they start. */
static void destroy_waits_for_detached_jobs(void **state)
{
    for (int r = 0; r < rounds_of(100); r++) {
        weft_pool *pool = pool_make(1 + (unsigned)r % 3, 0);
        atomic_ulong count = 0;
        struct respawn respawn = {50, &count};
        assert_int_equal(weft_run(pool, respawn_job, &respawn), 0);
        pool_drop(pool);
        assert_int_equal(atomic_load(&count), 51);
    }
}

static void destroy_other(weft *w, void *pool)
{
    CHECK(weft_pool_of(w) != pool);
    pool_drop(pool);
}

static void create_and_destroy_inside_a_job(weft *w, void *arg)
{
    atomic_ulong *count = arg;
    weft_pool *pool = pool_make(2, 0);
    CHECK(weft_run(pool, count_job, count) == 0);
    CHECK(weft_run(weft_pool_of(w), destroy_other, pool) == 0);
    CHECK(weft_here() == w);
}

static void pools_inside_jobs(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    atomic_ulong count = 0;
    assert_int_equal(weft_run(pool, create_and_destroy_inside_a_job, &count), 0);
    assert_int_equal(atomic_load(&count), 1);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(as_many_as_there_are_cpus),
        cmocka_unit_test(the_default_one),
        cmocka_unit_test(the_default_one_is_one),
        cmocka_unit_test(bad_configs),
        cmocka_unit_test(no_such_stack),
        cmocka_unit_test(thread_names),
        cmocka_unit_test(start_and_exit_handlers),
        cmocka_unit_test(stack_is_as_large_as_asked_for),
        cmocka_unit_test(smallest_stack),
        cmocka_unit_test(threads_of_others),
        cmocka_unit_test(spawner_that_fails),
        cmocka_unit_test(destroy_waits_for_detached_jobs),
        cmocka_unit_test(pools_inside_jobs),
    };
    return RUN_ON_ALL_ROADS(tests);
}
