/* SPDX-License-Identifier: MIT */
/* guests.c: eight threads at once run jobs in one pool, and in pools that use each other. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"

#include <pthread.h>

enum { THREADS = 8 };

/* ---- Trees ---- */

struct tree {
    unsigned leaves;
    atomic_ulong *count;
};

static void grow(weft *w, void *arg)
{
    struct tree *tree = arg;
    if (tree->leaves == 1) {
        atomic_fetch_add_explicit(tree->count, 1, memory_order_relaxed);
        return;
    }
    struct tree left = {tree->leaves / 2, tree->count};
    struct tree right = {tree->leaves - tree->leaves / 2, tree->count};
    weft_join(w, grow, &left, grow, &right);
}

static void grow_trees(unsigned i, void *pool)
{
    for (unsigned r = 0; r < SCALED(600, 5); r++) {
        atomic_ulong count = 0;
        struct tree tree = {1 + (r * 37 + i) % 1000, &count};
        CHECK(weft_run(pool, grow, &tree) == 0);
        CHECK(atomic_load(&count) == tree.leaves);
        watchdog_kick();
    }
}

/* ---- Small jobs, many of them: who is who ---- */

struct office {
    weft_pool *pool;
    unsigned threads, runs;       /* of each */
    atomic_uint at[64 + THREADS]; /* who works under this number */
};

static void work_at_own_place(weft *w, void *arg)
{
    struct office *office = arg;
    unsigned i = weft_worker_index(w), workers = weft_pool_workers(office->pool);
    CHECK(i >= workers);
    CHECK(i < workers + office->threads); /* as many guests as there are threads, at most */
    CHECK(atomic_fetch_add(&office->at[i], 1) == 0);
    CHECK(atomic_fetch_sub(&office->at[i], 1) == 1);
}

static void come_and_go(unsigned i, void *arg)
{
    struct office *office = arg;
    for (unsigned r = 0; r < office->runs; r++) {
        CHECK(weft_run(office->pool, work_at_own_place, office) == 0);
        if (r % 1000 == 0)
            watchdog_kick();
    }
}

/* Once there were many more, all at once; that is no excuse. */

enum { PARTY = 3 * THREADS };

static void meet(weft *w, void *barrier)
{
    pthread_barrier_wait(barrier);
}

struct party {
    weft_pool *pool;
    pthread_barrier_t all_in;
};

static void come_to_party(unsigned i, void *arg)
{
    struct party *party = arg;
    CHECK(weft_run(party->pool, meet, &party->all_in) == 0);
}

static void have_party(weft_pool *pool)
{
    struct party party = {.pool = pool};
    CHECK(pthread_barrier_init(&party.all_in, NULL, PARTY) == 0);
    in_threads(PARTY, come_to_party, &party);
    pthread_barrier_destroy(&party.all_in);
}

static void come_and_go_at_once(weft_pool *pool, unsigned threads, unsigned runs)
{
    struct office office = {.pool = pool, .threads = threads, .runs = runs};
    in_threads(threads, come_and_go, &office);
}

static void many_guests(unsigned workers, unsigned flags)
{
    weft_pool *pool = pool_make(workers, flags);
    in_threads(THREADS, grow_trees, pool);
    come_and_go_at_once(pool, THREADS, SCALED(40000, 8));
    have_party(pool);
    come_and_go_at_once(pool, THREADS, SCALED(40000, 8));
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    assert_int_equal(info.guests, 0);
    pool_drop(pool);
}

static void two_after_many(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    have_party(pool);
    come_and_go_at_once(pool, 2, SCALED(1000000, 20));
    pool_drop(pool);
}

/* ---- Pools that use each other ---- */

enum { POOLS = 3 };

struct journey {
    weft_pool **pools;
    unsigned at, left;
    atomic_ulong *count;
};

/* On to the next pool, on both sides of a fork. */
static void travel(weft *w, void *arg)
{
    struct journey *journey = arg;
    if (journey->left == 0) {
        atomic_fetch_add_explicit(journey->count, 1, memory_order_relaxed);
        return;
    }
    struct journey next = *journey;
    next.left--;
    next.at = (journey->at + 1) % POOLS;
    struct journey back = next;
    back.at = (journey->at + POOLS - 1) % POOLS;
    weft *in = weft_fork(w, travel, &back);
    CHECK(weft_run(next.pools[next.at], travel, &next) == 0);
    CHECK(weft_here() == in);
    if (!weft_merge(w))
        CHECK(weft_run(next.pools[back.at], travel, &back) == 0);
}

static void travel_often(unsigned i, void *pools)
{
    enum { LENGTH = 5 };
    for (unsigned r = 0; r < SCALED(300, 5); r++) {
        atomic_ulong count = 0;
        struct journey journey = {pools, i % POOLS, LENGTH, &count};
        CHECK(weft_run(journey.pools[journey.at], travel, &journey) == 0);
        CHECK(atomic_load(&count) == 1 << LENGTH);
        watchdog_kick();
    }
}

static void mutual(unsigned workers, unsigned flags)
{
    weft_pool *pools[POOLS];
    for (int i = 0; i < POOLS; i++)
        pools[i] = pool_make(workers, flags);
    in_threads(THREADS, travel_often, pools);
    for (int i = 0; i < POOLS; i++)
        pool_drop(pools[i]);
}

static void mutual_pools(void **state)
{
    mutual(1, 0);
    mutual(2, 0);
}

static void mutual_pools_without_guests(void **state)
{
    mutual(1, WEFT_NO_GUESTS);
    mutual(2, WEFT_NO_GUESTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORKERS(1, 0, many_guests),
        WITH_WORKERS(2, 0, many_guests),
        WITH_WORKERS(8, 0, many_guests),
        WITH_WORKERS(64, 0, many_guests),
        cmocka_unit_test(two_after_many),
        cmocka_unit_test(mutual_pools),
        cmocka_unit_test(mutual_pools_without_guests),
    };
    return RUN_ON_ALL_ROADS(tests);
}
