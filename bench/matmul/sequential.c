/* SPDX-License-Identifier: MIT */
#include "matmul.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

static void sequential(void *data)
{
    const struct matmul *m = data;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            matmul_at(m, i, j);
}

static void fill(struct matmul_block *blocks, size_t count, uint64_t *random)
{
    for (size_t n = 0; n < count; n++)
        for (int i = 0; i < MATMUL_BLOCK; i++)
            for (int j = 0; j < MATMUL_BLOCK; j++)
                blocks[n].at[i][j] = (double)(kernel_random(random) % 1000) / 1000;
}

static void release(void *data)
{
    struct matmul *m = data;
    free(m->a);
    free(m->b);
    free(m->c);
    free(m);
}

static void *prepare(unsigned size)
{
    struct matmul *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    size_t blocks = (size_t)size * size;
    m->n = size;
    m->a = calloc(blocks, sizeof *m->a);
    m->b = calloc(blocks, sizeof *m->b);
    m->c = calloc(blocks, sizeof *m->c);
    if (!m->a || !m->b || !m->c) {
        release(m);
        return NULL;
    }
    uint64_t random = 1;
    fill(m->a, blocks, &random);
    fill(m->b, blocks, &random);
    return m;
}

static void reset(void *data)
{
    struct matmul *m = data;
    memset(m->c, 0, m->n * m->n * sizeof *m->c);
}

/* Each element is added up in one order by all, so the bits are the same. */
static uint64_t checksum(const void *data)
{
    const struct matmul *m = data;
    uint64_t sum = 0;
    for (size_t n = 0; n < m->n * m->n; n++)
        for (int i = 0; i < MATMUL_BLOCK; i++)
            for (int j = 0; j < MATMUL_BLOCK; j++) {
                uint64_t bits;
                memcpy(&bits, &m->c[n].at[i][j], sizeof bits);
                sum = sum * 31 + bits;
            }
    return sum;
}

/* Multiplications of two blocks. */
static double operations(const void *data)
{
    const struct matmul *m = data;
    return (double)m->n * (double)m->n * (double)m->n;
}

const struct kernel matmul_kernel = {
    .name = "matmul",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
