/* SPDX-License-Identifier: MIT */
/* fib: a fork for every call that is not a leaf, and nothing else to do. */
#ifndef BENCH_FIB_H
#define BENCH_FIB_H

struct fib {
    long n, result;
};

#endif
