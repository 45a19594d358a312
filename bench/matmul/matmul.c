/* SPDX-License-Identifier: MIT */
#include "matmul.h"

#include <string.h>

static void add_product(struct matmul_block *restrict c, const struct matmul_block *restrict a,
                        const struct matmul_block *restrict b)
{
    for (int i = 0; i < MATMUL_BLOCK; i++)
        for (int k = 0; k < MATMUL_BLOCK; k++)
            for (int j = 0; j < MATMUL_BLOCK; j++)
                c->at[i][j] += a->at[i][k] * b->at[k][j];
}

void matmul_at(const struct matmul *m, size_t i, size_t j)
{
    struct matmul_block *c = &m->c[i * m->n + j];
    memset(c, 0, sizeof *c);
    for (size_t k = 0; k < m->n; k++)
        add_product(c, &m->a[i * m->n + k], &m->b[k * m->n + j]);
}
