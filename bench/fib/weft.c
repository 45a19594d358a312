/* SPDX-License-Identifier: MIT */
#include "fib.h"

#include "../contest.h"

static void fib_run(weft *w, void *arg);

static inline long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    struct fib right;
    right.n = n - 2;
    weft *in = weft_fork(w, fib_run, &right);
    long left = fib(in, n - 1);
    return left + (weft_merge(w) ? right.result : fib(w, n - 2));
}

static void fib_run(weft *w, void *arg)
{
    struct fib *f = arg;
    f->result = fib(w, f->n);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, fib_run, data);
}

const struct contest fib_contest = {
    .kernel = &fib_kernel,
    .weft = run,
    .what = "fib(SIZE), a fork for each call, no cut-off",
    .operation = "fork",
    .size = 38,
    .quick = 22,
    .most = 60,
    .reps = 15,
    .claims = {.ns_above_twin = 1.0, .times_faster_than_peers = 5, .share = 0.9, .steals = 200},
};
