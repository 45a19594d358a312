/* SPDX-License-Identifier: MIT */
/* The smallest program that uses weft. */
#include <stdio.h>
#include <weft.h>

struct fib {
    long n, result;
};

static long fib(weft *w, long n);

static void fib_run(weft *w, void *arg)
{
    struct fib *f = arg;
    f->result = fib(w, f->n);
}

static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    struct fib right = {n - 2, 0};
    weft *in = weft_fork(w, fib_run, &right);
    long left = fib(in, n - 1);
    if (!weft_merge(w))
        right.result = fib(w, right.n);
    return left + right.result;
}

int main(void)
{
    struct fib f = {25, 0};
    int error = weft_run(NULL, fib_run, &f);
    printf("%s: fib(%ld) = %ld\n", weft_version(), f.n, f.result);
    return error != 0 || f.result != 75025;
}
