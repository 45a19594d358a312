/* SPDX-License-Identifier: MIT */
#include "../contest.h"
#include "../fib/fib.h"
#include "../nqueens/nqueens.h"
#include "cxx.h"

#include <stdlib.h>

#ifdef WEFT_BENCH_CXX

/* The data of the C version, which comes first, and the twin's pool of one worker. */
struct pooled_fib {
    struct fib c;
    weft_pool *pool;
};

struct pooled_nqueens {
    struct nqueens c;
    weft_pool *pool;
};

/* Begins as the C version's data, `size` bytes of them. NULL: no memory. */
static void *pooled(void *c, size_t size, size_t whole, weft_pool **pool)
{
    void *data = malloc(whole);
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    if (c && data && !weft_pool_create(pool, &config)) {
        memcpy(data, c, size);
    } else {
        free(data);
        data = NULL;
    }
    free(c);
    return data;
}

#define CXX_KERNEL(NAME)                                                              \
    static void *NAME##_prepare(unsigned size)                                        \
    {                                                                                 \
        weft_pool *pool = NULL;                                                       \
        struct pooled_##NAME *data =                                                  \
            pooled(NAME##_kernel.prepare(size), sizeof data->c, sizeof *data, &pool); \
        if (data)                                                                     \
            data->pool = pool;                                                        \
        return data;                                                                  \
    }                                                                                 \
    static void NAME##_in_c(void *data)                                               \
    {                                                                                 \
        struct pooled_##NAME *of = data;                                              \
        NAME##_contest.weft(of->pool, &of->c);                                        \
    }                                                                                 \
    static void NAME##_reset(void *data)                                              \
    {                                                                                 \
        NAME##_kernel.reset(data);                                                    \
    }                                                                                 \
    static uint64_t NAME##_checksum(const void *data)                                 \
    {                                                                                 \
        return NAME##_kernel.checksum(data);                                          \
    }                                                                                 \
    static double NAME##_operations(const void *data)                                 \
    {                                                                                 \
        return NAME##_kernel.operations(data);                                        \
    }                                                                                 \
    static void NAME##_release(void *data)                                            \
    {                                                                                 \
        if (data)                                                                     \
            weft_pool_destroy(((struct pooled_##NAME *)data)->pool);                  \
        free(data);                                                                   \
    }                                                                                 \
    static void NAME##_run(weft_pool *pool, void *data)                               \
    {                                                                                 \
        NAME##_cxx(pool, data);                                                       \
    }                                                                                 \
    static const struct kernel NAME##_cxx_kernel = {                                  \
        .name = #NAME "-cxx",                                                         \
        .prepare = NAME##_prepare,                                                    \
        .reset = NAME##_reset,                                                        \
        .sequential = NAME##_in_c,                                                    \
        .checksum = NAME##_checksum,                                                  \
        .operations = NAME##_operations,                                              \
        .release = NAME##_release,                                                    \
    };

CXX_KERNEL(fib)
CXX_KERNEL(nqueens)

const struct contest fib_cxx_contest = {
    .kernel = &fib_cxx_kernel,
    .weft = fib_run,
    .what = "fib(SIZE) by weft::join; the twin is weft_fork in C, on one worker",
    .operation = "fork",
    .size = 38,
    .quick = 22,
    .most = 60,
    .reps = 15,
    .claims = {.times_twin = 1.05},
};

const struct contest nqueens_cxx_contest = {
    .kernel = &nqueens_cxx_kernel,
    .weft = nqueens_run,
    .what = "SIZE queens by weft::join; the twin is weft_fork in C, on one worker",
    .operation = "candidate",
    .size = 12,
    .quick = 8,
    .most = 20,
    .reps = 51,
    .claims = {.times_twin = 1.05},
};

#endif
