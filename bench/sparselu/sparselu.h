/* SPDX-License-Identifier: MIT */
/* sparselu: factors a matrix of blocks, most of which are empty at first, into L and U; the shape
 * of the program of that name in BOTS (Duran and others, ICPP 2009). Each step k factors the block
 * on the diagonal, then the blocks beside and below it, then updates the rest; a child for each
 * block. */
#ifndef BENCH_SPARSELU_H
#define BENCH_SPARSELU_H

#include <stdbool.h>
#include <stddef.h>

enum { LU_BLOCK = 16, LU_MOST = 256 };

struct lu_block {
    bool there; /* otherwise all of it is zero */
    float at[LU_BLOCK][LU_BLOCK];
};

struct lu {
    size_t n; /* in blocks */
    struct lu_block *first, *blocks;
};

struct lu_task {
    struct lu *lu;
    size_t k, i, j;
};

static inline struct lu_block *lu_at(struct lu *lu, size_t i, size_t j)
{
    return &lu->blocks[i * lu->n + j];
}

static inline void lu_factor(struct lu_block *d)
{
    for (int k = 0; k < LU_BLOCK; k++)
        for (int i = k + 1; i < LU_BLOCK; i++) {
            d->at[i][k] /= d->at[k][k];
            for (int j = k + 1; j < LU_BLOCK; j++)
                d->at[i][j] -= d->at[i][k] * d->at[k][j];
        }
}

static inline void lu_right(const struct lu_block *d, struct lu_block *b)
{
    for (int k = 0; k < LU_BLOCK; k++)
        for (int i = k + 1; i < LU_BLOCK; i++)
            for (int j = 0; j < LU_BLOCK; j++)
                b->at[i][j] -= d->at[i][k] * b->at[k][j];
}

static inline void lu_below(const struct lu_block *d, struct lu_block *b)
{
    for (int i = 0; i < LU_BLOCK; i++)
        for (int k = 0; k < LU_BLOCK; k++) {
            b->at[i][k] /= d->at[k][k];
            for (int j = k + 1; j < LU_BLOCK; j++)
                b->at[i][j] -= b->at[i][k] * d->at[k][j];
        }
}

static inline void lu_update(const struct lu_block *l, const struct lu_block *u, struct lu_block *b)
{
    b->there = true;
    for (int i = 0; i < LU_BLOCK; i++)
        for (int k = 0; k < LU_BLOCK; k++)
            for (int j = 0; j < LU_BLOCK; j++)
                b->at[i][j] -= l->at[i][k] * u->at[k][j];
}

/* What a child does. */
static inline void lu_run(struct lu *lu, size_t k, size_t i, size_t j)
{
    if (i == k)
        lu_right(lu_at(lu, k, k), lu_at(lu, k, j));
    else if (j == k)
        lu_below(lu_at(lu, k, k), lu_at(lu, i, k));
    else
        lu_update(lu_at(lu, i, k), lu_at(lu, k, j), lu_at(lu, i, j));
}

/* Is there anything to do for the block (i, j) in step k? */
static inline bool lu_is_due(struct lu *lu, size_t k, size_t i, size_t j)
{
    if (i == k || j == k)
        return lu_at(lu, i, j)->there;
    return lu_at(lu, i, k)->there && lu_at(lu, k, j)->there;
}

#endif
