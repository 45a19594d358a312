/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

struct fib {
    long n, result;
};

static void fib_run(weft *w, void *arg);

/* [fib] */
static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    struct fib right = {n - 2, 0};
    weft *in = weft_fork(w, fib_run, &right); /* another thread may take this ... */
    long left = fib(in, n - 1);               /* ... while this thread does that */
    if (!weft_merge(w))                       /* no thread took it: an ordinary call */
        right.result = fib(w, right.n);
    return left + right.result;
}
/* [end] */

static void fib_run(weft *w, void *arg)
{
    struct fib *f = arg;
    f->result = fib(w, f->n);
}

/* [main] */
int main(void)
{
    struct fib f = {30, 0};
    int error = weft_run(NULL, fib_run, &f); /* NULL: the default pool */
    if (error)
        return fprintf(stderr, "weft_run: %s\n", weft_strerror(error)), 1;
    printf("%ld\n", f.result);
}
/* [end] */
