/* SPDX-License-Identifier: MIT */
#include "sort.h"

#include "../kernel.h"

#include <stdlib.h>

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
    struct sort *s = data;
    sort_sequential(s->elements, s->count);
}

static void *prepare(unsigned size)
{
    struct sort *s = malloc(sizeof *s);
    uint64_t *elements = malloc(((size_t)1 << size) * sizeof *elements);
    if (!s || !elements) {
        free(s);
        free(elements);
        return NULL;
    }
    *s = (struct sort){(size_t)1 << size, elements};
    return s;
}

static void reset(void *data)
{
    struct sort *s = data;
    uint64_t random = 1;
    for (size_t i = 0; i < s->count; i++)
        s->elements[i] = kernel_random(&random);
}

static uint64_t checksum(const void *data)
{
    const struct sort *s = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum = sum * 31 + s->elements[i];
    return sum;
}

static double operations(const void *data)
{
    const struct sort *s = data;
    return (double)s->count;
}

static void release(void *data)
{
    struct sort *s = data;
    free(s->elements);
    free(s);
}

const struct kernel sort_kernel = {
    .name = "sort",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
