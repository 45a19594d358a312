/* SPDX-License-Identifier: MIT */
#include "../fib/fib.h"

#include "cxx.h"

#include <weft.hpp>

static inline long fib_of(weft *w, long n)
{
    if (n < 2)
        return n;
    auto [left, right] = weft::join(
        w, [=](weft *in) { return fib_of(in, n - 1); },
        [=](weft *in) { return fib_of(in, n - 2); });
    return left + right;
}

void fib_cxx(weft_pool *pool, struct fib *f)
{
    f->result = weft::run(pool, [=](weft *w) { return fib_of(w, f->n); });
}
