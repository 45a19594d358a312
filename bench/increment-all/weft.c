/* SPDX-License-Identifier: MIT */
#include "increment.h"

#include "../contest.h"

#include <weft/parallel.h>

static void body(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    increment_range((uint64_t *)arg + begin, end - begin);
}

static void all_times(weft *w, void *data)
{
    struct numbers *all = data;
    for (int i = 0; i < INCREMENT_TIMES; i++)
        weft_for(w, 0, all->count, body, all->elements);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, all_times, data);
}

const struct contest increment_contest = {
    .kernel = &increment_kernel,
    .weft = run,
    .what = "2^SIZE elements incremented by weft_for, 20 times",
    .operation = "element",
    .size = 24,
    .quick = 14,
    .most = 32,
    .reps = 15,
    .claims = {.times_twin = 1.03, .share = 0.9},
};
