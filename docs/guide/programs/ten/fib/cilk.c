/* SPDX-License-Identifier: MIT */
#include <cilk/cilk.h>
#include <stdio.h>

static long fib(long n)
{
    if (n < 2)
        return n;
    long right = cilk_spawn fib(n - 2);
    long left = fib(n - 1);
    cilk_sync;
    return left + right;
}

int main(void)
{
    printf("%ld\n", fib(36));
}
