/* SPDX-License-Identifier: MIT */
#include "joins.h"

#include <stdlib.h>

static void *prepare(unsigned size)
{
    struct joins *joins = malloc(sizeof *joins);
    if (joins)
        *joins = (struct joins){.runs = size};
    return joins;
}

static void reset(void *data)
{
    ((struct joins *)data)->failed = 0;
}

static void succeed(void *data)
{
    (void)data;
}

static void fail(void *data)
{
    struct joins *joins = data;
    joins->failed = joins->runs;
}

static uint64_t checksum(const void *data)
{
    return ((const struct joins *)data)->failed;
}

static double operations(const void *data)
{
    return ((const struct joins *)data)->runs;
}

#define KERNEL(id, twin)                                                                          \
    {                                                                                             \
        .name = id, .prepare = prepare, .reset = reset, .sequential = twin, .checksum = checksum, \
        .operations = operations, .release = free,                                                \
    }

const struct kernel joins_fine_kernel = KERNEL("joins-fine", succeed);
const struct kernel joins_failing_kernel = KERNEL("joins-failing", fail);
const struct kernel joins_throwing_kernel = KERNEL("joins-throwing", fail);
