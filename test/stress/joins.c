/* SPDX-License-Identifier: MIT */
/* joins.c: ten million joins for each number of workers and each road; every leaf of every
 * tree is there, once. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"

#include <stdlib.h>

enum { LEAVES = SCALED(1000000, 5), ROUNDS = SCALED(10, 2) };

static unsigned char *ran; /* LEAVES: how often each was reached, plain: each is one job's */

struct range {
    size_t begin, end;
};

/* ---- Balanced, by join ---- */

static void balanced(weft *w, void *arg)
{
    struct range *range = arg;
    size_t n = range->end - range->begin;
    if (n == 1) {
        ran[range->begin]++;
        return;
    }
    if (n == 4096)
        watchdog_kick();
    size_t middle = range->begin + n / 2;
    struct range left = {range->begin, middle}, right = {middle, range->end};
    weft_join(w, balanced, &left, balanced, &right);
}

/* ---- Lopsided, by fork and merge: the left side is a leaf, or the right one ---- */

static void lopsided(weft *w, size_t begin, size_t end);

static void lopsided_job(weft *w, void *arg)
{
    struct range *range = arg;
    lopsided(w, range->begin, range->end);
}

static void lopsided(weft *w, size_t begin, size_t end)
{
    size_t n = end - begin;
    if (n == 1) {
        ran[begin]++;
        return;
    }
    size_t middle = n > 64 ? begin + n / 2 : n % 2 ? begin + 1 : end - 1;
    if (n == 4096)
        watchdog_kick();
    struct range right = {middle, end};
    weft *in = weft_fork(w, lopsided_job, &right);
    lopsided(in, begin, middle);
    if (!weft_merge(w))
        lopsided(w, right.begin, right.end);
}

/* ---- All of them ---- */

static void join_all(unsigned workers, unsigned flags)
{
    weft_fn *const shapes[] = {balanced, lopsided_job};
    weft_pool *pool = pool_make(workers, flags);
    ran = calloc(LEAVES, 1);
    assert_non_null(ran);
    for (unsigned r = 1; r <= ROUNDS; r++) {
        struct range all = {0, LEAVES};
        assert_int_equal(weft_run(pool, shapes[r % 2], &all), 0);
        for (size_t i = 0; i < LEAVES; i++)
            assert_int_equal(ran[i], r);
    }
    free(ran);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORKERS(1, 0, join_all),
        WITH_WORKERS(2, WEFT_NO_GUESTS, join_all),
        WITH_WORKERS(8, 0, join_all),
        WITH_WORKERS(64, WEFT_NO_GUESTS, join_all),
    };
    return RUN_ON_ALL_ROADS(tests);
}
