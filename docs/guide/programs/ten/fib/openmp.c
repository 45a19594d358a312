/* SPDX-License-Identifier: MIT */
#include <stdio.h>

static long fib(long n)
{
    if (n < 2)
        return n;
    if (n < 20) /* a task would cost more than it brings */
        return fib(n - 1) + fib(n - 2);
    long left, right;
#pragma omp task shared(right)
    right = fib(n - 2);
    left = fib(n - 1);
#pragma omp taskwait
    return left + right;
}

int main(void)
{
    long result;
#pragma omp parallel
#pragma omp single
    result = fib(36);
    printf("%ld\n", result);
}
