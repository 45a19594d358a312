/* SPDX-License-Identifier: MIT */
#include "reductions.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- The twins: what a compiler makes of a plain loop ---- */

#define TWIN(name, type, first, combine)                                         \
    static void plain_##name(void *data)                                         \
    {                                                                            \
        struct reductions *r = data;                                             \
        const type *numbers = r->numbers;                                        \
        for (size_t t = 0; t < r->times; t++) {                                  \
            type all = first;                                                    \
            for (size_t i = 0; i < r->count; i++)                                \
                all = combine(all, numbers[i]);                                  \
            r->result += (double)all; /* a store: so it is computed each time */ \
        }                                                                        \
    }

#define ADD(a, b) ((a) + (b))

TWIN(sum_f32, float, 0, ADD)
TWIN(sum_f64, double, 0, ADD)
TWIN(sum_i32, int32_t, 0, reductions_add_i32)
TWIN(max_f32, float, ((const float *)r->numbers)[0], reductions_larger)

/* ---- The data ---- */

static struct reductions *prepare(unsigned size, size_t element)
{
    struct reductions *r = malloc(sizeof *r);
    size_t count = (size_t)1 << size;
    void *numbers = malloc(count * element);
    if (!r || !numbers) {
        free(r);
        free(numbers);
        return NULL;
    }
    *r = (struct reductions){count, reductions_times(size), numbers, 0};
    return r;
}

#define PREPARE(name, type, number)                         \
    static void *prepare_##name(unsigned size)              \
    {                                                       \
        struct reductions *r = prepare(size, sizeof(type)); \
        uint64_t state = 1;                                 \
        for (size_t i = 0; r && i < r->count; i++)          \
            ((type *)r->numbers)[i] = (type)(number);       \
        return r;                                           \
    }

PREPARE(sum_f32, float, kernel_random(&state) % 2)
PREPARE(sum_f64, double, kernel_random(&state) % 2)
PREPARE(sum_i32, int32_t, kernel_random(&state) % 2)
PREPARE(max_f32, float, kernel_random(&state) >> 40)

static void reset(void *data)
{
    struct reductions *r = data;
    r->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct reductions *r = data;
    return (uint64_t)r->result;
}

static double elements(const void *data)
{
    const struct reductions *r = data;
    return (double)r->count * (double)r->times;
}

static void release(void *data)
{
    struct reductions *r = data;
    free(r->numbers);
    free(r);
}

#define KERNEL(variable, title, kind) \
    const struct kernel variable = {  \
        .name = title,                \
        .prepare = prepare_##kind,    \
        .reset = reset,               \
        .sequential = plain_##kind,   \
        .checksum = checksum,         \
        .operations = elements,       \
        .release = release,           \
    }

KERNEL(sum_f32_kernel, "sum-f32", sum_f32);
KERNEL(sum_f64_kernel, "sum-f64", sum_f64);
KERNEL(sum_i32_kernel, "sum-i32", sum_i32);
KERNEL(max_f32_kernel, "max-f32", max_f32);
KERNEL(sum_f32_cached_kernel, "sum-f32-cached", sum_f32);
KERNEL(sum_f64_cached_kernel, "sum-f64-cached", sum_f64);
KERNEL(sum_i32_cached_kernel, "sum-i32-cached", sum_i32);
KERNEL(max_f32_cached_kernel, "max-f32-cached", max_f32);
