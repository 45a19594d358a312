/* SPDX-License-Identifier: MIT */
/* fib.c: the README's program. Forks at every call, without a cut-off. */
#include <stdio.h>
#include <weft.h>

struct fib {
    long n, result;
};

static void fib_run(weft *w, void *arg);

static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    struct fib right = {n - 2, 0};
    weft *in = weft_fork(w, fib_run, &right); /* somebody may take this ... */
    long left = fib(in, n - 1);               /* ... while we do that */
    if (!weft_merge(w))                       /* nobody did: an ordinary call */
        right.result = fib(w, right.n);
    return left + right.result;
}

static void fib_run(weft *w, void *arg)
{
    struct fib *f = arg;
    f->result = fib(w, f->n);
}

int main(void)
{
    struct fib f = {30, 0};
    int error = weft_run(NULL, fib_run, &f); /* on the default pool */
    if (error)
        return fprintf(stderr, "weft_run: error %d\n", -error), 1;
    printf("fib(%ld) = %ld\n", f.n, f.result);
    return f.result != 832040;
}
