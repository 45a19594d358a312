/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 1 << 26, BINS = 1024 };

static unsigned bin_of(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % BINS);
}

enum { PARTS = 64 };
static long tables[PARTS][BINS]; /* for each part: libdispatch does not say which thread it is on */

static void count(void *arg, size_t part)
{
    (void)arg;
    for (size_t i = part * (N / PARTS); i < (part + 1) * (N / PARTS); i++)
        tables[part][bin_of(i)]++;
}

int main(void)
{
    long counts[BINS] = {0};
    dispatch_apply_f(PARTS, dispatch_get_global_queue(0, 0), NULL, count);
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < BINS; k++)
            counts[k] += tables[i][k];
    printf("%ld %ld\n", counts[0], counts[BINS - 1]);
}
