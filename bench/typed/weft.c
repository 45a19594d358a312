/* SPDX-License-Identifier: MIT */
#include "typed.h"

#include "../contest.h"

#include <weft/parallel.h>

WEFT_FOR_EACH_DEFINE(change_all, uint64_t, typed_change)
WEFT_HISTOGRAM_DEFINE(histogram, uint64_t, typed_bin)
WEFT_PARTITION_DEFINE(partition, uint64_t, typed_keep)
WEFT_UNIQUE_DEFINE(unique, uint64_t, typed_equal)
WEFT_MERGE_SORTED_DEFINE(merge, uint64_t, typed_less)
WEFT_SCAN_EXCLUSIVE_DEFINE(sums_before, uint64_t, 0, typed_add)

static void each_once(weft *w, struct typed *t)
{
    change_all(w, t->in, t->count);
}

static void histogram_once(weft *w, struct typed *t)
{
    histogram(w, t->in, t->count, t->counts, TYPED_BINS);
}

static void calls_once(weft *w, struct typed *t)
{
    weft_histogram(w, t->in, t->count, sizeof t->in[0], t->bin, t->arg, t->counts, TYPED_BINS);
}

static void partition_once(weft *w, struct typed *t)
{
    t->result = partition(w, t->in, t->count, t->out, t->more);
}

static void unique_once(weft *w, struct typed *t)
{
    t->result = unique(w, t->in, t->count, t->out);
}

static void merge_once(weft *w, struct typed *t)
{
    size_t half = t->count / 2;
    merge(w, t->in, half, t->in + half, t->count - half, t->out);
    t->result = t->count;
}

static void exclusive_once(weft *w, struct typed *t)
{
    sums_before(w, t->in, t->count, t->out, NULL);
    t->result = t->count;
}

/* As for loops over whole arrays. */
#define CONTEST(title, once, about)                                   \
    static void once##_job(weft *w, void *data)                       \
    {                                                                 \
        for (int i = 0; i < TYPED_TIMES; i++)                         \
            once##_once(w, data);                                     \
    }                                                                 \
    static void once##_run(weft_pool *pool, void *data)               \
    {                                                                 \
        weft_run(pool, once##_job, data);                             \
    }                                                                 \
    const struct contest title##_contest = {                          \
        .kernel = &title##_kernel,                                    \
        .weft = once##_run,                                           \
        .what = about ", 5 times",                                    \
        .operation = "element",                                       \
        .size = 22,                                                   \
        .quick = 14,                                                  \
        .most = 32,                                                   \
        .reps = 15,                                                   \
        .claims = {.times_twin = 1.03, .times_faster_than_peers = 1}, \
    }

CONTEST(each, each, "WEFT_FOR_EACH_DEFINE, 2^SIZE numbers");
CONTEST(histogram, histogram, "WEFT_HISTOGRAM_DEFINE, 2^SIZE numbers in 256 bins");
CONTEST(histogram_calls, calls, "weft_histogram, a call for each of 2^SIZE numbers");
CONTEST(partition, partition, "WEFT_PARTITION_DEFINE, 2^SIZE numbers, half of them kept");
CONTEST(unique, unique, "WEFT_UNIQUE_DEFINE, 2^SIZE numbers, half of them kept");
CONTEST(merge, merge, "WEFT_MERGE_SORTED_DEFINE, twice 2^SIZE / 2 numbers");
CONTEST(exclusive, exclusive, "WEFT_SCAN_EXCLUSIVE_DEFINE, 2^SIZE sums");
