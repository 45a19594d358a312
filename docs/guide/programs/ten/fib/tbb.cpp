/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <tbb/parallel_invoke.h>

static long fib(long n)
{
    if (n < 2)
        return n;
    if (n < 20) // a task would cost more than it brings
        return fib(n - 1) + fib(n - 2);
    long left, right;
    tbb::parallel_invoke([&] { left = fib(n - 1); }, [&] { right = fib(n - 2); });
    return left + right;
}

int main()
{
    std::printf("%ld\n", fib(36));
}
