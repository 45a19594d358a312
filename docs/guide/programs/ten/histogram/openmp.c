/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>

enum { N = 1 << 26, BINS = 1024 };

static unsigned bin_of(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % BINS);
}

int main(void)
{
    long counts[BINS] = {0};
#pragma omp parallel for reduction(+ : counts)
    for (long i = 0; i < N; i++)
        counts[bin_of((uint64_t)i)]++;
    printf("%ld %ld\n", counts[0], counts[BINS - 1]);
}
