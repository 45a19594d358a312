/* SPDX-License-Identifier: MIT */
/* libdispatch has no sort: parts are sorted at the same time, then merged in pairs. */
#include <dispatch/dispatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 22, PARTS = 16 };
static uint32_t numbers[N], scratch[N];

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_part(void *arg, size_t part)
{
    (void)arg;
    qsort(numbers + part * (N / PARTS), N / PARTS, sizeof *numbers, compare);
}

static void merge_pair(void *arg, size_t pair)
{
    size_t half = *(size_t *)arg, n = 2 * half, i = 0, j = half;
    uint32_t *base = numbers + pair * n, *to = scratch + pair * n;
    for (size_t k = 0; k < n; k++)
        to[k] = j == n || (i < half && base[i] <= base[j]) ? base[i++] : base[j++];
    memcpy(base, to, n * sizeof *base);
}

int main(void)
{
    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i * 2654435761u;
    dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
    dispatch_apply_f(PARTS, queue, NULL, sort_part);
    for (size_t half = N / PARTS; half < N; half *= 2)
        dispatch_apply_f(N / half / 2, queue, &half, merge_pair);
    int error = 0;
    for (int i = 1; i < N; i++)
        error |= numbers[i - 1] > numbers[i];
    printf("%u\n", (unsigned)numbers[N / 2]);
    return error;
}
