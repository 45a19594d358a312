/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include "../contest.h"

#include <weft/parallel.h>

static void body(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    loops_range(arg, begin, end);
}

static void for_job(weft *w, void *data)
{
    struct loops *loops = data;
    for (int i = 0; i < LOOPS_TIMES; i++)
        weft_for(w, 0, loops->count, body, loops->numbers);
}

WEFT_MAP_DEFINE(halves, float, loops_half, float)

static void map_job(weft *w, void *data)
{
    struct loops *loops = data;
    for (int i = 0; i < LOOPS_TIMES; i++)
        halves(w, loops->numbers, loops->count, loops->numbers);
}

static void calls_job(weft *w, void *data)
{
    struct loops *loops = data;
    for (int i = 0; i < LOOPS_TIMES; i++)
        weft_map(w, loops->numbers, loops->count, sizeof(float), loops->element, loops->arg,
                 loops->numbers, sizeof(float));
}

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    (void)w;
    *(double *)accumulator += loops_sum(arg, begin, end);
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    *(double *)left += *(const double *)right;
}

static void reduce_job(weft *w, void *data)
{
    static const weft_reducer reducer = {.size = sizeof(double), .fold = fold, .combine = add};
    struct loops *loops = data;
    for (int i = 0; i < LOOPS_TIMES; i++) {
        double sum;
        weft_reduce(w, 0, loops->count, &reducer, loops->numbers, &sum);
        loops->result += sum;
    }
}

static void floats_job(weft *w, void *data)
{
    struct loops *loops = data;
    for (size_t i = 0; i < loops->size; i++)
        weft_for(w, 0, LOOPS_FLOATS, body, loops->numbers);
}

static void short_job(weft *w, void *data)
{
    struct loops *loops = data;
    for (size_t i = 0; i < loops->size; i++)
        weft_for(w, 0, loops_short[i % 4], body, loops->numbers);
}

static void run_for(weft_pool *pool, void *data)
{
    weft_run(pool, for_job, data);
}

static void run_map(weft_pool *pool, void *data)
{
    weft_run(pool, map_job, data);
}

static void run_calls(weft_pool *pool, void *data)
{
    weft_run(pool, calls_job, data);
}

static void run_reduce(weft_pool *pool, void *data)
{
    weft_run(pool, reduce_job, data);
}

static void run_floats(weft_pool *pool, void *data)
{
    weft_run(pool, floats_job, data);
}

static void run_short(weft_pool *pool, void *data)
{
    weft_run(pool, short_job, data);
}

/* What those over 2^SIZE floats have in common. */
#define OVER_FLOATS                                                          \
    .operation = "element", .size = 22, .quick = 14, .most = 32, .reps = 15, \
    .claims = {.times_twin = 1.03, .share = 0.9}

const struct contest for_contest = {
    .kernel = &for_kernel,
    .weft = run_for,
    .what = "weft_for over 2^SIZE floats, 20 times",
    OVER_FLOATS,
};

const struct contest map_contest = {
    .kernel = &map_kernel,
    .weft = run_map,
    .what = "WEFT_MAP_DEFINE, 2^SIZE floats, 20 times",
    OVER_FLOATS,
};

const struct contest calls_contest = {
    .kernel = &calls_kernel,
    .weft = run_calls,
    .what = "weft_map, a call for each of 2^SIZE floats, 20 times",
    OVER_FLOATS,
};

const struct contest reduce_contest = {
    .kernel = &reduce_kernel,
    .weft = run_reduce,
    .what = "weft_reduce, the sum of 2^SIZE floats, 20 times",
    OVER_FLOATS,
};

const struct contest floats_contest = {
    .kernel = &floats_kernel,
    .weft = run_floats,
    .what = "weft_for over 2000 floats, SIZE times",
    .operation = "loop",
    .size = 20000,
    .quick = 200,
    .most = 100000000,
    .reps = 15,
    .claims = {.times_twin = 1.03, .times_twin_wall = 1.2},
};

const struct contest short_contest = {
    .kernel = &short_kernel,
    .weft = run_short,
    .what = "weft_for over 0, 1, 7 and 100 floats in turn, SIZE times",
    .operation = "loop",
    .size = 1000000,
    .quick = 1000,
    .most = 1000000000,
    .reps = 15,
    .claims = {.ns_above_twin = 5},
};
