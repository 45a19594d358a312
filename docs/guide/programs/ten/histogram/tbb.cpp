/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <vector>

enum { N = 1 << 26, BINS = 1024 };

static unsigned bin_of(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % BINS);
}

int main()
{
    tbb::enumerable_thread_specific<std::vector<long>> tables(std::vector<long>(BINS, 0));
    tbb::parallel_for(tbb::blocked_range<long>(0, N), [&](const tbb::blocked_range<long> &range) {
        std::vector<long> &table = tables.local();
        for (long i = range.begin(); i != range.end(); i++)
            table[bin_of((uint64_t)i)]++;
    });
    long counts[BINS] = {0};
    for (const std::vector<long> &table : tables)
        for (int i = 0; i < BINS; i++)
            counts[i] += table[i];
    std::printf("%ld %ld\n", counts[0], counts[BINS - 1]);
}
