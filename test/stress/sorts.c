/* SPDX-License-Identifier: MIT */
/* sorts.c: large arrays, so that splits, merges and digits are shared, for each number of
 * workers and each road; several threads sort in one pool at the same time. */
#include "check.h"
#include "elements.h"
#include "pools.h"
#include "watchdog.h"

#include <stdlib.h>
#include <weft/sort.h>

enum { N = SCALED(1 << 19, 8), THREADS = 3 };

#define LESS(a, b) ((a) < (b))
WEFT_SORT_DEFINE(sort_words, uint64_t, LESS)

/* Equal keys are told apart by their number, which is not compared. */
struct numbered {
    uint32_t key, number;
};

static inline bool numbered_less(struct numbered a, struct numbered b)
{
    return a.key < b.key;
}

WEFT_SORT_STABLE_DEFINE(sort_numbered, struct numbered, numbered_less)

static int compare_words(const void *a, const void *b, void *arg)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct work {
    uint64_t *words;
    enum pattern pattern;
};

static uint64_t fill(const struct work *work)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < N; i++) {
        work->words[i] = pattern_key(work->pattern, i, N);
        sum += work->words[i];
    }
    return sum;
}

static void check(const struct work *work, uint64_t sum)
{
    for (size_t i = 0; i < N; i++) {
        sum -= work->words[i];
        CHECK(i == 0 || work->words[i - 1] <= work->words[i]);
    }
    CHECK(sum == 0);
    watchdog_kick();
}

static void stable_job(weft *w, const struct work *work)
{
    struct numbered *a = (struct numbered *)(void *)work->words;
    for (size_t i = 0; i < N; i++)
        a[i] = (struct numbered){(uint32_t)pattern_key(work->pattern, i, N) % 10000, (uint32_t)i};
    sort_numbered(w, a, N);
    for (size_t i = 1; i < N; i++)
        CHECK(a[i - 1].key < a[i].key ||
              (a[i - 1].key == a[i].key && a[i - 1].number < a[i].number));
    watchdog_kick();
}

static void all_sorts(weft *w, void *arg)
{
    struct work *work = arg;
    uint64_t sum = fill(work);
    sort_words(w, work->words, N);
    check(work, sum);
    sum = fill(work);
    weft_sort_u64(w, work->words, N);
    check(work, sum);
    sum = fill(work);
    weft_sort(w, work->words, N, sizeof(uint64_t), compare_words, NULL);
    check(work, sum);
    stable_job(w, work);
}

static void sort_in(unsigned i, void *arg)
{
    static const enum pattern patterns[THREADS] = {PATTERN_RANDOM, PATTERN_ORGAN, PATTERN_SKEWED};
    struct work work = {malloc(N * sizeof(uint64_t)), patterns[i]};
    CHECK(work.words);
    CHECK(weft_run(arg, all_sorts, &work) == 0);
    free(work.words);
}

static void sort_with(unsigned workers, unsigned flags)
{
    weft_pool *pool = pool_make(workers, flags);
    in_threads(THREADS, sort_in, pool);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORKERS(1, 0, sort_with),
        WITH_WORKERS(2, 0, sort_with),
        WITH_WORKERS(8, 0, sort_with),
        WITH_WORKERS(64, 0, sort_with),
    };
    return RUN_ON_ALL_ROADS(tests);
}
