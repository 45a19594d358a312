/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

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

static void run(weft *w, void *arg)
{
    *(long *)arg = fib(w, 36);
}

int main(void)
{
    long result;
    int error = weft_run(NULL, run, &result);
    printf("%ld\n", result);
    return error != 0;
}
