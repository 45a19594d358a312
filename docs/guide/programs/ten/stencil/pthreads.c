/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 1024, STEPS = 200, THREADS_MAX = 256 };
static float grids[2][N][N];
static pthread_barrier_t barrier;
static long threads;

static void *relax(void *arg)
{
    long me = (long)arg;
    long begin = 1 + (N - 2) * me / threads, end = 1 + (N - 2) * (me + 1) / threads;
    for (int i = 0; i < STEPS; i++) {
        float(*from)[N] = grids[i % 2], (*to)[N] = grids[1 - i % 2];
        for (long y = begin; y < end; y++)
            for (int x = 1; x < N - 1; x++)
                to[y][x] = (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4;
        pthread_barrier_wait(&barrier); /* the slowest decides, at each step */
    }
    return NULL;
}

int main(void)
{
    pthread_t others[THREADS_MAX];
    threads = sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    for (int x = 0; x < N; x++)
        grids[0][0][x] = grids[1][0][x] = 1;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, relax, (void *)i))
            return 1;
    relax((void *)0);
    for (long i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    printf("%.6f\n", (double)grids[0][5][N / 2]);
}
