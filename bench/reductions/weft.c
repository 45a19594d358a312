/* SPDX-License-Identifier: MIT */
#include "reductions.h"

#include "../contest.h"

#include <math.h>
#include <weft/parallel.h>

#define ADD(a, b) ((a) + (b))

WEFT_REDUCE_DEFINE(sum_f32, float, ADD, 0)
WEFT_REDUCE_DEFINE(sum_f64, double, ADD, 0)
WEFT_REDUCE_DEFINE(sum_i32, int32_t, reductions_add_i32, 0)
WEFT_REDUCE_DEFINE(max_f32, float, reductions_larger, -INFINITY)

#define JOB(name)                                               \
    static void name##_job(weft *w, void *data)                 \
    {                                                           \
        struct reductions *r = data;                            \
        for (size_t i = 0; i < r->times; i++)                   \
            r->result += (double)name(w, r->numbers, r->count); \
    }                                                           \
    static void run_##name(weft_pool *pool, void *data)         \
    {                                                           \
        weft_run(pool, name##_job, data);                       \
    }

JOB(sum_f32)
JOB(sum_f64)
JOB(sum_i32)
JOB(max_f32)

#define CONTEST(name, words, length)                                                \
    {                                                                               \
        .kernel = &name##_kernel, .weft = run_##words, .size = length, .quick = 14, \
        .what = "WEFT_REDUCE_DEFINE, 2^SIZE elements, until 2^27 were reduced",     \
        .operation = "element", .most = REDUCTIONS_MOST, .reps = 15,                \
        .claims = {.times_faster_than_peers = 1, .times_faster_together = 1},       \
    }

const struct contest sum_f32_contest = CONTEST(sum_f32, sum_f32, 24),
                     sum_f64_contest = CONTEST(sum_f64, sum_f64, 24),
                     sum_i32_contest = CONTEST(sum_i32, sum_i32, 24),
                     max_f32_contest = CONTEST(max_f32, max_f32, 24),
                     sum_f32_cached_contest = CONTEST(sum_f32_cached, sum_f32, 20),
                     sum_f64_cached_contest = CONTEST(sum_f64_cached, sum_f64, 20),
                     sum_i32_cached_contest = CONTEST(sum_i32_cached, sum_i32, 20),
                     max_f32_cached_contest = CONTEST(max_f32_cached, max_f32, 20);
