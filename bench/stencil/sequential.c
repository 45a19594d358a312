/* SPDX-License-Identifier: MIT */
#include "stencil.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

static void sequential(void *data)
{
    struct stencil *s = data;
    for (int i = 0; i < STENCIL_STEPS; i++) {
        stencil_range(s->y, s->x, 0, s->count);
        stencil_swap(s);
    }
}

static void release(void *data)
{
    struct stencil *s = data;
    free(s->x);
    free(s->y);
    free(s);
}

static size_t room(const struct stencil *s)
{
    return s->count + STENCIL_WIDTH - 1;
}

/* The size is the number of elements. */
static void *prepare(unsigned size)
{
    struct stencil *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->count = size;
    s->x = malloc(room(s) * sizeof *s->x);
    s->y = malloc(room(s) * sizeof *s->y);
    if (!s->x || !s->y) {
        release(s);
        return NULL;
    }
    return s;
}

static void reset(void *data)
{
    struct stencil *s = data;
    for (size_t i = 0; i < room(s); i++)
        s->x[i] = s->y[i] = (double)(i % 1000);
}

static uint64_t checksum(const void *data)
{
    const struct stencil *s = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint64_t bits;
        memcpy(&bits, &s->x[i], sizeof bits);
        sum = sum * 31 + bits;
    }
    return sum;
}

static double operations(const void *data)
{
    (void)data;
    return STENCIL_STEPS;
}

const struct kernel stencil_kernel = {
    .name = "stencil",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
