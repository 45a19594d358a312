/* SPDX-License-Identifier: MIT */
#include "arrays.h"

#include "../contest.h"

#include <weft/parallel.h>

WEFT_SCAN_DEFINE(sums, uint64_t, arrays_add)
WEFT_FILTER_DEFINE(some, uint64_t, arrays_keep)
WEFT_FIND_DEFINE(find, uint64_t, arrays_is, uint64_t)

static void scan_job(weft *w, void *data)
{
    struct arrays *a = data;
    for (int i = 0; i < ARRAYS_TIMES; i++)
        sums(w, a->in, a->count, a->out);
}

static void filter_job(weft *w, void *data)
{
    struct arrays *a = data;
    for (int i = 0; i < ARRAYS_TIMES; i++)
        a->result = some(w, a->in, a->count, a->out);
}

static void find_job(weft *w, void *data)
{
    struct arrays *a = data;
    for (int i = 0; i < ARRAYS_NEEDLES; i++)
        a->result += find(w, a->in, a->count, arrays_needle(a, i));
}

static void run_scan(weft_pool *pool, void *data)
{
    weft_run(pool, scan_job, data);
}

static void run_filter(weft_pool *pool, void *data)
{
    weft_run(pool, filter_job, data);
}

static void run_find(weft_pool *pool, void *data)
{
    weft_run(pool, find_job, data);
}

/* What all of them have in common. */
#define OVER_ARRAYS                                                          \
    .operation = "element", .size = 22, .quick = 14, .most = 32, .reps = 15, \
    .claims = {.times_twin = 1.03, .times_faster_than_peers = 1}

const struct contest scan_contest = {
    .kernel = &scan_kernel,
    .weft = run_scan,
    .what = "WEFT_SCAN_DEFINE, 2^SIZE sums, 5 times",
    OVER_ARRAYS,
};

const struct contest filter_contest = {
    .kernel = &filter_kernel,
    .weft = run_filter,
    .what = "WEFT_FILTER_DEFINE, every other one of 2^SIZE, 5 times",
    OVER_ARRAYS,
};

const struct contest find_contest = {
    .kernel = &find_kernel,
    .weft = run_find,
    .what = "WEFT_FIND_DEFINE in 2^SIZE, 8 times, an eighth further on each time",
    OVER_ARRAYS,
};
