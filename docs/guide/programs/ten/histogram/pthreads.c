/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 1 << 26, BINS = 1024 };

static unsigned bin_of(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % BINS);
}

enum { THREADS_MAX = 256 };
static long tables[THREADS_MAX][BINS], threads;

static void *count(void *arg)
{
    long me = (long)arg;
    for (long i = N / threads * me, end = me == threads - 1 ? N : N / threads * (me + 1); i < end;
         i++)
        tables[me][bin_of((uint64_t)i)]++;
    return NULL;
}

int main(void)
{
    pthread_t others[THREADS_MAX];
    long counts[BINS] = {0};
    threads = sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&others[i], NULL, count, (void *)i))
            return 1;
    for (long i = 0; i < threads; i++) {
        pthread_join(others[i], NULL);
        for (int k = 0; k < BINS; k++)
            counts[k] += tables[i][k];
    }
    printf("%ld %ld\n", counts[0], counts[BINS - 1]);
}
