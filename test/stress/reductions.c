/* SPDX-License-Identifier: MIT */
/* reductions.c: the same bits for 1, 2, 3, 8 and 64 workers, however the work is taken. */
#include "property.h"
#include "watchdog.h"
#include "weft/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 6000, SCHEDULES = SCALED(1000, 20) };

struct reduction {
    double numbers[N];
    uint64_t schedule; /* which elements are slow */
    double sums[4];
};

static void sum_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct reduction *all = arg;
    for (size_t i = begin; i < end; i++) {
        *(double *)accumulator += all->numbers[i];
        if ((i + all->schedule) % 7 == 0)
            dawdle(i * 31 + (size_t)all->schedule * 977);
    }
}

static void sum_combine(weft *w, void *left, const void *right, void *arg)
{
    *(double *)left += *(const double *)right;
}

static void product(weft *w, void *left, const void *right, void *arg)
{
    const struct reduction *all = arg;
    double *l = left;
    *l = *l * 0.5 + *(const double *)right;
    if (all->schedule % 3 == 0)
        dawdle((size_t)fabs(*l) + (size_t)all->schedule);
}

/* What rounds differently is associative only nearly; so any other order shows. */
static void reduce_job(weft *w, void *arg)
{
    struct reduction *all = arg;
    const weft_reducer reducer = {
        .size = sizeof(double), .fold = sum_fold, .combine = sum_combine, .block = 7};
    weft_reduce(w, 0, N, &reducer, all, &all->sums[0]);
    weft_reduce(w, 5, N - 5, &reducer, all, &all->sums[1]);
    all->sums[2] = 0;
    weft_array_reduce(w, all->numbers, N / 4, sizeof(double), product, all, &all->sums[2]);
    all->sums[3] = weft_sum_f64(w, all->numbers, N);
}

static void numbers_make(struct reduction *all)
{
    struct dice dice = {1};
    for (size_t i = 0; i < N; i++)
        all->numbers[i] = ldexp((double)(int64_t)dice_roll(&dice), (int)dice_below(&dice, 80) - 40);
}

static void same_bits_for_any_number_of_workers(void **state)
{
    static const unsigned workers[] = {1, 2, 3, 8, 64};
    static struct reduction all;
    double expected[4];
    numbers_make(&all);
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++) {
        weft_pool *pool = pool_make(workers[i], 0);
        for (unsigned s = 0; s < SCHEDULES; s++) {
            all.schedule = s;
            memset(all.sums, 0xff, sizeof all.sums);
            assert_int_equal(weft_run(pool, reduce_job, &all), 0);
            if (i == 0 && s == 0)
                memcpy(expected, all.sums, sizeof expected);
            assert_memory_equal(all.sums, expected, sizeof expected);
            watchdog_kick();
        }
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_number_of_workers),
    };
    return RUN_ON_ALL_ROADS(tests);
}
