/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>

static uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 200; i++) {
        x ^= x >> 31;
        x *= 0x9e3779b97f4a7c15u;
    }
    return x ^ x >> 29;
}

static long walk(uint64_t seed, int depth)
{
    uint64_t x = mix(seed);
    uint64_t children = depth < 26 ? x % 4 : 0;
    long nodes[4] = {0};
    for (uint64_t i = 0; i < children; i++)
#pragma omp task shared(nodes)
        nodes[i] = walk(x + i, depth + 1);
#pragma omp taskwait
    return 1 + nodes[0] + nodes[1] + nodes[2];
}

int main(void)
{
    long nodes;
#pragma omp parallel
#pragma omp single
    nodes = walk(32, 0);
    printf("%ld\n", nodes);
}
