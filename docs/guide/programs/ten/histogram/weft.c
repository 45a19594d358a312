/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <weft/local.h>

enum { N = 1 << 26, BINS = 1024 };

static unsigned bin_of(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % BINS);
}

static weft_local tables; /* a table for each thread */

static void count(weft *w, size_t begin, size_t end, void *arg)
{
    long *table = weft_local_get(w, &tables);
    (void)arg;
    for (size_t i = begin; table && i < end; i++)
        table[bin_of(i)]++;
}

static void run(weft *w, void *arg)
{
    weft_for(w, 0, N, count, arg);
}

static void add(weft *w, void *table, void *arg)
{
    (void)w;
    for (int i = 0; i < BINS; i++)
        ((long *)arg)[i] += ((long *)table)[i];
}

int main(void)
{
    static const weft_state table = {BINS * sizeof(long), NULL, NULL};
    long counts[BINS] = {0};
    weft_local_init(&tables, &table, NULL);
    int error = weft_run(NULL, run, NULL);
    weft_local_visit(NULL, &tables, add, counts);
    weft_local_destroy(NULL, &tables);
    printf("%ld %ld\n", counts[0], counts[BINS - 1]);
    return error != 0;
}
