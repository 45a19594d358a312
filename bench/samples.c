/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

bool samples_init(struct samples *samples, size_t room)
{
    *samples = (struct samples){.values = calloc(room, sizeof(double))};
    if (!samples->values)
        warnx("no memory for %zu samples", room);
    return samples->values != NULL;
}

void samples_free(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){0};
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

static double *sorted(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values;
}

static double *room_for(size_t n)
{
    double *values = malloc(n * sizeof *values);
    if (!values)
        err(EXIT_FAILURE, "samples");
    return values;
}

struct summary samples_summary(const struct samples *samples)
{
    size_t n = samples->count;
    if (n == 0)
        return (struct summary){0};
    double *v = room_for(n);
    memcpy(v, samples->values, n * sizeof *v);
    sorted(v, n);
    struct summary summary = {n, v[n / 2], v[0], v[n / 10], v[n - 1 - n / 10], v[n - 1 - n / 100]};
    free(v);
    return summary;
}

double samples_ratio(const struct samples *a, const struct samples *b)
{
    size_t n = a->count < b->count ? a->count : b->count;
    if (n == 0)
        return 0;
    double *v = room_for(n);
    for (size_t i = 0; i < n; i++)
        v[i] = a->values[i] / b->values[i];
    double median = sorted(v, n)[n / 2];
    free(v);
    return median;
}
