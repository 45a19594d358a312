/* SPDX-License-Identifier: MIT */
#include "join.h"

#include "../kernel.h"

#include <stdlib.h>

static void split(uint64_t *elements, size_t count)
{
    if (count == 1) {
        elements[0]++;
        return;
    }
    size_t half = count / 2;
    split(elements, half);
    split(elements + half, count - half);
}

static void sequential(void *data)
{
    struct join *j = data;
    for (int i = 0; i < JOIN_TIMES; i++)
        split(j->elements, j->count);
}

/* The same, but a call remains a call: both of them. */
static __attribute__((noinline)) void split_call(uint64_t *elements, size_t count)
{
    if (count == 1) {
        elements[0]++;
        return;
    }
    size_t half = count / 2;
    split_call(elements, half);
    split_call(elements + half, count - half);
    __asm__ volatile(""); /* else the second one becomes a loop */
}

static void recursive(void *data)
{
    struct join *j = data;
    for (int i = 0; i < JOIN_TIMES; i++)
        split_call(j->elements, j->count);
}

static void *prepare(unsigned size)
{
    struct join *j = malloc(sizeof *j);
    uint64_t *elements = malloc(((size_t)1 << size) * sizeof *elements);
    if (!j || !elements) {
        free(j);
        free(elements);
        return NULL;
    }
    *j = (struct join){(size_t)1 << size, elements};
    return j;
}

static void reset(void *data)
{
    struct join *j = data;
    for (size_t i = 0; i < j->count; i++)
        j->elements[i] = i;
}

static uint64_t checksum(const void *data)
{
    const struct join *j = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < j->count; i++)
        sum = sum * 31 + j->elements[i];
    return sum;
}

static double operations(const void *data)
{
    const struct join *j = data;
    return (double)j->count * JOIN_TIMES;
}

static void release(void *data)
{
    struct join *j = data;
    free(j->elements);
    free(j);
}

const struct kernel join_kernel = {
    .name = "join-recursively",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .recursive = recursive,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
