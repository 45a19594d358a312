/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- The twins ---- */

static void plain_for(void *data)
{
    struct loops *loops = data;
    for (int i = 0; i < LOOPS_TIMES; i++)
        loops_range(loops->numbers, 0, loops->count);
}

/* With copies, which a call can't change. */
static void plain_calls(void *data)
{
    const struct loops loops = *(const struct loops *)data;
    for (int t = 0; t < LOOPS_TIMES; t++)
        for (size_t i = 0; i < loops.count; i++)
            loops.element(loops.w, &loops.numbers[i], &loops.numbers[i], loops.arg);
}

static void plain_reduce(void *data)
{
    struct loops *loops = data;
    for (int i = 0; i < LOOPS_TIMES; i++)
        loops->result += loops_sum(loops->numbers, 0, loops->count);
}

static void plain_floats(void *data)
{
    struct loops *loops = data;
    for (size_t i = 0; i < loops->size; i++)
        loops_range(loops->numbers, 0, LOOPS_FLOATS);
}

static void plain_short(void *data)
{
    struct loops *loops = data;
    for (size_t i = 0; i < loops->size; i++)
        loops_range(loops->numbers, 0, loops_short[i % 4]);
}

/* ---- The data ---- */

static void *prepare_count(size_t size, size_t count)
{
    struct loops *loops = malloc(sizeof *loops);
    float *numbers = malloc(count * sizeof *numbers);
    if (!loops || !numbers) {
        free(loops);
        free(numbers);
        return NULL;
    }
    *loops =
        (struct loops){.size = size, .count = count, .numbers = numbers, .element = loops_element};
    return loops;
}

static void *prepare_long(unsigned size)
{
    return prepare_count((size_t)1 << size, (size_t)1 << size);
}

static void *prepare_short(unsigned size)
{
    return prepare_count(size, LOOPS_FLOATS);
}

static void reset(void *data)
{
    struct loops *loops = data;
    for (size_t i = 0; i < loops->count; i++)
        loops->numbers[i] = (float)(i % 1000);
    loops->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct loops *loops = data;
    uint64_t sum = (uint64_t)loops->result;
    for (size_t i = 0; i < loops->count; i++) {
        uint32_t bits;
        memcpy(&bits, &loops->numbers[i], sizeof bits);
        sum = sum * 31 + bits;
    }
    return sum;
}

static double elements(const void *data)
{
    const struct loops *loops = data;
    return (double)loops->count * (double)LOOPS_TIMES;
}

static double loops_run(const void *data)
{
    const struct loops *loops = data;
    return (double)loops->size;
}

static void release(void *data)
{
    struct loops *loops = data;
    free(loops->numbers);
    free(loops);
}

#define KERNEL(variable, title, prepares, twin, counted) \
    const struct kernel variable = {                     \
        .name = title,                                   \
        .prepare = prepares,                             \
        .reset = reset,                                  \
        .sequential = twin,                              \
        .checksum = checksum,                            \
        .operations = counted,                           \
        .release = release,                              \
    }

KERNEL(for_kernel, "for", prepare_long, plain_for, elements);
KERNEL(map_kernel, "map", prepare_long, plain_for, elements);
KERNEL(calls_kernel, "map-calls", prepare_long, plain_calls, elements);
KERNEL(reduce_kernel, "reduce", prepare_long, plain_reduce, elements);
KERNEL(floats_kernel, "2000-floats", prepare_short, plain_floats, loops_run);
KERNEL(short_kernel, "short-loops", prepare_short, plain_short, loops_run);
