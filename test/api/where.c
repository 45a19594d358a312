/* SPDX-License-Identifier: MIT */
/* where.c: which context, pool and worker this is, wherever it is asked. */
#include "check.h"
#include "pools.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- weft_here ---- */

static void nowhere(void **state)
{
    assert_null(weft_here());
    weft_pool *pool = pool_make(1, 0);
    assert_null(weft_here());
    pool_drop(pool);
}

static void check_here(weft *w, void *arg)
{
    CHECK(weft_here() == w);
}

static void here_in_forks(weft *w, unsigned depth)
{
    CHECK(weft_here() == w);
    if (depth == 0)
        return;
    weft *in = weft_fork(w, check_here, NULL);
    CHECK(weft_here() == in);
    here_in_forks(in, depth - 1);
    CHECK(weft_here() == in);
    if (!weft_merge(w))
        check_here(w, NULL);
    CHECK(weft_here() == w);
}

static void here_in_forks_job(weft *w, void *arg)
{
    here_in_forks(w, 100);
}

static void here_follows_the_forks(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(200); i++)
        assert_int_equal(weft_run(pool, here_in_forks_job, NULL), 0);
    pool_drop(pool);
}

/* A callback that gets no context finds it, and forks from there. */
static int compare(const void *a, const void *b)
{
    weft *w = weft_here();
    CHECK(w);
    atomic_ulong count = 0;
    weft_join(w, count_job, &count, count_job, &count);
    CHECK(atomic_load(&count) == 2);
    return *(const int *)a - *(const int *)b;
}

static void sort_with_forks(weft *w, void *arg)
{
    enum { N = 200 };
    int numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = i * 7919 % N;
    weft *in = weft_fork(w, check_here, NULL);
    CHECK(in != w);
    qsort(numbers, N, sizeof numbers[0], compare);
    for (int i = 0; i < N; i++)
        CHECK(numbers[i] == i);
    CHECK(weft_here() == in);
    if (!weft_merge(w))
        check_here(w, NULL);
}

static void here_in_callbacks(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, sort_with_forks, NULL), 0);
    pool_drop(pool);
}

/* A job that runs on top of one that waits has a context of its own. */
struct helped {
    struct gate gate;
    weft *below;
    pthread_t thread;
};

static void run_on_top(weft *w, void *arg)
{
    struct helped *helped = arg;
    CHECK(weft_here() == w);
    CHECK(pthread_equal(helped->thread, pthread_self()));
    CHECK(w != helped->below);
    here_in_forks(w, 10);
    gate_open(&helped->gate);
}

static void wait_and_help(weft *w, void *arg)
{
    struct helped *helped = arg;
    helped->below = w;
    helped->thread = pthread_self();
    weft_task task;
    weft_fork(w, gate_job, &helped->gate);
    gate_wait_arrived(&helped->gate); /* the other worker has it */
    CHECK(weft_submit(weft_pool_of(w), &task, run_on_top, helped) == 0);
    CHECK(weft_merge(w));
    CHECK(weft_here() == w);
    CHECK(weft_task_wait(&task) == 0);
}

static void here_in_helped_jobs(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(200); i++) {
        struct helped helped = {.gate = {0}};
        assert_int_equal(weft_run(pool, wait_and_help, &helped), 0);
    }
    pool_drop(pool);
}

struct abroad {
    weft_pool *there;
    weft *home;
};

static void check_abroad(weft *w, void *arg)
{
    struct abroad *abroad = arg;
    CHECK(weft_pool_of(w) == abroad->there);
    CHECK(weft_here() == w);
    CHECK(w != abroad->home);
    here_in_forks(w, 10);
}

static void go_abroad(weft *w, void *arg)
{
    struct abroad *abroad = arg;
    abroad->home = w;
    weft *in = weft_fork(w, check_here, NULL);
    CHECK(weft_run(abroad->there, check_abroad, abroad) == 0);
    CHECK(weft_here() == in);
    if (!weft_merge(w))
        check_here(w, NULL);
    CHECK(weft_here() == w);
}

static void here_in_two_pools(void **state)
{
    struct abroad abroad = {.there = pool_make(1, 0)};
    weft_pool *home = pool_make(1, 0);
    for (int i = 0; i < rounds_of(200); i++)
        assert_int_equal(weft_run(home, go_abroad, &abroad), 0);
    assert_null(weft_here());
    pool_drop(home);
    pool_drop(abroad.there);
}

/* ---- Indices ---- */

enum { WORKERS = 2, GUESTS = 5 };

struct party {
    pthread_barrier_t all_in;
    atomic_uint taken[WORKERS + GUESTS];
};

static void take_place(weft *w, void *arg)
{
    struct party *party = arg;
    unsigned i = weft_worker_index(w);
    CHECK(i >= WORKERS && i < WORKERS + GUESTS);
    CHECK(atomic_fetch_add(&party->taken[i], 1) == 0);
    pthread_barrier_wait(&party->all_in); /* all at once */
}

struct invitation {
    weft_pool *pool;
    struct party *party;
};

static void come(unsigned i, void *arg)
{
    struct invitation *invitation = arg;
    CHECK(weft_run(invitation->pool, take_place, invitation->party) == 0);
}

static void guests_have_the_next_numbers(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    for (int r = 0; r < rounds_of(50); r++) {
        struct party party = {.taken = {0}};
        assert_int_equal(pthread_barrier_init(&party.all_in, NULL, GUESTS), 0);
        struct invitation invitation = {pool, &party};
        in_threads(GUESTS, come, &invitation);
        for (int i = 0; i < GUESTS; i++)
            assert_int_equal(atomic_load(&party.taken[WORKERS + i]), 1);
        pthread_barrier_destroy(&party.all_in);
    }
    pool_drop(pool);
}

static void note_index(weft *w, void *index)
{
    *(unsigned *)index = weft_worker_index(w);
}

/* The smallest free number, even after many guests have been there. */
static void numbers_are_used_again(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    struct party party = {.taken = {0}};
    assert_int_equal(pthread_barrier_init(&party.all_in, NULL, GUESTS), 0);
    struct invitation invitation = {pool, &party};
    in_threads(GUESTS, come, &invitation);
    pthread_barrier_destroy(&party.all_in);
    for (int r = 0; r < rounds_of(50); r++) {
        unsigned index;
        assert_int_equal(weft_run(pool, note_index, &index), 0);
        assert_int_equal(index, WORKERS);
    }
    pool_drop(pool);
}

/* ---- weft_yield and weft_has_pending, on a worker that is alone ---- */

static void yield_job(weft *w, void *arg)
{
    atomic_ulong *count = arg;
    CHECK(!weft_has_pending(w));
    CHECK(!weft_yield(w));
    CHECK(weft_spawn_detached(w, count_job, count) == 0);
    CHECK(weft_has_pending(w));
    CHECK(atomic_load(count) == 0);
    CHECK(weft_yield(w));
    CHECK(atomic_load(count) == 1);
    CHECK(!weft_has_pending(w));
    CHECK(!weft_yield(w));
    weft *in = weft_fork(w, count_job, count);
    CHECK(weft_has_pending(in)); /* forks are work, too */
    if (!weft_merge(w))
        count_job(w, count);
    CHECK(!weft_has_pending(w));
}

static void yield_runs_one(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    atomic_ulong count = 0;
    assert_int_equal(weft_run(pool, yield_job, &count), 0);
    assert_int_equal(atomic_load(&count), 2);
    pool_drop(pool);
}

/* A job that waits by yielding lets submitted work through. */
static void set_flag(weft *w, void *flag)
{
    atomic_store((atomic_bool *)flag, true);
}

static void yield_until(weft *w, void *flag)
{
    while (!atomic_load((atomic_bool *)flag))
        weft_yield(w);
}

static void yield_lets_submitted_work_in(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(100); i++) {
        atomic_bool flag = false;
        weft_task waits, sets;
        assert_int_equal(weft_submit(pool, &waits, yield_until, &flag), 0);
        assert_int_equal(weft_submit(pool, &sets, set_flag, &flag), 0);
        assert_int_equal(weft_task_wait(&sets), 0);
        assert_int_equal(weft_task_wait(&waits), 0);
    }
    pool_drop(pool);
}

static void clock_goes_on(void **state)
{
    uint64_t before = weft_now();
    WAIT_UNTIL(weft_now() > before);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = weft_now();
        assert_true(now >= before);
        before = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nowhere),
        cmocka_unit_test(here_follows_the_forks),
        cmocka_unit_test(here_in_callbacks),
        cmocka_unit_test(here_in_helped_jobs),
        cmocka_unit_test(here_in_two_pools),
        cmocka_unit_test(guests_have_the_next_numbers),
        cmocka_unit_test(numbers_are_used_again),
        cmocka_unit_test(yield_runs_one),
        cmocka_unit_test(yield_lets_submitted_work_in),
        cmocka_unit_test(clock_goes_on),
    };
    return RUN_ON_ALL_ROADS(tests);
}
