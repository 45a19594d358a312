/* SPDX-License-Identifier: MIT */
#include "join.h"

#include "../kernel.h"

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
    struct numbers *j = data;
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
    struct numbers *j = data;
    for (int i = 0; i < JOIN_TIMES; i++)
        split_call(j->elements, j->count);
}

static double operations(const void *data)
{
    const struct numbers *j = data;
    return (double)j->count * (double)JOIN_TIMES;
}

const struct kernel join_kernel = {
    .name = "join-recursively",
    .prepare = numbers_prepare,
    .reset = numbers_reset,
    .sequential = sequential,
    .recursive = recursive,
    .checksum = numbers_checksum,
    .operations = operations,
    .release = numbers_release,
};
