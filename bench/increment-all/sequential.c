/* SPDX-License-Identifier: MIT */
#include "increment.h"

#include "../kernel.h"

static void sequential(void *data)
{
    struct numbers *all = data;
    for (int i = 0; i < INCREMENT_TIMES; i++)
        increment_range(all->elements, all->count);
}

static double operations(const void *data)
{
    const struct numbers *all = data;
    return (double)all->count * (double)INCREMENT_TIMES;
}

const struct kernel increment_kernel = {
    .name = "increment-all",
    .prepare = numbers_prepare,
    .reset = numbers_reset,
    .sequential = sequential,
    .checksum = numbers_checksum,
    .operations = operations,
    .release = numbers_release,
};
