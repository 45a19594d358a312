/* SPDX-License-Identifier: MIT */
#include "sort.h"

#include "../contest.h"

static void sort_run(weft *w, void *arg);

static void sort(weft *w, uint64_t *elements, size_t count)
{
    if (count <= SORT_LEAF) {
        sort_sequential(elements, count);
        return;
    }
    size_t first = sort_partition(elements, count);
    struct numbers right = {count - first, elements + first};
    weft *in = weft_fork(w, sort_run, &right);
    sort(in, elements, first);
    if (!weft_merge(w))
        sort(w, elements + first, count - first);
}

static void sort_run(weft *w, void *arg)
{
    struct numbers *s = arg;
    sort(w, s->elements, s->count);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, sort_run, data);
}

const struct contest sort_contest = {
    .kernel = &sort_kernel,
    .weft = run,
    .what = "quicksort of 2^SIZE random numbers, a fork for each partition above 1024",
    .operation = "element",
    .size = 23,
    .quick = 13,
    .most = 32,
    .reps = 9,
};
