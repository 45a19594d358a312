/* SPDX-License-Identifier: MIT */
/* Cilk has no sort: here is a quicksort. */
#include <cilk/cilk.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 22 };
static uint32_t numbers[N];

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort(uint32_t *base, long n)
{
    if (n < 1000) {
        qsort(base, (size_t)n, sizeof *base, compare);
        return;
    }
    uint32_t pivot = base[n / 2];
    long i = -1, j = n;
    for (;;) {
        while (base[++i] < pivot)
            ;
        while (base[--j] > pivot)
            ;
        if (i >= j)
            break;
        uint32_t swap = base[i];
        base[i] = base[j];
        base[j] = swap;
    }
    cilk_spawn sort(base, j + 1);
    sort(base + j + 1, n - j - 1);
    cilk_sync;
}

int main(void)
{
    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i * 2654435761u;
    sort(numbers, N);
    int error = 0;
    for (int i = 1; i < N; i++)
        error |= numbers[i - 1] > numbers[i];
    printf("%u\n", (unsigned)numbers[N / 2]);
    return error;
}
