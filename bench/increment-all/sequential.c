/* SPDX-License-Identifier: MIT */
#include "increment.h"

#include "../kernel.h"

#include <stdlib.h>

static void sequential(void *data)
{
    struct increment *all = data;
    for (int i = 0; i < INCREMENT_TIMES; i++)
        increment_range(all->elements, all->count);
}

static void *prepare(unsigned size)
{
    struct increment *all = malloc(sizeof *all);
    uint64_t *elements = malloc(((size_t)1 << size) * sizeof *elements);
    if (!all || !elements) {
        free(all);
        free(elements);
        return NULL;
    }
    *all = (struct increment){(size_t)1 << size, elements};
    return all;
}

static void reset(void *data)
{
    struct increment *all = data;
    for (size_t i = 0; i < all->count; i++)
        all->elements[i] = i;
}

static uint64_t checksum(const void *data)
{
    const struct increment *all = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < all->count; i++)
        sum = sum * 31 + all->elements[i];
    return sum;
}

static double operations(const void *data)
{
    const struct increment *all = data;
    return (double)all->count * INCREMENT_TIMES;
}

static void release(void *data)
{
    struct increment *all = data;
    free(all->elements);
    free(all);
}

const struct kernel increment_kernel = {
    .name = "increment-all",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
