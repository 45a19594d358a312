/* SPDX-License-Identifier: MIT */
#include <cilk/cilk.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 1 << 26, BINS = 1024 };

static unsigned bin_of(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % BINS);
}

struct table {
    long counts[BINS];
};

static void zero(void *view)
{
    memset(view, 0, sizeof(struct table));
}

static void add(void *left, void *right)
{
    for (int i = 0; i < BINS; i++)
        ((struct table *)left)->counts[i] += ((struct table *)right)->counts[i];
}

int main(void)
{
    struct table cilk_reducer(zero, add) table = {{0}};
    cilk_for (long i = 0; i < N; i++)
        table.counts[bin_of((uint64_t)i)]++;
    printf("%ld %ld\n", table.counts[0], table.counts[BINS - 1]);
}
