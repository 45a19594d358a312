/* SPDX-License-Identifier: MIT */
#include "dfs.h"

#include "../kernel.h"

#include <stdlib.h>

static long search(long width, long depth)
{
    if (depth == 0)
        return 1;
    long leaves = 0;
    for (long i = 0; i < width; i++)
        leaves += search(width, depth - 1);
    return leaves;
}

/* The same, but a call remains a call. */
static __attribute__((noinline)) long search_call(long width, long depth)
{
    if (depth == 0)
        return 1;
    long leaves = 0;
    for (long i = 0; i < width; i++)
        leaves += search_call(width, depth - 1);
    return leaves;
}

static void sequential(void *data)
{
    struct dfs *d = data;
    d->result = search(d->width, d->depth);
}

static void recursive(void *data)
{
    struct dfs *d = data;
    d->result = search_call(d->width, d->depth);
}

static void *prepare(long width, unsigned depth)
{
    struct dfs *d = malloc(sizeof *d);
    if (d)
        *d = (struct dfs){.width = width, .depth = (long)depth};
    return d;
}

static void *prepare_2(unsigned size)
{
    return prepare(2, size);
}

static void *prepare_8(unsigned size)
{
    return prepare(8, size);
}

static void *prepare_400(unsigned size)
{
    return prepare(400, size);
}

static void reset(void *data)
{
    struct dfs *d = data;
    d->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct dfs *d = data;
    return (uint64_t)d->result;
}

/* A fork for every node but the root. */
static double operations(const void *data)
{
    const struct dfs *d = data;
    double level = 1, forks = 0;
    for (long i = 0; i < d->depth; i++)
        forks += level *= (double)d->width;
    return forks;
}

#define DFS_KERNEL(w)                        \
    const struct kernel dfs_##w##_kernel = { \
        .name = "dfs-" #w,                   \
        .prepare = prepare_##w,              \
        .reset = reset,                      \
        .sequential = sequential,            \
        .recursive = recursive,              \
        .checksum = checksum,                \
        .operations = operations,            \
        .release = free,                     \
    }

DFS_KERNEL(2);
DFS_KERNEL(8);
DFS_KERNEL(400);
