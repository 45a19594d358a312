/* SPDX-License-Identifier: MIT */
#include "nqueens.h"

#include "../contest.h"

/* The candidates of a row that are still to be tried. */
struct rest {
    unsigned all, columns, left, right, candidates;
    long result;
};

static inline long row(weft *w, unsigned all, unsigned columns, unsigned left, unsigned right);
static void candidates_run(weft *w, void *arg);

/* The first candidate here, the others by whoever has time. */
static inline long candidates(weft *w, unsigned all, unsigned columns, unsigned left,
                              unsigned right, unsigned bits)
{
    unsigned queen = lowest_bit(bits), others = bits ^ queen;
    if (!others)
        return row(w, all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    struct rest rest;
    rest.all = all;
    rest.columns = columns;
    rest.left = left;
    rest.right = right;
    rest.candidates = others;
    weft *in = weft_fork(w, candidates_run, &rest);
    long count = row(in, all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    return count + (weft_merge(w) ? rest.result : candidates(w, all, columns, left, right, others));
}

static void candidates_run(weft *w, void *arg)
{
    struct rest *r = arg;
    r->result = candidates(w, r->all, r->columns, r->left, r->right, r->candidates);
}

static inline long row(weft *w, unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned bits = all & ~(columns | left | right);
    return bits ? candidates(w, all, columns, left, right, bits) : 0;
}

static void run(weft_pool *pool, void *data)
{
    struct nqueens *q = data;
    unsigned all = nqueens_all(q->n);
    struct rest first = {.all = all, .candidates = all};
    weft_run(pool, candidates_run, &first);
    q->result = first.result;
}

const struct contest nqueens_contest = {
    .kernel = &nqueens_kernel,
    .weft = run,
    .what = "SIZE queens, a fork for each candidate in a row",
    .operation = "candidate",
    .size = 12,
    .quick = 8,
    .most = 20,
    .reps = 51,
    .claims = {.times_twin = 1.7, .share = 0.9},
};
