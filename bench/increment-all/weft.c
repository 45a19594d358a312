/* SPDX-License-Identifier: MIT */
#include "increment.h"

#include "../contest.h"

static void split_run(weft *w, void *arg);

static void split(weft *w, uint64_t *elements, size_t count)
{
    if (count <= INCREMENT_LEAF) {
        increment_range(elements, count);
        return;
    }
    size_t half = count / 2;
    struct increment right = {count - half, elements + half};
    weft *in = weft_fork(w, split_run, &right);
    split(in, elements, half);
    if (!weft_merge(w))
        split(w, elements + half, count - half);
}

static void split_run(weft *w, void *arg)
{
    struct increment *part = arg;
    split(w, part->elements, part->count);
}

static void all_times(weft *w, void *data)
{
    struct increment *all = data;
    for (int i = 0; i < INCREMENT_TIMES; i++)
        split(w, all->elements, all->count);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, all_times, data);
}

const struct contest increment_contest = {
    .kernel = &increment_kernel,
    .weft = run,
    .what = "2^SIZE elements incremented, 20 times, split down to 4096",
    .operation = "element",
    .size = 24,
    .quick = 14,
    .most = 32,
    .reps = 15,
    .claims = {.times_twin = 1.03},
};
