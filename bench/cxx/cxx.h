/* SPDX-License-Identifier: MIT */
/* cxx: weft.hpp beside the C interface. The twin is what C makes of the same, on one worker. */
#ifndef BENCH_CXX_H
#define BENCH_CXX_H

#include <weft.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fib;
struct nqueens;

void fib_cxx(weft_pool *pool, struct fib *f);
void nqueens_cxx(weft_pool *pool, struct nqueens *q);

#ifdef __cplusplus
}
#endif

#endif
