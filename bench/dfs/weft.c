/* SPDX-License-Identifier: MIT */
#include "dfs.h"

#include "../contest.h"

static long search(weft *w, long width, long depth);
WEFT_FORKABLE(long, search, long width; long depth;, search(w, a->width, a->depth))

static long search(weft *w, long width, long depth)
{
    if (depth == 0)
        return 1;
    long leaves = 0;
    for (long i = 0; i < width; i++)
        w = WEFT_FORK_IN(w, search, width, depth - 1);
    for (long i = 0; i < width; i++) {
        w = weft_outer(w);
        leaves += WEFT_MERGE_IN(w, search);
    }
    return leaves;
}

static void dfs_run(weft *w, void *data)
{
    struct dfs *d = data;
    d->result = search(w, d->width, d->depth);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, dfs_run, data);
}

#define DFS_CONTEST(w, depth, little)                                             \
    const struct contest dfs_##w##_contest = {                                    \
        .kernel = &dfs_##w##_kernel,                                              \
        .weft = run,                                                              \
        .what = "a tree of SIZE levels, " #w " children a node, forked in a row", \
        .operation = "fork",                                                      \
        .size = (depth),                                                          \
        .quick = (little),                                                        \
        .most = 60,                                                               \
        .reps = 9,                                                                \
        .claims = {.times_faster_than_peers = 5, .share = 0.9},                   \
    }

DFS_CONTEST(2, 24, 10);
DFS_CONTEST(8, 8, 4);
DFS_CONTEST(400, 3, 1);
