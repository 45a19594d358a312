/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

/* [fib] */
static long fib(weft *w, long n);
WEFT_FORKABLE(long, fib, long n;, fib(w, a->n))

static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    WEFT_FORK(w, fib, right, n - 2);
    long left = fib(right_in, n - 1);
    return left + WEFT_MERGE(w, fib, right);
}
/* [end] */

static void run(weft *w, void *arg)
{
    long *n = arg;
    *n = fib(w, *n);
}

int main(void)
{
    long n = 30;
    if (weft_run(NULL, run, &n))
        return 1;
    printf("%ld\n", n);
}
