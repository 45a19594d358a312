/* SPDX-License-Identifier: MIT */
#include "ordmap.h"

#include "../contest.h"

#include <weft/ordmap.h>

static int compare(const void *a, const void *b, void *arg)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    (void)arg;
    return (x > y) - (x < y);
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    *(uint64_t *)left += *(const uint64_t *)right;
}

/* ---- Not timed ---- */

static bool see(const void *key, const void *value, void *arg)
{
    uint64_t *sum = arg;
    *sum = ordmap_checksum(*sum, *(const uint64_t *)key, *(const uint64_t *)value);
    return true;
}

static uint64_t checksum(const void *map)
{
    uint64_t sum = 0;
    weft_ordmap_walk(map, 0, weft_ordmap_size(map), see, &sum);
    return sum;
}

static void drop(void *map)
{
    weft_ordmap_release(map);
}

static const struct ordmap_ways ways = {checksum, drop};

/* What could not be made has the wrong checksum. */
static struct ordmap_made made(weft_ordmap *map)
{
    return (struct ordmap_made){map, &ways};
}

/* ---- The jobs ---- */

static weft_ordmap *build(weft *w, const struct ordmap *all, int which)
{
    static const weft_ordmap_kind kind = {sizeof(uint64_t), sizeof(uint64_t), compare, NULL};
    weft_ordmap *map;
    weft_ordmap_build(w, all->keys[which], all->values, all->count, &kind, &map);
    return map;
}

static void build_job(weft *w, void *data)
{
    struct ordmap *all = data;
    all->made = made(build(w, all, 0));
}

static void union_job(weft *w, void *data)
{
    struct ordmap *all = data;
    weft_ordmap *map;
    weft_ordmap_union(w, all->other[0].map, all->other[1].map, add, NULL, &map);
    all->made = made(map);
}

static void reduce_job(weft *w, void *data)
{
    struct ordmap *all = data;
    for (int i = 0; i < ORDMAP_SUMS; i++)
        weft_ordmap_reduce(w, all->other[0].map, NULL, add, NULL, &all->sum, sizeof all->sum);
}

static void ready_job(weft *w, void *data)
{
    struct ordmap *all = data;
    for (int i = 0; i < 2; i++)
        all->other[i] = made(build(w, all, i));
}

static void ready(weft_pool *pool, void *data)
{
    const struct ordmap *all = data;
    if (!all->other[0].map)
        weft_run(pool, ready_job, data);
}

static void run_build(weft_pool *pool, void *data)
{
    weft_run(pool, build_job, data);
}

static void run_union(weft_pool *pool, void *data)
{
    weft_run(pool, union_job, data);
}

static void run_reduce(weft_pool *pool, void *data)
{
    weft_run(pool, reduce_job, data);
}

const struct contest ordmap_build_contest = {
    .kernel = &ordmap_build_kernel,
    .weft = run_build,
    .what = "weft_ordmap_build, 2^SIZE keys",
    .operation = "key",
    .size = 18,
    .quick = 10,
    .most = 32,
    .reps = 15,
};

const struct contest ordmap_union_contest = {
    .kernel = &ordmap_union_kernel,
    .ready = ready,
    .weft = run_union,
    .what = "weft_ordmap_union, two maps of 2^SIZE keys",
    .operation = "key",
    .size = 18,
    .quick = 10,
    .most = 32,
    .reps = 15,
};

const struct contest ordmap_reduce_contest = {
    .kernel = &ordmap_reduce_kernel,
    .ready = ready,
    .weft = run_reduce,
    .what = "weft_ordmap_reduce, 2^SIZE values, 10 times",
    .operation = "key",
    .size = 18,
    .quick = 10,
    .most = 32,
    .reps = 15,
};
