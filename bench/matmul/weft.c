/* SPDX-License-Identifier: MIT */
#include "matmul.h"

#include "../contest.h"

#include <weft/parallel.h>

static void body(weft *w, const weft_box *box, void *data)
{
    (void)w;
    for (size_t i = box->begin[0]; i < box->end[0]; i++)
        for (size_t j = box->begin[1]; j < box->end[1]; j++)
            matmul_at(data, i, j);
}

static void multiply(weft *w, void *data)
{
    const struct matmul *m = data;
    weft_for_2d(w, &(weft_box){.end = {m->n, m->n}}, body, data);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, multiply, data);
}

const struct contest matmul_contest = {
    .kernel = &matmul_kernel,
    .weft = run,
    .what = "weft_for_2d, a product of matrices of SIZE by SIZE blocks of 32 by 32 doubles",
    .operation = "block",
    .size = 20,
    .quick = 3,
    .most = 400,
    .reps = 15,
    .claims = {.times_twin = 1.03, .times_faster_than_peers = 0.97, .share = 0.9},
};
