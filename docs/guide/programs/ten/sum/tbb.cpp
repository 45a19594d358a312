/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <functional>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

enum { N = 50000000 };

int main()
{
    double sum = tbb::parallel_reduce( // parallel_deterministic_reduce: the same bits
        tbb::blocked_range<long>(0, N), 0.0,
        [](const tbb::blocked_range<long> &range, double sum) {
            for (long i = range.begin(); i != range.end(); i++) {
                double x = ((double)i + 0.5) / N;
                sum += 4 / (1 + x * x);
            }
            return sum;
        },
        std::plus<double>());
    std::printf("%.9f\n", sum / N);
}
