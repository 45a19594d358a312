/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

enum { N = 1 << 20 };
static unsigned numbers[N];

int main()
{
    tbb::parallel_for(tbb::blocked_range<long>(0, N), [](const tbb::blocked_range<long> &range) {
        for (long i = range.begin(); i != range.end(); i++) {
            unsigned long n = i + 1;
            unsigned count = 0;
            for (; n != 1; count++)
                n = n % 2 ? 3 * n + 1 : n / 2;
            numbers[i] = count;
        }
    });
    std::printf("%u\n", numbers[837798]);
}
