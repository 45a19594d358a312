/* SPDX-License-Identifier: MIT */
#include "strassen.h"

#include "../contest.h"

static void multiply(weft *w, void *arg)
{
    const struct product *product = arg;
    if (product->n <= STRASSEN_LEAF) {
        strassen_leaf(product);
        return;
    }
    struct strassen_node node;
    strassen_split(product, &node);
    for (int i = 0; i < STRASSEN_PRODUCTS; i++)
        w = weft_fork(w, multiply, &node.products[i]);
    for (int i = STRASSEN_PRODUCTS; i-- > 0;) {
        w = weft_outer(w);
        if (!weft_merge(w))
            multiply(w, &node.products[i]);
    }
    strassen_combine(product, &node);
}

static void run(weft_pool *pool, void *data)
{
    struct product whole = strassen_whole(data);
    weft_run(pool, multiply, &whole);
}

const struct contest strassen_contest = {
    .kernel = &strassen_kernel,
    .weft = run,
    .what = "Strassen's product of matrices of 2^SIZE by 2^SIZE, forks down to 64",
    .operation = "leaf",
    .size = 9,
    .quick = 7,
    .most = 14,
    .reps = 15,
    .claims = {.times_twin = 1.03, .times_faster_than_peers = 0.97, .share = 0.9},
};
