/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { L = 16384, B = 256, BLOCKS = L / B };
static unsigned char a[L], b[L];
static int h[L], v[L], corner[BLOCKS + 1][BLOCKS + 1]; /* the edges between blocks */

/* The longest common subsequence: a block needs the block above and the block on its left. */
static void block(int row, int column)
{
    int corner_of_row = corner[row][column];
    for (int y = row * B; y < (row + 1) * B; y++) {
        int diagonal = corner_of_row, left = corner_of_row = v[y];
        for (int x = column * B; x < (column + 1) * B; x++) {
            int up = h[x], longer = up > left ? up : left;
            left = h[x] = a[y] == b[x] ? diagonal + 1 : longer;
            diagonal = up;
        }
        v[y] = left;
    }
    corner[row + 1][column + 1] = v[(row + 1) * B - 1];
}

enum { THREADS_MAX = 256 };
static pthread_barrier_t barrier;
static long threads;

/* One diagonal after the other. Each waits for the last block of the one before. */
static void *work(void *arg)
{
    long me = (long)arg;
    for (int d = 0; d < 2 * BLOCKS - 1; d++) {
        for (int row = 0; row <= d && row < BLOCKS; row++)
            if (d - row < BLOCKS && row % threads == me)
                block(row, d - row);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t others[THREADS_MAX];
    threads = sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    for (int i = 0; i < L; i++) {
        a[i] = (unsigned char)((unsigned)i * 2654435761u >> 24 & 3);
        b[i] = (unsigned char)((unsigned)i * 2246822519u >> 24 & 3);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, (void *)i))
            return 1;
    work((void *)0);
    for (long i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    printf("%d\n", h[L - 1]);
}
