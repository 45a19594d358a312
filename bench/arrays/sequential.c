/* SPDX-License-Identifier: MIT */
#include "arrays.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- The twins ---- */

static void plain_scan(void *data)
{
    struct arrays *a = data;
    for (int t = 0; t < ARRAYS_TIMES; t++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < a->count; i++)
            a->out[i] = sum = arrays_add(sum, a->in[i]);
    }
}

static void plain_filter(void *data)
{
    struct arrays *a = data;
    for (int t = 0; t < ARRAYS_TIMES; t++) {
        uint64_t *to = a->out;
        for (size_t i = 0; i < a->count; i++) {
            *to = a->in[i]; /* without a branch that nobody could foresee */
            to += arrays_keep(a->in[i]);
        }
        a->result = (uint64_t)(to - a->out);
    }
}

static void plain_find(void *data)
{
    struct arrays *a = data;
    for (int i = 0; i < ARRAYS_NEEDLES; i++)
        a->result += arrays_find(a->in, 0, a->count, arrays_needle(a, i));
}

/* ---- The data ---- */

static void *prepare(unsigned size)
{
    struct arrays *a = malloc(sizeof *a);
    size_t count = (size_t)1 << size;
    uint64_t *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    if (!a || !in || !out) {
        free(a);
        free(in);
        free(out);
        return NULL;
    }
    *a = (struct arrays){count, in, out, 0};
    for (size_t i = 0; i < count; i++)
        in[i] = arrays_number(i);
    return a;
}

/* What lies behind the kept ones is not defined. */
static void reset(void *data)
{
    struct arrays *a = data;
    memset(a->out, 0, a->count * sizeof *a->out);
    a->result = 0;
}

static uint64_t sum_of(const uint64_t *numbers, size_t count, uint64_t sum)
{
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + numbers[i];
    return sum;
}

static uint64_t checksum_scan(const void *data)
{
    const struct arrays *a = data;
    return sum_of(a->out, a->count, 0);
}

static uint64_t checksum_filter(const void *data)
{
    const struct arrays *a = data;
    return sum_of(a->out, a->result, a->result);
}

static uint64_t checksum_find(const void *data)
{
    const struct arrays *a = data;
    return a->result;
}

static double elements(const void *data)
{
    const struct arrays *a = data;
    return (double)a->count * (double)ARRAYS_TIMES;
}

static double elements_to_look_at(const void *data)
{
    const struct arrays *a = data;
    return (double)a->count * (ARRAYS_NEEDLES + 1) / 2;
}

static void release(void *data)
{
    struct arrays *a = data;
    free(a->in);
    free(a->out);
    free(a);
}

#define KERNEL(variable, title, twin, check, counted) \
    const struct kernel variable = {                  \
        .name = title,                                \
        .prepare = prepare,                           \
        .reset = reset,                               \
        .sequential = twin,                           \
        .checksum = check,                            \
        .operations = counted,                        \
        .release = release,                           \
    }

KERNEL(scan_kernel, "scan", plain_scan, checksum_scan, elements);
KERNEL(filter_kernel, "filter", plain_filter, checksum_filter, elements);
KERNEL(find_kernel, "find", plain_find, checksum_find, elements_to_look_at);
