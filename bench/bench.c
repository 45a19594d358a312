/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool samples_init(struct samples *samples, const char *name, size_t room)
{
    *samples = (struct samples){.name = name, .values = calloc(room, sizeof(double))};
    return samples->values != NULL;
}

void samples_free(struct samples *samples)
{
    free(samples->values);
}

void samples_add(struct samples *samples, double value)
{
    samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct summary samples_summary(struct samples *samples)
{
    size_t n = samples->count;
    double *v = samples->values;
    if (n == 0)
        return (struct summary){0};
    qsort(v, n, sizeof *v, compare);
    return (struct summary){v[n / 2], v[n / 10], v[n - 1 - n / 10]};
}

void bench_print(struct samples *samples)
{
    struct summary s = samples_summary(samples);
    printf("  %-52s %8.2f  (%.2f to %.2f)\n", samples->name, s.median, s.low, s.high);
}

void bench_print_ratio(const char *what, struct samples *a, struct samples *b, double limit)
{
    double ratio = samples_summary(a).median / samples_summary(b).median;
    printf("  %-52s %8.2f  (should be at most %.1f)\n", what, ratio, limit);
}

double bench_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

void bench_compute_us(double us)
{
    double end = bench_now_us() + us;
    while (bench_now_us() < end)
        ;
}

void bench_until_asleep(weft_pool *pool)
{
    weft_pool_info info;
    do {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        weft_pool_get_info(pool, &info);
    } while (info.sleeping < info.workers);
}
