/* SPDX-License-Identifier: MIT */
/* Sorted parts, merged in pairs. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 22 };
static uint32_t numbers[N], scratch[N];

struct part {
    long begin, n;
    int depth;
};

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void *sort(void *arg)
{
    struct part *p = arg;
    uint32_t *base = numbers + p->begin, *to = scratch + p->begin;
    if (p->depth == 0) {
        qsort(base, (size_t)p->n, sizeof *base, compare);
        return NULL;
    }
    long half = p->n / 2, i = 0, j = half;
    struct part left = {p->begin, half, p->depth - 1};
    struct part right = {p->begin + half, p->n - half, p->depth - 1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, sort, &right))
        abort();
    sort(&left);
    pthread_join(thread, NULL);
    for (long k = 0; k < p->n; k++)
        to[k] = j == p->n || (i < half && base[i] <= base[j]) ? base[i++] : base[j++];
    memcpy(base, to, (size_t)p->n * sizeof *base);
    return NULL;
}

int main(void)
{
    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i * 2654435761u;
    sort(&(struct part){0, N, 3}); /* 8 threads, whatever the machine */
    int error = 0;
    for (int i = 1; i < N; i++)
        error |= numbers[i - 1] > numbers[i];
    printf("%u\n", (unsigned)numbers[N / 2]);
    return error;
}
