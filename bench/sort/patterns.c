/* SPDX-License-Identifier: MIT */
#include "sorts.h"

#include <stdlib.h>

const char *const sorts_patterns[SORTS_PATTERNS] = {
    [SORTS_RANDOM] = "random", [SORTS_SORTED] = "sorted", [SORTS_REVERSED] = "reversed",
    [SORTS_FEW] = "few",       [SORTS_ORGAN] = "organ",   [SORTS_RUNS] = "runs",
    [SORTS_NEARLY] = "nearly",
};

static int compare(const void *a, const void *b, void *arg)
{
    (void)arg;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sequential(void *data)
{
    struct sorts *s = data;
    qsort_r(s->elements, s->count, sizeof *s->elements, compare, NULL);
}

static void *prepare(unsigned size)
{
    struct sorts *s = malloc(sizeof *s);
    size_t count = (size_t)1 << size % SORTS_SIZES;
    uint64_t *elements = malloc(count * sizeof *elements);
    if (!s || !elements || size / SORTS_SIZES >= SORTS_PATTERNS) {
        free(s);
        free(elements);
        return NULL;
    }
    *s = (struct sorts){count, (enum sorts_pattern)(size / SORTS_SIZES), elements};
    return s;
}

static uint64_t element(const struct sorts *s, size_t i, uint64_t random)
{
    switch (s->pattern) {
    case SORTS_SORTED:
        return i;
    case SORTS_REVERSED:
        return s->count - i;
    case SORTS_FEW:
        return random % 16;
    case SORTS_ORGAN:
        return i < s->count / 2 ? i : s->count - i;
    case SORTS_RUNS:
        return i % (s->count / 8);
    case SORTS_NEARLY:
        return random % 1000 == 0 ? random % s->count : i;
    default:
        return random;
    }
}

static void reset(void *data)
{
    struct sorts *s = data;
    uint64_t random = 1;
    for (size_t i = 0; i < s->count; i++)
        s->elements[i] = element(s, i, kernel_random(&random));
}

static uint64_t checksum(const void *data)
{
    const struct sorts *s = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum = sum * 31 + s->elements[i];
    return sum;
}

static double operations(const void *data)
{
    const struct sorts *s = data;
    return (double)s->count;
}

static void release(void *data)
{
    struct sorts *s = data;
    free(s->elements);
    free(s);
}

#define KERNEL(called)                                                                \
    {                                                                                 \
        .name = called, .prepare = prepare, .reset = reset, .sequential = sequential, \
        .checksum = checksum, .operations = operations, .release = release,           \
    }

const struct kernel sorts_kernel = KERNEL("sorts");
const struct kernel sorts_std_kernel = KERNEL("sorts-std");
const struct kernel sorts_stable_kernel = KERNEL("sorts-stable");
