/* SPDX-License-Identifier: MIT */
#include "join.h"

#include "../contest.h"

static void split_run(weft *w, void *arg);

static inline void split(weft *w, uint64_t *elements, size_t count)
{
    if (count == 1) {
        elements[0]++;
        return;
    }
    size_t half = count / 2;
    struct numbers right = {count - half, elements + half};
    weft *in = weft_fork(w, split_run, &right);
    split(in, elements, half);
    if (!weft_merge(w))
        split(w, elements + half, count - half);
}

static void split_run(weft *w, void *arg)
{
    struct numbers *j = arg;
    split(w, j->elements, j->count);
}

static void all_times(weft *w, void *data)
{
    struct numbers *j = data;
    for (int i = 0; i < JOIN_TIMES; i++)
        split(w, j->elements, j->count);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, all_times, data);
}

const struct contest join_contest = {
    .kernel = &join_kernel,
    .weft = run,
    .what = "2^SIZE elements split to single ones, 20 times",
    .operation = "element",
    .size = 20,
    .quick = 12,
    .most = 32,
    .reps = 25,
    .claims = {.times_recursive = 0.8},
};
