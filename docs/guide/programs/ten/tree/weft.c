/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <weft.h>

static uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 200; i++) {
        x ^= x >> 31;
        x *= 0x9e3779b97f4a7c15u;
    }
    return x ^ x >> 29;
}

static long walk(weft *w, uint64_t seed, int depth);
WEFT_FORKABLE(long, walk, uint64_t seed; int depth;, walk(w, a->seed, a->depth))

static long walk(weft *w, uint64_t seed, int depth)
{
    uint64_t x = mix(seed);
    uint64_t children = depth < 26 ? x % 4 : 0;
    for (uint64_t i = 0; i < children; i++)
        w = WEFT_FORK_IN(w, walk, x + i, depth + 1);
    long nodes = 1;
    for (uint64_t i = 0; i < children; i++) {
        w = weft_outer(w);
        nodes += WEFT_MERGE_IN(w, walk);
    }
    return nodes;
}

static void run(weft *w, void *arg)
{
    *(long *)arg = walk(w, 32, 0);
}

int main(void)
{
    long nodes;
    int error = weft_run(NULL, run, &nodes);
    printf("%ld\n", nodes);
    return error != 0;
}
