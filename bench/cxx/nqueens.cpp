/* SPDX-License-Identifier: MIT */
#include "../nqueens/nqueens.h"

#include "cxx.h"

#include <weft.hpp>

static inline long row(weft *w, unsigned all, unsigned columns, unsigned left, unsigned right);

/* The first candidate here, the others by whoever has time. */
static inline long candidates(weft *w, unsigned all, unsigned columns, unsigned left,
                              unsigned right, unsigned bits)
{
    unsigned queen = lowest_bit(bits), others = bits ^ queen;
    auto first = [=](weft *in) {
        return row(in, all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    };
    if (!others)
        return first(w);
    auto [count, rest] = weft::join(
        w, first, [=](weft *in) { return candidates(in, all, columns, left, right, others); });
    return count + rest;
}

static inline long row(weft *w, unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned bits = all & ~(columns | left | right);
    return bits ? candidates(w, all, columns, left, right, bits) : 0;
}

void nqueens_cxx(weft_pool *pool, struct nqueens *q)
{
    unsigned all = nqueens_all(q->n);
    q->result = weft::run(pool, [=](weft *w) { return candidates(w, all, 0, 0, 0, all); });
}
