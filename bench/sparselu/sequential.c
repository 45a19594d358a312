/* SPDX-License-Identifier: MIT */
#include "sparselu.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

static void if_due(struct lu *lu, size_t k, size_t i, size_t j)
{
    if (lu_is_due(lu, k, i, j))
        lu_run(lu, k, i, j);
}

static void sequential(void *data)
{
    struct lu *lu = data;
    for (size_t k = 0; k < lu->n; k++) {
        lu_factor(lu_at(lu, k, k));
        for (size_t i = k + 1; i < lu->n; i++) {
            if_due(lu, k, k, i);
            if_due(lu, k, i, k);
        }
        for (size_t i = k + 1; i < lu->n; i++)
            for (size_t j = k + 1; j < lu->n; j++)
                if_due(lu, k, i, j);
    }
}

static void fill(struct lu_block *block, bool diagonal, uint64_t *random)
{
    block->there = true;
    for (int i = 0; i < LU_BLOCK; i++)
        for (int j = 0; j < LU_BLOCK; j++) {
            block->at[i][j] = (float)(kernel_random(random) % 1000) / 1000;
            if (diagonal && i == j)
                block->at[i][j] += 8 * LU_BLOCK;
        }
}

static void release(void *data)
{
    struct lu *lu = data;
    free(lu->first);
    free(lu->blocks);
    free(lu);
}

static void *prepare(unsigned size)
{
    struct lu *lu = calloc(1, sizeof *lu);
    if (!lu)
        return NULL;
    lu->n = size;
    lu->first = calloc(lu->n * lu->n, sizeof lu->first[0]);
    lu->blocks = calloc(lu->n * lu->n, sizeof lu->blocks[0]);
    if (!lu->first || !lu->blocks) {
        release(lu);
        return NULL;
    }
    uint64_t random = 1;
    for (size_t i = 0; i < lu->n; i++)
        for (size_t j = 0; j < lu->n; j++)
            if (i == j || kernel_random(&random) % 4 == 0)
                fill(&lu->first[i * lu->n + j], i == j, &random);
    return lu;
}

static void reset(void *data)
{
    struct lu *lu = data;
    memcpy(lu->blocks, lu->first, lu->n * lu->n * sizeof lu->blocks[0]);
}

static uint64_t checksum(const void *data)
{
    const struct lu *lu = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < lu->n * lu->n; i++)
        for (int j = 0; j < LU_BLOCK; j++) {
            uint32_t bits;
            memcpy(&bits, &lu->blocks[i].at[j][LU_BLOCK - 1 - j], sizeof bits);
            sum = sum * 31 + bits;
        }
    return sum;
}

/* Updates, if no block were empty. */
static double operations(const void *data)
{
    const struct lu *lu = data;
    double n = (double)lu->n;
    return n * (n - 1) * (2 * n - 1) / 6;
}

const struct kernel sparselu_kernel = {
    .name = "sparselu",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
