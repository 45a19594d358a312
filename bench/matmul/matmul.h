/* SPDX-License-Identifier: MIT */
/* matmul: c = a b for square matrices that are stored as blocks of 32 by 32 doubles. A loop over
 * the blocks of c, in two dimensions; whoever computes one goes through a row of a and a column of
 * b. */
#ifndef BENCH_MATMUL_H
#define BENCH_MATMUL_H

#include <stddef.h>

enum { MATMUL_BLOCK = 32 };

struct matmul_block {
    double at[MATMUL_BLOCK][MATMUL_BLOCK];
};

struct matmul {
    size_t n; /* blocks in a row */
    struct matmul_block *a, *b, *c;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Block (i, j) of c; the same code for all contenders. */
void matmul_at(const struct matmul *m, size_t i, size_t j);

#ifdef __cplusplus
}
#endif

#endif
