/* SPDX-License-Identifier: MIT */
#include "sort.h"

#include "../kernel.h"

void sort_sequential(uint64_t *elements, size_t count)
{
    if (count <= SORT_SMALL) {
        sort_small(elements, count);
        return;
    }
    size_t first = sort_partition(elements, count);
    sort_sequential(elements, first);
    sort_sequential(elements + first, count - first);
}

static void sequential(void *data)
{
    struct numbers *s = data;
    sort_sequential(s->elements, s->count);
}

static void reset(void *data)
{
    struct numbers *s = data;
    uint64_t random = 1;
    for (size_t i = 0; i < s->count; i++)
        s->elements[i] = kernel_random(&random);
}

static double operations(const void *data)
{
    const struct numbers *s = data;
    return (double)s->count;
}

const struct kernel sort_kernel = {
    .name = "sort",
    .prepare = numbers_prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = numbers_checksum,
    .operations = operations,
    .release = numbers_release,
};
